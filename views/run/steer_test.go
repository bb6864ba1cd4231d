package run

import (
	"strings"
	"testing"

	"dogear/engine"
)

// TestWhatWaitsIsNamedOnlyWhereSomethingDoes: of a node that a person has skipped it is
// said that what waits for its success goes on, unless nothing does.
func TestWhatWaitsIsNamedOnlyWhereSomethingDoes(t *testing.T) {
	t.Parallel()
	first, last := engine.Ref{Kind: engine.KindJob, ID: "01KBA5ZC9J6Q0V5W3D8M7N2P4E"}, engine.Ref{Kind: engine.KindCrawler, ID: "01KBA5ZC9J6Q0V5W3D8M7N2P4F"}
	body := engine.WorkflowBody{Triggers: []engine.Trigger{
		{ID: "then", Type: engine.Conditional, Actions: []engine.Action{{Ref: last}}, Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: first, State: engine.Succeeded}}}},
		{ID: "else", Type: engine.Conditional, Actions: []engine.Action{{Ref: first}}, Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: last, State: engine.Failed}}}},
	}}

	for ref, want := range map[engine.Ref]bool{first: true, last: false} {
		v := View{Run: engine.Run{Body: body, Skips: map[string]string{ref.String(): "skipped by owner"}}}
		if got := strings.Contains(v.goesOn(), "goes on"); got != want {
			t.Errorf("a run that skips %s says that something goes on: %v, want %v", ref.ID, got, want)
		}
		if got := strings.Contains(Node{View: v, Ref: ref}.wentOn(), "went on"); got != want {
			t.Errorf("%s says that something went on: %v, want %v", ref.ID, got, want)
		}
	}
}
