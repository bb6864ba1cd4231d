package exec

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dogear/engine"
	"dogear/engine/failpoint"
	"dogear/engine/runner"
)

// defaultTTL is how long a server may be silent before others take up its work.
const defaultTTL = 15 * time.Second

// margin is how long before the end of its lease a server that could not renew
// it stops working, so that nobody else has begun when it has ended.
func (e *Exec) margin() time.Duration { return e.TTL / 5 }

// lease is the right of this server to work, with what ends when it does.
type lease struct {
	id engine.ID
	// until is when it ends by this machine's own steady clock, counted from
	// before the database was asked.
	until time.Time
	ctx   context.Context //nolint:containedctx // it is what the lease is: work under it ends with it
	end   context.CancelFunc
}

// id is the server by which node runs are marked now.
func (e *Exec) id() engine.ID {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lease.id
}

// leased is what lasts as long as the lease of now.
func (e *Exec) leased() context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lease.ctx
}

// join takes a new lease, under a new id: what was marked with an old one is
// the work of somebody who is gone.
func (e *Exec) join(ctx context.Context) error {
	before := time.Now()
	self := e.Self
	self.ID, self.Started = engine.NewID(e.Now()), e.Now().UTC()
	failpoint.Hit("exec.join.before")
	if err := e.Store.Join(ctx, self, e.TTL); err != nil {
		return fmt.Errorf("join the servers of the database: %w", err)
	}
	failpoint.Hit("exec.join.after")
	if err := e.bury(ctx, self); err != nil {
		return err
	}
	under, end := context.WithCancel(context.WithoutCancel(ctx))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lease = lease{id: self.ID, until: before.Add(e.TTL), ctx: under, end: end}
	return nil
}

// bury ends the leases of servers that ran on this very machine and are dead, so
// that nobody waits for them to run out.
func (e *Exec) bury(ctx context.Context, self engine.Replica) error {
	all, err := e.Store.Replicas(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		r := &all[i]
		here := r.Host == self.Host && r.Process.Boot == self.Process.Boot && r.Process.PID != 0
		if r.ID == self.ID || !r.Alive() || !here || e.Processes.Alive(r.Process) {
			continue
		}
		failpoint.Hit("exec.bury.before")
		if err := e.Store.Leave(ctx, r.ID); err != nil {
			return err
		}
		failpoint.Hit("exec.bury.after")
		e.Log.Info("a server of this machine is dead, its work is taken up", "server", r.ID)
	}
	return nil
}

// keepLease renews the lease until ctx ends. Where that fails for too long it
// ends all work of this server, and begins anew once the database is back.
func (e *Exec) keepLease(ctx context.Context) {
	for ctx.Err() == nil {
		e.renew(ctx)
		if ctx.Err() != nil {
			return
		}
		e.fence()
		if e.rejoin(ctx); e.Outgrew() != nil {
			e.retire(ctx)
			return
		}
	}
}

// renew returns when the lease is lost, when nothing is to be done under it any more, or
// when ctx ends.
func (e *Exec) renew(ctx context.Context) {
	e.mu.Lock()
	held := e.lease
	e.mu.Unlock()
	next := time.NewTimer(e.TTL / 3)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.outgrown:
			return
		case <-next.C:
		}
		before := time.Now()
		last := held.until.Add(-e.margin())
		asking, cancel := context.WithDeadline(ctx, last)
		failpoint.Hit("exec.renew.before")
		err := e.Store.Renew(asking, held.id, e.TTL)
		failpoint.Hit("exec.renew.after")
		cancel()
		switch {
		case err == nil:
			held.until = before.Add(e.TTL)
			e.mu.Lock()
			e.lease.until = held.until
			e.mu.Unlock()
			next.Reset(e.TTL / 3)
		case engine.CodeOf(err) == engine.Conflict || !time.Now().Before(last):
			if ctx.Err() == nil {
				e.Log.Error("this server lost its lease and ends its work; others take it up", "err", err)
			}
			return
		default:
			e.Log.Warn("the lease could not be renewed", "left", time.Until(held.until).Round(time.Millisecond), "err", err)
			next.Reset(e.TTL / 30)
		}
	}
}

// fence ends what this server works on, without a word to the database: the
// work belongs to whoever takes it up.
func (e *Exec) fence() {
	e.mu.Lock()
	e.fenced = true
	e.lease.end()
	for _, a := range e.working {
		a.cancel(runner.ErrFence)
	}
	e.mu.Unlock()
	e.idle()
}

// idle waits until this server works on nothing.
func (e *Exec) idle() {
	for {
		e.mu.Lock()
		busy, change := len(e.working)+len(e.adopting), e.free
		e.mu.Unlock()
		if busy == 0 {
			return
		}
		<-change
	}
}

// rejoin takes a new lease as soon as the database gives one, and takes up what
// was left, be it this server's own.
func (e *Exec) rejoin(ctx context.Context) {
	for ctx.Err() == nil && e.Outgrew() == nil {
		asking, cancel := context.WithTimeout(ctx, e.TTL)
		err := e.keptUp(asking)
		if err == nil {
			err = e.join(asking)
		}
		cancel()
		if err == nil {
			e.mu.Lock()
			e.fenced = e.why != nil // it may have been outgrown meanwhile
			clear(e.pins)
			e.waiting = nil
			e.mu.Unlock()
			e.Heard()
			return
		}
		e.Log.Warn("this server waits for its database", "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(e.TTL / 15):
		}
	}
}

// errFenced refuses what a server without a lease is asked to do.
var errFenced = engine.Errorf(engine.Away, "The database does not answer, and this server may not work until it does. Nothing was changed; try again in a minute.")

// isFenced reports whether the server has no lease. It asks the clock as well:
// a server that was halted, and goes on, has perhaps not yet noticed.
func (e *Exec) isFenced() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.fenced || e.Store.Shared() && time.Now().After(e.lease.until)
}

// away reports whether err says that the database could not be asked.
func away(err error) bool { return engine.CodeOf(err) == engine.Away || errors.Is(err, errFenced) }
