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

// maxPrefetch bounds how many node runs and triggers are read with a run: of a
// larger one only what a step asks for.
const maxPrefetch = 256

// beginPostgres opens a transaction, of which it returns the number by which to
// ask what became of it, and locks and reads a run, where one is named.
func (s *Store) beginPostgres(ctx context.Context, conn *sql.Conn, run engine.ID) (xid string, err error) {
	var batch pgx.Batch
	queue(&batch, "BEGIN")
	batch.Queue(`SELECT pg_current_xact_id()::text`).QueryRow(func(row pgx.Row) error { return row.Scan(&xid) })
	if run == "" {
		return xid, pipelined(ctx, conn, &batch)
	}
	read := newHotRun()
	s.readRun(&batch, run, read)
	remembered := s.hot.of(run)
	if remembered == nil {
		s.readNodes(&batch, run, read)
	}
	if err := pipelined(ctx, conn, &batch); err != nil {
		return xid, err
	}
	s.hot.check(run, read.run.Seq)
	if remembered != nil && s.hot.of(run) == nil { // it has changed
		batch = pgx.Batch{}
		s.readNodes(&batch, run, read)
		err = pipelined(ctx, conn, &batch)
	}
	s.hot.add(read)
	return xid, err
}

// readRun asks for the lock of a run, and for the run.
func (s *Store) readRun(batch *pgx.Batch, run engine.ID, to *hotRun) {
	queue(batch, `SELECT `+lockRun+` FROM (SELECT $1::text AS id) AS v`, string(run))
	batch.Queue(s.bind(selectRun+` WHERE id = ?`), string(run)).QueryRow(func(r pgx.Row) error {
		row, err := scanRun(r)
		if errors.Is(err, pgx.ErrNoRows) || errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		to.run, err = row.run()
		return err
	})
	batch.Queue(s.bind(selectProgress), string(run), string(run)).QueryRow(func(r pgx.Row) error {
		return r.Scan(&to.run.Seq, &to.open)
	})
}

// readNodes asks for the node runs and the triggers of a run, of a large one for
// nothing. What was committed while it waited for the lock is seen, for each
// statement sees what stands when it begins.
func (s *Store) readNodes(batch *pgx.Batch, run engine.ID, to *hotRun) {
	to.whole = true
	batch.Queue(s.bind(selectNode+` WHERE run_id = ? LIMIT ?`), string(run), maxPrefetch+1).Query(func(rows pgx.Rows) error {
		count := 0
		for rows.Next() {
			n, err := scanNode(rows)
			if err != nil {
				return err
			}
			to.nodes[n.Ref] = append(to.nodes[n.Ref], n)
			count++
		}
		for _, of := range to.nodes {
			slices.SortFunc(of, byStart)
		}
		to.whole = to.whole && count <= maxPrefetch
		return rows.Err()
	})
	batch.Queue(s.bind(selectTriggers+` WHERE run_id = ? LIMIT ?`), string(run), maxPrefetch+1).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			t, err := scanTrigger(rows, run)
			if err != nil {
				return err
			}
			to.triggers[t.Trigger] = t
		}
		to.whole = to.whole && len(to.triggers) <= maxPrefetch
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
type writes struct {
	batch pgx.Batch
	joint *joint // takes the writes meanwhile, where it is there
}

type writesKey struct{}

// collecting makes send collect.
func collecting(ctx context.Context) (context.Context, *writes) {
	w := &writes{}
	return context.WithValue(ctx, writesKey{}, w), w
}

// updateRun changes the row of a run where a step has changed what it says.
func (s *Store) updateRun(ctx context.Context, tx bun.Conn, was, run *engine.Run) error {
	if !rowChanged(was, run) {
		return nil
	}
	set, args := runChanges(run)
	return s.send(ctx, tx, "write a run", `UPDATE run SET `+set+` WHERE id = ?`, append(args, string(run.ID))...)
}

// send writes something that nothing in the transaction asks for.
func (s *Store) send(ctx context.Context, tx bun.Conn, what, query string, args ...any) error {
	w, ok := ctx.Value(writesKey{}).(*writes)
	switch {
	case !ok:
		return s.exec(ctx, tx, what, query, args...)
	case w.joint != nil:
		w.joint.write(query, args...)
	default:
		queue(&w.batch, s.bind(query), args...)
	}
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
