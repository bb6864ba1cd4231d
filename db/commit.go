package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/flow"
)

// Commit writes a group of steps in one transaction, so that one flush of the
// disk serves all of them. A step that is refused, because its run has moved
// on, leaves nothing behind and does not hold up the others. Where the database
// goes away meanwhile it waits until ctx ends, and never writes a step twice.
func (s *Store) Commit(ctx context.Context, steps []flow.Step) []flow.Written {
	written, err := s.commit(ctx, steps)
	switch {
	case err == nil:
		return written
	case len(steps) == 1:
		return []flow.Written{{Err: err}}
	}
	// One of the group broke the transaction: each on its own, so that only
	// that one fails.
	written = make([]flow.Written, len(steps))
	for i := range steps {
		written[i] = s.Commit(ctx, steps[i:i+1])[0]
	}
	return written
}

// mostCollisions bounds how often a group is tried again that got in the way of
// another server's.
const mostCollisions = 5

// commit writes a group, once and whole.
func (s *Store) commit(ctx context.Context, steps []flow.Step) ([]flow.Written, error) {
	for collisions := 0; ; {
		written, err := s.group(ctx, steps)
		if lost, ok := errors.AsType[*unsure](err); ok {
			stands, unknown := s.outcome(ctx, lost.xid)
			if stands || unknown != nil {
				return written, unknown
			}
		}
		switch {
		case err == nil:
			return written, nil
		case s.postgres() && collided(err) && collisions < mostCollisions:
			collisions++
		case s.postgres() && away(err):
			select {
			case <-ctx.Done():
				return nil, engine.Errorf(engine.Away, "The database does not answer. Nothing was changed; try again in a minute.")
			case <-time.After(awayPoll):
			}
		default:
			return nil, err
		}
	}
}

func (s *Store) group(ctx context.Context, steps []flow.Step) ([]flow.Written, error) {
	written := make([]flow.Written, len(steps))
	var alone engine.ID // the one run that the group is about, if it is there already
	if len(steps) == 1 && steps[0].New == nil {
		alone = steps[0].Run
	}
	err := s.txThen(ctx, alone, s.hot.end, func(ctx context.Context, tx open) error {
		if err := s.lockRuns(ctx, tx.Conn, steps); err != nil {
			return err
		}
		for i, step := range steps {
			if err := tx.sent.flush(ctx, tx.Conn.Conn); err != nil {
				return err
			}
			w, refused, err := s.step(ctx, tx, step)
			if err != nil {
				return err
			}
			written[i] = flow.Written{Writes: w, Err: refused}
		}
		return nil
	})
	return written, err
}

// lockRuns locks the runs of a group in one order, so that groups of several
// servers do not wait for each other in a circle.
func (s *Store) lockRuns(ctx context.Context, tx bun.Conn, steps []flow.Step) error {
	if !s.postgres() || len(steps) < 2 {
		return nil
	}
	ids := make([]string, 0, len(steps))
	for i := range steps {
		ids = append(ids, string(steps[i].Run))
	}
	_, err := tx.Conn.ExecContext(ctx, `SELECT 1 FROM run WHERE id = ANY($1) ORDER BY id FOR UPDATE`, ids)
	if err != nil {
		return fmt.Errorf("lock the runs of a group: %w", err)
	}
	return nil
}

// step decides and writes one step. refused is the answer of the rules, before
// anything was written; err breaks the transaction.
func (s *Store) step(ctx context.Context, tx open, step flow.Step) (w flow.Writes, refused, err error) {
	st := &txState{ctx: ctx, s: s, tx: tx.Conn, run: step.Run, known: tx.known, sent: tx.sent}
	run, open, err := s.runForStep(ctx, tx, step)
	if engine.CodeOf(err) == engine.NotFound {
		return w, err, nil
	}
	if err != nil {
		return w, nil, err
	}
	st.open = open
	if st.known == nil {
		st.known = s.hot.of(step.Run)
	}
	w, refused = step.Decide(run, st)
	if st.err != nil {
		return w, nil, st.err
	}
	if refused != nil {
		return w, refused, nil
	}
	return w, nil, s.apply(ctx, tx.Conn, step, &w, open)
}

