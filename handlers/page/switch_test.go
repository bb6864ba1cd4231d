package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/draft"
)

// TestATriggerIsTurnedAtOnceBesideADraft: the panel says how it runs, and its button
// turns it there and in the draft, whose other changes stay unpublished.
func TestATriggerIsTurnedAtOnceBesideADraft(t *testing.T) {
	t.Parallel()
	s := edit(t)
	seq := s.published(t)
	about, was := "half done", ""
	s.patch(t, seq, draft.Op{Kind: draft.SetWorkflow, Patch: &draft.Fields{Description: &about}, Prev: &draft.Fields{Description: &was}})
	at := s.at("/cards/" + string(daily))

	_, before := s.get(t, at)
	status, answer := s.change(t, at+"/switch", url.Values{"on": {"no"}})
	_, after := s.get(t, at)
	nowhere, _ := s.change(t, s.at("/cards/"+string(engine.NewID(noon))+"/switch"), url.Values{"on": {"no"}})
	runs, err := s.store.Workflow(t.Context(), s.workflow)
	must(t, err)
	drawn, err := s.store.Draft(t.Context(), s.workflow)
	must(t, err)

	contains(t, "the panel", before, "Turn off now", "in v1", "Counts at once, as v2: v1 with this switch alone.")
	contains(t, "the panel then", after, "Turn on now", "in v2")
	if status != http.StatusOK || strings.Contains(answer, "panel-form") {
		t.Errorf("the answer is %d and draws the form anew: %t; want what was typed there to stay", status, strings.Contains(answer, "panel-form"))
	}
	if runs.Version != 2 || !runs.Trigger(daily).Disabled || runs.Description != "" {
		t.Errorf("v%d runs, %+v, want v2 with the trigger off and nothing else of the draft", runs.Version, runs)
	}
	if !drawn.Open || !drawn.Body.Trigger(daily).Disabled || drawn.Body.Description != about {
		t.Errorf("the draft is %+v, want it off there, too, beside the description", drawn)
	}
	if nowhere != http.StatusNotFound {
		t.Errorf("a trigger that is nowhere = %d, want 404", nowhere)
	}
}
