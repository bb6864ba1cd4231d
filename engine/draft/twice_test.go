package draft_test

import (
	"slices"
	"testing"

	"dogear/engine"
	"dogear/engine/draft"
)

// TestASecondClockOfAJobIsNamed: one that a publish adds, turns on or gives the job to,
// beside another of this workflow or of another.
func TestASecondClockOfAJobIsNamed(t *testing.T) {
	t.Parallel()
	load, other := engine.Ref{Kind: engine.KindJob, ID: "01J"}, engine.Ref{Kind: engine.KindJob, ID: "01K"}
	names := draft.Names{load: "load", other: "other"}
	clock := func(id engine.ID, refs ...engine.Ref) engine.Trigger {
		t := engine.Trigger{ID: id, Name: "clock " + string(id), Type: engine.Scheduled}
		for _, ref := range refs {
			t.Actions = append(t.Actions, engine.Action{Ref: ref})
		}
		return t
	}
	off, byHand := clock("b", load), clock("b", load)
	off.Disabled, byHand.Type = true, engine.OnDemand
	a, b := clock("a", load), clock("b", load)
	elsewhere := []engine.Workflow{
		{Head: engine.Head{ID: "01W", Name: "this"}, WorkflowBody: engine.WorkflowBody{Triggers: []engine.Trigger{a}}},
		{Head: engine.Head{ID: "02W", Name: "nightly"}, WorkflowBody: engine.WorkflowBody{Triggers: []engine.Trigger{clock("z", other)}}},
	}
	const here = "With the trigger clock b, the job load is started twice: the trigger clock a starts it by itself already."
	for name, tt := range map[string]struct {
		runs, drawn []engine.Trigger
		want        []string
	}{
		"the first":             {nil, []engine.Trigger{a}, nil},
		"a second":              {[]engine.Trigger{a}, []engine.Trigger{a, b}, []string{here}},
		"a second that is new":  {nil, []engine.Trigger{a, b}, []string{here}},
		"one that stands first": {[]engine.Trigger{a}, []engine.Trigger{b, a}, []string{here}},
		"one that is turned on": {[]engine.Trigger{a, off}, []engine.Trigger{a, b}, []string{here}},
		"one that gets the job": {[]engine.Trigger{a, clock("b")}, []engine.Trigger{a, b}, []string{here}},
		"two that ran before":   {[]engine.Trigger{a, b}, []engine.Trigger{a, b}, nil},
		"one that is off":       {[]engine.Trigger{a}, []engine.Trigger{a, off}, nil},
		"one by hand":           {[]engine.Trigger{a}, []engine.Trigger{a, byHand}, nil},
		"beside another workflow": {[]engine.Trigger{a}, []engine.Trigger{a, clock("b", other)}, []string{
			"With the trigger clock b, the job other is started twice: the workflow nightly starts it by itself already.",
		}},
	} {
		var got []string
		for _, twice := range draft.Doubled(&engine.WorkflowBody{Triggers: tt.runs}, &engine.WorkflowBody{Triggers: tt.drawn}, "01W", elsewhere, names) {
			got = append(got, twice.String())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
