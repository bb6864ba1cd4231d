package flow_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/graph"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// rows are what a store keeps of one run, in memory.
type rows struct {
	t        rapid.TB
	run      engine.Run
	nodes    map[engine.NodeKey]engine.NodeRun
	triggers map[engine.ID]engine.TriggerRun
	fired    map[engine.ID]time.Time // as the events say
	open     int
}

// decided are the triggers of the run, as a store tells them by what was written
// and by what was started.
func (r *rows) decided() map[engine.ID]engine.TriggerRun {
	all := maps.Clone(r.triggers)
	for id, at := range r.fired {
		t := all[id]
		t.Run, t.Trigger, t.FiredAt = r.run.ID, id, at
		all[id] = t
	}
	return all
}

func (r *rows) TriggerRun(id engine.ID) engine.TriggerRun { return r.triggers[id] }

func (r *rows) NodeRuns(ref engine.Ref) []engine.NodeRun {
	return slices.DeleteFunc(r.All(), func(n engine.NodeRun) bool { return n.Ref != ref })
}

func (r *rows) All() []engine.NodeRun {
	return slices.SortedFunc(maps.Values(r.nodes), func(a, b engine.NodeRun) int {
		return cmp.Or(cmp.Compare(a.Ref.ID, b.Ref.ID), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Attempt, b.Attempt))
	})
}

func (r *rows) Head(ref engine.Ref) flow.Head       { return flow.Head{Name: string(ref.ID)} }
func (r *rows) OpenNodes() int                      { return r.open }
func (r *rows) OpenRuns(engine.ID, int) int         { return 0 }
func (r *rows) Room(*engine.NodeRun, int, int) bool { return true }

// write applies what a step decided, as a store does, and checks what must hold
// after every transition.
func (r *rows) write(w flow.Writes) {
	if !r.run.Open() {
		r.t.Fatalf("a transition wrote to a run that had ended")
	}
	for _, e := range w.Events {
		w.Run.Seq++
		if e.Run != r.run.ID {
			r.t.Fatalf("an event of run %s was written to run %s", e.Run, r.run.ID)
		}
		if e.Kind == "trigger" {
			if id := engine.ID(e.Card); !r.decided()[id].FiredAt.IsZero() {
				r.t.Fatalf("trigger %s fired twice", id)
			}
			if r.fired == nil {
				r.fired = map[engine.ID]time.Time{}
			}
			r.fired[engine.ID(e.Card)] = e.At
		}
	}
	r.run = w.Run
	r.open += w.OpenNodes
	for _, n := range w.Nodes {
		if was, ok := r.nodes[n.Key()]; ok && was.State.Done() {
			r.t.Fatalf("%s ended as %s and was then written as %s", n.Name, was.State, n.State)
		}
		r.nodes[n.Key()] = n
	}
	for _, t := range w.Triggers {
		if !t.DeadAt.IsZero() && !r.fired[t.Trigger].IsZero() {
			r.t.Fatalf("trigger %s has fired and is dead", t.Trigger)
		}
		r.triggers[t.Trigger] = t
	}
	open := 0
	for _, n := range r.nodes {
		if !n.State.Done() {
			open++
		}
	}
	if open != r.open {
		r.t.Fatalf("the run counts %d open nodes and has %d", r.open, open)
	}
	if r.run.Open() != (open > 0) {
		r.t.Fatalf("with %d open nodes the run is open: %t", open, r.run.Open())
	}
}

// drawGraph draws a workflow without loops: a start trigger, and triggers that
// wait for earlier jobs and start later ones.
func drawGraph(t *rapid.T) *engine.WorkflowBody {
	n := rapid.IntRange(1, 7).Draw(t, "jobs")
	ref := func(i int) engine.Ref { return engine.Ref{Kind: engine.KindJob, ID: engine.ID(fmt.Sprint("j", i))} }
	body := &engine.WorkflowBody{}
	start := engine.Trigger{ID: "start", Type: engine.OnDemand}
	for i := range n {
		if i == 0 || rapid.IntRange(0, 3).Draw(t, "from the start") == 0 {
			start.Actions = append(start.Actions, engine.Action{Ref: ref(i)})
		}
	}
	body.Triggers = append(body.Triggers, start)
	for k := range rapid.IntRange(0, 8).Draw(t, "triggers") {
		if n < 2 {
			break
		}
		cut := rapid.IntRange(1, n-1).Draw(t, "cut") // conditions before it, actions from it on
		trigger := engine.Trigger{ID: engine.ID(fmt.Sprint("t", k)), Type: engine.Conditional, Disabled: rapid.IntRange(0, 9).Draw(t, "off") == 0}
		trigger.Predicate.Logic = rapid.SampledFrom([]engine.Logic{engine.All, engine.Any}).Draw(t, "logic")
		for range rapid.IntRange(1, 3).Draw(t, "conditions") {
			trigger.Predicate.Conditions = append(trigger.Predicate.Conditions, engine.Condition{
				Ref:   ref(rapid.IntRange(0, cut-1).Draw(t, "watches")),
				State: rapid.SampledFrom([]engine.State{engine.Succeeded, engine.Succeeded, engine.Failed, engine.TimedOut, engine.Stopped, engine.EndedAny}).Draw(t, "for"),
			})
		}
		trigger.Actions = []engine.Action{{Ref: ref(rapid.IntRange(cut, n-1).Draw(t, "starts"))}}
		body.Triggers = append(body.Triggers, trigger)
	}
	return body
}

