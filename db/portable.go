package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/portable"
)

// Import writes a set of objects and publishes them, all in one transaction,
// and returns the workflow with the entry in its draft's log. Whatever changed
// since the set was compared is a Conflict.
func (s *Store) Import(ctx context.Context, set *portable.Set, by string, now time.Time, next func(engine.Trigger) time.Time) (engine.Workflow, *draft.Entry, error) {
	var made engine.Workflow
	var entry *draft.Entry
	err := s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		for i := range set.Jobs {
			if err := importPart(ctx, s, tx, engine.KindJob, &set.Jobs[i], by, now); err != nil {
				return err
			}
		}
		for i := range set.Crawlers {
			if err := importPart(ctx, s, tx, engine.KindCrawler, &set.Crawlers[i], by, now); err != nil {
				return err
			}
		}
		row, err := importRow(ctx, s, tx, engine.KindWorkflow, &set.Workflow, by, now)
		if err != nil {
			return err
		}
		if set.Workflow.Verb != portable.Keep {
			if entry, err = s.importWorkflow(ctx, tx, &row, set, by, now); err != nil {
				return err
			}
		}
		if made, err = workflow(&row); err != nil {
			return err
		}
		if err := s.putEventTriggers(ctx, tx, &made, now); err != nil {
			return err
		}
		return putSchedules(ctx, tx, made.ID, schedulesOf(&made, next))
	})
	return made, entry, err
}

// importWorkflow lets those who edit the workflow follow, and publishes it.
func (s *Store) importWorkflow(ctx context.Context, tx bun.Conn, row *objectRow, set *portable.Set, by string, now time.Time) (*draft.Entry, error) {
	id := string(engine.NewID(now))
	entry := draft.Entry{
		Op: id, Act: id, Kind: draft.Import, By: by, At: now.UTC(),
		Delta: draft.Between(set.Was, set.Workflow.Body),
	}
	if _, err := writeDraft(ctx, tx, row, set.Workflow.Body, []draft.Entry{entry}); err != nil {
		return nil, err
	}
	entry.Seq = row.DraftSeq
	if !row.Draft.Valid {
		return &entry, nil
	}
	return &entry, s.publishText(ctx, tx, row, by, now)
}

// importPart writes and publishes a job or crawler.
func importPart[B any](ctx context.Context, s *Store, tx bun.Conn, kind engine.Kind, part *portable.Part[B], by string, now time.Time) error {
	row, err := importRow(ctx, s, tx, kind, part, by, now)
	if err != nil || part.Verb == portable.Keep {
		return err
	}
	row.DraftSeq++
	row.Draft = sql.NullString{String: encode(part.Body), Valid: true}
	return s.publishText(ctx, tx, &row, by, now)
}

// importRow makes the row of a new object, or reads the one that is there and
// refuses it where it is no longer what was compared.
func importRow[B any](ctx context.Context, s *Store, tx bun.Conn, kind engine.Kind, part *portable.Part[B], by string, now time.Time) (objectRow, error) {
	if part.Verb != portable.Make {
		row, err := s.object(ctx, tx.Conn, kind, part.ID, true)
		if err == nil && (row.Version != part.Version || row.DraftSeq != part.Seq || row.Draft.Valid) {
			err = engine.Errorf(engine.Conflict, "The %s %s changed while it was being imported. Import the file again.", kind, part.Name)
		}
		return row, err
	}
	row := objectRow{ID: string(part.ID), Kind: string(kind), Name: part.Name, MadeAt: micros(now), At: micros(now), By: by}
	_, err := tx.NewInsert().Model(&row).Exec(ctx)
	if isUnique(err) {
		return row, nameTaken(kind, part.Name)
	}
	if err != nil {
		return row, fmt.Errorf("make %s %q: %w", kind, part.Name, err)
	}
	return row, nil
}
