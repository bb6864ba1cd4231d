package alarm_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/schedule"
	"dogear/engine/schedule/alarm"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// starter uses a due time up as exec does, and notes it.
type starter struct {
	store *db.Store
	fired []time.Time
	full  bool // the workflow has as many runs as it may
}

func (s *starter) Due(ctx context.Context, _ engine.ID, fire flow.Fire) (engine.Run, error) {
	if s.full {
		return engine.Run{}, engine.Errorf(engine.LimitHit, "Concurrent runs exceeded.")
	}
	if err := s.store.SkipFire(ctx, fire); err != nil {
		return engine.Run{}, err
	}
	s.fired = append(s.fired, fire.Due)
	return engine.Run{}, nil
}

// daily publishes a workflow with one schedule.
func daily(t *testing.T, store *db.Store, spec string) {
	t.Helper()
	now := time.Now().UTC()
	body := engine.WorkflowBody{Triggers: []engine.Trigger{{ID: engine.NewID(now), Name: "daily", Type: engine.Scheduled, Schedule: spec}}}
	id, err := store.CreateWorkflow(t.Context(), "w", body, "owner", now)
	must(t, err)
	_, err = store.PublishWorkflow(t.Context(), id, 0, nil, "owner", now, func(trigger engine.Trigger) time.Time {
		cron, err := schedule.Parse(trigger.Schedule)
		must(t, err)
		return cron.Next(now, time.UTC)
	})
	must(t, err)
}

// bubble runs a clock over a real database in fake time.
func bubble(t *testing.T, spec string, full bool, story func(t *testing.T, store *db.Store, s *starter, run func(time.Duration))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := dbtest.SQLite(t)
		daily(t, store, spec)
		s := &starter{store: store, full: full}
		story(t, store, s, func(long time.Duration) {
			clock := alarm.New(store, s, slog.New(slog.DiscardHandler), time.Now)
			ctx, cancel := context.WithTimeout(t.Context(), long)
			defer cancel()
			must(t, clock.Run(ctx))
		})
	})
}

func TestFiresAtEachDueTimeOnce(t *testing.T) {
	bubble(t, "cron(0 12 * * ? *)", false, func(t *testing.T, _ *db.Store, s *starter, run func(time.Duration)) {
		first := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)

		run(72*time.Hour - time.Minute)

		want := []time.Time{first, first.AddDate(0, 0, 1), first.AddDate(0, 0, 2)}
		if !slices.EqualFunc(s.fired, want, time.Time.Equal) {
			t.Errorf("fired at %v, want %v", s.fired, want)
		}
	})
}

func TestMissedTimeIsSkippedAndTheNextOneFires(t *testing.T) {
	bubble(t, "cron(0 12 * * ? *)", false, func(t *testing.T, store *db.Store, s *starter, run func(time.Duration)) {
		first := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
		time.Sleep(30 * time.Hour) // no server ran over the first noon

		run(24 * time.Hour)

		if want := []time.Time{first.AddDate(0, 0, 1)}; !slices.EqualFunc(s.fired, want, time.Time.Equal) {
			t.Errorf("fired at %v, want %v: the missed noon is skipped", s.fired, want)
		}
		all, err := store.Schedules(t.Context())
		must(t, err)
		if want := first.AddDate(0, 0, 2); len(all) != 1 || !all[0].Next.Equal(want) {
			t.Errorf("next = %+v, want %s", all, want)
		}
	})
}

func TestFullWorkflowSkipsItsTick(t *testing.T) {
	bubble(t, "cron(0/10 * * * ? *)", true, func(t *testing.T, store *db.Store, s *starter, run func(time.Duration)) {
		run(25 * time.Minute)

		all, err := store.Schedules(t.Context())
		must(t, err)
		if len(s.fired) != 0 || !all[0].Next.After(time.Now()) {
			t.Errorf("fired %v and next is %s at %s, want nothing piled up", s.fired, all[0].Next, time.Now())
		}
	})
}
