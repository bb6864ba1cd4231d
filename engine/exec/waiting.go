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

// claiming lets a step start at once the ready nodes that it makes, where
// there is room: the next node then starts after one flush of the disk.
func (e *Exec) claiming(i item) flow.Step {
	step, stopping, owner := i.step, e.stopping(), e.id()
	decide := step.Decide
	var claimed, ended, readied []engine.NodeKey
	step.Decide = func(run engine.Run, st flow.State) (flow.Writes, error) {
		// Decided before from what was remembered, it may have taken a seat that it
		// does not need.
		e.slots.undo(claimed, ended)
		for _, key := range readied {
			delete(e.readied, key)
		}
		claimed, ended, readied = nil, nil, nil
		w, err := decide(run, st)
		if err != nil {
			return w, err
		}
		for k := range w.Nodes {
			if n := &w.Nodes[k]; step.Ends && n.State.Done() && e.works(n.Key()) {
				e.slots.ends(*n)
				ended = append(ended, n.Key())
			}
		}
		for _, n := range turns(w.Nodes) {
			if n.State != engine.Ready || !n.NotBefore.IsZero() && n.NotBefore.After(e.Now()) {
				continue
			}
			ok, why, startable, elsewhere := false, "waits until its run goes on", false, false
			head := st.Head(n.Ref)
			if n.Ref.Kind == engine.KindJob {
				e.slots.setLimit(n.Ref, head.MaxRuns)
			}
			switch {
			case !w.Run.Paused.IsZero() || stopping:
			case i.starts == nil && e.leaves(n):
				why = "waits for a server that has its folders"
			default:
				startable = true
				ok, why = e.claimInTurn(n, i.starts != nil)
			}
			if ofJob, ofPool := e.slots.limitsOf(n); ok && !st.Room(n, ofJob, ofPool) {
				e.slots.undo([]engine.NodeKey{n.Key()}, nil)
				ok, why, elsewhere = false, "waits until another server has ended a run of "+n.Name+", or one in its pool", true
			}
			switch {
			case !ok && i.starts != nil && elsewhere:
				return flow.Writes{}, errNoRoomElsewhere
			case !ok && i.starts != nil:
				return flow.Writes{}, errNoRoom
			case !ok && !stopping:
				n.Why = why
				if startable {
					e.readied[n.Key()] = n
					readied = append(readied, n.Key())
				}
			case ok:
				claimed = append(claimed, n.Key())
				// The version that starts is the one of this moment (model.md, Runs).
				n.State, n.Why, n.Fence, n.Version, n.Owner = engine.Starting, "", n.Fence+1, head.Version, owner
				e.ahead(n, w.Run.Properties)
				restate(w.Events, n)
			}
		}
		return w, nil
	}
	return step
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

// claimInTurn takes a slot for a node, unless another has its turn before it and would
// find no other. called says that it was called from the line.
func (e *Exec) claimInTurn(n *engine.NodeRun, called bool) (ok bool, why string) {
	if ok, why = e.slots.claim(n, nil); !ok {
		return ok, why
	}
	first := e.inFront(n, called)
	if len(first) == 0 {
		return ok, why
	}
	e.slots.undo([]engine.NodeKey{n.Key()}, nil)
	return e.slots.claim(n, first)
}

// inFront are the nodes that have their turn before n: nearly always none. Those that
// wait for more than a place do not hold it up. In front of one that was called from
// the line is only what has become ready since.
func (e *Exec) inFront(n *engine.NodeRun, called bool) []*engine.NodeRun {
	var list []*engine.NodeRun
	for _, w := range e.readied {
		if byTurn(w, n) < 0 {
			list = append(list, w)
		}
	}
	if called {
		return list
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.called {
		if byTurn(w, n) < 0 {
			list = append(list, w)
		}
	}
	for i := range e.waiting {
		w := &e.waiting[i]
		if byTurn(w, n) >= 0 {
			break
		}
		if !e.paused[w.Run] && !e.blocked[w.Ref] && !e.left(w) {
			list = append(list, w)
		}
	}
	return list
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
		if n := group[i].starts; n != nil {
			delete(e.called, n.Key())
		}
	}
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
