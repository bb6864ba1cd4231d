// Package alarm is the clock that wakes the schedules. It decides nothing: when
// a schedule is due next stands in the database, and the transaction that
// starts its run uses the due time up. A timer only rings (docs/adr/0020).
package alarm

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"dogear/engine"
	"dogear/engine/failpoint"
	"dogear/engine/flow"
	"dogear/engine/schedule"
)

// Store is what the alarm needs of the database.
type Store interface {
	// DueSchedules lists the schedules that are due, the longest due first, and
	// says when the next of the others is; a zero next never comes.
	DueSchedules(ctx context.Context, now time.Time) (due []engine.Schedule, next time.Time, err error)
	// SkipFire uses up a due time without a run and says why.
	SkipFire(ctx context.Context, f flow.Fire) error
	// HoldFire notes that a due time waits for a run to end.
	HoldFire(ctx context.Context, trigger engine.ID, due time.Time) error
}

// Starter starts the run that a schedule is due for.
type Starter interface {
	Due(ctx context.Context, workflow engine.ID, fire flow.Fire) (engine.Run, error)
}

// Clock rings when schedules are due.
type Clock struct {
	Store   Store
	Starter Starter
	Log     *slog.Logger
	Now     func() time.Time

	wake chan struct{}
}

// New makes a Clock.
func New(store Store, starter Starter, log *slog.Logger, now func() time.Time) *Clock {
	return &Clock{Store: store, Starter: starter, Log: log, Now: now, wake: make(chan struct{}, 1)}
}

// Wake tells the clock that schedules have changed.
func (c *Clock) Wake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// maxSleep is how long the clock sleeps at most: a timer runs on while the
// machine is suspended or its clock is set, the wall does not.
const maxSleep = 30 * time.Second

// late is how long after its time a schedule still fires. One that was due
// while no server ran is skipped, as in Glue.
const late = time.Minute

// Run rings until ctx ends.
func (c *Clock) Run(ctx context.Context) error {
	bell := time.NewTimer(maxSleep)
	defer bell.Stop()
	for {
		next, err := c.ring(ctx)
		if err != nil && ctx.Err() == nil {
			c.Log.Error("schedules could not be looked at", "err", err)
			next = time.Time{}
		}
		bell.Reset(c.sleep(next))
		select {
		case <-ctx.Done():
			return nil
		case <-bell.C:
		case <-c.wake:
		}
	}
}

// sleep is how long to sleep until next, maxSleep at most. What is due is
// measured by the clock of the schedules, how long to sleep by the timer's.
func (c *Clock) sleep(next time.Time) time.Duration {
	if next.IsZero() {
		return maxSleep
	}
	return min(maxSleep, next.Sub(c.Now()))
}

// ring fires what is due and returns when the next one is.
func (c *Clock) ring(ctx context.Context) (time.Time, error) {
	now := c.Now()
	due, next, err := c.Store.DueSchedules(ctx, now)
	if err != nil {
		return time.Time{}, err
	}
	for _, s := range due {
		following := c.fire(ctx, s, now)
		if !following.IsZero() && (next.IsZero() || following.Before(next)) {
			next = following
		}
	}
	return next, nil
}

// fire starts the run of a schedule that is due, or skips it and says why, and
// returns when it is due next.
func (c *Clock) fire(ctx context.Context, s engine.Schedule, now time.Time) time.Time {
	cron, err := schedule.Parse(s.Spec)
	if err != nil {
		return c.broken(ctx, s, err)
	}
	zone, err := schedule.Zone(s.Zone)
	if err != nil {
		return c.broken(ctx, s, err)
	}
	fire := flow.Fire{Trigger: s.Trigger, Due: s.Next, Next: cron.Next(now, zone)}
	waited := !s.Held.IsZero() && s.Held.Equal(s.Next) // for a run to end: it is not late
	if behind := now.Sub(s.Next); behind > late && !waited {
		passed := missed(cron, zone, s.Next, now)
		switch s.Missed {
		case engine.MissedLatest:
			fire.Due = passed[len(passed)-1]
			fire.Note = leftOut(len(passed) - 1)
		case engine.MissedAll:
			first := max(0, len(passed)-engine.MostMissed)
			fire.Due, fire.Note = passed[first], leftOut(first)
			if first+1 < len(passed) {
				fire.Next = passed[first+1] // this same way leads to the next of them
			}
		default:
			fire.Note = fmt.Sprintf("skipped: no server ran when it was due, %s ago", behind.Round(time.Second))
			if len(passed) > 1 {
				fire.Note += fmt.Sprintf(", nor at %d later times", len(passed)-1)
			}
			c.skip(ctx, fire)
			return fire.Next
		}
	}
	return c.start(ctx, s, fire, now)
}

// broken skips a schedule that can no longer be read, for good.
func (c *Clock) broken(ctx context.Context, s engine.Schedule, err error) time.Time {
	c.skip(ctx, flow.Fire{Trigger: s.Trigger, Due: s.Next, Note: "stopped: " + engine.MessageOf(err)})
	return time.Time{}
}

// mostPassed bounds how far back missed times are counted.
const mostPassed = 10_000

// missed lists the due times from first to now, the last mostPassed of them.
func missed(cron schedule.Cron, zone *time.Location, first, now time.Time) []time.Time {
	passed := []time.Time{first}
	for at := cron.Next(first, zone); !at.IsZero() && !at.After(now); at = cron.Next(at, zone) {
		if passed = append(passed, at); len(passed) > mostPassed {
			passed = passed[1:]
		}
	}
	return passed
}

func leftOut(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("%d earlier due times passed while no server ran and were left out", n)
}

// start starts a run for a due time.
func (c *Clock) start(ctx context.Context, s engine.Schedule, fire flow.Fire, now time.Time) time.Time {
	failpoint.Hit("alarm.fire.before")
	run, err := c.Starter.Due(ctx, s.Workflow, fire)
	failpoint.Hit("alarm.fire.after")
	code := engine.CodeOf(err)
	switch {
	case err == nil:
		c.Log.Info("a schedule fired", "workflow", s.Workflow, "due", fire.Due, "run", run.ID)
	case code == engine.Conflict: // somebody else fired it
	case code == engine.LimitHit && s.Overlap == engine.OverlapQueue && fire.Due.Equal(s.Next):
		if err := c.Store.HoldFire(ctx, s.Trigger, fire.Due); err != nil {
			c.Log.Error("a due time could not be held", "trigger", s.Trigger, "err", err)
		}
		return now.Add(maxSleep) // sooner when a run ends, which wakes the clock
	case code == engine.Internal:
		c.Log.Error("a schedule could not start its run", "workflow", s.Workflow, "due", fire.Due, "err", err)
		return now.Add(time.Second) // it is still due: try again
	default:
		fire.Note = "skipped: " + engine.MessageOf(err)
		c.skip(ctx, fire)
	}
	return fire.Next
}

func (c *Clock) skip(ctx context.Context, fire flow.Fire) {
	c.Log.Warn("a schedule was skipped", "trigger", fire.Trigger, "due", fire.Due, "why", fire.Note)
	if err := c.Store.SkipFire(ctx, fire); err != nil && engine.CodeOf(err) != engine.Conflict {
		c.Log.Error("a skipped schedule could not be moved on", "trigger", fire.Trigger, "err", err)
	}
}
