package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
)

// Usage finds out what depends on an object.
func (s *Store) Usage(ctx context.Context, kind engine.Kind, id engine.ID) (engine.Usage, error) {
	row, err := s.object(ctx, s.read.DB, kind, id, false)
	if err != nil {
		return engine.Usage{}, err
	}
	return usage(ctx, s.read, &row)
}

// Delete removes an object from every list and frees its name, with what only
// it needs: the schedules and event triggers of a workflow, the secret of a connection. Its
// versions, runs and bookmarks stay, so that history still reads. What is in
// use is refused as engine.Usage says.
func (s *Store) Delete(ctx context.Context, kind engine.Kind, id engine.ID, now time.Time) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		row, err := s.object(ctx, tx.Conn, kind, id, true)
		if err != nil {
			return err
		}
		used, err := usage(ctx, tx, &row)
		if err != nil {
			return err
		}
		if err := used.Refusal(); err != nil {
			return err
		}
		row.DeletedAt = micros(now)
		if _, err := tx.NewUpdate().Model(&row).Column("deleted_at").WherePK().Exec(ctx); err != nil {
			return fmt.Errorf("delete %s %q: %w", kind, row.Name, err)
		}
		if _, err := tx.NewDelete().Model((*scheduleRow)(nil)).Where("workflow_id = ?", row.ID).Exec(ctx); err != nil {
			return fmt.Errorf("delete the schedules of %q: %w", row.Name, err)
		}
		if err := s.dropEventTriggers(ctx, tx, id, nil, "the workflow was deleted"); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Model((*secretRow)(nil)).Where("object_id = ?", row.ID).Exec(ctx); err != nil {
			return fmt.Errorf("delete the secret of %q: %w", row.Name, err)
		}
		return nil
	})
}

// NameOf is the name of an object, or the last one that a deleted object had.
func (s *Store) NameOf(ctx context.Context, id engine.ID) (name string, deleted bool, err error) {
	var row objectRow
	err = s.read.NewSelect().Model(&row).Column("name", "deleted_at").Where("id = ?", string(id)).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, engine.Errorf(engine.NotFound, "There is nothing with the id %s.", id)
	}
	if err != nil {
		return "", false, fmt.Errorf("read the name of %s: %w", id, err)
	}
	return row.Name, row.DeletedAt != 0, nil
}

func usage(ctx context.Context, on bun.IDB, row *objectRow) (engine.Usage, error) {
	used := engine.Usage{Kind: engine.Kind(row.Kind), Head: row.head()}
	var err error
	switch used.Kind {
	case engine.KindJob, engine.KindCrawler:
		ref := engine.Ref{Kind: used.Kind, ID: used.ID}
		names := func(w engine.WorkflowBody) bool { return slices.Contains(w.Refs(), ref) }
		if used.Workflows, used.Drafts, err = users(ctx, on, engine.KindWorkflow, names); err != nil {
			return used, err
		}
	case engine.KindConnection:
		if used.Workflows, used.Drafts, err = users(ctx, on, engine.KindWorkflow, func(w engine.WorkflowBody) bool { return w.Uses(used.ID) }); err != nil {
			return used, err
		}
		used.Jobs, err = either(users(ctx, on, engine.KindJob, func(b engine.JobBody) bool { return b.Uses(used.ID) }))
		if err != nil {
			return used, err
		}
		used.Crawlers, err = either(users(ctx, on, engine.KindCrawler, func(b engine.CrawlerBody) bool { return b.Uses(used.ID) }))
		if err != nil {
			return used, err
		}
	case engine.KindWorkflow:
	}
	used.Runs, err = runsWith(ctx, on, &used)
	return used, err
}

// users lists the objects of a kind whose published body is one that uses, and
// those of which only the draft is.
func users[B any](ctx context.Context, on bun.IDB, kind engine.Kind, uses func(B) bool) (published, drafts []engine.Head, err error) {
	var rows []objectRow
	err = on.NewSelect().Model(&rows).Where("kind = ? AND deleted_at = 0", string(kind)).Order("name").Scan(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("look which %ss use it: %w", kind, err)
	}
	for i := range rows {
		body, err := decode[B](rows[i].Body)
		if err != nil {
			return nil, nil, err
		}
		draft, err := decode[B](rows[i].Draft.String)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case uses(body):
			published = append(published, rows[i].head())
		case uses(draft):
			drafts = append(drafts, rows[i].head())
		}
	}
	return published, drafts, nil
}

func either(published, drafts []engine.Head, err error) ([]engine.Head, error) {
	return append(published, drafts...), err
}

// runsWith counts the open runs of an object, and those of a workflow version
// that names it.
func runsWith(ctx context.Context, on bun.IDB, used *engine.Usage) (int, error) {
	if used.Kind == engine.KindConnection {
		return 0, nil // the jobs and crawlers that use it keep it
	}
	var rows []struct{ ObjectID, Body string }
	err := on.NewSelect().TableExpr("run AS r").Join("JOIN run_body AS b ON b.run_id = r.id").
		ColumnExpr("r.object_id, b.body").Where("r.ended = 0").Scan(ctx, &rows)
	if err != nil {
		return 0, fmt.Errorf("look at the open runs: %w", err)
	}
	open := 0
	for _, r := range rows {
		body, err := decode[engine.WorkflowBody](r.Body)
		if err != nil {
			return 0, err
		}
		if r.ObjectID == string(used.ID) || slices.Contains(body.Refs(), engine.Ref{Kind: used.Kind, ID: used.ID}) {
			open++
		}
	}
	return open, nil
}
