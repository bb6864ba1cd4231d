package alarm_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/draft"
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
	full  func() bool // the workflow has as many runs as it may
}

func (s *starter) Due(ctx context.Context, _ engine.ID, fire flow.Fire) (engine.Run, error) {
	if s.full != nil && s.full() {
		return engine.Run{}, engine.Errorf(engine.LimitHit, "Concurrent runs exceeded.")
	}
	if err := s.store.SkipFire(ctx, fire); err != nil {
		return engine.Run{}, err
	}
	s.fired = append(s.fired, fire.Due)
	return engine.Run{}, nil
}

// publish publishes a workflow with one schedule.
func publish(t *testing.T, store *db.Store, trigger engine.Trigger) {
	t.Helper()
	now := time.Now().UTC()
	trigger.ID, trigger.Name, trigger.Type = engine.NewID(now), "due", engine.Scheduled
	id, err := store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{Triggers: []engine.Trigger{trigger}}, "owner", now)
	must(t, err)
	_, err = store.PublishWorkflow(t.Context(), id, 0, nil, "owner", now, func(trigger engine.Trigger) time.Time {
		cron, err := schedule.Parse(trigger.Schedule)
		must(t, err)
		return cron.Next(now, time.UTC)
	})
	must(t, err)
}

// bubble runs a clock over a real database in fake time.
func bubble(t *testing.T, trigger engine.Trigger, story func(t *testing.T, store *db.Store, s *starter, run func(time.Duration))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := dbtest.SQLite(t)
		publish(t, store, trigger)
		s := &starter{store: store}
		story(t, store, s, func(long time.Duration) {
			clock := alarm.New(store, s, slog.New(slog.DiscardHandler), time.Now)
			// What is due at the very instant of the end would be done or not.
			ctx, cancel := context.WithTimeout(t.Context(), long+time.Second/2)
			defer cancel()
			must(t, clock.Run(ctx))
		})
	})
}

var noonly = engine.Trigger{Schedule: "cron(0 12 * * ? *)"}

func TestFiresAtEachDueTimeOnce(t *testing.T) {
	bubble(t, noonly, func(t *testing.T, _ *db.Store, s *starter, run func(time.Duration)) {
		first := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)

		run(72*time.Hour - time.Minute)

		want := []time.Time{first, first.AddDate(0, 0, 1), first.AddDate(0, 0, 2)}
		if !slices.EqualFunc(s.fired, want, time.Time.Equal) {
			t.Errorf("fired at %v, want %v", s.fired, want)
		}
	})
}

func TestMissedTimeIsSkippedAndTheNextOneFires(t *testing.T) {
	bubble(t, noonly, func(t *testing.T, store *db.Store, s *starter, run func(time.Duration)) {
		first := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
		time.Sleep(30 * time.Hour) // no server ran over the first noon

		run(24 * time.Hour)

		if want := []time.Time{first.AddDate(0, 0, 1)}; !slices.EqualFunc(s.fired, want, time.Time.Equal) {
			t.Errorf("fired at %v, want %v: the missed noon is skipped", s.fired, want)
		}
		schedule := only(t, store)
		if want := first.AddDate(0, 0, 2); !schedule.Next.Equal(want) {
			t.Errorf("next = %s, want %s", schedule.Next, want)
		}
	})
}

// only is the one schedule there is.
func only(t *testing.T, store *db.Store) engine.Schedule {
	t.Helper()
	all, err := store.Schedules(t.Context())
	must(t, err)
	if len(all) != 1 {
		t.Fatalf("the schedules are %+v, want one", all)
	}
	return slices.Collect(maps.Values(all))[0]
}

func TestFullWorkflowSkipsItsTick(t *testing.T) {
	bubble(t, engine.Trigger{Schedule: "cron(0/10 * * * ? *)"}, func(t *testing.T, store *db.Store, s *starter, run func(time.Duration)) {
		s.full = func() bool { return true }
		run(25 * time.Minute)

		schedule := only(t, store)
		if len(s.fired) != 0 || !schedule.Next.After(time.Now()) {
			t.Errorf("fired %v and next is %s at %s, want nothing piled up", s.fired, schedule.Next, time.Now())
		}
	})
}

