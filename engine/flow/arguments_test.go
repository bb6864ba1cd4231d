package flow_test

import (
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/graph"
)

// TestPlaceholdersOfAStartAreFilledIn where a trigger fires, the first and a later
// one alike: in the zone of the schedule that started the run, and by the time at
// which it was due.
func TestPlaceholdersOfAStartAreFilledIn(t *testing.T) {
	t.Parallel()
	first, second := engine.Ref{Kind: engine.KindJob, ID: "a"}, engine.Ref{Kind: engine.KindJob, ID: "b"}
	arguments := map[string]string{"Day": "{{due.date}}", "At": "{{ due.time }}", "Run": "x-{{run.id}}", "Began": "{{run.started}}", "Old": "{{never.was}}", "Plain": "eu"}
	body := engine.WorkflowBody{Triggers: []engine.Trigger{
		{ID: "nightly", Type: engine.Scheduled, Zone: "Asia/Tokyo", Actions: []engine.Action{{Ref: first, Arguments: arguments}}},
		{ID: "then", Type: engine.Conditional, Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: first, State: engine.Succeeded}}}, Actions: []engine.Action{{Ref: second, Arguments: arguments}}},
	}}
	run := engine.Run{ID: "R", Body: body, Trigger: "nightly", Due: time.Date(2026, 3, 1, 18, 30, 0, 0, time.UTC), Started: noon}
	want := map[string]string{
		"Day": "2026-03-02", "At": "2026-03-02T03:30:00+09:00", "Run": "x-R", "Began": "2026-03-01T12:00:00Z", "Old": "{{never.was}}", "Plain": "eu",
	}
	g := graph.New(&body)
	r := &rows{run: run, nodes: map[engine.NodeKey]engine.NodeRun{}, triggers: map[engine.ID]engine.TriggerRun{}}

	r.write(flow.Begin(g, r, run, "nightly", noon))
	node := r.NodeRuns(first)[0]
	node.State, node.Ended = engine.Succeeded, noon.Add(time.Minute)
	r.write(flow.End(g, r, r.run, node, node.Ended))

	for _, ref := range []engine.Ref{first, second} {
		for name, value := range r.NodeRuns(ref)[0].Arguments {
			if value != want[name] {
				t.Errorf("%s is started with %s=%q, want %q", ref, name, value, want[name])
			}
		}
	}
	if kept := body.Triggers[0].Actions[0].Arguments["Day"]; kept != "{{due.date}}" {
		t.Errorf("the workflow itself now says Day=%q", kept)
	}
}

// TestEachStartIsDoneAgainWithItsOwnArguments: two triggers start one job, each for
// another region, and both of its starts failed.
func TestEachStartIsDoneAgainWithItsOwnArguments(t *testing.T) {
	t.Parallel()
	load := engine.Ref{Kind: engine.KindJob, ID: "load"}
	start := func(region string) engine.Action {
		return engine.Action{Ref: load, Arguments: map[string]string{"Region": region}}
	}
	body := engine.WorkflowBody{Triggers: []engine.Trigger{
		{ID: "start", Type: engine.OnDemand, Actions: []engine.Action{{Ref: job("a")}, {Ref: job("b")}}},
		{ID: "eu", Type: engine.Conditional, Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: job("a"), State: engine.Succeeded}}}, Actions: []engine.Action{start("eu")}},
		{ID: "us", Type: engine.Conditional, Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: job("b"), State: engine.Succeeded}}}, Actions: []engine.Action{start("us")}},
	}}
	g := graph.New(&body)
	old := &rows{run: engine.Run{ID: "one", Body: body, Started: noon}, nodes: map[engine.NodeKey]engine.NodeRun{}, triggers: map[engine.ID]engine.TriggerRun{}}
	old.write(flow.Begin(g, old, old.run, "start", noon))
	for _, ref := range []engine.Ref{job("a"), job("b"), load, load} {
		for _, node := range old.NodeRuns(ref) {
			if node.State.Done() {
				continue
			}
			if node.State, node.Ended = engine.Succeeded, noon; ref == load {
				node.State = engine.Failed
			}
			old.write(flow.End(g, old, old.run, node, noon))
		}
	}
	again := flow.Again{Nodes: old.All(), Fired: old.decided(), Start: flow.Unfinished(old.All()), By: "owner"}
	now := &rows{run: engine.Run{ID: "two", Body: body, Started: noon, Previous: "one"}, nodes: map[engine.NodeKey]engine.NodeRun{}, triggers: map[engine.ID]engine.TriggerRun{}}

	now.write(flow.Resume(g, now, now.run, again, noon))

	said := map[string]engine.ID{}
	for _, n := range now.NodeRuns(load) {
		if n.State == engine.Ready {
			said[n.Arguments["Region"]] = n.By
		}
	}
	if len(said) != 2 || said["eu"] != "eu" || said["us"] != "us" {
		t.Errorf("load begins again for %v, want once for each region, by its own trigger", said)
	}
}