// runForStep returns the run of a step, its row locked, and how many open
// nodes it has.
func (s *Store) runForStep(ctx context.Context, tx open, step flow.Step) (engine.Run, int, error) {
	if tx.known != nil {
		return tx.known.run, tx.known.open, nil
	}
	if step.New != nil {
		return *step.New, 0, nil
	}
	if known := s.hot.of(step.Run); known != nil {
		return known.run, known.open, nil
	}
	query := selectRun + ` WHERE id = ?`
	if s.postgres() {
		query += ` FOR UPDATE`
	}
	row, err := scanRun(tx.Conn.Conn.QueryRowContext(ctx, s.bind(query), string(step.Run)))
	if errors.Is(err, sql.ErrNoRows) {
		return engine.Run{}, 0, engine.Errorf(engine.NotFound, "There is no run with the id %s.", step.Run)
	}
	if err != nil {
		return engine.Run{}, 0, fmt.Errorf("read run %s: %w", step.Run, err)
	}
	run, err := row.run()
	if err == nil {
		s.hot.read(run, row.OpenNodes)
	}
	return run, row.OpenNodes, err
}

// apply writes what a step decided. It fills in the numbers that only the
// store knows.
func (s *Store) apply(ctx context.Context, tx bun.Conn, step flow.Step, w *flow.Writes, open int) error {
	for i := range w.Events {
		w.Run.Seq++
		w.Events[i].Seq = w.Run.Seq
	}
	if err := s.putRun(ctx, tx, step.New != nil, &w.Run, open+w.OpenNodes); err != nil {
		return err
	}
	if err := put(ctx, s, tx, &putNode, w.Nodes, nodeArgs); err != nil {
		return err
	}
	if err := put(ctx, s, tx, &putTrigger, w.Triggers, triggerArgs); err != nil {
		return err
	}
	if err := put(ctx, s, tx, &putEvent, w.Events, eventArgs); err != nil {
		return err
	}
	s.hot.wrote(step.New != nil, w.Run, open+w.OpenNodes, w.Nodes, w.Triggers)
	return s.applyRest(ctx, tx, w)
}

// applyRest writes what only few steps have.
func (s *Store) applyRest(ctx context.Context, tx bun.Conn, w *flow.Writes) error {
	if w.Batch != nil {
		if err := s.putBatch(ctx, tx, w.Batch); err != nil {
			return err
		}
	}
	for _, in := range w.Inputs {
		err := s.exec(ctx, tx, "write what a batch read", putInput, string(in.Batch), in.Ctx, in.Root, in.Files, in.Bytes)
		if err != nil {
			return err
		}
	}
	for i := range w.Bookmarks {
		if err := s.putMove(ctx, tx, &w.Bookmarks[i]); err != nil {
			return err
		}
	}
	for i := range w.Tables {
		if err := s.putTable(ctx, tx, &w.Tables[i]); err != nil {
			return err
		}
	}
	if w.Fire != nil {
		if err := s.putFire(ctx, tx, w.Fire, w.Run.ID); err != nil {
			return err
		}
	}
	if w.Token != nil {
		return s.putToken(ctx, tx, w.Token, &w.Run)
	}
	if w.Properties != nil {
		return s.putProperties(ctx, tx, w.Properties, &w.Run)
	}
	return nil
}

const putInput = `INSERT INTO batch_input (batch_id, ctx, root, files, bytes) VALUES (?, ?, ?, ?, ?)`

func (s *Store) exec(ctx context.Context, tx bun.Conn, what, query string, args ...any) error {
	if _, err := tx.Conn.ExecContext(ctx, s.bind(query), args...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// bind writes the placeholders of query as the database wants them.
func (s *Store) bind(query string) string {
	if !s.postgres() {
		return query
	}
	var b strings.Builder
	n := 0
	for _, r := range query {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}
