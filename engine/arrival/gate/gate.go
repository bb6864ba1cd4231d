// Package gate lets batches of events through: it starts the run of a batch when
// its size is reached or its window has passed. What waits and since when
// stands in the database, and the transaction that starts a run uses its events
// up; so the gate may be asked twice, by two servers, or after a crash.
package gate

import (
	"context"
	"log/slog"
	"time"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/failpoint"
	"dogear/engine/flow"
)

// Store is what the gate needs of the database.
type Store interface {
	// EventTriggers lists the event triggers that are enabled.
	EventTriggers(ctx context.Context) ([]engine.EventTrigger, error)
	// WaitingEvents lists the oldest events that wait for a trigger.
	WaitingEvents(ctx context.Context, trigger engine.ID, limit int) ([]engine.TriggerEvent, error)
	// HoldEvents notes why a batch that is complete waits.
	HoldEvents(ctx context.Context, trigger engine.ID, why string) error
}

// Starter starts the run of a batch.
type Starter interface {
	Due(ctx context.Context, workflow engine.ID, fire flow.Fire) (engine.Run, error)
}

// Gate starts the runs of batches.
type Gate struct {
	Store   Store
	Starter Starter
	Log     *slog.Logger
	Now     func() time.Time
	Changed func(trigger engine.ID) // what a panel shows of the trigger is not as it was

	wake chan struct{}
}

// New makes a Gate.
func New(store Store, starter Starter, log *slog.Logger, now func() time.Time, changed func(engine.ID)) *Gate {
	return &Gate{Store: store, Starter: starter, Log: log, Now: now, Changed: changed, wake: make(chan struct{}, 1)}
}

// Wake tells the gate that an event came, a run ended or a workflow was
// published.
func (g *Gate) Wake() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// maxSleep is how long the gate sleeps at most. It bounds how late a batch is
// whose last event came in at another server that died before it could start
// the run.
const maxSleep = 15 * time.Second

// Run opens the gate whenever a batch is complete, until ctx ends.
func (g *Gate) Run(ctx context.Context) error {
	for {
		next, err := g.open(ctx)
		if err != nil && ctx.Err() == nil {
			g.Log.Error("event triggers could not be looked at", "err", err)
		}
		now := g.Now()
		sleep := maxSleep
		if !next.IsZero() {
			sleep = min(max(next.Sub(now), 0), maxSleep)
		}
		timer := time.NewTimer(sleep)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-g.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// open starts the runs of all batches that are complete and returns when the
// next one will be; zero where nothing waits.
func (g *Gate) open(ctx context.Context) (next time.Time, err error) {
	triggers, err := g.Store.EventTriggers(ctx)
	if err != nil {
		return time.Time{}, err
	}
	for _, t := range triggers {
		at, err := g.batches(ctx, t)
		if ctx.Err() != nil {
			return next, nil
		}
		if err != nil { // it is still complete, and the others are not to wait for it
			g.Log.Error("a batch of events could not start its run", "workflow", t.Workflow, "trigger", t.Trigger, "err", err)
			at = g.Now().Add(time.Second)
		}
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next, nil
}

// batches starts a run for each batch of t that is complete, and returns when
// there will be another.
func (g *Gate) batches(ctx context.Context, t engine.EventTrigger) (time.Time, error) {
	for ctx.Err() == nil {
		events, err := g.Store.WaitingEvents(ctx, t.Trigger, arrival.MaxSize)
		if err != nil || len(events) == 0 {
			return time.Time{}, err
		}
		now := g.Now().UTC()
		n, at := arrival.Batch(t.Rule, len(events), events[0].At, now)
		if n == 0 {
			return at, nil
		}
		if goOn, err := g.start(ctx, t, events[:n]); err != nil || !goOn {
			return now.Add(maxSleep), err
		}
	}
	return time.Time{}, nil
}

// start starts the run of a batch. It reports whether to look for the next
// batch at once: not while this one has to wait.
func (g *Gate) start(ctx context.Context, t engine.EventTrigger, events []engine.TriggerEvent) (goOn bool, err error) {
	fire := flow.Fire{Trigger: t.Trigger, Told: arrival.Telling(events)}
	for _, e := range events {
		fire.Events = append(fire.Events, e.ID)
	}
	failpoint.Hit("gate.start.before")
	run, err := g.Starter.Due(ctx, t.Workflow, fire)
	failpoint.Hit("gate.start.after")
	switch engine.CodeOf(err) {
	case "":
		g.Log.Info("a batch of events started a run", "workflow", t.Workflow, "events", len(events), "run", run.ID)
		g.Changed(t.Trigger)
		return true, nil
	case engine.Conflict, engine.NotFound: // somebody else started it, or the trigger is gone
		return false, nil
	case engine.Internal, engine.Away:
		return false, err
	case engine.Invalid, engine.Forbidden, engine.LimitHit: // it waits, and says for what
	}
	if why := engine.MessageOf(err); why != t.Held {
		g.Log.Warn("a batch of events waits", "workflow", t.Workflow, "trigger", t.Trigger, "why", why)
		g.Changed(t.Trigger)
		return false, g.Store.HoldEvents(ctx, t.Trigger, why)
	}
	return false, nil
}
