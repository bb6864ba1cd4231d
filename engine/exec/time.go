package exec

import (
	"context"
	"math/rand/v2"
	"time"

	"dogear/engine"
	"dogear/engine/flow"
)

// longestRetry is where the time between attempts stops growing.
const longestRetry = 5 * time.Minute

// retryAfter is at least the delay of the job, doubled with each attempt and
// spread at random over as much again.
func retryAfter(job *engine.JobBody, n int) time.Duration {
	least := max(time.Second, job.RetryDelay.Duration())
	grown := least
	for range min(n-1, 16) {
		grown = min(2*grown, max(longestRetry, least))
	}
	return grown + time.Duration(rand.Int64N(int64(grown))) //nolint:gosec // spreads the load, no secret
}

// PoolsChanged reads anew how many places the pools have, and starts what there
// is room for now.
func (e *Exec) PoolsChanged(ctx context.Context) error {
	places, err := e.Store.PoolPlaces(ctx)
	if err != nil {
		return err
	}
	e.slots.setPlaces(places)
	e.unblock()
	e.fill()
	return nil
}

// timeLook is how often the time limits of runs are looked at where nothing is
// known to be due: a clock that is set may make one due at any moment.
const timeLook = 30 * time.Second

// timekeeper ends runs that take longer than they may, until ctx ends.
func (e *Exec) timekeeper(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.timed:
		case <-timer.C:
		}
		after := e.keepTime(ctx)
		e.looksNext(e.Now().Add(after))
		timer.Reset(after)
	}
}

// keepTime ends what is over its time and returns when to look again.
func (e *Exec) keepTime(ctx context.Context) time.Duration {
	e.looksNext(time.Time{})
	over, next, err := e.Store.OverTime(ctx, e.Now())
	if err != nil {
		if ctx.Err() == nil {
			e.Log.Error("the time limits of runs could not be looked at", "err", err)
		}
		return timeLook
	}
	for _, id := range over {
		if err := e.overTime(ctx, id); err != nil && ctx.Err() == nil && engine.CodeOf(err) != engine.Conflict {
			e.Log.Error("a run that takes too long could not be ended", "run", id, "err", err)
		}
	}
	if next.IsZero() {
		return timeLook
	}
	return min(timeLook, max(0, next.Sub(e.Now())))
}

// looksNext notes when the timekeeper looks next; zero while it looks.
func (e *Exec) looksNext(at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.nextLook = at
}

// timing calls the timekeeper for a run that has begun and is over its time before
// the next look, or after a jump of the clock to beyond it. e.mu is held.
func (e *Exec) timing(run *engine.Run) {
	if run.Deadline.IsZero() || e.Now().Before(e.nextLook) && !run.Deadline.Before(e.nextLook) {
		return
	}
	select {
	case e.timed <- struct{}{}:
	default:
	}
}

func (e *Exec) overTime(ctx context.Context, id engine.ID) error {
	p, err := e.pinned(ctx, id)
	if err != nil {
		return err
	}
	_, err = e.do(ctx, flow.Step{Run: id, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		return flow.OverTime(p.graph, st, run, openOf(st), e.Now().UTC())
	}})
	return err
}

// openOf are the node runs of a run that have not ended.
func openOf(st flow.State) (open []engine.NodeRun) {
	for _, n := range st.All() {
		if !n.State.Done() {
			open = append(open, n)
		}
	}
	return open
}