// fate is how the attempts of one start of a node end. Skipped is a start that a
// person has told not to run.
type fate []engine.State

// as is the state as which conditions see a start.
func (f fate) as() engine.State {
	if f[len(f)-1] == engine.Skipped {
		return engine.Succeeded
	}
	return f[len(f)-1]
}

func drawFate(t *rapid.T) fate {
	last := rapid.SampledFrom([]engine.State{engine.Succeeded, engine.Succeeded, engine.Succeeded, engine.Failed, engine.TimedOut}).Draw(t, "fate")
	f := fate{}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "retries") {
		f = append(f, engine.Failed)
	}
	return append(f, last)
}

// naive works out from the fates alone what must have run: it goes over the
// whole graph again and again until nothing follows any more.
func naive(body *engine.WorkflowBody, fateOf func(engine.Ref, int) fate) (starts map[engine.Ref]int, fired map[engine.ID]bool) {
	starts, fired = map[engine.Ref]int{}, map[engine.ID]bool{}
	meets := func(c engine.Condition) bool {
		for i := 1; i <= starts[c.Ref]; i++ {
			if c.Meets(fateOf(c.Ref, i).as()) {
				return true
			}
		}
		return false
	}
	for changed := true; changed; {
		changed = false
		for _, t := range body.Triggers {
			if fired[t.ID] || t.Disabled && t.ID != "start" {
				continue
			}
			met := 0
			for _, c := range t.Predicate.Conditions {
				if meets(c) {
					met++
				}
			}
			fires := met == len(t.Predicate.Conditions)
			if t.Predicate.Logic == engine.Any {
				fires = met > 0
			}
			if !fires {
				continue
			}
			fired[t.ID], changed = true, true
			for _, a := range t.Actions {
				starts[a.Ref]++
			}
		}
	}
	return starts, fired
}

// player drives a run by random things, and keeps how each start of a node ends.
type player struct {
	*rows
	g     *graph.Graph
	fates map[string]fate
	over  map[engine.Ref]bool // told not to run from now on
}

func (p *player) fateOf(t *rapid.T) func(engine.Ref, int) fate {
	return func(ref engine.Ref, start int) fate {
		key := fmt.Sprint(ref.ID, ".", start)
		if p.fates[key] == nil {
			p.fates[key] = drawFate(t)
		}
		return p.fates[key]
	}
}

// play writes a step, and checks that of what begins with it exactly that is passed
// over of which a person said so.
func (p *player) play(w flow.Writes) {
	known := maps.Clone(p.nodes)
	p.write(w)
	for key, n := range p.nodes {
		if _, ok := known[key]; ok || n.By == "" || n.Attempt > 1 {
			continue
		}
		if n.PassedOver() != p.over[key.Ref] {
			p.t.Fatalf("%s.%d began as %s (%s), told not to run: %t", n.Name, n.Start, n.State, n.Why, p.over[key.Ref])
		}
		if n.PassedOver() {
			p.fates[fmt.Sprint(key.Ref.ID, ".", key.Start)] = fate{engine.Skipped}
		}
	}
}

