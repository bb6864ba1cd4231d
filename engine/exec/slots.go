package exec

import (
	"errors"
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
	// ending are the nodes that end in that group: their slots are free for its
	// claims.
	ending map[engine.NodeKey]bool
	// back are nodes whose slot was given back when their end was written.
	back   map[engine.NodeKey]bool
	limits map[engine.Ref]int
	uneven int // how often in a row the watchdog saw more of them than work
}

func (s *slots) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claimed, s.ending = map[engine.NodeKey]bool{}, map[engine.NodeKey]bool{}
}

// ends notes that a node which holds a slot ends in this group.
func (s *slots) ends(key engine.NodeKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending[key] = true
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
	for key := range s.ending {
		if key.Ref == n.Ref {
			same--
		}
	}
	if s.busy[n.Ref]+same >= s.limit(n.Ref) {
		return false, whyBusy(n)
	}
	if len(s.claimed) >= s.free+len(s.ending) {
		return false, "waits for one of the server's slots"
	}
	s.claimed[n.Key()] = true
	return true, ""
}

func whyBusy(n *engine.NodeRun) string { return "waits until another run of " + n.Name + " has ended" }

// unclaim takes a claim of this group back.
func (s *slots) unclaim(key engine.NodeKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.claimed, key)
}

// limitOf is limit for those who do not hold the lock.
func (s *slots) limitOf(ref engine.Ref) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limit(ref)
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

// end makes the claims and the ends of the written steps count, lets the others
// go, and returns the claims that count.
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
			if w.Err == nil && n.State.Done() && s.ending[n.Key()] {
				s.free++
				s.busy[n.Ref]--
				s.back[n.Key()] = true
			}
		}
	}
	s.claimed, s.ending = nil, nil
	return counted
}

// take counts a node that was under way when the server started.
func (s *slots) take(ref engine.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free--
	s.busy[ref]++
}

// release gives the slot of a node back, unless that was done with its end.
func (s *slots) release(key engine.NodeKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.back[key] {
		delete(s.back, key)
		return
	}
	s.free++
	s.busy[key.Ref]--
}

// errNoRoom refuses the start of a waiting node.
var errNoRoom = errors.New("there is no room for the node yet")

// errNoRoomElsewhere refuses it because other servers run its job as often as
// it may run.
var errNoRoomElsewhere = errors.New("other servers leave no room for the node")

// block keeps the nodes of ref from being tried again until something ends.
func (e *Exec) block(ref engine.Ref) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.blocked[ref] = true
}

func (e *Exec) unblock(ref engine.Ref) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.blocked, ref)
}

// claiming lets a step start at once the ready nodes that it makes, where
// there is room: the next node then starts after one flush of the disk.
func (e *Exec) claiming(i item) flow.Step {
	step, stopping, owner := i.step, e.stopping(), e.id()
	decide := step.Decide
	step.Decide = func(run engine.Run, st flow.State) (flow.Writes, error) {
		w, err := decide(run, st)
		if err != nil {
			return w, err
		}
		for k := range w.Nodes {
			if n := &w.Nodes[k]; step.Ends && n.State.Done() && e.works(n.Key()) {
				e.slots.ends(n.Key())
			}
		}
		for k := range w.Nodes {
			n := &w.Nodes[k]
			if n.State != engine.Ready || !n.NotBefore.IsZero() && n.NotBefore.After(e.Now()) {
				continue
			}
			ok, why, elsewhere := false, "waits until its run goes on", false
			switch {
			case !w.Run.Paused.IsZero() || stopping:
			case i.starts == nil && e.leaves(n):
				why = "waits for a server that has its folders"
			default:
				ok, why = e.slots.claim(n)
			}
			if ok && !st.Room(n.Ref, e.slots.limitOf(n.Ref)) {
				e.slots.unclaim(n.Key())
				ok, why, elsewhere = false, whyBusy(n), true
			}
			switch {
			case !ok && i.starts != nil && elsewhere:
				return flow.Writes{}, errNoRoomElsewhere
			case !ok && i.starts != nil:
				return flow.Writes{}, errNoRoom
			case !ok && !stopping:
				n.Why = why
			case ok:
				// The version that starts is the one of this moment (model.md, Runs).
				n.State, n.Why, n.Fence, n.Version, n.Owner = engine.Starting, "", n.Fence+1, st.Head(n.Ref).Version, owner
				restate(w.Events, n)
			}
		}
		return w, nil
	}
	return step
}

// works reports whether an attempt of this server works on a node.
func (e *Exec) works(key engine.NodeKey) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.working[key] != nil
}

// successors are starts of waiting nodes, one for each node that ends in the
// group: it takes over the slot in the same transaction.
func (e *Exec) successors(group []item) []item {
	ends := 0
	for i := range group {
		if group[i].step.Ends {
			ends++
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return nil
	}
	var starts []item
	for looked := 0; looked < len(e.waiting) && len(starts) < ends; {
		n := e.waiting[looked]
		if e.paused[n.Run] || e.blocked[n.Ref] || e.left(&n) {
			looked++
			continue
		}
		if looked == 0 { // nearly always, and then nothing is moved
			e.waiting = e.waiting[1:]
		} else {
			e.waiting = slices.Delete(e.waiting, looked, looked+1)
		}
		starts = append(starts, item{step: e.start(n), starts: &n})
	}
	return starts
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

// awaitFirst puts a node back for which there was no room after all.
func (e *Exec) awaitFirst(n engine.NodeRun) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = slices.Insert(e.waiting, 0, n)
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
		if e.paused[n.Run] || e.blocked[n.Ref] || e.left(&n) || !e.slots.room(n.Ref, chosen) {
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
		e.push(item{step: e.start(n), starts: &n})
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
