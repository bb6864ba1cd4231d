package exec

import (
	"cmp"
	"errors"
	"slices"
	"sort"
	"time"

	"dogear/engine"
	"dogear/engine/flow"
)

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

func (e *Exec) unblock() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.blocked)
}

// byTurn orders nodes as they have their turn: the highest priority first, then the
// oldest run, so that what has begun comes to its end, then what waits longest.
func byTurn(a, b *engine.NodeRun) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), engine.ByAge(a.Run, b.Run), a.ReadyAt.Compare(b.ReadyAt))
}

// turns are nodes in the order of their turn.
func turns(nodes []engine.NodeRun) []*engine.NodeRun {
	order := make([]*engine.NodeRun, len(nodes))
	for i := range nodes {
		order[i] = &nodes[i]
	}
	slices.SortStableFunc(order, byTurn)
	return order
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
		e.called[n.Key()] = &n
		starts = append(starts, item{step: e.start(n), starts: &n})
	}
	return starts
}

// answered is told that a group was written: what was called in it has started, or
// goes back into the line.
func (e *Exec) answered(group []item) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range group {
		for _, n := range []*engine.NodeRun{group[i].starts, group[i].waits} {
			if n != nil {
				delete(e.called, n.Key())
			}
		}
	}
}

// await keeps a ready node until there is room, or until its time has come.
func (e *Exec) await(n engine.NodeRun) {
	if wait := n.NotBefore.Sub(e.Now()); !n.NotBefore.IsZero() && wait > 0 {
		time.AfterFunc(wait, func() {
			e.line(n)
			e.fill()
		})
		return
	}
	e.line(n)
}

// line puts a node where its turn comes.
func (e *Exec) line(n engine.NodeRun) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := sort.Search(len(e.waiting), func(i int) bool { return byTurn(&e.waiting[i], &n) > 0 })
	e.waiting = slices.Insert(e.waiting, at, n)
}

// unwait forgets a node that was stopped before it started.
func (e *Exec) unwait(key engine.NodeKey) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = slices.DeleteFunc(e.waiting, func(n engine.NodeRun) bool { return n.Key() == key })
}

// fill starts waiting nodes where there is room, in the order of their turn. It looks no
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
		if e.paused[n.Run] || e.blocked[n.Ref] || e.left(&n) || !e.slots.room(&n, chosen) {
			stay = append(stay, n)
			continue
		}
		chosen = append(chosen, n)
		e.called[n.Key()] = &n
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

// start is the step in which a waiting node is claimed, or says what it waits for.
func (e *Exec) start(n engine.NodeRun) flow.Step {
	return flow.Step{Run: n.Run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		now, err := current(st, n.Key(), n.Fence)
		if err != nil {
			return flow.Writes{}, err
		}
		if now.State != engine.Ready {
			return flow.Writes{}, engine.Errorf(engine.Conflict, "%s is not waiting any more.", n.Name)
		}
		return flow.Change(run, now, now.Why, e.Now()), nil // the event keeps what it waited for
	}}
}