// meddle skips or stops a node, or takes a skip back, or leaves it.
func (p *player) meddle(t *rapid.T) {
	ref := rapid.SampledFrom(p.g.Refs()).Draw(t, "of")
	cut := func(n engine.NodeRun, to engine.State) {
		key := fmt.Sprint(ref.ID, ".", n.Start)
		p.fates[key] = append(slices.Clone(p.fateOf(t)(ref, n.Start)[:n.Attempt-1]), to)
	}
	switch rapid.SampledFrom([]string{"", "skip", "unskip", "stop"}).Draw(t, "meddle") {
	case "skip":
		w, err := flow.Skip(p.g, p, p.run, ref, "owner", "", noon)
		if err != nil {
			return
		}
		p.over[ref] = w.Run.Skips[ref.String()] != ""
		for _, n := range p.NodeRuns(ref) {
			if n.State == engine.Ready && n.Attempt == 1 {
				cut(n, engine.Skipped)
			}
		}
		p.play(w)
	case "unskip":
		if w, err := flow.Unskip(p.g, p, p.run, ref, "owner", noon); err == nil {
			delete(p.over, ref)
			p.play(w)
		}
	case "stop":
		w, err := flow.StopNode(p.g, p, p.run, ref, 0, "owner", noon)
		if err != nil {
			return
		}
		for _, n := range p.NodeRuns(ref) {
			if n.State == engine.Ready || n.State == engine.Running {
				cut(n, engine.Stopped)
			}
		}
		p.play(w)
	}
}

// TestTransitionsAgreeWithTheWholeGraph lets nodes of random graphs end in
// random order, with retries, skips and stops of single nodes, and compares what ran with what the whole graph
// says. Each transition looks at the neighbours of one node only.
func TestTransitionsAgreeWithTheWholeGraph(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := drawGraph(t)
		g := graph.New(body)
		r := &rows{t: t, run: engine.Run{ID: "run", Started: noon, Body: *body}, nodes: map[engine.NodeKey]engine.NodeRun{}, triggers: map[engine.ID]engine.TriggerRun{}}
		p := &player{rows: r, g: g, fates: map[string]fate{}, over: map[engine.Ref]bool{}}
		fateOf := p.fateOf(t)
		p.play(flow.Begin(g, r, r.run, "start", noon))
		for r.run.Open() {
			if p.meddle(t); !r.run.Open() {
				break
			}
			ready := slices.DeleteFunc(r.All(), func(n engine.NodeRun) bool { return n.State.Done() })
			node := ready[rapid.IntRange(0, len(ready)-1).Draw(t, "ends")]
			if node.State == engine.Ready && rapid.Bool().Draw(t, "only starts") {
				node.State = engine.Running
				p.play(flow.Change(r.run, node, "", noon))
				continue
			}
			f := fateOf(node.Ref, node.Start)
			node.State, node.Ended = f[node.Attempt-1], noon
			if node.Attempt < len(f) {
				p.play(flow.Retry(r, r.run, node, noon, noon))
				continue
			}
			p.play(flow.End(g, r, r.run, node, noon))
		}
		compare(t, g, body, r, fateOf)
	})
}

func compare(t *rapid.T, g *graph.Graph, body *engine.WorkflowBody, r *rows, fateOf func(engine.Ref, int) fate) {
	starts, fired := naive(body, fateOf)
	decided := r.decided()
	for _, trigger := range body.Triggers {
		if got := !decided[trigger.ID].FiredAt.IsZero(); got != fired[trigger.ID] {
			t.Fatalf("trigger %s fired: %t, want %t", trigger.ID, got, fired[trigger.ID])
		}
		if now := decided[trigger.ID]; !now.Decided() {
			t.Fatalf("the run ended and trigger %s is undecided", trigger.ID)
		}
	}
	for _, ref := range g.Refs() {
		attempts := 0
		for i := 1; i <= starts[ref]; i++ {
			attempts += len(fateOf(ref, i))
		}
		got := r.NodeRuns(ref)
		if starts[ref] == 0 {
			if len(got) != 1 || got[0].State != engine.Skipped || got[0].PassedOver() {
				t.Fatalf("%s is %+v, want it skipped", ref.ID, got)
			}
			continue
		}
		if len(got) != attempts {
			t.Fatalf("%s ran %d times, want %d", ref.ID, len(got), attempts)
		}
		for _, n := range got {
			if want := fateOf(ref, n.Start)[n.Attempt-1]; n.State != want || n.PassedOver() != (want == engine.Skipped) {
				t.Fatalf("%s.%d.%d ended %s, want %s", ref.ID, n.Start, n.Attempt, n.State, want)
			}
		}
	}
	if want := outcome(g, starts, fateOf); r.run.Outcome != want {
		t.Fatalf("the run ended %s, want %s", r.run.Outcome, want)
	}
}

