package app

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// chore is something that the house does over and over.
type chore struct {
	name  string
	every time.Duration
	do    func(ctx context.Context)
	now   bool // at the start as well
}

// keep does the chores of the house until ctx ends. One that takes longer than
// its time is not begun a second time beside itself.
func (h *house) keep(ctx context.Context) error {
	clock, err := gocron.NewScheduler(gocron.WithLocation(time.UTC), gocron.WithStopTimeout(h.cfg.Drain+time.Second))
	if err != nil {
		return fmt.Errorf("set up the chores: %w", err)
	}
	for _, c := range h.chores() {
		options := []gocron.JobOption{gocron.WithName(c.name), gocron.WithSingletonMode(gocron.LimitModeReschedule), gocron.WithContext(ctx)}
		if c.now {
			options = append(options, gocron.WithStartAt(gocron.WithStartImmediately()))
		}
		if _, err := clock.NewJob(gocron.DurationJob(c.every), gocron.NewTask(c.do), options...); err != nil {
			return fmt.Errorf("set up the chore %q: %w", c.name, err)
		}
	}
	clock.Start()
	<-ctx.Done()
	if err := clock.Shutdown(); err != nil {
		h.log.Warn("a chore did not end in time", "err", err)
	}
	return nil
}

func (h *house) chores() []chore {
	return []chore{
		{name: "watchdog", every: watchEvery, do: h.watch},
		{name: "old events", every: sweepEvery, do: h.pruneEvents, now: true},
		{name: "old tokens", every: sweepEvery, do: h.pruneTokens, now: true},
		{name: "old ledgers", every: sweepEvery, do: h.sweep, now: true},
	}
}
