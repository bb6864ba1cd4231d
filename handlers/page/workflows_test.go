package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

// TestTheListSaysWhatStartsAWorkflow, and that it is paused where everything
// that starts it by itself is.
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
		"one event trigger is on":               {triggers{off(event), event}, "By events"},
		"all event triggers are off":            {triggers{off(event), off(event)}, "Paused"},
		"all schedules are off":                 {triggers{off(timed)}, "Paused"},
		"everything is off":                     {triggers{off(timed), off(event)}, "Paused"},
		"a schedule is off and events come":     {triggers{off(timed), event}, "By events"},
		"nothing starts it but a person":        {triggers{{Name: "by hand", Type: engine.OnDemand}}, "On demand"},
		"an event trigger beside one by hand":   {triggers{{Name: "by hand", Type: engine.OnDemand}, event}, "By events"},
		"a paused trigger beside one by hand":   {triggers{{Name: "by hand", Type: engine.OnDemand}, off(event)}, "Paused"},
		"a schedule that never comes is no lie": {triggers{timed}, "Never again"},
	}
	words := []string{"By events", "Paused", "On demand", "Never again"}
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
				if got, want := strings.Contains(row, word), word == tt.want; got != want {
					t.Errorf("the row says %q: %v, want %v", word, got, want)
				}
			}
		})
	}
}
