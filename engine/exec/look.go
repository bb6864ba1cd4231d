package exec

import (
	"context"
	"math/rand/v2"
	"time"

	"dogear/engine"
	"dogear/engine/failpoint"
	"dogear/engine/runner"
)

// lookEvery is how often a server looks at what other servers do where none of
// them has told it of anything: a word that was lost costs that long.
const lookEvery = 5 * time.Second

// lookMost bounds how many waiting nodes of other servers are kept.
const lookMost = 1024

// Heard tells that another server has changed something. It never blocks.
func (e *Exec) Heard() {
	select {
	case e.heard <- struct{}{}:
	default:
	}
}

// lookout takes part in what other servers of the database do, until ctx ends.
// What it does follows from what stands in the database alone, so that a word
// too many or too few changes nothing.
func (e *Exec) lookout(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for failed := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-e.heard:
		case <-timer.C:
		}
		if e.isFenced() || e.stopping() {
			continue // rejoin makes itself heard
		}
		next, err := e.look(ctx, failed)
		failed++
		if err == nil {
			failed = 0
		} else if ctx.Err() == nil && e.Outgrew() == nil {
			e.Log.Warn("could not look what other servers do", "err", err)
			next = time.Now().Add(e.TTL / 30) // a lease may be about to end
		}
		timer.Reset(time.Until(next))
	}
}

// look does once what lookout is for, and returns when to look next. An answer
// that does not come, as on a connection that somebody has cut without a word,
// must not keep it from looking again: it waits longer each time it has failed.
func (e *Exec) look(ctx context.Context, failed int) (next time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, min(e.TTL, e.TTL/10<<min(failed, 4)))
	defer cancel()
	if err = e.keptUp(ctx); err != nil {
		return time.Now().Add(e.TTL / 30), err
	}
	// First what cannot wait.
	next, err = e.leasesEnd(ctx)
	if err == nil {
		err = e.takeOver(ctx)
	}
	if err == nil {
		err = e.heed(ctx)
	}
	if err == nil {
		err = e.PoolsChanged(ctx)
	}
	if err == nil {
		err = e.gatherReady(ctx)
	}
	return next, err
}

// leasesEnd says when the first lease of another server will end, or that it is
// time to look anyway.
func (e *Exec) leasesEnd(ctx context.Context) (first time.Time, err error) {
	const after = 10 * time.Millisecond                                           // by then it has
	asked := time.Now()                                                           // what is left of a lease was left then, or later
	first = asked.Add(lookEvery - time.Duration(rand.Int64N(int64(lookEvery/5)))) //nolint:gosec // spreads the load, no secret
	others, err := e.Store.Replicas(ctx)
	if err != nil {
		return first, err
	}
	self, alone, oldest := e.id(), true, true
	for i := range others {
		r := &others[i]
		if !r.Alive() || r.ID == self {
			continue
		}
		alone, oldest = false, oldest && self < r.ID
		if end := asked.Add(r.Left + after); end.Before(first) {
			first = end
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.alone, e.oldest = alone, oldest
	return first, nil
}

// heed does what was asked of another server and is about this one: a pause, a
// stop, or that its work was taken over.
func (e *Exec) heed(ctx context.Context) error {
	paused, err := e.Store.PausedRuns(ctx)
	if err != nil {
		return err
	}
	held, err := e.Store.Held(ctx, e.id())
	if err != nil {
		return err
	}
	mine := map[engine.NodeKey]engine.NodeRun{}
	for _, n := range held {
		mine[n.Key()] = n
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.paused)
	for _, id := range paused {
		e.paused[id] = true
	}
	clear(e.blocked)
	for key, a := range e.working {
		if n, ok := mine[key]; ok && n.State == engine.Stopping {
			a.cancel(runner.ErrStop)
		}
	}
	return nil
}

// takeOver takes up the work of servers that are gone.
func (e *Exec) takeOver(ctx context.Context) error {
	left, err := e.Store.Orphans(ctx)
	if err != nil {
		return err
	}
	for _, n := range left {
		e.mu.Lock()
		known := e.adopting[n.Key()] || e.working[n.Key()] != nil
		if !known {
			e.adopting[n.Key()] = true
		}
		e.mu.Unlock()
		if known {
			continue
		}
		e.Log.Info("the work of a server that is gone is taken up", "run", n.Run, "node", n.Ref, "server", n.Owner)
		failpoint.Hit("exec.takeover.before")
		e.slots.take(&n)
		e.work.Go(func() { e.adopt(context.WithoutCancel(ctx), n) })
	}
	return nil
}

// gatherReady learns of the nodes that wait and starts what there is room for.
func (e *Exec) gatherReady(ctx context.Context) error {
	ready, err := e.Store.ReadyNodes(ctx, lookMost)
	if err != nil {
		return err
	}
	e.mu.Lock()
	known := map[engine.NodeKey]bool{}
	for i := range e.waiting {
		known[e.waiting[i].Key()] = true
	}
	for key := range e.called { // they go back into the line, or start
		known[key] = true
	}
	e.mu.Unlock()
	for _, n := range ready {
		if !known[n.Key()] && !n.NotBefore.After(e.Now()) {
			e.await(n)
		}
	}
	e.freeTargets()
	e.fill()
	return nil
}
