package dbtest_test

import (
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/draft"
)

// TestASwitchIsPublishedBesideADraft: it makes a version with nothing else in it, takes
// the schedule away and brings it back, and the draft keeps what it holds, with the
// switch as the newest entry of its log.
func TestASwitchIsPublishedBesideADraft(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		ctx, due := t.Context(), dbtest.Noon.Add(time.Hour)
		trigger := engine.Trigger{ID: engine.NewID(dbtest.Noon), Name: "nightly", Type: engine.Scheduled, Schedule: "cron(0 2 * * ? *)"}
		id, err := store.CreateWorkflow(ctx, "w", engine.WorkflowBody{Triggers: []engine.Trigger{trigger}}, "owner", dbtest.Noon)
		must(t, err)
		next := func(engine.Trigger) time.Time { return due }
		_, err = store.PublishWorkflow(ctx, id, 0, nil, "owner", dbtest.Noon, next)
		must(t, err)
		_, err = store.Edit(ctx, id, nil, func(d draft.Draft, _ map[string]bool) (engine.WorkflowBody, []draft.Entry, error) {
			d.Body.Description = "half done"
			return d.Body, []draft.Entry{{Op: "1", Act: "1", Kind: draft.SetWorkflow, By: "ann"}}, nil
		})
		must(t, err)
		turn := func(on bool) (engine.Workflow, *draft.Entry, map[engine.ID]engine.Schedule) {
			made, entry, err := store.SwitchTrigger(ctx, id, draft.Turn{Trigger: trigger.ID, On: on}, "ben", dbtest.Noon, next)
			must(t, err)
			schedules, err := store.Schedules(ctx)
			must(t, err)
			return made, entry, schedules
		}

		off, entry, none := turn(false)
		same, nothing, _ := turn(false)
		drawn, err := store.Draft(ctx, id)
		must(t, err)
		on, _, some := turn(true)

		if off.Version != 2 || off.Description != "" || off.By != "ben" || !off.Triggers[0].Disabled || len(none) > 0 {
			t.Errorf("off = %+v with %d schedules, want v2 by ben, off, without the draft's description and without a schedule", off, len(none))
		}
		if same.Version != 2 || nothing != nil {
			t.Errorf("off again = v%d and entry %+v, want v2 still and none", same.Version, nothing)
		}
		if !drawn.Open || drawn.Version != 2 || drawn.Body.Description != "half done" || !drawn.Body.Triggers[0].Disabled || entry == nil || entry.Seq != drawn.Seq || drawn.Seq != 2 {
			t.Errorf("the draft is %+v and the entry %+v, want it open on v2 with both changes, the switch its second entry", drawn, entry)
		}
		if on.Version != 3 || on.Triggers[0].Disabled || !some[trigger.ID].Next.Equal(due) {
			t.Errorf("on = v%d, off: %t, due %s; want v3, on, due %s", on.Version, on.Triggers[0].Disabled, some[trigger.ID].Next, due)
		}
	})
}
