package exec

import (
	"context"
	"time"

	"dogear/engine"
	"dogear/engine/runner"
)

// attempt is one at a claimed node. It is told the properties that its run had when
// the node was claimed. taken says that the node was under way already.
func (e *Exec) attempt(n engine.NodeRun, told map[string]string, taken bool) *attempt {
	ctx, cancel := context.WithCancelCause(context.Background())
	a := &attempt{e: e, node: n, told: told, ctx: ctx, cancel: cancel, waits: n.Process.Apart && !taken}
	a.apart.Store(n.Process.Apart)
	e.mu.Lock()
	e.working[n.Key()] = a
	if e.drained != nil { // its start was being written while the others were told to end
		cancel(e.drained)
	}
	if cause := e.early[n.Key()]; cause != nil {
		cancel(cause)
	}
	e.mu.Unlock()
	return a
}

// launch works on an attempt in a goroutine of its own, and on what follows from it.
func (e *Exec) launch(a *attempt) {
	e.work.Go(func() {
		for ; a != nil; a = a.next {
			a.work(a.ctx)
			if a.next != nil && a.lingers() {
				e.work.Go(a.leave)
			} else {
				a.leave()
			}
		}
	})
}

// lingers reports that to leave takes a while: the rest of a log is shipped, what a
// script has left is looked at, or a stage is removed. Else it takes less than to wake
// another thread for it.
func (a *attempt) lingers() bool { return a.node.Process.Apart || a.log.ships() || a.discards() }

// discards reports whether the attempt leaves a stage that nobody publishes.
func (a *attempt) discards() bool {
	return a.ended && a.batch != nil && a.batch.State == engine.BatchDiscarded
}

// leave gives back what an attempt held.
func (a *attempt) leave() {
	defer a.cancel(nil)
	if err := a.log.Close(); err != nil {
		a.e.Log.Warn("a log was not closed in order", "run", a.node.Run, "err", err)
	}
	if a.discards() {
		if err := a.e.Runners[a.node.Ref.Kind].Discard(context.Background(), *a.batch); err != nil {
			a.e.Log.Error("the stage of a batch could not be removed", "batch", a.batch.ID, "err", err)
		}
	}
	if a.ended {
		a.clean()
	}
	key := a.node.Key()
	a.e.mu.Lock()
	delete(a.e.working, key)
	a.e.mu.Unlock()
	a.e.freeTargets()
	a.e.slots.release(&a.node)
	a.e.fill()
}

// cancel tells a running attempt to stop, also one that is just being taken up.
func (e *Exec) cancel(key engine.NodeKey, cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch a := e.working[key]; {
	case a != nil:
		a.cancel(cause)
	case e.adopting[key]:
		e.early[key] = cause
	}
}

// drain tells every attempt that the server is stopping, after the time it
// was given to let them end by themselves. A process that lives apart goes on
// until the next server comes, unless there are other servers: to them its node
// would be free.
func (e *Exec) drain() {
	e.mu.Lock()
	e.stopped = true
	cause := runner.ErrFence
	if e.alone {
		cause = runner.ErrDrain
		for _, a := range e.working {
			if a.apart.Load() {
				a.cancel(cause)
			}
		}
	}
	e.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		e.leading.Lock() // what was claimed before e.stopped is launched by now, and nothing is claimed from here on
		e.work.Done()
		e.leading.Unlock()
		e.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(e.Drain):
		e.mu.Lock()
		e.drained = cause
		for _, a := range e.working {
			a.cancel(cause)
		}
		e.hurry()
		e.mu.Unlock()
	}
}
