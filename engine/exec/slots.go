package exec

import (
	"slices"
	"sync"
	"time"

	"dogear/engine"
	"dogear/engine/flow"
)

// slots count what runs now: so many nodes in all, and each job or crawler so
// often at once. Only the committing goroutine claims; anybody may release.
type slots struct {
	mu   sync.Mutex
	free int
	busy map[engine.Ref]int
	// claimed are the claims of the group that is being committed: they count
	// only once the group is written.
	claimed map[engine.NodeKey]bool
	limits  map[engine.Ref]int
	uneven  int // how often in a row the watchdog saw more of them than work
}

func (s *slots) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claimed = map[engine.NodeKey]bool{}
}

// claim takes a slot for node, if there is one. why says in words what is full.
func (s *slots) claim(n *engine.NodeRun) (ok bool, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claimed[n.Key()] {
		return true, "" // the group is being committed a second time
	}
	same := 0
	for key := range s.claimed {
		if key.Ref == n.Ref {
			same++
		}
	}
	if s.busy[n.Ref]+same >= s.limit(n.Ref) {
		return false, "waits until another run of " + n.Name + " has ended"
	}
	if len(s.claimed) >= s.free {
		return false, "waits for one of the server's slots"
	}
	s.claimed[n.Key()] = true
	return true, ""
}

// limit is how often ref may run at once.
func (s *slots) limit(ref engine.Ref) int {
	if n := s.limits[ref]; n > 0 {
		return n
	}
	return 1
}

// setLimit notes how often ref may run at once.
func (s *slots) setLimit(ref engine.Ref, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limits == nil {
		s.limits = map[engine.Ref]int{}
	}
	s.limits[ref] = n
}

// end makes the claims of the written steps count, lets the others go, and
// returns those that count.
func (s *slots) end(written []flow.Written) map[engine.NodeKey]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	counted := map[engine.NodeKey]bool{}
	for _, w := range written {
		for _, n := range w.Nodes {
			if w.Err == nil && n.State == engine.Starting && s.claimed[n.Key()] {
				s.free--
				s.busy[n.Ref]++
				counted[n.Key()] = true
			}
		}
	}
	s.claimed = nil
	return counted
}

// take counts a node that was under way when the server started.
func (s *slots) take(ref engine.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free--
	s.busy[ref]++
}

func (s *slots) release(ref engine.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	s.busy[ref]--
}

// claiming lets a step start at once the ready nodes that it makes, where
// there is room: the next node then starts after one flush of the disk.
func (e *Exec) claiming(step flow.Step) flow.Step {
	decide, stopping := step.Decide, e.stopping()
	step.Decide = func(run engine.Run, st flow.State) (flow.Writes, error) {
		w, err := decide(run, st)
		if err != nil {
			return w, err
		}
		for i := range w.Nodes {
			n := &w.Nodes[i]
			if stopping || n.State != engine.Ready || !n.NotBefore.IsZero() && n.NotBefore.After(e.Now()) {
				continue
			}
			ok, why := false, "waits until its run goes on"
			if w.Run.Paused.IsZero() {
				ok, why = e.slots.claim(n)
			}
			if !ok {
				n.Why = why
				continue
			}
			// The version that starts is the one of this moment (model.md, Runs).
			n.State, n.Why, n.Fence, n.Version = engine.Starting, "", n.Fence+1, st.Head(n.Ref).Version
			restate(w.Events, n)
		}
		return w, nil
	}
	return step
}

// restate makes the event of a node say the state it went to at once.
func restate(events []engine.Event, n *engine.NodeRun) {
	for i := range events {
		e := &events[i]
		if e.Card == n.Ref.String() && e.Start == n.Start && e.Attempt == n.Attempt {
			e.State = string(n.State)
		}
	}
}

// await keeps a ready node until there is room, or until its time has come.
func (e *Exec) await(n engine.NodeRun) {
	if wait := n.NotBefore.Sub(e.Now()); !n.NotBefore.IsZero() && wait > 0 {
		time.AfterFunc(wait, func() {
			e.mu.Lock()
			e.waiting = append(e.waiting, n)
			e.mu.Unlock()
			e.fill()
		})
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = append(e.waiting, n)
}

// unwait forgets a node that was stopped before it started.
func (e *Exec) unwait(key engine.NodeKey) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = slices.DeleteFunc(e.waiting, func(n engine.NodeRun) bool { return n.Key() == key })
}

// fill starts waiting nodes where there is room, the oldest first. It looks no
// further than there is room for, so that ten thousand that wait cost nothing.
func (e *Exec) fill() {
	e.mu.Lock()
	if e.stopped {
		e.mu.Unlock()
		return
	}
	var chosen []engine.NodeRun
	looked := 0
	var stay []engine.NodeRun // looked at, and must wait on
	for ; looked < len(e.waiting) && e.slots.any(len(chosen)); looked++ {
		n := e.waiting[looked]
		if e.paused[n.Run] || !e.slots.room(n.Ref, chosen) {
			stay = append(stay, n)
			continue
		}
		chosen = append(chosen, n)
	}
	// What stays moves up against the rest, which is not touched.
	from := looked - len(stay)
	copy(e.waiting[from:looked], stay)
	clear(e.waiting[:from])
	e.waiting = e.waiting[from:]
	e.mu.Unlock()
	for _, n := range chosen {
		e.push(item{step: e.start(n)})
	}
}

// any reports whether there is a slot beside those taken by chosen nodes.
func (s *slots) any(chosen int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return chosen < s.free
}

// room reports whether a node of ref could start beside those chosen.
func (s *slots) room(ref engine.Ref, chosen []engine.NodeRun) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := 0
	for _, n := range chosen {
		if n.Ref == ref {
			same++
		}
	}
	return len(chosen) < s.free && s.busy[ref]+same < s.limit(ref)
}

// start is the step in which a waiting node is claimed.
func (e *Exec) start(n engine.NodeRun) flow.Step {
	return flow.Step{Run: n.Run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		now, err := current(st, n.Key(), n.Fence)
		if err != nil {
			return flow.Writes{}, err
		}
		if now.State != engine.Ready {
			return flow.Writes{}, engine.Errorf(engine.Conflict, "%s is not waiting any more.", n.Name)
		}
		return flow.Change(run, now, "", e.Now()), nil
	}}
}
