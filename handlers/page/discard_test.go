package page_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/draft"
)

// published publishes the workflow with its job and crawler, and says up to which
// change.
func (s *site) published(t *testing.T) (seq int64) {
	t.Helper()
	job, crawler := s.cards()
	s.pipeline(t)
	if status, why := s.change(t, s.at("/publish"), url.Values{"seq": {"5"}, "with": {job, crawler}}); status != http.StatusOK {
		t.Fatalf("publish = %d %s", status, why)
	}
	return 5
}

// saveRetries saves the draft of the job with that many retries.
func (s *site) saveRetries(t *testing.T, retries int) {
	t.Helper()
	drawn, err := s.store.JobDraft(t.Context(), s.job)
	must(t, err)
	drawn.Body.Retries = retries
	_, err = s.store.SaveJobDraft(t.Context(), s.job, drawn.Body, drawn.Seq, "owner", noon)
	must(t, err)
}

func TestTheDraftOfAWorkflowIsDiscardedAndAnUndoBringsItBack(t *testing.T) {
	t.Parallel()
	s := edit(t)
	job, _ := s.cards()
	seq := s.published(t)
	_, clean := s.get(t, s.at(""))
	off := true
	if status, answer := s.patch(t, seq, draft.Op{Kind: draft.SetTrigger, Card: string(daily), Patch: &draft.Fields{Disabled: &off}, Prev: &draft.Fields{Disabled: new(bool)}}); status != http.StatusOK {
		t.Fatalf("PATCH = %d %v", status, answer)
	}
	s.saveRetries(t, 4)

	_, editor := s.get(t, s.at(""))
	_, versions := s.get(t, s.at("/versions"))
	_, dialog := s.get(t, s.at("/discard"))
	contains(t, "the question", dialog, "Discard the changes of", "what v1 is", "Trigger Daily", "Retries", "An undo in the editor brings back", `name="with" value="`+job+`" checked`)
	form := url.Values{"seq": {value(t, dialog, "seq")}, "with": {job}, "seq." + job: {value(t, dialog, "seq."+job)}}
	stale, why := s.change(t, s.at("/discard"), url.Values{"seq": {"5"}})
	status, _ := s.change(t, s.at("/discard"), form)
	after, err := s.store.Draft(t.Context(), s.workflow)
	must(t, err)
	drawn, err := s.store.JobDraft(t.Context(), s.job)
	must(t, err)

	if word := "Discard the changes"; strings.Contains(clean, word) || !strings.Contains(editor, word) {
		t.Errorf("%q is offered without changes: %t, with some: %t; want it with some alone", word, strings.Contains(clean, word), strings.Contains(editor, word))
	}
	contains(t, "the versions", versions, "Runs now", s.at("/discard"))
	if stale != http.StatusConflict || !strings.Contains(why, "changed meanwhile") {
		t.Errorf("a discard of what the person has not seen = %d %s, want 409", stale, why)
	}
	if status != http.StatusOK || after.Open || drawn.Open {
		t.Errorf("a discard = %d; open are the workflow's draft: %t, the job's: %t; want neither", status, after.Open, drawn.Open)
	}
	var history struct {
		History draft.History `json:"history"`
	}
	_, page := s.get(t, s.at(""))
	_, data, _ := strings.Cut(page, `id="canvas-data" type="application/json">`)
	data, _, _ = strings.Cut(data, "</script>")
	must(t, json.Unmarshal([]byte(data), &history))
	last := history.History.Undo[len(history.History.Undo)-1]
	back := last.Inverse()[0]
	if status, answer := s.patch(t, after.Seq, draft.Op{Kind: draft.Restore, Of: draft.Undo, Act: "undo", Delta: &back}); status != http.StatusOK {
		t.Fatalf("the undo = %d %v", status, answer)
	}
	undone, err := s.store.Draft(t.Context(), s.workflow)
	must(t, err)
	if !undone.Open || !undone.Body.Trigger(daily).Disabled {
		t.Errorf("the undo left %+v, want the trigger off again", undone.Body)
	}
}

// A card that is elsewhere is no change to publish, and can be put back all the same.
func TestCardsThatMovedAreDiscarded(t *testing.T) {
	t.Parallel()
	s := edit(t)
	job, _ := s.cards()
	seq := s.published(t)
	if status, answer := s.patch(t, seq, draft.Op{Kind: draft.Move, Move: map[string]engine.Point{job: {X: 900, Y: 900}}}); status != http.StatusOK {
		t.Fatalf("PATCH = %d %v", status, answer)
	}

	_, dialog := s.get(t, s.at("/discard"))
	status, _ := s.change(t, s.at("/discard"), url.Values{"seq": {value(t, dialog, "seq")}})
	after, err := s.store.Draft(t.Context(), s.workflow)
	must(t, err)

	contains(t, "the question", dialog, "Where cards were moved to")
	if status != http.StatusOK || after.Open || after.Body.Layout[job] != (engine.Point{X: 300, Y: 30}) {
		t.Errorf("the discard = %d and left %+v, want the card where it was", status, after)
	}
}

