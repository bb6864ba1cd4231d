package draft_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"dogear/engine"
	"dogear/engine/draft"
)

// TestAnEventTriggerSaysWhatItLacks and where this server may not look.
func TestAnEventTriggerSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	job := engine.Ref{Kind: engine.KindJob, ID: id(1)}
	found := func(rule engine.EventRule) (texts []string) {
		body := engine.WorkflowBody{Triggers: []engine.Trigger{{ID: id(2), Name: "arrivals", Type: engine.OnEvent, Event: rule, Actions: []engine.Action{{Ref: job}}}}}
		for _, p := range draft.Problems(&body, draft.Facts{
			Names:       draft.Names{job: "load"},
			OutsidePath: func(path string) []string { return map[string][]string{"/etc": {"/etc may not be used."}}[path] },
		}) {
			texts = append(texts, fmt.Sprint(p.Soft, " ", p.Message))
		}
		return texts
	}
	tests := map[string]struct {
		rule engine.EventRule
		want []string
	}{
		"complete":         {engine.EventRule{Source: engine.EventFiles, Size: 1, Path: "in"}, nil},
		"without a path":   {engine.EventRule{Source: engine.EventFiles, Size: 1}, []string{"false The event trigger arrivals is not complete: Say in which folder or bucket the files arrive."}},
		"without a size":   {engine.EventRule{}, []string{"false The event trigger arrivals is not complete: Say how many events start a run."}},
		"of a place apart": {engine.EventRule{Source: engine.EventFiles, Size: 1, Path: "/etc"}, []string{"true arrivals: /etc may not be used."}},
	}
	for name, tt := range tests {
		if got := found(tt.rule); !slices.Equal(got, tt.want) {
			t.Errorf("%s: problems = %q, want %q", name, got, tt.want)
		}
	}
}

func TestProblemsNameTheCardAndTheNextStep(t *testing.T) {
	t.Parallel()
	body := apply(t, engine.WorkflowBody{}, add(1), add(2), start(100), condition(101),
		connect(string(id(100)), card(1), 0))
	body.Cards = append(body.Cards, job(99)) // deleted since
	facts := draft.Facts{
		Names:    names(),
		Schedule: func(_, _ string) error { return engine.Errorf(engine.Invalid, "The third field is 42.") },
		Uses:     func(ref engine.Ref) []string { return map[engine.Ref][]string{job(1): {"Day"}}[ref] },
	}

	got := draft.Problems(&body, facts)

	want := []draft.Problem{
		{Card: string(id(100)), Message: "The schedule of daily is not valid: The third field is 42."},
		{Card: string(id(101)), Message: "gate 101 starts nothing yet. Connect it to a job or crawler."},
		{Card: string(id(101)), Message: "gate 101 waits for nothing yet. Connect a job or crawler to it."},
		{Card: card(1), Message: "a uses the property Day, which this workflow does not declare. Declare it, or pass it with every start of a."},
		{Card: card(99), Message: "The job of this card was deleted. Remove the card or replace it."},
		{Card: card(2), Message: "Nothing starts b.", Soft: true},
		{Card: card(99), Message: "Nothing starts a deleted job.", Soft: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Problems =\n%+v\nwant\n%+v", got, want)
	}
	if !draft.Hard(got) || draft.Hard(want[5:]) {
		t.Error("Hard does not tell hard problems from soft ones")
	}
}

func TestAWorkflowThatRunsHasNoProblems(t *testing.T) {
	t.Parallel()
	body := apply(t, engine.WorkflowBody{}, add(1), add(2), start(100),
		connect(string(id(100)), card(1), 0), connect(card(1), card(2), 101))

	if got := draft.Problems(&body, draft.Facts{Names: names()}); got != nil {
		t.Errorf("Problems = %+v, want none", got)
	}
}

func TestChangesSayWhatAPublishDoes(t *testing.T) {
	t.Parallel()
	old := apply(t, engine.WorkflowBody{}, add(1), add(2), start(100),
		connect(string(id(100)), card(1), 0), connect(card(1), card(2), 101))
	state, schedule, value := engine.EndedAny, "cron(0 2 * * ? *)", "eu"
	body := apply(t, old,
		draft.Op{Kind: draft.Move, Move: map[string]engine.Point{card(1): {X: 7}}},
		draft.Op{Kind: draft.SetCondition, Card: string(id(101)), To: card(1), Patch: &draft.Fields{State: &state}},
		draft.Op{Kind: draft.SetTrigger, Card: string(id(100)), Patch: &draft.Fields{Schedule: &schedule}},
		draft.Op{Kind: draft.SetProperties, Patch: &draft.Fields{Properties: map[string]*string{"Region": &value}}},
		add(3), connect(card(2), card(3), 102))

	got := draft.Changes(&old, &body, names())

	want := []draft.Change{
		{What: draft.Added, Card: card(3), Name: "Job c"},
		{What: draft.Altered, Card: string(id(100)), Name: "Trigger daily", Fields: []draft.Field{{Name: "Schedule", To: schedule}}},
		{What: draft.Altered, Card: string(id(101)), Name: "Trigger after a", Fields: []draft.Field{{Name: "Waits for", From: "a succeeds", To: "a ends"}}},
		{What: draft.Added, Card: string(id(102)), Name: "Trigger after b", Fields: []draft.Field{{Name: "Waits for", To: "b succeeds"}, {Name: "Starts", To: "c"}}},
		{What: draft.Added, Name: "Property Region", Fields: []draft.Field{{Name: "Value", To: "eu"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Changes =\n%+v\nwant\n%+v", got, want)
	}
	if moved := draft.Changes(&old, &engine.WorkflowBody{Triggers: old.Triggers, Layout: map[string]engine.Point{card(1): {X: 9}}}, names()); moved != nil {
		t.Errorf("a move is a change: %+v", moved)
	}
}
