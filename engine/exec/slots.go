package exec

import (
	"iter"
	"maps"
	"math"
	"sync"

	"dogear/engine"
	"dogear/engine/flow"
)

// slots count what runs on this server now: so many nodes in all, each job or
// crawler so often at once, and each pool so many. Only the committing
// goroutine claims; anybody may release.
type slots struct {
	mu   sync.Mutex
	free int
	busy map[seat]int
	// claimed are the claims of the group that is being committed, with their pools:
	// they count only once the group is written.
	claimed map[engine.NodeKey]string
	// ending are the nodes that end in that group: their slots are free for its
	// claims.
	ending map[engine.NodeKey]string
	// change is by how much the claims and the ends of the group change what is
	// taken of each seat.
	change map[seat]int
	// back are nodes whose slot was given back when their end was written.
	back   map[engine.NodeKey]bool
	limits map[seat]int
	uneven int // how often in a row the watchdog saw more of them than work
}

// seat is what node runs take of which there are only so many: one of a job or
// crawler, or one of a pool.
type seat struct {
	ref  engine.Ref
	pool string
}

// seats are those that a node run takes besides its slot.
func seats(ref engine.Ref, pool string) iter.Seq[seat] {
	return func(yield func(seat) bool) {
		if yield(seat{ref: ref}) && pool != "" {
			yield(seat{pool: pool})
		}
	}
}

// has reports whether n takes a seat like this one.
func (s seat) has(n *engine.NodeRun) bool {
	return s.pool == "" && n.Ref == s.ref || s.pool != "" && n.Pool == s.pool
}

// full says in words that there is no such seat for n, of so many.
func (s seat) full(n *engine.NodeRun, of int) string {
	switch {
	case s.pool != "" && of == 0:
		return engine.WaitsForPool + s.pool + ", which has no places"
	case s.pool != "":
		return engine.WaitsForPlace + s.pool
	}
	return engine.WaitsForOther + "run of " + n.Name + " has ended"
}

// begin is told that a group of so many steps is about to be written.
func (s *slots) begin(steps int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claimed, s.ending, s.change = make(map[engine.NodeKey]string, steps), make(map[engine.NodeKey]string, steps), map[seat]int{}
}

// ends notes that a node which holds a slot ends in this group.
func (s *slots) ends(n *engine.NodeRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending[n.Key()] = n.Pool
	s.alter(n.Ref, n.Pool, -1)
}

// alter notes what one claim or end of the group changes.
func (s *slots) alter(ref engine.Ref, pool string, by int) {
	for seat := range seats(ref, pool) {
		s.change[seat] += by
	}
}

// claim takes a slot for a node, if there is one beside those of the nodes in front
// of it. Of these it looks at no more than it must. why says in words what is full.
func (s *slots) claim(node *engine.NodeRun, inFront iter.Seq[*engine.NodeRun]) (ok bool, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var held map[seat]int
	first := 0 // of the slots, those in front
	if why := s.full(node, held, first); why != "" {
		return false, why
	}
	for n := range inFront {
		if _, claimed := s.claimed[n.Key()]; claimed || s.full(n, held, first) != "" {
			continue
		}
		first++
		if held == nil {
			held = map[seat]int{}
		}
		for seat := range seats(n.Ref, n.Pool) {
			held[seat]++
		}
		if why := s.full(node, held, first); why != "" {
			return false, why
		}
	}
	s.claimed[node.Key()] = node.Pool
	s.alter(node.Ref, node.Pool, 1)
	return true, ""
}

// full says in words what n would find full in this group, where others take the seats
// held and so many slots before it; "" where it finds room.
func (s *slots) full(n *engine.NodeRun, held map[seat]int, first int) string {
	for seat := range seats(n.Ref, n.Pool) {
		if most := s.limit(seat); s.busy[seat]+s.change[seat]+held[seat] >= most {
			return seat.full(n, most)
		}
	}
	if len(s.claimed)+first >= s.free+len(s.ending) {
		return "waits for one of the server's slots"
	}
	return ""
}

