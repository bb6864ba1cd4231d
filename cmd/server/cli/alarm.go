package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"dogear/engine"
	"dogear/handlers/control"
)

// comesAgain lists the moves after which rows that were read may be read again.
func comesAgain(kind engine.MoveKind) bool {
	switch kind {
	case engine.MoveReset, engine.MoveRewind, engine.MoveUndo, engine.MoveReadAgain, engine.MoveImport, engine.MovePromote:
		return true
	case engine.MoveAdvance, engine.MovePause, engine.MoveResume, engine.MoveHold, engine.MoveRelease, engine.MoveSetNow, engine.MoveAdopt, engine.MoveBranch:
	}
	return false
}

// warn says what the targets would do with rows that a move lets come again, as
// its dry run does. Where that is not safe the move needs --yes.
func (t risk) warn(term Terminal, would control.Waiting, err error) error {
	switch {
	case t.Yes:
		return nil
	case err != nil:
		return engine.Errorf(engine.CodeOf(err), "%s Nothing was moved. Where only the look at the next run failed, --yes makes the move without it.", engine.MessageOf(err))
	case would.Again.Files == 0:
		return nil
	case !would.Safe:
		return engine.Errorf(engine.Conflict, "%s Nothing was moved. --dry-run says what would come again; --yes makes the move all the same.", would.Alarm)
	}
	_, err = fmt.Fprintln(term.Err, would.Alarm)
	return err
}

// warn looks at a move before it is made: at each bookmark of the job, where
// all of them are reset.
func (o *of) warn(ctx context.Context, term Terminal, t risk, move control.Move) error {
	if t.Yes || !comesAgain(move.Kind) {
		return nil
	}
	contexts := []string{move.Ctx}
	if move.All {
		all, err := get[[]control.Bookmark](ctx, o.Data, "/bookmarks", nil)
		if err != nil {
			return err
		}
		contexts = nil
		for i := range all {
			if all[i].Owner == move.Owner {
				contexts = append(contexts, all[i].Ctx)
			}
		}
	}
	for _, move.Ctx = range contexts {
		would, err := post[control.Waiting](ctx, o.Data, "/bookmark/plan", move)
		if err := t.warn(term, would, err); err != nil {
			return err
		}
	}
	return nil
}

// warn looks at an import before it is made, and leaves from at its beginning.
func (c *bookmarkImport) warn(ctx context.Context, term Terminal, query url.Values, from io.ReadSeeker) error {
	if c.Yes {
		return nil
	}
	query.Set("dry", "yes")
	defer query.Del("dry")
	would, err := ask[control.Waiting](ctx, c.Data, http.MethodPost, "/bookmark/import", query, io.NopCloser(from))
	if err := c.risk.warn(term, would, err); err != nil {
		return err
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the file again: %w", err)
	}
	return nil
}
