// Package flow says what follows from an event of a run: which triggers are
// met, which fire, which node runs begin, which can no longer begin, and when
// the run is over. It is pure, and its cost is that of the neighbours of the
// node the event is about, never of the whole run.
package flow

import (
	"fmt"
	"time"

	"dogear/engine"
	"dogear/engine/graph"
)

// Begin starts a run of a workflow by its start trigger start. Run is new and
// holds the workflow's body.
func Begin(g *graph.Graph, st State, run engine.Run, start engine.ID, now time.Time) Writes {
	s := newStep(g, st, run, now)
	s.event(engine.Event{Kind: "run", State: string(engine.Running)})
	s.fire(start)
	for _, t := range g.Triggers() {
		if now := s.trigger(t.ID); now.Decided() {
			continue
		}
		// Another start trigger does not fire in this run, a disabled one never
		// does, and one that waits for nothing has nothing to wait for.
		if t.Type != engine.Conditional || t.Disabled || len(t.Predicate.Conditions) == 0 {
			s.kill(t.ID)
		}
	}
	for _, ref := range g.Refs() {
		s.skip(ref)
	}
	return s.done()
}

// BeginAlone starts a run of one job or crawler.
func BeginAlone(st State, run engine.Run, ref engine.Ref, now time.Time) Writes {
	head := st.Head(ref)
	lane := head.Lane
	if run.Pick != nil {
		lane = lane.Behind()
	}
	s := newStep(nil, nil, run, now)
	s.event(engine.Event{Kind: "run", State: string(engine.Running)})
	s.add(engine.NodeRun{
		Run: run.ID, Ref: ref, Name: head.Name, Start: 1, Attempt: 1, State: engine.Ready, Lane: lane, ReadyAt: now,
	})
	return s.done()
}

// End says what follows when node has ended. Its state is one of the ended
// ones; every other field that its end brought is set as well.
func End(g *graph.Graph, st State, run engine.Run, node engine.NodeRun, now time.Time) Writes {
	s := newStep(g, st, run, now)
	s.change(node, node.Error)
	s.w.OpenNodes--
	s.follow(node)
	return s.done()
}

// Retry ends an attempt that is tried again and makes the next one, which may
// not start before at.
func Retry(st State, run engine.Run, node engine.NodeRun, at, now time.Time) Writes {
	s := newStep(nil, st, run, now)
	s.change(node, node.Error)
	s.w.OpenNodes--
	next := engine.NodeRun{
		Run: node.Run, Ref: node.Ref, Name: node.Name, Start: node.Start, Attempt: node.Attempt + 1, By: node.By,
		State: engine.Ready, Lane: node.Lane, Arguments: node.Arguments, ReadyAt: now, NotBefore: at,
		Why: "waits before its next attempt",
	}
	s.add(next)
	return s.done()
}

// Change records a move of a node that nothing follows from: starting,
// running, publishing, stopping.
func Change(run engine.Run, node engine.NodeRun, text string, now time.Time) Writes {
	s := newStep(nil, nil, run, now)
	s.change(node, text)
	return s.w
}

// Late records that an attempt ended in state after it had been taken over.
// Nothing follows from it. A run that has ended is left as it is.
func Late(run engine.Run, node engine.NodeRun, state engine.State, now time.Time) (Writes, error) {
	if !run.Open() {
		return Writes{}, engine.Errorf(engine.Conflict, "This run has ended already.")
	}
	s := newStep(nil, nil, run, now)
	s.event(engine.Event{
		Kind: "late", Card: node.Ref.String(), State: string(state), Start: node.Start, Attempt: node.Attempt,
		Text: "an attempt that had been taken over ended; its result does not count",
	})
	return s.w, nil
}

// Stop asks a run to end: what has not started is stopped, what is under way
// goes to stopping, a publish goes on to its end.
func Stop(g *graph.Graph, st State, run engine.Run, open []engine.NodeRun, by string, now time.Time) (Writes, error) {
	if !run.Open() {
		return Writes{}, engine.Errorf(engine.Conflict, "This run has ended already.")
	}
	if !run.StopAsked.IsZero() {
		return Writes{}, engine.Errorf(engine.Conflict, "This run is being stopped already.")
	}
	run.StopAsked, run.StopBy = now, by
	return stop(g, st, run, open, engine.StoppedLead+by, now), nil
}

// OverTime ends a run that takes longer than it may: as Stop, but it has failed
// and says why.
func OverTime(g *graph.Graph, st State, run engine.Run, open []engine.NodeRun, now time.Time) (Writes, error) {
	if !run.Open() || !run.StopAsked.IsZero() || run.Deadline.IsZero() || now.Before(run.Deadline) {
		return Writes{}, engine.Errorf(engine.Conflict, "This run is not over its time.")
	}
	run.StopAsked = now
	run.Error = fmt.Sprintf("The run took longer than its limit of %s and was ended. Give the workflow more time, or let it do less at once.", run.Deadline.Sub(run.Started))
	return stop(g, st, run, open, run.Error, now), nil
}

// stop ends what is open of a run.
func stop(g *graph.Graph, st State, run engine.Run, open []engine.NodeRun, why string, now time.Time) Writes {
	s := newStep(g, st, run, now)
	s.event(engine.Event{Kind: "run", State: string(engine.Stopping), Text: why})
	if g != nil {
		for _, t := range g.Triggers() {
			s.kill(t.ID)
		}
	}
	for _, node := range open {
		s.halt(&node, "")
	}
	if g != nil {
		for _, ref := range g.Refs() {
			s.skip(ref)
		}
	}
	return s.done()
}
