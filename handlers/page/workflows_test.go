package page_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/handlers/page"
)

// TestTheListSaysWhatStartsAWorkflow, that it is off where everything
// that starts it by itself is, and what of that is off where only some is.
func TestTheListSaysWhatStartsAWorkflow(t *testing.T) {
	t.Parallel()
	type triggers = []engine.Trigger
	event := engine.Trigger{Name: "calls", Type: engine.OnEvent, Event: engine.EventRule{Source: engine.EventCalls, Size: 1}}
	timed := engine.Trigger{Name: "nightly", Type: engine.Scheduled, Schedule: "cron(0 2 * * ? *)"}
	off := func(t engine.Trigger) engine.Trigger {
		t.Disabled = true
		return t
	}
	tests := map[string]struct {
		triggers triggers
		want     string
	}{
		"one event trigger is on":                  {triggers{off(event), event}, "By events, 1 event trigger off"},
		"all event triggers are off":               {triggers{off(event), off(event)}, "Off"},
		"all schedules are off":                    {triggers{off(timed)}, "Off"},
		"everything is off":                        {triggers{off(timed), off(event)}, "Off"},
		"a schedule is off and events come":        {triggers{off(timed), event}, "By events, 1 schedule off"},
		"events are off and schedules are not":     {triggers{timed, off(event), off(event)}, "Never again, 2 event triggers off"},
		"nothing starts it but a person":           {triggers{{Name: "by hand", Type: engine.OnDemand}}, "On demand"},
		"an event trigger beside one by hand":      {triggers{{Name: "by hand", Type: engine.OnDemand}, event}, "By events"},
		"a trigger that is off beside one by hand": {triggers{{Name: "by hand", Type: engine.OnDemand}, off(event)}, "Off"},
		"a schedule that never comes is no lie":    {triggers{timed}, "Never again"},
	}
	words := []string{"By events", "Off", "On demand", "Never again", "1 schedule off", "1 event trigger off", "2 event triggers off"}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := edit(t)
			for i := range tt.triggers {
				tt.triggers[i].ID, tt.triggers[i].Name = engine.NewID(time.Now()), fmt.Sprint(tt.triggers[i].Name, i)
			}
			id, err := s.store.CreateWorkflow(t.Context(), "asked", engine.WorkflowBody{Triggers: tt.triggers}, "owner", noon)
			must(t, err)
			_, err = s.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", noon, func(engine.Trigger) time.Time { return time.Time{} })
			must(t, err)

			_, list := s.get(t, "/workflows?name=asked")

			_, row, _ := strings.Cut(list, `id="workflow-`+string(id))
			row, _, _ = strings.Cut(row, "</tr>")
			for _, word := range words {
				if got, want := strings.Contains(row, word), slices.Contains(strings.Split(tt.want, ", "), word); got != want {
					t.Errorf("the row says %q: %v, want %v", word, got, want)
				}
			}
		})
	}
}

