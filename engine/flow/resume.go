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
	// Start are the nodes that are done again. What else is, says Redo.
	Start []engine.Ref
	// Marks are nodes that count from now on as they are marked, by the person
	// who says so: they are not done again, and what waits for that goes on.
	Marks map[engine.Ref]engine.State
	By    string
	Why   string // the reason that By gives, if any
}

// Resume begins a run that goes on from an earlier one: what Redo keeps is copied
// as it ended, and counts for the triggers that join it with what is done again.
func Resume(g *graph.Graph, st State, run engine.Run, again Again, now time.Time) Writes {
	s := newStep(g, st, run, now)
	s.event(engine.Event{Kind: "run", State: string(engine.Running), Text: "goes on from run " + string(run.Previous)})
	redo := NewRedo(g, again)
	s.copy(again, redo)
	for _, t := range g.Triggers() {
		s.set(s.carried(&t, again, redo))
	}
	for _, ref := range g.Refs() {
		for _, was := range redo.Begins(ref) {
			head := s.st.Head(ref)
			s.add(engine.NodeRun{
				Run: run.ID, Ref: ref, Name: head.Name, Start: was.Start, Attempt: 1, State: engine.Ready, Lane: head.Lane,
				By: was.By, Arguments: was.Arguments, ReadyAt: now,
			})
		}
	}
	for _, ref := range g.Refs() { // in the order of the graph
		if _, marked := again.Marks[ref]; marked {
			s.marked(ref)
		}
	}
	for _, t := range g.Triggers() {
		if now := s.trigger(t.ID); !now.Decided() && now.Met > 0 {
			s.weigh(t.ID) // one that the end of the earlier run kept from firing
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

// copy takes over the node runs that are not done again, with the marks laid over
// the newest of each node.
func (s *step) copy(again Again, redo *Redo) {
	for _, n := range again.Nodes {
		if !redo.Keeps(&n) || !s.g.Has(n.Ref.String()) {
			continue // done again, or no longer of the workflow
		}
		newest := redo.newest(&n)
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
		s.change(n, text)
	}
}

// carried is a trigger as it stands when a run goes on. One that is decided anew
// counts what is kept as it ended; what is marked counts when all is copied.
func (s *step) carried(t *engine.Trigger, again Again, redo *Redo) engine.TriggerRun {
	now := engine.TriggerRun{Run: s.w.Run.ID, Trigger: t.ID}
	if !redo.open[t.ID] {
		was := again.Fired[t.ID]
		now.FiredAt, now.DeadAt = was.FiredAt, was.DeadAt
		if !now.Decided() { // new since then, and nothing it waits for is done again
			now.DeadAt = s.now
		}
		return now
	}
	for _, c := range t.Predicate.Conditions {
		if _, marked := again.Marks[c.Ref]; marked {
			continue
		}
		switch redo.outlook(c) {
		case isMet:
			now.Met++
		case isLost:
			now.Dead++
		case isOpen:
		}
	}
	return now
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
