package flow

import (
	"maps"
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/graph"
)

// Skip tells a run not to do a node. What of it is queued is skipped now, and what
// has not had its turn when that comes; what waits for its success goes on as if
// it had succeeded (ADR 0030). One that has begun is a Conflict.
func Skip(g *graph.Graph, st State, run engine.Run, ref engine.Ref, by, why string, now time.Time) (Writes, error) {
	s, name, err := begun(g, st, run, ref, now)
	if err != nil {
		return Writes{}, err
	}
	if told, already := run.Skips[ref.String()]; already {
		return Writes{}, engine.Errorf(engine.Conflict, "%s will not run any more: it was %s.", name, told)
	}
	queued := slices.DeleteFunc(slices.Clone(s.runs(ref)), func(n engine.NodeRun) bool { return n.State != engine.Ready || n.Attempt > 1 })
	later := s.mayStart(ref)
	if len(queued) == 0 && !later {
		return Writes{}, tooLateToSkip(name, s.lasts(ref))
	}
	words := engine.SkipWords(by, why)
	s.w.Run.Skips = map[string]string{}
	maps.Copy(s.w.Run.Skips, run.Skips)
	s.w.Run.Skips[ref.String()] = words
	if later {
		s.event(engine.Event{Kind: "run", State: "skips", Text: name + " is not to run: " + words})
	}
	for _, node := range queued {
		s.w.OpenNodes--
		s.follow(s.passOver(node, words))
	}
	return s.done(), nil
}

// Unskip takes back what Skip has said of a node that has not had its turn.
func Unskip(g *graph.Graph, st State, run engine.Run, ref engine.Ref, by string, now time.Time) (Writes, error) {
	s, name, err := begun(g, st, run, ref, now)
	if err != nil {
		return Writes{}, err
	}
	if _, told := run.Skips[ref.String()]; !told || !s.mayStart(ref) {
		return Writes{}, engine.Errorf(engine.Conflict, "%s does not wait to be skipped in this run.", name)
	}
	s.w.Run.Skips = maps.Clone(run.Skips)
	delete(s.w.Run.Skips, ref.String())
	s.event(engine.Event{Kind: "run", State: "skips", Text: name + " is to run after all, says " + by})
	return s.done(), nil
}

// StopNode ends the attempts at one node and lets the run go on: what waits for
// its stop starts. start names one of several starts; 0 is all that are open.
func StopNode(g *graph.Graph, st State, run engine.Run, ref engine.Ref, start int, by string, now time.Time) (Writes, error) {
	s, name, err := begun(g, st, run, ref, now)
	if err != nil {
		return Writes{}, err
	}
	for _, node := range slices.Clone(s.runs(ref)) {
		if start != 0 && node.Start != start {
			continue
		}
		// One after the other: each is told of as if the next had not ended.
		if s.halt(&node, engine.StoppedLead+by) && node.State.Done() {
			s.follow(node)
		}
	}
	if len(s.w.Nodes) == 0 {
		return Writes{}, nothingToStop(name, slices.DeleteFunc(s.lasts(ref), func(n engine.NodeRun) bool { return start != 0 && n.Start != start }))
	}
	return s.done(), nil
}

// begun begins a step that is about one node of an open run, and says how the node
// is called.
func begun(g *graph.Graph, st State, run engine.Run, ref engine.Ref, now time.Time) (*step, string, error) {
	switch {
	case !run.Open():
		return nil, "", engine.Errorf(engine.Conflict, "This run has ended already.")
	case !run.StopAsked.IsZero():
		return nil, "", engine.Errorf(engine.Conflict, "This run is being stopped already.")
	case g == nil:
		return nil, "", engine.Errorf(engine.Invalid, "This run is of one job or crawler alone. Stop the run instead.")
	case !slices.Contains(g.Refs(), ref):
		return nil, "", engine.Errorf(engine.NotFound, "The %s is not part of this run.", ref.Kind)
	}
	s := newStep(g, st, run, now)
	return s, st.Head(ref).Name, nil
}

// halt stops an attempt that has not begun, tells one to stop that is under way, and
// leaves any other as it is. why is what both say.
func (s *step) halt(node *engine.NodeRun, why string) bool {
	switch node.State {
	case engine.Ready:
		node.State, node.Ended, node.Why = engine.Stopped, s.now, why
		s.w.OpenNodes--
		s.change(*node, "stopped before it started")
	case engine.Starting, engine.Running:
		node.State, node.Why = engine.Stopping, why
		s.change(*node, why)
	case engine.Publishing, engine.Stopping, engine.Lost, engine.Waiting,
		engine.Succeeded, engine.Failed, engine.TimedOut, engine.Stopped, engine.Skipped:
		return false
	}
	return true
}

// tooLateToSkip says why a node cannot be skipped any more.
func tooLateToSkip(name string, lasts []engine.NodeRun) error {
	last := newest(lasts)
	switch {
	case last.PassedOver():
		return engine.Errorf(engine.Conflict, "%s was %s already.", name, last.Why)
	case last.State.Done():
		return hasEnded(name, last)
	case last.State == engine.Ready:
		return engine.Errorf(engine.Conflict, "%s has begun: an attempt at it failed, and the next one waits. Stop it instead.", name)
	}
	return engine.Errorf(engine.Conflict, "%s has begun already. Stop it instead.", name)
}

// nothingToStop says why nothing of a node can be stopped.
func nothingToStop(name string, lasts []engine.NodeRun) error {
	switch last := newest(lasts); {
	case last.Attempt == 0:
		return engine.Errorf(engine.Conflict, "%s has not had its turn in this run. Skip it instead.", name)
	case last.State == engine.Publishing:
		return engine.Errorf(engine.Conflict, "%s is publishing what it has made, and that is finished first.", name)
	case last.State == engine.Stopping:
		return engine.Errorf(engine.Conflict, "%s is being stopped already.", name)
	default:
		return hasEnded(name, last)
	}
}

func hasEnded(name string, last engine.NodeRun) error {
	return engine.Errorf(engine.Conflict, "%s has ended in this run already: %s.", name, strings.ReplaceAll(string(last.State), "_", " "))
}

// newest is the last start of a node; the zero value where there is none.
func newest(lasts []engine.NodeRun) (last engine.NodeRun) {
	for _, n := range lasts {
		if n.Start > last.Start {
			last = n
		}
	}
	return last
}
