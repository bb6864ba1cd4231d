// Package alarm is the clock that wakes the schedules. It decides nothing: when
// a schedule is due next stands in the database, and the transaction that
// starts its run uses the due time up. gocron only rings.
package alarm

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-co-op/gocron/v2"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/schedule"
)

// Store is what the alarm needs of the database.
type Store interface {
	// Schedules lists every schedule, the one due next first.
	Schedules(ctx context.Context) ([]engine.Schedule, error)
	// SkipFire uses up a due time without a run and says why.
	SkipFire(ctx context.Context, f flow.Fire) error
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
	bell, err := gocron.NewScheduler(gocron.WithLocation(time.UTC))
	if err != nil {
		return fmt.Errorf("set up the alarm clock: %w", err)
	}
	bell.Start()
	defer func() {
		if err := bell.Shutdown(); err != nil {
			c.Log.Warn("the alarm clock did not stop in time", "err", err)
		}
	}()
	for {
		next, err := c.ring(ctx)
		if err != nil && ctx.Err() == nil {
			c.Log.Error("schedules could not be looked at", "err", err)
			next = c.Now().Add(maxSleep)
		}
		if err := c.arm(bell, next); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-c.wake:
		}
	}
}

// arm sets the bell for next, or for maxSleep where that is sooner.
func (c *Clock) arm(bell gocron.Scheduler, next time.Time) error {
	at := c.Now().Add(maxSleep)
	if !next.IsZero() && next.Before(at) {
		at = next
	}
	bell.RemoveByTags("next")
	start := gocron.OneTimeJobStartDateTime(at)
	if !at.After(c.Now()) {
		start = gocron.OneTimeJobStartImmediately()
	}
	if _, err := bell.NewJob(gocron.OneTimeJob(start), gocron.NewTask(c.Wake), gocron.WithTags("next")); err != nil {
		return fmt.Errorf("set the alarm clock: %w", err)
	}
	return nil
}

// ring fires what is due and returns when the next one is.
func (c *Clock) ring(ctx context.Context) (time.Time, error) {
	all, err := c.Store.Schedules(ctx)
	if err != nil {
		return time.Time{}, err
	}
	var next time.Time
	now := c.Now()
	for _, s := range all {
		if s.Next.IsZero() {
			continue
		}
		if s.Next.After(now) {
			if next.IsZero() || s.Next.Before(next) {
				next = s.Next
			}
			continue
		}
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
	fire := flow.Fire{Trigger: s.Trigger, Due: s.Next}
	if cron, err := schedule.Parse(s.Spec); err == nil {
		if zone, err := schedule.Zone(s.Zone); err == nil {
			fire.Next = cron.Next(now, zone)
		}
	}
	if behind := now.Sub(s.Next); behind > late {
		fire.Note = fmt.Sprintf("skipped: no server ran when it was due, %s ago", behind.Round(time.Second))
		c.skip(ctx, fire)
		return fire.Next
	}
	run, err := c.Starter.Due(ctx, s.Workflow, fire)
	switch engine.CodeOf(err) {
	case "":
		c.Log.Info("a schedule fired", "workflow", s.Workflow, "due", s.Next, "run", run.ID)
	case engine.Conflict: // somebody else fired it
	case engine.Internal:
		c.Log.Error("a schedule could not start its run", "workflow", s.Workflow, "due", s.Next, "err", err)
		return now.Add(time.Second) // it is still due: try again
	case engine.Invalid, engine.NotFound, engine.Forbidden, engine.LimitHit:
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
