// Package flow says what follows from an event of a run: which triggers are
// met, which fire, which node runs begin, which can no longer begin, and when
// the run is over. It is pure, and its cost is that of the neighbours of the
// node the event is about, never of the whole run.
package flow

import (
	"time"

	"dogear/engine"
	"dogear/engine/graph"
)

// Begin starts a run of a workflow by its start trigger start. Run is new and
// holds the workflow's body.
func Begin(g *graph.Graph, st State, run engine.Run, start engine.ID, now time.Time) Writes {
	s := newStep(g, st, run, now)
	s.event(engine.Event{Kind: "run", State: string(engine.Running)})
	for _, t := range g.Triggers() {
		s.set(engine.TriggerRun{Run: run.ID, Trigger: t.ID})
	}
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
func BeginAlone(run engine.Run, ref engine.Ref, name string, now time.Time) Writes {
	s := newStep(nil, nil, run, now)
	s.event(engine.Event{Kind: "run", State: string(engine.Running)})
	s.add(engine.NodeRun{
		Run: run.ID, Ref: ref, Name: name, Start: 1, Attempt: 1, State: engine.Ready, ReadyAt: now,
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
		State: engine.Ready, Arguments: node.Arguments, ReadyAt: now, NotBefore: at,
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
	s := newStep(g, st, run, now)
	s.event(engine.Event{Kind: "run", State: string(engine.Stopping), Text: "stopped by " + by})
	if g != nil {
		for _, t := range g.Triggers() {
			s.kill(t.ID)
		}
	}
	for _, node := range open {
		switch node.State {
		case engine.Ready:
			node.State, node.Ended, node.Why = engine.Stopped, now, ""
			s.change(node, "stopped before it started")
			s.w.OpenNodes--
		case engine.Starting, engine.Running:
			node.State = engine.Stopping
			s.change(node, "")
		case engine.Publishing, engine.Stopping, engine.Lost, engine.Waiting,
			engine.Succeeded, engine.Failed, engine.TimedOut, engine.Stopped, engine.Skipped:
		}
	}
	if g != nil {
		for _, ref := range g.Refs() {
			s.skip(ref)
		}
	}
	return s.done(), nil
}