func TestTheDraftsOfJobsAndCrawlersAreDiscardedOnTheirPages(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.published(t)
	s.saveRetries(t, 4)
	crawler, err := s.store.Crawlers(t.Context())
	must(t, err)
	body := crawler[0].CrawlerBody
	body.TablePrefix = "raw_"
	found, err := s.store.CrawlerDraft(t.Context(), crawler[0].ID)
	must(t, err)
	_, err = s.store.SaveCrawlerDraft(t.Context(), crawler[0].ID, body, found.Seq, "owner", noon)
	must(t, err)

	for at, lost := range map[string]string{"/jobs/" + string(s.job): "Retries", "/crawlers/" + string(crawler[0].ID): "raw_"} {
		_, page := s.get(t, at)
		_, dialog := s.get(t, at+"/discard")
		status, _ := s.change(t, at+"/discard", url.Values{"seq": {value(t, dialog, "seq")}})
		_, after := s.get(t, at)

		contains(t, at, page, "Discard the changes", "v1 runs; the draft differs from it.")
		contains(t, "the question of "+at, dialog, lost, "It cannot be brought back.")
		if status != http.StatusOK || strings.Contains(after, "Discard the changes") {
			t.Errorf("the discard at %s = %d, and its page still offers one: %t", at, status, strings.Contains(after, "Discard the changes"))
		}
	}
	again, err := s.store.JobDraft(t.Context(), s.job)
	must(t, err)
	if again.Open || again.Body.Retries == 4 {
		t.Errorf("the job's draft is %+v, want what is published", again)
	}
}

// A schedule that is off in the draft alone fires as it is published, and its card and
// panel say so; one that is published as off is off.
func TestAScheduleThatOnlyTheDraftPausesSaysThatItStillFires(t *testing.T) {
	t.Parallel()
	s := edit(t)
	seq := s.published(t)
	off := true
	s.patch(t, seq, draft.Op{Kind: draft.SetTrigger, Card: string(daily), Patch: &draft.Fields{Disabled: &off}, Prev: &draft.Fields{Disabled: new(bool)}})

	_, editor := s.get(t, s.at("?node="+string(daily)))
	_, tab := s.get(t, s.at("/discard"))
	status, _ := s.change(t, s.at("/publish"), url.Values{"seq": {value(t, tab, "seq")}})
	_, published := s.get(t, s.at("?node="+string(daily)))

	contains(t, "the card", editor, `title="Version 1 still fires until you publish, or turn it off now.">Off in the draft`)
	contains(t, "the panel", editor, "Off in the draft. Version 1 still fires until you publish, or turn it off now.")
	if status != http.StatusOK || strings.Contains(published, "in the draft.") || !strings.Contains(published, `title="Off"`) {
		t.Errorf("publish = %d; then the card says Off: %t", status, strings.Contains(published, `title="Off"`))
	}
}

// What is counted, and what each line begins with, tells problems from warnings; a
// warning marks its card.
func TestProblemsAndWarningsAreToldApart(t *testing.T) {
	t.Parallel()
	s := edit(t)
	job, _ := s.cards()
	s.published(t)
	s.breakJob(t)

	_, warned := s.get(t, s.at(""))
	s.patch(t, 5, draft.Op{Kind: draft.AddTrigger, At: &engine.Point{}, New: &engine.Trigger{ID: engine.NewID(noon), Name: "Idle", Type: engine.OnDemand}})
	_, both := s.get(t, s.at(""))

	_, card, _ := strings.Cut(warned, `id="node-`+job+`"`)
	contains(t, "the card", card[:min(len(card), 40)], "node warned")
	contains(t, "a warning", warned, "1 warning", "The next run would fail")
	contains(t, "a problem beside it", both, "1 problem, 1 warning", "#circle-x", "#triangle-alert")
}

// The dialog shows a job that somebody saves meanwhile: then the workflow's draft stays,
// too, and the message says so.
func TestADiscardThatAJobRefusesLeavesTheWorkflowAsItWas(t *testing.T) {
	t.Parallel()
	s := edit(t)
	job, _ := s.cards()
	seq := s.published(t)
	if status, answer := s.patch(t, seq, draft.Op{Kind: draft.Move, Move: map[string]engine.Point{job: {X: 900, Y: 900}}}); status != http.StatusOK {
		t.Fatalf("PATCH = %d %v", status, answer)
	}
	s.saveRetries(t, 4)
	_, dialog := s.get(t, s.at("/discard"))
	form := url.Values{"seq": {value(t, dialog, "seq")}, "with": {job}, "seq." + job: {value(t, dialog, "seq."+job)}}
	s.saveRetries(t, 5)

	status, why := s.change(t, s.at("/discard"), form)
	after, err := s.store.Draft(t.Context(), s.workflow)
	must(t, err)
	drawn, err := s.store.JobDraft(t.Context(), s.job)
	must(t, err)

	if status != http.StatusConflict || !strings.Contains(why, "Nothing was discarded, of the workflow neither.") {
		t.Errorf("the discard = %d %s, want 409 that says what became of the workflow", status, why)
	}
	if !after.Open || !drawn.Open || drawn.Body.Retries != 5 {
		t.Errorf("it left the workflow open: %t, and the job %+v; want both as they were", after.Open, drawn)
	}
}