// outcome is model.md's rule, and that of ADR 48, from the fates.
func outcome(g *graph.Graph, starts map[engine.Ref]int, fateOf func(engine.Ref, int) fate) engine.Outcome {
	failed, stopped, reached, passed, done := false, false, false, false, false
	for ref, n := range starts {
		for i := 1; i <= n; i++ {
			switch f := fateOf(ref, i); f[len(f)-1] {
			case engine.Succeeded:
				done = true
				reached = reached || slices.Contains(g.Ends(), ref)
			case engine.Skipped:
				passed = true
			case engine.Stopped:
				stopped = true
			default:
				failed = true
			}
		}
	}
	switch {
	case !failed && (stopped || passed && !done):
		return engine.RunStopped
	case !failed:
		return engine.RunSucceeded
	case reached:
		return engine.RunPartlyFailed
	}
	return engine.RunFailed
}

// TestAStopLeavesNothingOpen, whenever it comes.
func TestAStopLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := drawGraph(t)
		g := graph.New(body)
		r := &rows{t: t, run: engine.Run{ID: "run", Started: noon, Body: *body}, nodes: map[engine.NodeKey]engine.NodeRun{}, triggers: map[engine.ID]engine.TriggerRun{}}
		r.write(flow.Begin(g, r, r.run, "start", noon))
		before := rapid.IntRange(0, 8).Draw(t, "ends before the stop")
		for step := 0; r.run.Open(); step++ {
			open := slices.DeleteFunc(r.All(), func(n engine.NodeRun) bool { return n.State.Done() })
			if step == before {
				w, err := flow.Stop(g, r, r.run, open, "owner", noon)
				if err != nil {
					t.Fatal(err)
				}
				r.write(w)
				continue
			}
			node := open[rapid.IntRange(0, len(open)-1).Draw(t, "which")]
			if node.State == engine.Ready && rapid.Bool().Draw(t, "only starts") {
				node.State = engine.Running
				r.write(flow.Change(r.run, node, "", noon))
				continue
			}
			stopping := node.State == engine.Stopping
			node.State, node.Ended = rapid.SampledFrom([]engine.State{engine.Succeeded, engine.Failed}).Draw(t, "as"), noon
			if stopping {
				node.State = engine.Stopped
			}
			started := len(r.nodes)
			r.write(flow.End(g, r, r.run, node, noon))
			if stopping && len(r.nodes) != started {
				t.Fatalf("a stopped run started %d more", len(r.nodes)-started)
			}
		}
		if !r.run.StopAsked.IsZero() && r.run.Outcome != engine.RunStopped {
			t.Fatalf("a stopped run ended %s", r.run.Outcome)
		}
	})
}

// TestResumedRunsAgreeWithTheWholeGraph goes on from ended runs, from what failed
// or from nodes that a person chooses, and compares the new run with what the whole
// graph says of the nodes in it, wherever they were done.
func TestResumedRunsAgreeWithTheWholeGraph(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := drawGraph(t)
		g := graph.New(body)
		first, second := map[engine.Ref]engine.State{}, map[engine.Ref]engine.State{}
		as := rapid.SampledFrom([]engine.State{engine.Succeeded, engine.Failed})
		for _, ref := range g.Refs() {
			first[ref], second[ref] = as.Draw(t, "first"), as.Draw(t, "second")
		}
		old := play(t, g, body, "one", func(r *rows) flow.Writes { return flow.Begin(g, r, r.run, "start", noon) }, first)
		var chosen []engine.Ref
		for _, n := range old.All() {
			if n.State == engine.Failed || n.State == engine.Succeeded && rapid.IntRange(0, 3).Draw(t, "choose") == 0 {
				chosen = append(chosen, n.Ref)
			}
		}
		if len(chosen) == 0 {
			return
		}
		again := flow.Again{Nodes: old.All(), Fired: old.decided(), Start: chosen, By: "owner"}
		redo := flow.NewRedo(g, again)
		resume := func(r *rows) flow.Writes { return flow.Resume(g, r, r.run, again, noon) }
		now := play(t, g, body, "two", resume, second)
		goesOn(t, g, redo, chosen, old, now)
		same := play(t, g, body, "three", resume, first)
		for _, ref := range g.Refs() { // what is done again and ends as before changes nothing
			if was, is := stateOf(old, ref), stateOf(same, ref); is != was {
				t.Fatalf("%s ended %s, and %s when all that is done again ended as before", ref.ID, was, is)
			}
		}
	})
}