// TestMissedTimesFollowThePolicy: no server ran for three days, then one does
// for half a day, in which no noon lies.
func TestMissedTimesFollowThePolicy(t *testing.T) {
	tests := map[engine.Missed]struct {
		fired []int // days after the first
		notes []string
	}{
		engine.MissedSkip:   {nil, []string{"skipped: no server ran when it was due, 60h0m0s ago, nor at 2 later times"}},
		engine.MissedLatest: {[]int{2}, []string{"2 earlier due times passed while no server ran and were left out"}},
		engine.MissedAll:    {[]int{0, 1, 2}, []string{"", "", ""}},
	}
	for policy, tt := range tests {
		t.Run("missed "+string(policy), func(t *testing.T) {
			bubble(t, engine.Trigger{Schedule: noonly.Schedule, Missed: policy}, func(t *testing.T, store *db.Store, s *starter, run func(time.Duration)) {
				first := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
				time.Sleep(time.Until(first) + 60*time.Hour)

				run(11 * time.Hour)

				var want []time.Time
				for _, day := range tt.fired {
					want = append(want, first.AddDate(0, 0, day))
				}
				if !slices.EqualFunc(s.fired, want, time.Time.Equal) {
					t.Errorf("fired at %v, want %v", s.fired, want)
				}
				schedule := only(t, store)
				if next := first.AddDate(0, 0, 3); !schedule.Next.Equal(next) {
					t.Errorf("next = %s, want %s", schedule.Next, next)
				}
				ticks, err := store.Ticks(t.Context(), schedule.Trigger, 10)
				must(t, err)
				var notes []string
				for _, tick := range ticks {
					notes = append(notes, tick.Note)
				}
				if !slices.Equal(notes, tt.notes) {
					t.Errorf("the ticks say %q, want %q", notes, tt.notes)
				}
			})
		})
	}
}

// TestOnlyTheLastMissedTimesAreMadeUpFor however long no server ran.
func TestOnlyTheLastMissedTimesAreMadeUpFor(t *testing.T) {
	bubble(t, engine.Trigger{Schedule: "cron(0 * * * ? *)", Missed: engine.MissedAll}, func(t *testing.T, _ *db.Store, s *starter, run func(time.Duration)) {
		time.Sleep(100*time.Hour + 30*time.Minute)
		last := time.Now().UTC().Truncate(time.Hour)

		run(10 * time.Minute)

		if len(s.fired) != engine.MostMissed || !s.fired[0].Equal(last.Add(-9*time.Hour)) || !s.fired[9].Equal(last) {
			t.Errorf("fired at %v, want the last %d hours up to %s", s.fired, engine.MostMissed, last)
		}
	})
}

// TestD13OneDueTimeWaitsForARunToEnd, and those that pass meanwhile do not pile
// up behind it.
func TestD13OneDueTimeWaitsForARunToEnd(t *testing.T) {
	bubble(t, engine.Trigger{Schedule: "cron(0/10 * * * ? *)", Overlap: engine.OverlapQueue}, func(t *testing.T, store *db.Store, s *starter, run func(time.Duration)) {
		start := time.Now().UTC()
		first := start.Truncate(10 * time.Minute).Add(10 * time.Minute)
		s.full = func() bool { return time.Since(start) < 35*time.Minute }

		run(30 * time.Minute)
		schedule := only(t, store)
		if len(s.fired) != 0 || !schedule.Held.Equal(first) {
			t.Errorf("fired %v while the workflow was full and holds %s, want %s held", s.fired, schedule.Held, first)
		}
		run(14 * time.Minute) // another server: what waits stands in the database

		want := []time.Time{first, first.Add(30 * time.Minute)}
		if !slices.EqualFunc(s.fired, want, time.Time.Equal) {
			t.Errorf("fired at %v, want %v: the one that waited, then the next", s.fired, want)
		}
	})
}

