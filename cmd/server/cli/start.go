package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"dogear/engine"
	"dogear/handlers/control"
)

// wait says that a command stays until the run it started has ended.
type wait struct {
	Wait bool `help:"Wait for the end; exit with 0 only if the run succeeded."`
}

// token makes a start one that can be asked for again.
type token struct {
	Token string `help:"A text of your own for this start. Where the answer got lost, say the command again with it: the run that has started is shown, and no second one starts."`
}

// started shows a run that was started and, with --wait, stays until its end.
func (w wait) started(ctx context.Context, term Terminal, at target, run control.Run) error {
	if w.Wait {
		_, _ = fmt.Fprintf(term.Err, "Run %s has started.\n", run.ID)
		id := run.ID
		var err error
		if run, err = get[control.Run](ctx, at.Data, "/run", url.Values{"id": {string(id)}, "wait": {"true"}}); err != nil {
			if errors.Is(err, errUnanswered) && ctx.Err() == nil {
				return engine.Errorf(engine.Away, "The server ended before run %s did. The run goes on when the server starts again; look with: dogear run show %s", id, id)
			}
			if ctx.Err() != nil {
				return engine.Errorf(engine.Conflict, "No longer waiting. The run goes on; stop it with: dogear run stop %s", id)
			}
			return err
		}
	}
	if err := at.print(term, run, func(t *table) { runRows(t, &run) }); err != nil {
		return err
	}
	if w.Wait && run.Outcome != engine.RunSucceeded {
		return engine.Errorf(engine.Invalid, "Run %s ended: %s.", run.ID, outcome(&run.Run))
	}
	return nil
}

// start asks for a run. Where the answer gets lost it says by which token to ask again,
// be it one of its own.
func (t token) start(ctx context.Context, at Data, path string, ask func(token string) any) (control.Run, error) {
	text := cmp.Or(t.Token, string(engine.NewID(time.Now())))
	run, err := post[control.Run](ctx, at, path, ask(text))
	if errors.Is(err, errUnanswered) {
		return run, engine.Errorf(engine.Away, "The server ended before it answered, so the run may have begun. Start the server again and look with: dogear run list. Or say the same command again with --token %s: if the run has begun it is shown, and no second one starts.", text)
	}
	return run, err
}