// goesOn checks that now, which goes on from old, is as a run that never was
// interrupted: what fired is what its nodes meet, and each start has its trigger.
func goesOn(t *rapid.T, g *graph.Graph, redo *flow.Redo, chosen []engine.Ref, old, now *rows) {
	starts := map[engine.Ref]int{}
	for _, trigger := range g.Triggers() {
		fires := trigger.ID == "start"
		if !fires && !trigger.Disabled {
			met := 0
			for _, c := range trigger.Predicate.Conditions {
				if slices.ContainsFunc(now.NodeRuns(c.Ref), func(n engine.NodeRun) bool { return c.Meets(n.As()) }) {
					met++
				}
			}
			fires = met == len(trigger.Predicate.Conditions) || met > 0 && trigger.Predicate.Logic == engine.Any
		}
		is := now.decided()[trigger.ID]
		if !is.Decided() || fires == is.FiredAt.IsZero() {
			t.Fatalf("trigger %s is met: %t, and is %+v", trigger.ID, fires, is)
		}
		if !fires {
			continue
		}
		if was := old.decided()[trigger.ID]; trigger.Predicate.Logic == engine.Any && !was.FiredAt.IsZero() {
			firesOnce(t, &trigger, chosen, now)
		}
		for _, action := range trigger.Actions {
			starts[action.Ref]++
		}
	}
	for _, ref := range g.Refs() {
		runs := now.NodeRuns(ref)
		if len(runs) == 0 || starts[ref] == 0 && (len(runs) != 1 || runs[0].State != engine.Skipped) {
			t.Fatalf("%s, which nothing starts, is %+v", ref.ID, runs)
		}
		if starts[ref] != 0 && len(runs) != starts[ref] {
			t.Fatalf("%s was started %d times and has %+v", ref.ID, starts[ref], runs)
		}
		begins := len(redo.Begins(ref)) > 0
		for _, n := range runs {
			was := old.nodes[engine.NodeKey{Run: "one", Ref: n.Ref, Start: n.Start, Attempt: n.Attempt}]
			switch {
			case n.Copied != "" && (!redo.Keeps(&was) || n.State != was.State):
				t.Fatalf("%s is %s, copied from %+v", n.Name, n.State, was)
			case n.Copied == "" && !begins && !redo.Follows(ref):
				t.Fatalf("%s is %s and should have been kept", n.Name, n.State)
			}
		}
	}
	for _, n := range old.All() {
		if redo.Keeps(&n) && now.nodes[engine.NodeKey{Run: now.run.ID, Ref: n.Ref, Start: n.Start, Attempt: n.Attempt}].Copied == "" {
			t.Fatalf("%s.%d was to be kept and was not", n.Name, n.Start)
		}
	}
}

// firesOnce checks that an any gate that had fired has started nothing once more
// where a node that is kept meets it.
func firesOnce(t *rapid.T, gate *engine.Trigger, chosen []engine.Ref, now *rows) {
	kept := slices.ContainsFunc(gate.Predicate.Conditions, func(c engine.Condition) bool {
		return slices.ContainsFunc(now.NodeRuns(c.Ref), func(n engine.NodeRun) bool { return n.Copied != "" && c.Meets(n.As()) })
	})
	for _, action := range gate.Actions {
		for _, n := range now.NodeRuns(action.Ref) {
			if kept && n.By == gate.ID && n.Copied == "" && !slices.Contains(chosen, n.Ref) {
				t.Fatalf("%s had fired for what is kept and started %s once more", gate.ID, n.Name)
			}
		}
	}
}

// stateOf is how the last start of a node ended.
func stateOf(r *rows, ref engine.Ref) engine.State {
	runs := r.NodeRuns(ref)
	return runs[len(runs)-1].State
}

// play takes a run to its end with one fate for each node.
func play(t *rapid.T, g *graph.Graph, body *engine.WorkflowBody, id engine.ID, begin func(*rows) flow.Writes, fates map[engine.Ref]engine.State) *rows {
	r := &rows{t: t, run: engine.Run{ID: id, Started: noon, Body: *body, Previous: "one"}, nodes: map[engine.NodeKey]engine.NodeRun{}, triggers: map[engine.ID]engine.TriggerRun{}}
	r.write(begin(r))
	for r.run.Open() {
		open := slices.DeleteFunc(r.All(), func(n engine.NodeRun) bool { return n.State.Done() })
		node := open[rapid.IntRange(0, len(open)-1).Draw(t, "next")]
		node.State, node.Ended = fates[node.Ref], noon
		r.write(flow.End(g, r, r.run, node, noon))
	}
	return r
}
