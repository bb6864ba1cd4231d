package exec

import (
	"context"

	"dogear/engine"
)

// A newer version may bring the schema of a shared database up to date while servers
// of this one still work on it. What these would write does not fit any more, and
// what they read they may not understand. So one that notices ends its work as if its
// lease had ended, gives the lease back, so that the others take the work up at once,
// and does nothing any more. It stays, to say so.

// keptUp reports, as an error, that this server is outgrown, or that nobody knows.
func (e *Exec) keptUp(ctx context.Context) error {
	if err := e.Outgrew(); err != nil {
		return err
	}
	step, err := e.Store.Newer(ctx)
	if err != nil || step == "" {
		return err
	}
	why := engine.Errorf(engine.Away, "A newer Dogear has changed the database under this server (by the step %s), so this one does nothing any more. Use a server of the newer version, and end this one. Nothing was changed, and its runs go on there.", step)
	e.mu.Lock()
	first := e.why == nil
	if first {
		e.why, e.fenced = why, true // from now on nothing is written
		close(e.outgrown)
	}
	e.mu.Unlock()
	if first {
		e.Log.Error("this server is outgrown and ends its work", "err", why)
		e.Outgrown(why)
	}
	return why
}

// Outgrew says why this server does nothing any more, where a newer version has
// changed the schema of its database; nil while none has.
func (e *Exec) Outgrew() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.why
}

// retire gives the lease back once nothing is worked on.
func (e *Exec) retire(ctx context.Context) {
	if err := e.Store.Leave(ctx, e.id()); err != nil {
		e.Log.Warn("the lease could not be given back; others take the work up when it ends", "err", err)
	}
}