// TestOfSeveralStartsThePersonChooses, and a run never begins at the first
// click; one of a single start does, without a question.
func TestOfSeveralStartsThePersonChooses(t *testing.T) {
	t.Parallel()
	s, e := edit(t), &orders{}
	open := false
	s.open(t, page.Config{Store: underWay{world{s.store, s}, &open}, Exec: e})
	byHand := engine.Trigger{Name: "by hand", Type: engine.OnDemand}
	timed := engine.Trigger{Name: "nightly " + odd, Type: engine.Scheduled, Schedule: "cron(0 2 * * ? *)", Disabled: true}
	id := s.drawn(t, timed, byHand)
	many := "/workflows/" + string(id) + "/run"

	_, asked := s.change(t, many, url.Values{})
	started := len(e.got)
	chosen := s.startOf(t, id, "nightly "+odd)
	sure, _ := s.change(t, many, url.Values{"sure": {"yes"}, "trigger": {string(chosen)}})
	must(t, s.store.RenameObject(t.Context(), engine.KindWorkflow, id, "several"))
	one := "/workflows/" + string(s.drawn(t, timed)) + "/run"
	_, at := s.change(t, one, url.Values{})
	_, dialog := s.get(t, one)

	contains(t, "the dialog", asked, ">by hand, which begins with raw-to-curated", ">nightly &lt;script&gt;", `<option value="`+string(chosen)+`"`)
	if strings.Index(asked, "by hand, which") > strings.Index(asked, string(chosen)) {
		t.Error("the trigger on demand is not the first choice")
	}
	if started != 0 || sure != http.StatusOK || len(e.got) != 2 || strings.Contains(at, "<dialog") {
		t.Errorf("the first click started %d runs, one that is sure answered %d, and all made %d; want 0, 200, 2", started, sure, len(e.got))
	}
	if e.got[0].Trigger != chosen || e.got[1].Trigger != "" {
		t.Errorf("started with the triggers %q and %q, want the chosen one and none", e.got[0].Trigger, e.got[1].Trigger)
	}
	if strings.Contains(dialog, "Start with") || !strings.Contains(dialog, "It begins with") {
		t.Errorf("the dialog of a single start says %s", dialog)
	}
}

// startOf is the id of a start trigger of a published workflow.
func (s *site) startOf(t *testing.T, id engine.ID, name string) engine.ID {
	t.Helper()
	w, err := s.store.Workflow(t.Context(), id)
	must(t, err)
	start, err := w.StartNamed(name)
	must(t, err)
	return start.ID
}

// TestPublishAndRunAsksForTheStart where the draft draws several, and one that is
// run again is started as it was.
func TestPublishAndRunAsksForTheStart(t *testing.T) {
	t.Parallel()
	s, e := edit(t), &orders{}
	id := s.drawn(t, engine.Trigger{Name: "by hand", Type: engine.OnDemand}, engine.Trigger{Name: "nightly", Type: engine.Scheduled, Schedule: "cron(0 2 * * ? *)"})
	nightly := s.startOf(t, id, "nightly")
	path := "/workflows/" + string(id)

	_, publish := s.get(t, path+"/publish")
	_, run := s.get(t, path+"/publish?then=run")
	s.shape = func(r *engine.Run) { r.Object, r.Trigger = id, nightly }
	s.open(t, page.Config{Store: world{s.store, s}, Exec: e})
	s.change(t, "/runs/"+string(runID)+"/again", url.Values{"sure": {"yes"}})
	s.shape = func(r *engine.Run) { r.Object, r.Trigger = id, "01KBA5ZC9J6Q0V5W3D8M7N2P4Z" }
	s.change(t, "/runs/"+string(runID)+"/again", url.Values{"sure": {"yes"}})

	contains(t, "publish and run", run, "Start with", ">by hand</option>", ">nightly</option>")
	if strings.Contains(publish, "Start with") {
		t.Error("a publish alone asks for a start")
	}
	if len(e.got) != 2 || e.got[0].Again != runID {
		t.Errorf("run again: %+v, want that it says which run it repeats", e.got)
	}
	if len(e.got) != 2 || e.got[0].Trigger != nightly || e.got[1].Trigger != "" {
		t.Errorf("run again: %+v, want the trigger nightly, then that one which is there now", e.got)
	}
}

// TestARunOfSeveralStartsSaysWhichOneItTook where a person started it.
func TestARunOfSeveralStartsSaysWhichOneItTook(t *testing.T) {
	t.Parallel()
	several := false
	s, _ := steered(t, func(r *engine.Run) {
		r.Trigger = r.Body.Triggers[0].ID
		if several {
			other := r.Body.Triggers[0]
			other.ID, other.Name = engine.NewID(noon), "by hand"
			r.Body.Triggers = append(r.Body.Triggers, other)
		}
	})

	_, single := s.get(t, s.run("log"))
	several = true
	_, many := s.get(t, s.run("log"))

	contains(t, "a run of several starts", many, "by owner, with the trigger Daily")
	if strings.Contains(single, "with the trigger") {
		t.Error("a run of a single start names its trigger")
	}
}