// TestAClockThatIsSetBackFiresNothingTwice, nor one that is set on anything too
// early: by an hour each, at ten past noon.
func TestAClockThatIsSetBackFiresNothingTwice(t *testing.T) {
	for name, jump := range map[string]time.Duration{"back": -time.Hour, "on": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := dbtest.SQLite(t)
				publish(t, store, noonly)
				s := &starter{store: store}
				noon := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
				var set atomic.Int64 // by how much the clock was set
				now := func() time.Time { return time.Now().Add(time.Duration(set.Load())) }
				time.AfterFunc(time.Until(noon.Add(10*time.Minute)), func() { set.Store(int64(jump)) })
				ctx, cancel := context.WithTimeout(t.Context(), 60*time.Hour)
				defer cancel()

				must(t, alarm.New(store, s, slog.New(slog.DiscardHandler), now).Run(ctx))

				want := []time.Time{noon, noon.AddDate(0, 0, 1), noon.AddDate(0, 0, 2)}
				if end := now().UTC(); end.Before(want[2]) {
					want = want[:2]
				}
				if !slices.EqualFunc(s.fired, want, time.Time.Equal) {
					t.Errorf("fired at %v, want %v", s.fired, want)
				}
			})
		})
	}
}

// TestD09AnEditFiresNothingThatHasPassed: at half past nine a schedule is moved
// from nine to ten, and one from ten to nine.
func TestD09AnEditFiresNothingThatHasPassed(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after string
		want          []int // hours after midnight of the first day
	}{
		"to later":   {"cron(0 9 * * ? *)", "cron(0 10 * * ? *)", []int{9, 10, 34}},
		"to earlier": {"cron(0 10 * * ? *)", "cron(0 9 * * ? *)", []int{33}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := dbtest.SQLite(t)
				s := &starter{store: store}
				midnight := time.Now().UTC().Truncate(24 * time.Hour)
				body := engine.WorkflowBody{Triggers: []engine.Trigger{{ID: engine.NewID(midnight), Name: "due", Type: engine.Scheduled, Schedule: tt.before}}}
				id, err := store.CreateWorkflow(t.Context(), "w", body, "owner", time.Now())
				must(t, err)
				next := func(trigger engine.Trigger) time.Time {
					cron, err := schedule.Parse(trigger.Schedule)
					must(t, err)
					return cron.Next(time.Now(), time.UTC)
				}
				_, err = store.PublishWorkflow(t.Context(), id, 0, nil, "owner", time.Now(), next)
				must(t, err)
				clock := alarm.New(store, s, slog.New(slog.DiscardHandler), time.Now)
				ctx, cancel := context.WithTimeout(t.Context(), 35*time.Hour)
				defer cancel()
				edited := make(chan error, 1)
				go func() {
					time.Sleep(9*time.Hour + 30*time.Minute)
					body.Triggers[0].Schedule = tt.after
					op := string(engine.NewID(time.Now()))
					_, err := store.Edit(ctx, id, []string{op}, func(draft.Draft, map[string]bool) (engine.WorkflowBody, []draft.Entry, error) {
						return body, []draft.Entry{{Op: op, Act: op, Kind: draft.SetWorkflow, By: "owner"}}, nil
					})
					if err == nil {
						_, err = store.PublishWorkflow(ctx, id, 1, nil, "owner", time.Now(), next)
					}
					clock.Wake()
					edited <- err
				}()

				must(t, clock.Run(ctx))

				must(t, <-edited)
				var want []time.Time
				for _, hours := range tt.want {
					want = append(want, midnight.Add(time.Duration(hours)*time.Hour))
				}
				if !slices.EqualFunc(s.fired, want, time.Time.Equal) {
					t.Errorf("fired at %v, want %v", s.fired, want)
				}
			})
		})
	}
}

// TestD18AZoneThatIsNotKnownStopsItsScheduleAlone: it is never taken for UTC,
// and says why it stopped; the next one fires. Zone data is in the binary.
func TestD18AZoneThatIsNotKnownStopsItsScheduleAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir() + "/dogear.db"
		store := dbtest.Open(t, path)
		publish(t, store, noonly)
		s := &starter{store: store}
		schedule := only(t, store)
		dbtest.Exec(t, path, "UPDATE schedule SET zone = 'Mars/Olympus'")
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Hour)
		defer cancel()

		must(t, alarm.New(store, s, slog.New(slog.DiscardHandler), time.Now).Run(ctx))

		ticks, err := store.Ticks(t.Context(), schedule.Trigger, 10)
		must(t, err)
		if len(s.fired) != 0 || len(ticks) != 1 || !strings.Contains(ticks[0].Note, "stopped") || !strings.Contains(ticks[0].Note, "Mars/Olympus") {
			t.Errorf("fired at %v with %+v, want it stopped with the reason", s.fired, ticks)
		}
	})
}