// finds says in words what a node that waits finds full, here or of the seats that are
// taken on all servers; "" where that is nothing.
func (s *slots) finds(n *engine.NodeRun, taken map[seat]int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for seat := range seats(n.Ref, n.Pool) {
		if _, known := s.limits[seat]; !known && seat.ref.Kind == engine.KindJob {
			continue // none of it was ever claimed here
		}
		if most := s.limit(seat); taken[seat] >= most {
			return seat.full(n, most)
		}
	}
	return s.full(n, nil, 0)
}

// undo takes claims and ends of this group back.
func (s *slots) undo(claims, ends []engine.NodeKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range claims {
		if pool, ok := s.claimed[key]; ok {
			s.alter(key.Ref, pool, -1)
			delete(s.claimed, key)
		}
	}
	for _, key := range ends {
		if pool, ok := s.ending[key]; ok {
			s.alter(key.Ref, pool, 1)
			delete(s.ending, key)
		}
	}
}

// limitsOf is how often the job of n may run at once, and how many places its
// pool has.
func (s *slots) limitsOf(n *engine.NodeRun) (ofJob, ofPool int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limit(seat{ref: n.Ref}), s.limit(seat{pool: n.Pool})
}

// limit is how many there are of a seat: of a job one where nothing else is
// known, of a pool that nobody bounds as many as one likes.
func (s *slots) limit(of seat) int {
	n, known := s.limits[of]
	switch {
	case of.pool != "" && !known:
		return math.MaxInt
	case of.pool == "" && n <= 0:
		return 1
	}
	return n
}

// setLimit notes how often ref may run at once.
func (s *slots) setLimit(ref engine.Ref, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits[seat{ref: ref}] = n
}

// setPlaces notes how many places each pool has.
func (s *slots) setPlaces(places map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.limits, func(of seat, _ int) bool { return of.pool != "" })
	for name, n := range places {
		s.limits[seat{pool: name}] = n
	}
}

// end makes the claims and the ends of the written steps count, lets the others
// go, and returns the claims that count.
func (s *slots) end(written []flow.Written) map[engine.NodeKey]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	counted := make(map[engine.NodeKey]bool, len(s.claimed))
	for i := range written {
		w := &written[i]
		if w.Err != nil {
			continue
		}
		for k := range w.Nodes {
			n, key := &w.Nodes[k], w.Nodes[k].Key()
			_, claimed := s.claimed[key]
			if claimed && (n.State == engine.Starting || n.State == engine.Running) && !counted[key] {
				s.count(n, 1)
				counted[key] = true
			}
			if _, ending := s.ending[key]; ending && n.State.Done() {
				s.count(n, -1)
				s.back[key] = true
			}
		}
	}
	s.claimed, s.ending, s.change = nil, nil, nil
	return counted
}

// count notes that n takes a slot and its seats, by 1, or gives them back, by -1.
func (s *slots) count(n *engine.NodeRun, by int) {
	s.free -= by
	for seat := range seats(n.Ref, n.Pool) {
		s.busy[seat] += by
	}
}

// take counts a node that was under way before this server looked.
func (s *slots) take(n *engine.NodeRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(n, 1)
}

// release gives the slot of a node back, unless that was done with its end.
func (s *slots) release(n *engine.NodeRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.back[n.Key()] {
		delete(s.back, n.Key())
		return
	}
	s.count(n, -1)
}

// any reports whether there is a slot beside those taken by chosen nodes.
func (s *slots) any(chosen int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return chosen < s.free
}

// room reports whether a node could start beside those chosen.
func (s *slots) room(n *engine.NodeRun, chosen []engine.NodeRun) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for seat := range seats(n.Ref, n.Pool) {
		same := 0
		for i := range chosen {
			if seat.has(&chosen[i]) {
				same++
			}
		}
		if s.busy[seat]+same >= s.limit(seat) {
			return false
		}
	}
	return len(chosen) < s.free
}
