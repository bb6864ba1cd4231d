package flow

import (
	"slices"
	"time"

	"dogear/engine"
	"dogear/engine/graph"
)

// Again says how a run goes on from an earlier one.
type Again struct {
	Nodes []engine.NodeRun // of the earlier run, all starts and attempts
	Fired map[engine.ID]engine.TriggerRun
	// Start are the nodes that are done again; what comes after them follows by
	// the triggers.
	Start []engine.Ref
	// Marks are nodes that count from now on as they are marked, by the person
	// who says so: they are not done again, and what waits for that goes on.
	Marks map[engine.Ref]engine.State
	By    string
	Why   string // the reason that By gives, if any
}

// StartsOf are the nodes of again that begin: one that comes after another of
// them is left to the triggers (glue-semantics.md 1.7, 4).
func StartsOf(g *graph.Graph, again []engine.Ref) []engine.Ref {
	after := map[engine.Ref]bool{}
	for _, ref := range again {
		for _, next := range g.Downstream(ref) {
			after[next] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(again), func(ref engine.Ref) bool { return after[ref] })
}

// Resume begins a run that goes on from an earlier one: what is neither done
// again nor comes after it is copied as it ended, and counts for the triggers
// that join it with what is done again.
func Resume(g *graph.Graph, st State, run engine.Run, again Again, now time.Time) Writes {
	s := newStep(g, st, run, now)
	s.event(engine.Event{Kind: "run", State: string(engine.Running), Text: "goes on from run " + string(run.Previous)})
	anew := map[engine.Ref]bool{}
	for _, ref := range again.Start {
		anew[ref] = true
		for _, next := range g.Downstream(ref) {
			anew[next] = true
		}
	}
	for ref := range again.Marks {
		for _, next := range g.Downstream(ref) {
			anew[next] = true
		}
	}
	for ref := range again.Marks {
		delete(anew, ref)
	}
	last := s.copy(again, anew)
	for _, t := range g.Triggers() {
		s.set(s.carried(&t, again, anew, last))
	}
	for _, ref := range again.Start {
		head := s.st.Head(ref)
		s.add(engine.NodeRun{
			Run: run.ID, Ref: ref, Name: head.Name, Start: 1, Attempt: 1, State: engine.Ready, Lane: head.Lane,
			By: last[ref].By, Arguments: last[ref].Arguments, ReadyAt: now,
		})
	}
	for _, ref := range g.Refs() { // in the order of the graph
		if _, marked := again.Marks[ref]; marked {
			s.marked(ref)
		}
	}
	for _, t := range g.Triggers() {
		if now := s.trigger(t.ID); !now.Decided() && !mayBeMet(now, &t.Predicate) {
			s.kill(t.ID)
		}
	}
	for _, ref := range g.Refs() {
		if anew[ref] {
			s.skip(ref)
		}
	}
	return s.done()
}

// marked lets the watchers of a marked node know how it counts now.
func (s *step) marked(ref engine.Ref) {
	for _, w := range s.g.Watchers(ref) {
		t := s.trigger(w.Trigger)
		if t.Decided() {
			continue
		}
		if slices.ContainsFunc(s.lasts(ref), func(n engine.NodeRun) bool { return w.Condition.Meets(n.As()) }) {
			t.Met++
		} else {
			t.Dead++
		}
		s.set(t)
		s.weigh(w.Trigger)
	}
}

// copy takes over the node runs that are not done again, and returns the last
// state of every node of the earlier run, with the marks laid over it.
func (s *step) copy(again Again, anew map[engine.Ref]bool) map[engine.Ref]engine.NodeRun {
	last := map[engine.Ref]engine.NodeRun{}
	for _, n := range again.Nodes {
		if was, ok := last[n.Ref]; !ok || n.Start > was.Start || n.Start == was.Start && n.Attempt > was.Attempt {
			last[n.Ref] = n
		}
	}
	for _, n := range again.Nodes {
		if anew[n.Ref] || !slices.Contains(s.g.Refs(), n.Ref) {
			continue // done again, or no longer of the workflow
		}
		was := last[n.Ref]
		newest := n.Start == was.Start && n.Attempt == was.Attempt
		if n.Copied == "" {
			n.Copied = n.Run
		}
		n.Run, n.Process, n.Batch, n.Fence = s.w.Run.ID, engine.Process{}, "", n.Fence+1
		text := ""
		if mark, ok := again.Marks[n.Ref]; ok && newest {
			text = engine.MarkWords(mark, again.By, again.Why)
			n.State, n.Why, n.Error = mark, text, ""
			if n.Ended.IsZero() {
				n.Ended = s.now
			}
		}
		if newest {
			last[n.Ref] = n
		}
		s.change(n, text)
	}
	return last
}

// carried is a trigger as it stands when a run goes on: what is not done again
// counts as it ended.
func (s *step) carried(t *engine.Trigger, again Again, anew map[engine.Ref]bool, last map[engine.Ref]engine.NodeRun) engine.TriggerRun {
	conditions := t.Predicate.Conditions
	now := engine.TriggerRun{Run: s.w.Run.ID, Trigger: t.ID}
	open := false
	for _, c := range conditions {
		_, marked := again.Marks[c.Ref]
		switch {
		case anew[c.Ref]:
			open = true
		case marked:
			open = true
		case t.Predicate.Logic == engine.Any:
			now.Dead++ // it has fired for this already, or never will
		case met(c, last):
			now.Met++
		default:
			now.Dead++
		}
	}
	if open {
		return now
	}
	was := again.Fired[t.ID]
	now.FiredAt, now.DeadAt = was.FiredAt, was.DeadAt
	if !now.Decided() { // new since then, and nothing it waits for is done again
		now.DeadAt = s.now
	}
	return now
}

// met reports whether the last state of its node meets a condition.
func met(c engine.Condition, last map[engine.Ref]engine.NodeRun) bool {
	node := last[c.Ref]
	return c.Meets(node.As())
}

// mayBeMet reports whether a predicate can still be met.
func mayBeMet(t engine.TriggerRun, p *engine.Predicate) bool {
	if p.Logic == engine.Any {
		return t.Dead < len(p.Conditions)
	}
	return t.Dead == 0
}

// Pause keeps everything of a run from starting until it goes on. What is
// under way is finished.
func Pause(run engine.Run, by string, now time.Time) (Writes, error) {
	switch {
	case !run.Open():
		return Writes{}, engine.Errorf(engine.Conflict, "This run has ended already.")
	case !run.Paused.IsZero():
		return Writes{}, engine.Errorf(engine.Conflict, "This run is paused already.")
	case !run.StopAsked.IsZero():
		return Writes{}, engine.Errorf(engine.Conflict, "This run is being stopped already.")
	}
	run.Paused = now
	s := newStep(nil, nil, run, now)
	s.event(engine.Event{Kind: "run", State: "paused", Text: "paused by " + by})
	return s.w, nil
}

// GoOn lets a paused run start what waits.
func GoOn(run engine.Run, by string, now time.Time) (Writes, error) {
	if run.Paused.IsZero() || !run.Open() {
		return Writes{}, engine.Errorf(engine.Conflict, "This run is not paused.")
	}
	run.Paused = time.Time{}
	s := newStep(nil, nil, run, now)
	s.event(engine.Event{Kind: "run", State: "resumed", Text: "goes on, by " + by})
	return s.w, nil
}
