package flow

import (
	"cmp"
	"slices"

	"dogear/engine"
	"dogear/engine/graph"
)

// Redo is what a run that goes on from an earlier one does again, and what it
// keeps. It is the one answer to that, for the run itself and for whoever shows
// it beforehand.
//
// What is done again is a start of a node, not a node: a start stays as it ended
// unless the node is chosen or the trigger that made it is decided anew. Of a chosen
// node with several starts those that succeeded stay, unless all did. A trigger
// is decided anew if it can still be met and waits for something that is done
// again or marked. An any gate that has fired and that a kept node meets is not:
// it has fired for that node already, and does not fire twice
// (glue-semantics.md 1.7 and 2.4, whose silence about any gates and about several
// starts this fills; ADR 37 and 49).
type Redo struct {
	g      *graph.Graph
	again  Again
	chosen map[engine.Ref]bool             // to be done again
	lasts  map[engine.Ref][]engine.NodeRun // the last attempt of each start
	open   map[engine.ID]bool              // triggers that are decided anew
}

// NewRedo works out what again does in a workflow that is drawn as g.
func NewRedo(g *graph.Graph, again Again) *Redo {
	r := &Redo{
		g: g, again: again, chosen: map[engine.Ref]bool{}, lasts: map[engine.Ref][]engine.NodeRun{}, open: map[engine.ID]bool{},
	}
	for _, ref := range again.Start {
		r.chosen[ref] = true
	}
	for _, n := range again.Nodes {
		r.lasts[n.Ref] = withLast(r.lasts[n.Ref], n)
	}
	next := slices.Clone(again.Start)
	for ref := range again.Marks {
		next = append(next, ref)
	}
	for len(next) > 0 {
		ref := next[0]
		next = next[1:]
		for _, w := range g.Watchers(ref) {
			if t := g.Trigger(w.Trigger); !r.open[t.ID] && r.opens(t) {
				r.open[t.ID] = true
				for _, action := range t.Actions {
					next = append(next, action.Ref)
				}
			}
		}
	}
	return r
}

// Unfinished are the nodes of which a start did not succeed, in the order of nodes:
// what is done again where nobody chooses.
func Unfinished(nodes []engine.NodeRun) []engine.Ref {
	lasts := map[engine.Ref][]engine.NodeRun{}
	var order []engine.Ref
	for _, n := range nodes {
		if lasts[n.Ref] == nil {
			order = append(order, n.Ref)
		}
		lasts[n.Ref] = withLast(lasts[n.Ref], n)
	}
	return slices.DeleteFunc(order, func(ref engine.Ref) bool {
		return !slices.ContainsFunc(lasts[ref], func(n engine.NodeRun) bool { return fell(n.State) || n.State == engine.Stopped })
	})
}

// Begins lists the earlier starts of ref that begin at once, in their order: those
// that are done again and that no trigger brings. A chosen node that comes after
// another one is left to the triggers.
func (r *Redo) Begins(ref engine.Ref) []engine.NodeRun {
	var begin []engine.NodeRun
	for _, n := range r.lasts[ref] {
		if r.redone(&n) && r.stands(&n) {
			begin = append(begin, n)
		}
	}
	slices.SortFunc(begin, func(a, b engine.NodeRun) int { return cmp.Compare(a.Start, b.Start) })
	return begin
}

// redone reports whether the start that n is an attempt at is done again because its
// node is chosen.
func (r *Redo) redone(n *engine.NodeRun) bool {
	if !r.chosen[n.Ref] {
		return false
	}
	succeeded := func(n engine.NodeRun) bool { return n.As() == engine.Succeeded }
	all := !slices.ContainsFunc(r.lasts[n.Ref], func(n engine.NodeRun) bool { return !succeeded(n) })
	return all || !slices.ContainsFunc(r.lasts[n.Ref], func(last engine.NodeRun) bool { return last.Start == n.Start && succeeded(last) })
}

// Follows reports whether triggers that are decided anew may start ref.
func (r *Redo) Follows(ref engine.Ref) bool {
	return slices.ContainsFunc(r.g.Starters(ref), func(id engine.ID) bool { return r.open[id] })
}

// Keeps reports whether a node run of the earlier run is copied as it ended, or as
// it is marked.
func (r *Redo) Keeps(n *engine.NodeRun) bool {
	if _, marked := r.again.Marks[n.Ref]; marked {
		return true
	}
	return !r.redone(n) && r.stands(n)
}

// stands reports whether no trigger brings the start n again. One by a trigger
// that no longer starts its node, and a node that had no turn, stand where nothing
// starts the node anew.
func (r *Redo) stands(n *engine.NodeRun) bool {
	if slices.Contains(r.g.Starters(n.Ref), n.By) {
		return !r.open[n.By]
	}
	return !r.Follows(n.Ref)
}

// opens reports whether t is decided anew. Once it is, it stays so whatever else
// turns out to be done again.
func (r *Redo) opens(t *engine.Trigger) bool {
	if t.Disabled {
		return false
	}
	met, lost, open := 0, 0, 0
	for _, c := range t.Predicate.Conditions {
		switch r.outlook(c) {
		case isMet:
			met++
		case isLost:
			lost++
		case isOpen:
			open++
		}
	}
	if t.Predicate.Logic == engine.Any {
		return open > 0 && (met == 0 || r.again.Fired[t.ID].FiredAt.IsZero())
	}
	return open > 0 && lost == 0
}

// outlook is how a condition stands when the run goes on.
type outlook int

const (
	isLost outlook = iota // by what is kept it is not met and cannot be any more
	isMet                 // by what is kept
	isOpen                // what it waits for is done again or marked
)

func (r *Redo) outlook(c engine.Condition) outlook {
	if _, marked := r.again.Marks[c.Ref]; marked {
		return isOpen
	}
	for _, n := range r.lasts[c.Ref] {
		if r.Keeps(&n) && c.Meets(n.As()) {
			return isMet
		}
	}
	if r.chosen[c.Ref] || r.Follows(c.Ref) {
		return isOpen
	}
	return isLost
}

// newest reports whether n is the last attempt of the last start of its node.
func (r *Redo) newest(n *engine.NodeRun) bool {
	return !slices.ContainsFunc(r.lasts[n.Ref], func(other engine.NodeRun) bool {
		return other.Start > n.Start || other.Start == n.Start && other.Attempt > n.Attempt
	})
}
