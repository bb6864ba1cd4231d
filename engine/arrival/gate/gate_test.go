package gate_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/arrival/gate"
	"dogear/engine/draft"
	"dogear/engine/flow"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// site is a published workflow with one event trigger, and what it started.
type site struct {
	store    *db.Store
	workflow engine.ID
	trigger  engine.ID
	mu       sync.Mutex
	batches  [][]string
	at       []time.Time
	refuse   func() error // why a run cannot start, or nil
	gate     *gate.Gate
}

// Due makes a run in the transaction that uses the events up, as exec does.
func (s *site) Due(ctx context.Context, workflow engine.ID, fire flow.Fire) (engine.Run, error) {
	if s.refuse != nil {
		if err := s.refuse(); err != nil {
			return engine.Run{}, err
		}
	}
	now := time.Now().UTC()
	run := engine.Run{ID: engine.NewID(now), Kind: engine.RunWorkflow, Object: workflow, Trigger: fire.Trigger, Started: now}
	written := s.store.Commit(ctx, []flow.Step{{New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		return flow.Writes{Run: run, Fire: &fire}, nil
	}}})
	if written[0].Err != nil {
		return run, written[0].Err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches, s.at = append(s.batches, fire.Events), append(s.at, now)
	return run, nil
}

func (s *site) publish(t *testing.T, triggers ...engine.Trigger) {
	t.Helper()
	now := time.Now().UTC()
	id, err := s.store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{Triggers: triggers}, "owner", now)
	must(t, err)
	_, err = s.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", now, func(engine.Trigger) time.Time { return time.Time{} })
	must(t, err)
	s.workflow = id
}

// redraw publishes the workflow with other triggers.
func (s *site) redraw(t *testing.T, triggers ...engine.Trigger) {
	t.Helper()
	id, now := string(engine.NewID(time.Now())), time.Now().UTC()
	d, err := s.store.Edit(t.Context(), s.workflow, []string{id}, func(draft.Draft, map[string]bool) (engine.WorkflowBody, []draft.Entry, error) {
		return engine.WorkflowBody{Triggers: triggers}, []draft.Entry{{Op: id, Act: id, Kind: draft.SetTrigger, By: "owner"}}, nil
	})
	must(t, err)
	_, err = s.store.PublishWorkflow(t.Context(), s.workflow, d.Seq, nil, "owner", now, func(engine.Trigger) time.Time { return time.Time{} })
	must(t, err)
}

func (s *site) send(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		_, err := s.store.AddEvent(t.Context(), engine.TriggerEvent{Trigger: s.trigger, ID: id, At: time.Now().UTC()})
		must(t, err)
		if s.gate != nil {
			s.gate.Wake()
		}
	}
}

// bubble tells a story of a trigger in fake time over a real database. run runs
// a gate, as a server does, for a while; within is what happens meanwhile.
func bubble(t *testing.T, rule engine.EventRule, story func(t *testing.T, s *site, run func(long time.Duration, within func()))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &site{store: dbtest.SQLite(t), trigger: engine.NewID(time.Now())}
		s.publish(t, engine.Trigger{ID: s.trigger, Name: "arrivals", Type: engine.OnEvent, Event: rule})
		story(t, s, func(long time.Duration, within func()) {
			s.gate = gate.New(s.store, s, slog.New(slog.DiscardHandler), time.Now, func(engine.ID) {})
			// What is due at the very instant of the end would be done or not.
			ctx, cancel := context.WithTimeout(t.Context(), long+time.Second/2)
			defer cancel()
			ended := make(chan error)
			go func() { ended <- s.gate.Run(ctx) }()
			synctest.Wait()
			if within != nil {
				within()
			}
			must(t, <-ended)
		})
	})
}

func (s *site) want(t *testing.T, want ...[]string) {
	t.Helper()
	if !slices.EqualFunc(s.batches, want, slices.Equal) {
		t.Errorf("batches = %q, want %q", s.batches, want)
	}
}

func TestABatchStartsARunWhenItsSizeIsReached(t *testing.T) {
	bubble(t, engine.EventRule{Size: 3}, func(t *testing.T, s *site, run func(time.Duration, func())) {
		start := time.Now()

		run(10*time.Minute, func() {
			s.send(t, "a", "b")
			time.Sleep(time.Minute)
			s.send(t, "c", "c") // the second is the same event
			time.Sleep(time.Minute)
			s.send(t, "d")
		})

		s.want(t, []string{"a", "b", "c"})
		if len(s.at) == 1 && s.at[0].Sub(start) != time.Minute {
			t.Errorf("started after %s, want at once with the third event", s.at[0].Sub(start))
		}
	})
}

