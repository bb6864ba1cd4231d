package alarm_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/schedule"
	"dogear/engine/schedule/alarm"
)

// twoServers is the starter of two servers.
type twoServers struct {
	mu sync.Mutex
	starter
}

func (s *twoServers) Due(ctx context.Context, workflow engine.ID, fire flow.Fire) (engine.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.starter.Due(ctx, workflow, fire)
}

// TestD17TwoServersAgreeWhatComesNext, by the row that both read: whichever of
// them fires, neither says a time that has passed, and a due time that waits for
// a full workflow says for how long.
func TestD17TwoServersAgreeWhatComesNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := dbtest.SQLite(t)
		trigger := engine.Trigger{Type: engine.Scheduled, Schedule: "cron(0 * * * ? *)", Overlap: engine.OverlapQueue}
		publish(t, store, trigger)
		cron, err := schedule.Parse(trigger.Schedule)
		must(t, err)
		blocked := false
		s := &twoServers{starter: starter{store: store, full: func() bool { return blocked }}}
		ctx, cancel := context.WithCancel(t.Context())
		var servers sync.WaitGroup
		for range 2 {
			clock := alarm.New(store, s, slog.New(slog.DiscardHandler), time.Now)
			servers.Go(func() { must(t, clock.Run(ctx)) })
		}
		comes := func() engine.Coming {
			row := only(t, store)
			return trigger.Comes(&row, time.Now(), func(_ engine.Trigger, after time.Time) time.Time { return cron.Next(after, time.UTC) })
		}
		first := time.Now().UTC().Truncate(time.Hour).Add(time.Hour)
		var want []time.Time
		for tick := range 3 {
			due := first.Add(time.Duration(tick) * time.Hour)
			want = append(want, due)
			time.Sleep(time.Until(due) + time.Second)
			if coming := comes(); coming != (engine.Coming{At: due.Add(time.Hour)}) {
				t.Errorf("a second after %s comes %+v, want the next hour and nothing overdue", due, coming)
			}
		}

		s.mu.Lock()
		blocked = true
		s.mu.Unlock()
		due := first.Add(3 * time.Hour)
		time.Sleep(time.Until(due) + 42*time.Minute)
		if coming := comes(); !coming.At.Equal(due.Add(time.Hour)) || coming.Overdue != 42*time.Minute {
			t.Errorf("while the workflow is full comes %+v, want the next hour and 42 minutes overdue", coming)
		}
		s.mu.Lock()
		blocked = false
		s.mu.Unlock()
		time.Sleep(time.Minute)
		if coming := comes(); coming != (engine.Coming{At: due.Add(time.Hour)}) {
			t.Errorf("after it comes %+v, want nothing overdue", coming)
		}
		cancel()
		servers.Wait()
		if want = append(want, due); !slices.EqualFunc(s.fired, want, time.Time.Equal) {
			t.Errorf("fired at %v, want %v once each", s.fired, want)
		}
	})
}
