// Package flow says what follows from an event of a run: which triggers are
// met, which fire, which node runs begin, which can no longer begin, and when
// the run is over. It is pure, and its cost is that of the neighbours of the
// node the event is about, never of the whole run.
package flow

import (
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/graph"
)

// State is what flow asks about a run besides its graph. The store answers
// from the rows of the transaction it has open, so that two nodes that end at
// once can't both see the other as open: the run's row is locked first.
type State interface {
	// TriggerRun returns how far a trigger of the run has come.
	TriggerRun(id engine.ID) engine.TriggerRun
	// NodeRuns returns every start and attempt of a node in the run.
	NodeRuns(ref engine.Ref) []engine.NodeRun
	// NameOf returns the name of a job or crawler as it is now.
	NameOf(ref engine.Ref) string
	// OpenNodes is how many node runs of the run have not ended.
	OpenNodes() int
	// All returns every node run of the run. It is asked once, at its end.
	All() []engine.NodeRun
}

// Writes is what one transition writes, all of it in one transaction.
type Writes struct {
	Run      engine.Run
	Nodes    []engine.NodeRun
	Triggers []engine.TriggerRun
	Events   []engine.Event
	// OpenNodes is by how much the number of open node runs changes.
	OpenNodes int

	Batch     *engine.Batch        // its new state, plan or manifest
	Bookmarks []Move               // compared and set
	Tables    []engine.TableChange // of the catalog
	Fire      *Fire                // the due time that this run uses up
	Inputs    []Input              // lines of batch_input
}

// Step is one thing that happened to a run. The store calls Decide inside a
// transaction that holds the run's row, and writes what it returns. Decide may
// be called again should the transaction fail, so it changes nothing itself.
type Step struct {
	Run engine.ID
	// New is set for the first step of a run: the run to make.
	New    *engine.Run
	Decide func(run engine.Run, st State) (Writes, error)
}

// Written is what became of a step: what was written, with numbers that only
// the store can give, or why nothing was.
type Written struct {
	Writes
	Err error
}

// Move is one new version of a bookmark with its line of history.
type Move struct {
	Bookmark engine.Bookmark
	Move     engine.BookmarkMove
	// From is the version that the plan was made from.
	From int
	// FromRoot is its ledger.
	FromRoot string
}

// Fire uses up one due time of one schedule.
type Fire struct {
	Trigger engine.ID
	Due     time.Time
	Next    time.Time // zero: never again
	Note    string    // why no run was started, where none was
}

// Input is what one batch read by one context, as the root of a packed list.
type Input struct {
	Batch engine.ID
	Ctx   string
	Root  string
	Files int64
	Bytes int64
}

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
		g: g, st: st, now: now, w: Writes{Run: run},
		triggers: map[engine.ID]engine.TriggerRun{}, written: map[engine.ID]bool{}, nodes: map[engine.Ref][]engine.NodeRun{},
	}
}

// Begin starts a run of a workflow by its start trigger start. Run is new and
// holds the workflow's body.
func Begin(g *graph.Graph, st State, run engine.Run, start engine.ID, now time.Time) Writes {
	s := newStep(g, st, run, now)
	s.event(engine.Event{Kind: "run", State: string(engine.Running)})
	for _, t := range g.Triggers() {
		n := len(t.Predicate.Conditions)
		s.set(engine.TriggerRun{Run: run.ID, Trigger: t.ID, Met: make([]bool, n), Dead: make([]bool, n)})
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
		s.settle(ref)
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
			s.settle(ref)
		}
	}
	return s.done(), nil
}

// follow lets the watchers of an ended node know.
func (s *step) follow(node engine.NodeRun) {
	if s.g == nil {
		return
	}
	for _, w := range s.g.Watchers(node.Ref) {
		t := s.trigger(w.Trigger)
		if t.Decided() {
			continue
		}
		switch {
		case w.Condition.Meets(node.State):
			t.Met[w.Index] = true
			s.set(t)
			s.weigh(w.Trigger)
		case !s.mayComeAgain(node.Ref):
			s.lose(w)
		}
	}
}

// lose notes that a condition can no longer be met.
func (s *step) lose(w graph.Watch) {
	t := s.trigger(w.Trigger)
	if t.Decided() || t.Met[w.Index] || t.Dead[w.Index] {
		return
	}
	t.Dead[w.Index] = true
	s.set(t)
	s.weigh(w.Trigger)
}

