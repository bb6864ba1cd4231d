package dbtest_test

import (
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
)

func TestDueSchedulesAreTheDueOnesAndTheNextMoment(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		due := map[string]time.Time{"late": dbtest.Noon.Add(-time.Hour), "now": dbtest.Noon, "soon": dbtest.Noon.Add(time.Second), "later": dbtest.Noon.Add(time.Hour), "never": {}}
		body := engine.WorkflowBody{}
		names := map[engine.ID]string{}
		for name := range due {
			trigger := engine.Trigger{ID: engine.NewID(dbtest.Noon), Name: name, Type: engine.Scheduled, Schedule: "cron(0 2 * * ? *)"}
			names[trigger.ID] = name
			body.Triggers = append(body.Triggers, trigger)
		}
		id, err := store.CreateWorkflow(t.Context(), "w", body, "owner", dbtest.Noon)
		must(t, err)
		_, err = store.PublishWorkflow(t.Context(), id, 0, nil, "owner", dbtest.Noon, func(trigger engine.Trigger) time.Time { return due[trigger.Name] })
		must(t, err)

		found, next, err := store.DueSchedules(t.Context(), dbtest.Noon)

		must(t, err)
		if len(found) != 2 || names[found[0].Trigger] != "late" || names[found[1].Trigger] != "now" {
			t.Errorf("due = %+v, want late, then now", found)
		}
		if !next.Equal(due["soon"]) {
			t.Errorf("next = %v, want %v", next, due["soon"])
		}
		if _, next, err := store.DueSchedules(t.Context(), dbtest.Noon.Add(2*time.Hour)); err != nil || !next.IsZero() {
			t.Errorf("next = %v, %v, want none after the last", next, err)
		}
	})
}
