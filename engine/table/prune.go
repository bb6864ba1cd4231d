package table

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"dogear/engine"
)

// pruneChunk is how many batches are forgotten by one statement.
const pruneChunk = 200

// Prune removes rows of batches that were made before a time from the table of
// batches. It removes only those that final returns of the ids it is given:
// batches that no publish will be asked for again. Rows of this target that
// nobody here knows belong to another server, and stay.
func (t Target) Prune(ctx context.Context, before time.Time, final func(ctx context.Context, ids []engine.ID) ([]engine.ID, error)) error {
	db, err := Open(ctx, t.Config)
	if err != nil {
		return err
	}
	defer db.shut()
	written, err := t.written(ctx, db, before)
	if err != nil {
		return t.Config.explain(err, "does not list the batches of "+t.Table)
	}
	for chunk := range slices.Chunk(written, pruneChunk) {
		ids := make([]engine.ID, len(chunk))
		for i, batch := range chunk {
			ids[i] = batchID(batch)
		}
		ended, err := final(ctx, ids)
		if err != nil {
			return err
		}
		chunk = slices.DeleteFunc(chunk, func(batch string) bool { return !slices.Contains(ended, batchID(batch)) })
		if err := t.forget(ctx, db, chunk); err != nil {
			return t.Config.explain(err, "does not forget the batches of "+t.Table)
		}
	}
	return nil
}

// batchID is the id in the text of a batch: "01hq…_0".
func batchID(batch string) engine.ID {
	id, _, _ := strings.Cut(batch, "_")
	return engine.ID(strings.ToUpper(id))
}

// written lists the batches of t that were made before a time.
func (t Target) written(ctx context.Context, db *DB, before time.Time) (batches []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT batch FROM "+t.batches().in(db)+" WHERE target = "+db.param(1)+" ORDER BY batch", t.Table)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var batch string
		if err := rows.Scan(&batch); err != nil {
			return nil, err
		}
		if made := batchID(batch).Made(); !made.IsZero() && made.Before(before) {
			batches = append(batches, batch)
		}
	}
	return batches, rows.Err()
}

func (t Target) forget(ctx context.Context, db *DB, batches []string) error {
	if len(batches) == 0 {
		return nil
	}
	marks, args := make([]string, len(batches)), make([]any, len(batches))
	for i, batch := range batches {
		marks[i], args[i] = db.param(i+1), batch
	}
	_, err := db.ExecContext(ctx, "DELETE FROM "+t.batches().in(db)+" WHERE batch IN ("+strings.Join(marks, ", ")+")", args...)
	return err
}
