package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/draft"
)

// start is a field of the panel about how daily starts the job.
func (s *site) start(name string) string {
	job, _ := s.cards()
	return "start." + string(daily) + "." + job + "." + name
}

// setStart is the panel of the trigger as a person sends it who saw was.
func (s *site) setStart(was, is [3]string) url.Values {
	form := url.Values{"name": {"Daily"}, "seen.name": {"Daily"}, "schedule": {"cron(0 2 * * ? *)"}, "seen.schedule": {"cron(0 2 * * ? *)"}, "enabled": {"yes"}}
	for i, name := range []string{"timeout", "retries", "arguments"} {
		form.Set("seen."+s.start(name), was[i])
		form.Set(s.start(name), is[i])
	}
	return form
}

func (s *site) action(t *testing.T) engine.Action {
	t.Helper()
	d, err := s.store.Draft(t.Context(), s.workflow)
	must(t, err)
	return d.Body.Trigger(daily).Actions[0]
}

func TestAStartHasLimitsAndArgumentsOfItsOwn(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	card := s.at("/cards/" + string(daily))

	_, before := s.get(t, card)
	status, after := s.change(t, card, s.setStart([3]string{}, [3]string{"30", "0", "Region=eu\r\nDay=" + odd}))
	_, dialog := s.get(t, s.at("/publish"))

	contains(t, "the panel before", before, "In this workflow", "as the job says", `placeholder="60, the job&#39;s"`)
	contains(t, "the panel after", after, "30 min · 0 retries · 2 arguments", `value="30"`, "Region=eu")
	contains(t, "what a publish changes", dialog, "Timeout of this start", "raw-to-curated &lt;script&gt;", "30 min", "Retries of this start")
	got := s.action(t)
	if status != http.StatusOK || got.Timeout != 30 || got.Retries == nil || *got.Retries != 0 || got.Arguments["Day"] != odd || got.Arguments["Region"] != "eu" {
		t.Errorf("POST = %d, the start is %+v", status, got)
	}
	if strings.Contains(after, "<script>alert") {
		t.Error("the panel holds an argument as markup")
	}

	status, after = s.change(t, card, s.setStart([3]string{"30", "0", "Day=1\n"}, [3]string{"", "", ""}))

	if got := s.action(t); status != http.StatusConflict || got.Timeout != 30 {
		t.Errorf("a change of arguments that were another = %d, %+v; want 409 and nothing changed", status, got)
	}
	contains(t, "the refusal", after, "were changed meanwhile", `value="30"`)
	status, _ = s.change(t, card, s.setStart([3]string{"30", "0", ""}, [3]string{"", "", ""}))
	if got := s.action(t); status != http.StatusOK || got.Timeout != 0 || got.Retries != nil || len(got.Arguments) != 2 {
		t.Errorf("emptying the limits = %d, %+v; want the job's own again and the arguments kept", status, got)
	}
}

func TestAStartIsRefusedByTheRulesOfEveryWayIn(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	card := s.at("/cards/" + string(daily))

	for says, typed := range map[string][3]string{
		"Write a whole number, or nothing for the job&#39;s own.": {"soon", "", ""},
		"Write a number from 0 to 43200.":                         {"43201", "", ""},
		"Write a number from 0 to 100.":                           {"", "-1", ""},
		"Write each argument as Name=value":                       {"5", "", "Region"},
	} {
		status, panel := s.change(t, card, s.setStart([3]string{}, typed))

		contains(t, "the panel", panel, says, "Not saved", typed[2])
		if got := s.action(t); status != http.StatusUnprocessableEntity || got.Timeout != 0 || got.Arguments != nil {
			t.Errorf("%v = %d, %+v; want 422 and nothing saved", typed, status, got)
		}
	}
}

// The panel of a job shows each of its starts, and saves both the job and how
// it is started, or neither.
func TestThePanelOfAJobSavesItsStartsWithIt(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	job, _ := s.cards()
	card := s.at("/cards/" + job)
	_, panel := s.get(t, card)
	form := func(timeout string) url.Values {
		values := s.setStart([3]string{}, [3]string{timeout, "3", ""})
		for name, text := range map[string]string{
			"name": "renamed", "base": value(t, panel, "base"), "bookmark": "paused", "step.0.name": "out", "step.0.sql": "SELECT 1",
			"source.0.rest": value(t, panel, "source.0.rest"), "source.0.name": "sales", "source.0.path": "/data/sales/*.csv", "source.0.format": "csv",
			"sink.0.rest": value(t, panel, "sink.0.rest"), "sink.0.from": "out", "sink.0.path": "/out", "sink.0.mode": "merge", "sink.0.keys": "order_id",
		} {
			values.Set(name, text)
		}
		return values
	}

	wrong, refused := s.change(t, card, form("-5"))
	made, err := s.store.JobDraft(t.Context(), s.job)
	must(t, err)
	if wrong != http.StatusUnprocessableEntity || made.Name == "renamed" || s.action(t).Retries != nil {
		t.Errorf("a wrong timeout = %d, job %q; want 422 and nothing saved", wrong, made.Name)
	}
	contains(t, "the refused panel", refused, "By Daily", `value="-5"`, `value="renamed"`)

	status, saved := s.change(t, card, form("15"))

	made, err = s.store.JobDraft(t.Context(), s.job)
	must(t, err)
	if got := s.action(t); status != http.StatusOK || made.Name != "renamed" || got.Timeout != 15 || *got.Retries != 3 {
		t.Errorf("POST = %d, job %q, start %+v; want both saved", status, made.Name, got)
	}
	contains(t, "the saved panel", saved, "15 min · 3 retries")
	_, crawler := s.get(t, s.at("/cards/crawler-"+string(s.crawler)))
	if strings.Contains(crawler, "In this workflow") {
		t.Error("the panel of a crawler offers limits that never count")
	}
}

// One save is one act: an undo takes all of a start back.
func TestASavedStartIsOneActOfItsPerson(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)

	s.change(t, s.at("/cards/"+string(daily)), s.setStart([3]string{}, [3]string{"30", "1", "Region=eu"}))

	d, err := s.store.Draft(t.Context(), s.workflow)
	must(t, err)
	drafts := draft.NewService(s.store, s.store, nil, nil)
	history, err := drafts.History(t.Context(), s.workflow, "owner")
	must(t, err)
	last := history.Undo[len(history.Undo)-1]
	body := d.Body
	for _, back := range last.Inverse() {
		body, _, err = draft.Apply(body, draft.Op{Kind: draft.Restore, Of: draft.Undo, Delta: &back}, draft.Names{})
		must(t, err)
	}
	if a := body.Trigger(daily).Actions[0]; a.Timeout != 0 || a.Retries != nil || a.Arguments != nil {
		t.Errorf("after one undo the start is %+v, want it as it was", a)
	}
}

func TestARunSaysWhichLimitsHold(t *testing.T) {
	t.Parallel()
	s := serve(t)
	_, own := s.get(t, s.run("arguments"))
	s.shape = func(r *engine.Run) {
		r.Body.Triggers = []engine.Trigger{{ID: daily, Name: "Daily " + odd, Type: engine.OnDemand, Actions: []engine.Action{{
			Ref: engine.Ref{Kind: engine.KindJob, ID: s.job}, Timeout: 7, Retries: new(0),
		}}}}
	}
	s.nodes[0].By = daily

	_, set := s.get(t, s.run("arguments"))

	contains(t, "a start without limits", own, "Limits", "60 min", "because the job says none")
	contains(t, "a start with limits", set, ">7 min<", "set by the trigger Daily &lt;script&gt;", "instead of 60 min", ">0<")
}
