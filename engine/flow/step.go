package flow

import (
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/graph"
)

// step collects the writes of one transition.
type step struct {
	g   *graph.Graph
	st  State
	now time.Time
	w   Writes
	// triggers and nodes overlay what the store answers with what this step
	// has changed already.
	triggers map[engine.ID]engine.TriggerRun
	written  map[engine.ID]bool
	nodes    map[engine.Ref][]engine.NodeRun
}

func newStep(g *graph.Graph, st State, run engine.Run, now time.Time) *step {
	return &step{
		g: g, st: st, now: now,
		// Mostly one node ends, its trigger fires, and another starts.
		w:        Writes{Run: run, Nodes: make([]engine.NodeRun, 0, 2), Events: make([]engine.Event, 0, 4)},
		triggers: map[engine.ID]engine.TriggerRun{}, written: map[engine.ID]bool{}, nodes: map[engine.Ref][]engine.NodeRun{},
	}
}

// skip skips a node that has not started and that nothing can start any more,
// and tells its watchers.
func (s *step) skip(ref engine.Ref) bool {
	if s.starts(ref) > 0 || s.mayStart(ref) {
		return false
	}
	node := engine.NodeRun{
		Run: s.w.Run.ID, Ref: ref, Name: s.st.Head(ref).Name, Start: 1, Attempt: 1, State: engine.Skipped, Ended: s.now,
	}
	s.change(node, "")
	s.nodes[ref] = []engine.NodeRun{node}
	for _, w := range s.g.Watchers(ref) {
		s.lose(w)
	}
	return true
}

// mayStart reports whether an undecided trigger can still start ref.
func (s *step) mayStart(ref engine.Ref) bool {
	for _, id := range s.g.Starters(ref) {
		if t := s.trigger(id); !t.Decided() {
			return true
		}
	}
	return false
}

// mayComeAgain reports whether ref has an open node run or may still get one,
// so that a condition on it may yet be met.
func (s *step) mayComeAgain(ref engine.Ref) bool {
	for _, n := range s.runs(ref) {
		if !n.State.Done() {
			return true
		}
	}
	return s.mayStart(ref)
}

func (s *step) starts(ref engine.Ref) (n int) {
	for _, run := range s.runs(ref) {
		n = max(n, run.Start)
	}
	return n
}

func (s *step) runs(ref engine.Ref) []engine.NodeRun {
	if changed, ok := s.nodes[ref]; ok {
		return changed
	}
	if s.st == nil || s.fresh() {
		return nil
	}
	runs := s.st.NodeRuns(ref)
	s.nodes[ref] = runs
	return runs
}

// fresh reports that the run is just beginning and has no rows yet.
func (s *step) fresh() bool { return s.w.Run.Seq == 0 }

// add makes a node run that begins.
func (s *step) add(node engine.NodeRun) {
	s.w.OpenNodes++
	s.change(node, "")
	if s.st == nil {
		s.overlay(node) // else it has been
	}
}

// change writes a node run in its new state, with its event.
func (s *step) change(node engine.NodeRun, text string) {
	s.w.Nodes = append(s.w.Nodes, node)
	s.event(engine.Event{
		Kind: "node", Card: node.Ref.String(), State: string(node.State), Start: node.Start, Attempt: node.Attempt, Text: text,
	})
	if s.st != nil {
		s.overlay(node)
	}
}

// overlay makes later questions of this step see node as it is now.
func (s *step) overlay(node engine.NodeRun) {
	runs := append([]engine.NodeRun(nil), s.runs(node.Ref)...)
	for i := range runs {
		if runs[i].Key() == node.Key() {
			runs[i] = node
			s.nodes[node.Ref] = runs
			return
		}
	}
	s.nodes[node.Ref] = append(runs, node)
}

func (s *step) event(e engine.Event) {
	e.Run, e.At = s.w.Run.ID, s.now
	s.w.Events = append(s.w.Events, e)
}

// done closes the run where this step leaves it without an open node. No
// trigger is then undecided: every condition was met or can't be any more.
func (s *step) done() Writes {
	for id := range s.written {
		if t := s.triggers[id]; t.FiredAt.IsZero() || !s.byNodes(id) {
			s.w.Triggers = append(s.w.Triggers, t)
		}
	}
	slices.SortFunc(s.w.Triggers, func(a, b engine.TriggerRun) int { return strings.Compare(string(a.Trigger), string(b.Trigger)) })
	open, nodes := s.w.OpenNodes, s.w.Nodes
	if s.st != nil && !s.fresh() {
		open += s.st.OpenNodes()
	}
	if open > 0 || !s.w.Run.Open() {
		return s.w
	}
	if s.st != nil && !s.fresh() {
		nodes = slices.Concat(s.st.All(), nodes) // a later mention of a key wins
	}
	s.w.Run.Ended = s.now
	s.w.Run.Outcome = Outcome(s.g, &s.w.Run, nodes)
	s.event(engine.Event{Kind: "run", State: string(s.w.Run.Outcome)})
	return s.w
}

// fell reports whether a node that ended so failed, rather than being told to end.
func fell(state engine.State) bool {
	return state == engine.Failed || state == engine.TimedOut || state == engine.Lost
}

// Outcome is how a run ended (model.md, Outcome of a run, and ADR 48). Of several mentions
// of one node run the last counts, of several attempts the newest.
func Outcome(g *graph.Graph, run *engine.Run, nodes []engine.NodeRun) engine.Outcome {
	if !run.StopAsked.IsZero() {
		if run.Error != "" { // nobody asked for it: it took too long
			return engine.RunFailed
		}
		return engine.RunStopped
	}
	type start struct {
		ref engine.Ref
		n   int
	}
	last := make(map[start]*engine.NodeRun, len(nodes))
	for i := range nodes {
		n, key := &nodes[i], start{nodes[i].Ref, nodes[i].Start}
		if last[key] == nil || n.Attempt >= last[key].Attempt {
			last[key] = n
		}
	}
	failed, stopped, passed, ends := false, false, false, map[engine.Ref]bool{}
	for _, n := range last {
		passed = passed || n.PassedOver()
		failed, stopped = failed || fell(n.State), stopped || n.State == engine.Stopped
		if n.State == engine.Succeeded {
			ends[n.Ref] = true
		}
	}
	if !failed && stopped {
		return engine.RunStopped // a person ended a part of it, and nothing failed
	}
	if !failed && passed && len(ends) == 0 {
		return engine.RunStopped // all that it was to do, a person told it not to
	}
	if !failed {
		return engine.RunSucceeded
	}
	if g != nil && slices.ContainsFunc(g.Ends(), func(ref engine.Ref) bool { return ends[ref] }) {
		return engine.RunPartlyFailed
	}
	return engine.RunFailed
}
