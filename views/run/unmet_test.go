package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

// TestASkippedNodeSaysWhichConditionsWereNotMet: of its dead triggers, with how what they
// watch ended; what was met, or another node's, is not said.
func TestASkippedNodeSaysWhichConditionsWereNotMet(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ref := func(name string) engine.Ref {
		return engine.Ref{Kind: engine.KindJob, ID: engine.ID(fmt.Sprintf("01J%023s", strings.ToUpper(name)))}
	}
	ended := func(name string, start int, state engine.State) engine.NodeRun {
		return engine.NodeRun{Ref: ref(name), Name: name, Start: start, Attempt: 1, State: state, Ended: noon}
	}
	again := func(n engine.NodeRun, state engine.State) engine.NodeRun {
		n.Attempt, n.State = n.Attempt+1, state
		return n
	}
	passed := ended("d", 1, engine.Skipped)
	passed.Why = engine.SkipWords("owner", "")
	wants := func(what ...string) (all []engine.Condition) {
		for _, w := range what {
			name, state, _ := strings.Cut(w, " ")
			all = append(all, engine.Condition{Ref: ref(name), State: engine.State(state)})
		}
		return all
	}
	tests := map[string]struct {
		conditions []engine.Condition
		alive      bool // the trigger, or it is another node's
		nodes      []engine.NodeRun
		says       string
	}{
		"one": {
			conditions: wants("a succeeded"), nodes: []engine.NodeRun{ended("a", 1, engine.Failed)},
			says: "It was not started: a was to succeed and failed.",
		},
		"all of several, of which one was met": {
			conditions: wants("a succeeded", "b succeeded"), nodes: []engine.NodeRun{ended("a", 1, engine.Succeeded), ended("b", 1, engine.TimedOut)},
			says: "It was not started: b was to succeed and timed out.",
		},
		"any of several, none met": {
			conditions: wants("a failed", "b failed"), nodes: []engine.NodeRun{ended("a", 1, engine.Succeeded), ended("b", 1, engine.Stopped)},
			says: "It was not started: a was to fail and succeeded; b was to fail and was stopped.",
		},
		"the last attempt counts": {
			conditions: wants("a failed"), nodes: []engine.NodeRun{ended("a", 1, engine.Failed), again(ended("a", 1, engine.Failed), engine.Succeeded)},
			says: "It was not started: a was to fail and succeeded.",
		},
		"another start met it": {
			conditions: wants("a succeeded", "b succeeded"), nodes: []engine.NodeRun{ended("a", 1, engine.Failed), ended("a", 2, engine.Succeeded), ended("b", 1, engine.Failed)},
			says: "It was not started: b was to succeed and failed.",
		},
		"one that was skipped, too": {
			conditions: wants("a succeeded"), nodes: []engine.NodeRun{ended("a", 1, engine.Skipped)},
			says: "It was not started: a was to succeed and was skipped.",
		},
		"one that a person skipped counts as succeeded": {
			conditions: wants("d succeeded", "a succeeded"), nodes: []engine.NodeRun{passed, ended("a", 1, engine.Failed)},
			says: "It was not started: a was to succeed and failed.",
		},
		"of six the first": {
			conditions: wants("a failed", "b failed", "c failed", "e failed", "f failed", "g failed"),
			nodes: []engine.NodeRun{
				ended("a", 1, engine.Succeeded), ended("b", 1, engine.Succeeded), ended("c", 1, engine.Succeeded),
				ended("e", 1, engine.Succeeded), ended("f", 1, engine.Succeeded), ended("g", 1, engine.Succeeded),
			},
			says: "It was not started: a was to fail and succeeded; b was to fail and succeeded; c was to fail and succeeded; e was to fail and succeeded; 2 more conditions not met.",
		},
		"a trigger that may still fire": {conditions: wants("a succeeded"), alive: true, nodes: []engine.NodeRun{ended("a", 1, engine.Failed)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trigger := engine.Trigger{ID: "t", Type: engine.Conditional, Actions: []engine.Action{{Ref: ref("x")}}, Predicate: engine.Predicate{Conditions: tt.conditions}}
			others := engine.Trigger{ID: "o", Type: engine.Conditional, Actions: []engine.Action{{Ref: ref("y")}}, Predicate: engine.Predicate{Conditions: wants("z succeeded")}}
			dead := []engine.TriggerRun{{Trigger: "o", DeadAt: noon}}
			if !tt.alive {
				dead = append(dead, engine.TriggerRun{Trigger: "t", DeadAt: noon})
			}
			skipped := ended("x", 1, engine.Skipped)
			v := View{
				Run: engine.Run{Body: engine.WorkflowBody{Triggers: []engine.Trigger{others, trigger}}}, Triggers: dead,
				Nodes: append(tt.nodes, ended("z", 1, engine.Failed), skipped),
			}.Index()

			if got := (Node{View: v, Ref: ref("x"), Attempt: skipped}).whySkipped(); got != tt.says {
				t.Errorf("it says %q\nwant %q", got, tt.says)
			}
		})
	}
}