func TestTheWindowCountsFromTheFirstEventAndThroughARestart(t *testing.T) {
	bubble(t, engine.EventRule{Size: 10, Window: 120}, func(t *testing.T, s *site, run func(time.Duration, func())) {
		start := time.Now()
		run(50*time.Second, func() {
			s.send(t, "a")
			time.Sleep(10 * time.Second)
			s.send(t, "b")
		})
		time.Sleep(30 * time.Second) // no server runs

		run(time.Hour, nil)

		s.want(t, []string{"a", "b"})
		if len(s.at) == 1 && s.at[0].Sub(start) != 2*time.Minute {
			t.Errorf("started after %s, want two minutes after the first event", s.at[0].Sub(start))
		}
	})
}

func TestAWindowThatPassedWhileNoServerRanStartsAtOnce(t *testing.T) {
	bubble(t, engine.EventRule{Size: 10, Window: 120}, func(t *testing.T, s *site, run func(time.Duration, func())) {
		s.send(t, "a")
		time.Sleep(time.Hour)

		run(time.Second, nil)

		s.want(t, []string{"a"})
	})
}

func TestTwoServersStartOneRunForABatch(t *testing.T) {
	bubble(t, engine.EventRule{Size: 2}, func(t *testing.T, s *site, run func(time.Duration, func())) {
		other := gate.New(s.store, s, slog.New(slog.DiscardHandler), time.Now, func(engine.ID) {})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- other.Run(ctx) }()

		run(time.Minute, func() {
			for n := range 20 {
				s.send(t, fmt.Sprintf("e%02d", n))
				other.Wake()
			}
		})
		cancel()
		must(t, <-ended)

		seen := map[string]int{}
		for _, batch := range s.batches {
			for _, id := range batch {
				seen[id]++
			}
		}
		if len(seen) != 20 || len(s.batches) != 10 {
			t.Errorf("%d batches of %d events, want 10 of 20: %q", len(s.batches), len(seen), s.batches)
		}
		for id, n := range seen {
			if n != 1 {
				t.Errorf("event %s started %d runs, want one", id, n)
			}
		}
	})
}

func TestABatchWaitsForAFullWorkflowAndSaysSo(t *testing.T) {
	bubble(t, engine.EventRule{Size: 2}, func(t *testing.T, s *site, run func(time.Duration, func())) {
		var full atomic.Bool
		full.Store(true)
		s.refuse = func() error {
			if full.Load() {
				return engine.Errorf(engine.LimitHit, "Concurrent runs exceeded.")
			}
			return nil
		}
		run(5*time.Minute, func() {
			s.send(t, "a", "b", "c")
			time.Sleep(time.Minute)
			state, err := s.store.EventTrigger(t.Context(), s.trigger)
			must(t, err)
			if state.Waiting != 3 || state.Held != "Concurrent runs exceeded." {
				t.Errorf("while full: %d wait, held %q, want 3 and why", state.Waiting, state.Held)
			}
			full.Store(false)
			s.gate.Wake() // a run has ended
			time.Sleep(time.Second)
		})

		s.want(t, []string{"a", "b"})
		state, err := s.store.EventTrigger(t.Context(), s.trigger)
		must(t, err)
		if state.Waiting != 1 || state.Held != "" {
			t.Errorf("afterwards: %d wait, held %q, want one, held by nothing", state.Waiting, state.Held)
		}
	})
}

func TestAFailureOfTheDatabaseLosesNoBatch(t *testing.T) {
	bubble(t, engine.EventRule{Size: 1}, func(t *testing.T, s *site, run func(time.Duration, func())) {
		fails := 3
		s.refuse = func() error {
			if fails--; fails >= 0 {
				return fmt.Errorf("the disk is away")
			}
			return nil
		}

		run(30*time.Second, func() { s.send(t, "a") })

		s.want(t, []string{"a"})
	})
}

func TestADisabledTriggerKeepsWhatWaitsAndGoesOnWhenItIsEnabled(t *testing.T) {
	bubble(t, engine.EventRule{Size: 3, Window: 60}, func(t *testing.T, s *site, run func(time.Duration, func())) {
		s.send(t, "a")
		disable := func(disabled bool) {
			s.redraw(t, engine.Trigger{ID: s.trigger, Name: "arrivals", Type: engine.OnEvent, Disabled: disabled, Event: engine.EventRule{Size: 3, Window: 60}})
		}
		disable(true)

		run(time.Hour, func() {
			if _, err := s.store.AddEvent(t.Context(), engine.TriggerEvent{Trigger: s.trigger, ID: "b"}); engine.CodeOf(err) != engine.Conflict {
				t.Errorf("an event for a disabled trigger = %v, want %s", err, engine.Conflict)
			}
		})
		s.want(t)
		disable(false)
		run(time.Second, nil)

		s.want(t, []string{"a"})
	})
}