// weigh fires a trigger whose predicate is met and kills one whose predicate
// can no longer be.
func (s *step) weigh(id engine.ID) {
	t, predicate := s.trigger(id), s.g.Trigger(id).Predicate
	met, dead := count(t.Met), count(t.Dead)
	if predicate.Logic == engine.Any {
		switch {
		case met > 0:
			s.fire(id)
		case dead == len(t.Dead):
			s.kill(id)
		}
		return
	}
	switch {
	case met == len(t.Met):
		s.fire(id)
	case dead > 0:
		s.kill(id)
	}
}

func count(marks []bool) (n int) {
	for _, m := range marks {
		if m {
			n++
		}
	}
	return n
}

// fire starts everything that a trigger starts. A run that is being stopped
// fires nothing.
func (s *step) fire(id engine.ID) {
	if !s.w.Run.StopAsked.IsZero() {
		return
	}
	t := s.trigger(id)
	t.FiredAt = s.now
	s.set(t)
	s.event(engine.Event{Kind: "trigger", Card: string(id), State: "fired"})
	for _, action := range s.g.Actions(id) {
		s.add(engine.NodeRun{
			Run: s.w.Run.ID, Ref: action.Ref, Name: s.st.NameOf(action.Ref), Start: s.starts(action.Ref) + 1, Attempt: 1,
			By: id, State: engine.Ready, Arguments: action.Arguments, ReadyAt: s.now,
		})
	}
}

// kill notes that a trigger can no longer fire; what only it could have
// started is skipped, and so on down.
func (s *step) kill(id engine.ID) {
	t := s.trigger(id)
	if t.Decided() {
		return
	}
	t.DeadAt = s.now
	s.set(t)
	for _, action := range s.g.Actions(id) {
		s.settle(action.Ref)
	}
}

// settle skips a node that has not started and that nothing can start any
// more, and tells its watchers.
func (s *step) settle(ref engine.Ref) {
	if s.starts(ref) > 0 || s.mayStart(ref) {
		return
	}
	node := engine.NodeRun{
		Run: s.w.Run.ID, Ref: ref, Name: s.st.NameOf(ref), Start: 1, Attempt: 1, State: engine.Skipped, Ended: s.now,
	}
	s.change(node, "")
	s.nodes[ref] = []engine.NodeRun{node}
	for _, w := range s.g.Watchers(ref) {
		s.lose(w)
	}
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

func (s *step) trigger(id engine.ID) engine.TriggerRun {
	if t, ok := s.triggers[id]; ok {
		return t
	}
	t := s.st.TriggerRun(id)
	s.triggers[id] = t
	return t
}

// add makes a node run that begins.
func (s *step) add(node engine.NodeRun) {
	s.w.OpenNodes++
	s.change(node, "")
	s.overlay(node)
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

// set keeps a trigger as it is from now on.
func (s *step) set(t engine.TriggerRun) {
	s.triggers[t.Trigger] = t
	s.written[t.Trigger] = true
}

// done closes the run where this step leaves it without an open node. No
// trigger is then undecided: every condition was met or can't be any more.
func (s *step) done() Writes {
	for id := range s.written {
		s.w.Triggers = append(s.w.Triggers, s.triggers[id])
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

// Outcome is how a run ended (model.md, Outcome of a run). Of several mentions
// of one node run the last counts, of several attempts the newest.
func Outcome(g *graph.Graph, run *engine.Run, nodes []engine.NodeRun) engine.Outcome {
	if !run.StopAsked.IsZero() {
		return engine.RunStopped
	}
	type start struct {
		ref engine.Ref
		n   int
	}
	last := map[start]engine.NodeRun{}
	for _, n := range nodes {
		key := start{n.Ref, n.Start}
		if n.Attempt >= last[key].Attempt {
			last[key] = n
		}
	}
	failed, ends := false, map[engine.Ref]bool{}
	for _, n := range last {
		switch n.State {
		case engine.Failed, engine.TimedOut, engine.Lost, engine.Stopped:
			failed = true
		case engine.Succeeded:
			ends[n.Ref] = true
		case engine.Waiting, engine.Ready, engine.Starting, engine.Running, engine.Publishing, engine.Stopping, engine.Skipped:
		}
	}
	if !failed {
		return engine.RunSucceeded
	}
	if g != nil && slices.ContainsFunc(g.Ends(), func(ref engine.Ref) bool { return ends[ref] }) {
		return engine.RunPartlyFailed
	}
	return engine.RunFailed
}
