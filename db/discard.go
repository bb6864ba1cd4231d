package db

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/draft"
)

// Discard edits the draft of a workflow and makes those of jobs and crawlers what is
// published of them, in one transaction. What refuses one of them leaves all.
func (s *Store) Discard(ctx context.Context, id engine.ID, with []draft.Seen,
	change func(d draft.Draft, done map[string]bool) (engine.WorkflowBody, []draft.Entry, error),
) (draft.Draft, error) {
	var edited draft.Draft
	err := s.tx(ctx, func(ctx context.Context, tx bun.Conn) (err error) {
		if edited, err = s.edit(ctx, tx, id, nil, change); err != nil {
			return err
		}
		for _, part := range with {
			err := s.discardDraft(ctx, tx, part.Ref, part.Seq)
			if code := engine.CodeOf(err); err != nil && code != engine.Internal {
				return engine.Errorf(code, "%s Nothing was discarded, of the workflow neither.", engine.MessageOf(err))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return edited, err
}

// DiscardDraft makes a job or crawler again what is published of it. base is the
// newest operation that whoever asks has seen; another one since then is a Conflict.
// One that was never published has nothing to go back to, which is Invalid. Without an
// open draft nothing changes.
func (s *Store) DiscardDraft(ctx context.Context, ref engine.Ref, base int64) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error { return s.discardDraft(ctx, tx, ref, base) })
}

// discardDraft is DiscardDraft within a transaction.
func (s *Store) discardDraft(ctx context.Context, tx bun.Conn, ref engine.Ref, base int64) error {
	row, err := s.object(ctx, tx.Conn, ref.Kind, ref.ID, true)
	switch {
	case err != nil || !row.Draft.Valid:
		return err
	case row.Version == 0:
		return engine.Errorf(engine.Invalid, "The %s %s was never published, so there is nothing to go back to. Delete it instead.", ref.Kind, row.Name)
	case row.DraftSeq != base:
		return engine.Errorf(engine.Conflict, "The %s %s was saved since you looked at its changes. Look at them again, then discard them.", ref.Kind, row.Name)
	}
	row.DraftSeq++ // a form that still shows the draft is refused
	row.Draft = sql.NullString{}
	if _, err := tx.NewUpdate().Model(&row).WherePK().Exec(ctx); err != nil {
		return fmt.Errorf("discard the draft of %s %s: %w", ref.Kind, ref.ID, err)
	}
	return nil
}
