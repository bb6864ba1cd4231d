package exec

import (
	"iter"

	"dogear/engine"
	"dogear/engine/flow"
)

// claiming lets a step start at once the ready nodes that it makes, where there is
// room: the next node then starts after one flush of the disk.
func (e *Exec) claiming(i item) flow.Step {
	c := &claiming{e: e, item: i, stopping: e.stopping(), owner: e.id()}
	step := i.step
	step.Decide = c.decide
	return step
}

// claiming is a step that claims, and what it has taken of the slots so far.
type claiming struct {
	e *Exec
	item
	stopping bool
	owner    engine.ID

	claimed, ended, readied []engine.NodeKey
}

func (c *claiming) decide(run engine.Run, st flow.State) (flow.Writes, error) {
	// Decided before from what was remembered, it may have taken a seat that it
	// does not need.
	c.undo()
	w, err := c.step.Decide(run, st)
	if err != nil {
		return w, err
	}
	for k := range w.Nodes {
		if n := &w.Nodes[k]; c.step.Ends && n.State.Done() && c.e.works(n.Key()) {
			c.e.slots.ends(n)
			c.ended = append(c.ended, n.Key())
		}
	}
	for _, n := range turns(w.Nodes) {
		if n.State != engine.Ready || !n.NotBefore.IsZero() && n.NotBefore.After(c.e.Now()) {
			continue
		}
		if err := c.turn(n, &w, st); err != nil {
			return flow.Writes{}, err
		}
	}
	return w, nil
}

// undo gives back what an earlier decision has taken.
func (c *claiming) undo() {
	c.e.slots.undo(c.claimed, c.ended)
	for _, key := range c.readied {
		delete(c.e.readied, key)
	}
	c.claimed, c.ended, c.readied = nil, nil, nil
}

// turn claims a ready node, or says what it waits for. A step that was made to
// start the node is refused where it cannot.
func (c *claiming) turn(n *engine.NodeRun, w *flow.Writes, st flow.State) error {
	head := st.Head(n.Ref)
	if n.Ref.Kind == engine.KindJob {
		c.e.slots.setLimit(n.Ref, head.MaxRuns)
	}
	found := c.place(n, w, st)
	switch {
	case found.ok:
		c.claimed = append(c.claimed, n.Key())
		// The version that starts is the one of this moment (model.md, Runs).
		n.Held = engine.HeldBack(n.Why)
		n.State, n.Why, n.Fence, n.Version, n.Owner = engine.Starting, "", n.Fence+1, head.Version, c.owner
		c.e.ahead(n, w.Run.Properties)
		restate(w.Events, n)
	case c.starts != nil && found.elsewhere:
		return errNoRoomElsewhere
	case c.starts != nil:
		return errNoRoom
	case !c.stopping:
		n.Why = found.why
		if found.startable && c.waits != nil {
			n.Why = c.says
		}
		if found.startable {
			c.e.readied[n.Key()] = n
			c.readied = append(c.readied, n.Key())
		}
	}
	return nil
}

// place is whether there is one for a node, and why not.
type place struct {
	ok        bool
	why       string
	startable bool // it waits for nothing but a place
	elsewhere bool // that other servers have
}

func (c *claiming) place(n *engine.NodeRun, w *flow.Writes, st flow.State) place {
	switch {
	case !w.Run.Paused.IsZero() || c.stopping:
		return place{why: engine.WaitsToGoOn}
	case c.starts == nil && c.e.leaves(n):
		return place{why: "waits for a server that has its folders"}
	}
	ok, why := c.e.claimInTurn(n, c.starts != nil)
	if ofJob, ofPool := c.e.slots.limitsOf(n); ok && !st.Room(n, ofJob, ofPool) {
		c.e.slots.undo([]engine.NodeKey{n.Key()}, nil)
		return place{why: engine.WaitsForOther + "server has ended a run of " + n.Name + ", or one in its pool", startable: true, elsewhere: true}
	}
	return place{ok: ok, why: why, startable: true}
}

// claimInTurn takes a slot for a node, unless another has its turn before it and would
// find no other. called says that it was called from the line.
func (e *Exec) claimInTurn(n *engine.NodeRun, called bool) (ok bool, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.slots.claim(n, e.inFront(n, called))
}

// inFront are the nodes that have their turn before n: nearly always none. Those that
// wait for more than a place do not hold it up. In front of one that was called from
// the line is only what has become ready since. e.mu is held while they are looked at.
func (e *Exec) inFront(n *engine.NodeRun, called bool) iter.Seq[*engine.NodeRun] {
	return func(yield func(*engine.NodeRun) bool) {
		for _, w := range e.readied {
			if byTurn(w, n) < 0 && !yield(w) {
				return
			}
		}
		if called {
			return
		}
		for _, w := range e.called {
			if byTurn(w, n) < 0 && !yield(w) {
				return
			}
		}
		for i := range e.waiting {
			w := &e.waiting[i]
			if byTurn(w, n) >= 0 {
				return
			}
			if !e.paused[w.Run] && !e.blocked[w.Ref] && !e.left(w) && !yield(w) {
				return
			}
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
