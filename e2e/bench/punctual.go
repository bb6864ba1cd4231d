package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"dogear/db"
	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/runner"
	"dogear/engine/schedule/alarm"
)

const (
	allSchedules = 10_000
	dueSchedules = 2_000 // of them in dueWithin, at moments drawn by chance
	dueWithin    = 20 * time.Second
)

// punctual measures how late schedules start their runs, and whether each due
// time starts exactly one.
func punctual(ctx context.Context, dir string) error {
	var mu sync.Mutex
	var late []time.Duration
	times := map[string]int{} // by workflow, trigger and due time: how many runs began
	h, err := site{dir: dir, slots: 100, committed: func(w flow.Writes) {
		if w.Fire == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		late = append(late, time.Since(w.Run.Due))
		times[string(w.Run.Trigger)+w.Run.Due.String()]++
	}}.build(ctx, func(*db.Store) runner.Runner { return &still{} })
	if err != nil {
		return err
	}
	dice := rand.New(rand.NewPCG(1, 2))
	// Publishing takes a while, and the first is due after it.
	begin := time.Now().Add(10 * time.Second).Truncate(time.Second)
	if err := scheduled(ctx, h.store, allSchedules, func(i int) time.Time {
		if i%(allSchedules/dueSchedules) == 0 {
			return begin.Add(time.Duration(dice.Int64N(int64(dueWithin)))).Truncate(time.Microsecond)
		}
		return begin.Add(24 * time.Hour)
	}); err != nil {
		return err
	}
	if time.Now().After(begin) {
		return fmt.Errorf("publishing %d schedules took until after the first was due", allSchedules)
	}
	clock := alarm.New(h.store, h.exec, quiet(), time.Now)
	clocks, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- clock.Run(clocks) }()
	limit := time.After(time.Until(begin) + dueWithin + 30*time.Second)
	lost := 0
	for n := range dueSchedules {
		select {
		case run := <-h.ended:
			if run.Outcome != engine.RunSucceeded {
				return fmt.Errorf("a run of a schedule ended %s", run.Outcome)
			}
			continue
		case err := <-ended:
			return fmt.Errorf("the clock ended: %w", err)
		case <-limit:
			lost = dueSchedules - n
		}
		break
	}
	time.Sleep(time.Second) // for doubles
	mu.Lock()
	defer mu.Unlock()
	doubled := 0
	for _, n := range times {
		doubled += n - 1
	}
	measure.Figure{
		Name: "g9", Ours: measure.Quantile(late, 0.99) / 1e3, Limit: 5, Unit: "ms",
		Note: fmt.Sprintf("due time of a schedule to its run being stored, p99 of 2,000 in 20 s among 10,000; p50 %.2f ms", measure.Quantile(late, 0.5)/1e3),
	}.Print()
	measure.Figure{Name: "g9_wrong", Ours: float64(lost + doubled), Unit: "runs", Note: fmt.Sprintf("%d lost, %d doubled of 2,000; it must be 0", lost, doubled)}.Print()
	if lost+doubled > 0 {
		return fmt.Errorf("%d due times were lost, %d doubled", lost, doubled)
	}
	return nil
}
