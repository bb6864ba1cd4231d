package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"

	"dogear/engine"
)

// PostgreSQL is another process: each question to it takes as long as half a
// flush of the disk. So what a transition asks first goes out with its BEGIN,
// and what it writes with its COMMIT. On SQLite nothing of this happens.

// begun is the beginning of a transaction on PostgreSQL.
type begun struct {
	xid string // by which to ask what became of it, should the answer get lost
	// known is what a small run holds; nil where none was asked for, or where
	// there is no such run, or where it is large.
	known *hotRun
}

// maxPrefetch bounds how many node runs and triggers are read with a run: of a
// larger one only what a step asks for.
const maxPrefetch = 256

// beginPostgres opens a transaction and, where a run is named, locks and reads
// it.
func (s *Store) beginPostgres(ctx context.Context, conn *sql.Conn, run engine.ID) (begun, error) {
	var b begun
	var batch pgx.Batch
	queue(&batch, "BEGIN")
	batch.Queue(`SELECT pg_current_xact_id()::text`).QueryRow(func(row pgx.Row) error { return row.Scan(&b.xid) })
	known := &hotRun{whole: true, nodes: map[engine.Ref][]engine.NodeRun{}, triggers: map[engine.ID]engine.TriggerRun{}}
	if run != "" {
		s.prefetch(&batch, run, known)
	}
	err := pipelined(ctx, conn, &batch)
	if known.whole && known.run.ID != "" {
		b.known = known
	}
	return b, err
}

// prefetch asks for a run, its lock, its node runs and its triggers. What was
// committed while it waited for the lock is seen, for each statement sees what
// stands when it begins.
func (s *Store) prefetch(batch *pgx.Batch, run engine.ID, known *hotRun) {
	batch.Queue(s.bind(selectRun+` WHERE id = ? FOR UPDATE`), string(run)).QueryRow(func(r pgx.Row) error {
		row, err := scanRun(r)
		if errors.Is(err, pgx.ErrNoRows) || errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		known.open = row.OpenNodes
		known.run, err = row.run()
		return err
	})
	batch.Queue(s.bind(selectNode+` WHERE run_id = ? LIMIT ?`), string(run), maxPrefetch+1).Query(func(rows pgx.Rows) error {
		count := 0
		for rows.Next() {
			n, err := scanNode(rows)
			if err != nil {
				return err
			}
			known.nodes[n.Ref] = append(known.nodes[n.Ref], n)
			count++
		}
		for _, of := range known.nodes {
			slices.SortFunc(of, byStart)
		}
		known.whole = known.whole && count <= maxPrefetch
		return rows.Err()
	})
	batch.Queue(s.bind(selectTriggers+` WHERE run_id = ? LIMIT ?`), string(run), maxPrefetch+1).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			t, err := scanTrigger(rows, run)
			if err != nil {
				return err
			}
			known.triggers[t.Trigger] = t
		}
		known.whole = known.whole && len(known.triggers) <= maxPrefetch
		return rows.Err()
	})
}

// queue adds a statement that answers nothing. Its error would be lost without
// somebody who asks for it.
func queue(batch *pgx.Batch, statement string, args ...any) {
	batch.Queue(statement, args...).Exec(func(pgconn.CommandTag) error { return nil })
}

// queueCommit adds the COMMIT, which PostgreSQL answers with a ROLLBACK where it
// has given the transaction up.
func queueCommit(batch *pgx.Batch) {
	batch.Queue("COMMIT").Exec(func(tag pgconn.CommandTag) error {
		if tag.String() != "COMMIT" {
			return errors.New("the transaction was rolled back")
		}
		return nil
	})
}

// pipelined sends a batch and reads every answer.
func pipelined(ctx context.Context, conn *sql.Conn, batch *pgx.Batch) error {
	var err error
	_ = conn.Raw(func(of any) error {
		session, ok := of.(*stdlib.Conn)
		if !ok {
			err = errors.New("the driver cannot send statements together")
			return nil
		}
		err = session.Conn().SendBatch(ctx, batch).Close()
		return nil
	})
	return err
}

// writes are statements that go out together, before the next one that asks, or
// with the COMMIT.
type writes struct{ batch pgx.Batch }

type writesKey struct{}

// collecting makes send collect.
func collecting(ctx context.Context) (context.Context, *writes) {
	w := &writes{}
	return context.WithValue(ctx, writesKey{}, w), w
}

// send writes something that nothing in the transaction asks for.
func (s *Store) send(ctx context.Context, tx bun.Conn, what, query string, args ...any) error {
	w, ok := ctx.Value(writesKey{}).(*writes)
	if !ok {
		return s.exec(ctx, tx, what, query, args...)
	}
	queue(&w.batch, s.bind(query), args...)
	return nil
}

// flush sends what was collected, so that the next question sees it.
func (w *writes) flush(ctx context.Context, conn *sql.Conn) error {
	if w == nil || w.batch.Len() == 0 {
		return nil
	}
	batch := w.batch
	w.batch = pgx.Batch{}
	if err := pipelined(ctx, conn, &batch); err != nil {
		return fmt.Errorf("write a step: %w", err)
	}
	return nil
}
