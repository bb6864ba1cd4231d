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
	"dogear/engine/flow"
)

// Commit writes a group of steps in one transaction, so that one flush of the
// disk serves all of them. A step that is refused, because its run has moved
// on, leaves nothing behind and does not hold up the others. Where the database
// goes away meanwhile it waits until ctx ends, and never writes a step twice.
func (s *Store) Commit(ctx context.Context, steps []flow.Step) []flow.Written {
	if !s.postgres() {
		return s.fromRows(ctx, steps)
	}
	s.hot.mu.Lock()
	defer s.hot.mu.Unlock()
	written := make([]flow.Written, len(steps))
	rest, err := s.guess(ctx, steps, written)
	if err != nil { // nobody knows what became of it, so nothing may be tried again
		for i := range written {
			written[i].Err = err
		}
		return written
	}
	some := make([]flow.Step, len(rest))
	for k, i := range rest {
		some[k] = steps[i]
	}
	for k, w := range s.fromRows(ctx, some) {
		written[rest[k]] = w
	}
	return written
}

// fromRows writes a group that is decided from the rows.
func (s *Store) fromRows(ctx context.Context, steps []flow.Step) []flow.Written {
	written, err := s.commit(ctx, steps)
	switch {
	case err == nil:
		return written
	case len(steps) == 1 || s.postgres() && engine.CodeOf(err) == engine.Away: // it is none of the group that broke
		written = make([]flow.Written, len(steps))
		for i := range written {
			written[i].Err = err
		}
		return written
	}
	// One of the group broke the transaction: each on its own, so that only
	// that one fails.
	written = make([]flow.Written, len(steps))
	for i := range steps {
		written[i] = s.fromRows(ctx, steps[i:i+1])[0]
	}
	return written
}

// mostCollisions bounds how often a group is tried again that got in the way of
// another server's.
const mostCollisions = 5

// commit writes a group, once and whole.
func (s *Store) commit(ctx context.Context, steps []flow.Step) ([]flow.Written, error) {
	if len(steps) == 0 {
		return nil, nil
	}
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
		case s.postgres() && (away(err) || errors.Is(err, context.Canceled)): // ctx bounds only the wait for a line
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

// lockRun keeps everybody else from writing a run until the transaction ends. Who
// decides from memory (guess.go) only asks whether it is free.
const lockRun = `pg_advisory_xact_lock(hashtextextended(id, 0))`

// lockRuns locks the runs of a group, and forgets what is remembered of those
// that somebody else has written since.
func (s *Store) lockRuns(ctx context.Context, tx bun.Conn, steps []flow.Step) error {
	if !s.postgres() || len(steps) < 2 {
		return nil
	}
	ids := make([]string, 0, len(steps))
	for i := range steps {
		ids = append(ids, string(steps[i].Run))
	}
	slices.Sort(ids) // so that no two servers wait for each other
	if _, err := tx.Conn.ExecContext(ctx, `SELECT `+lockRun+` FROM unnest($1::text[]) AS v(id)`, ids); err != nil {
		return fmt.Errorf("lock the runs of a group: %w", err)
	}
	rows, err := tx.Conn.QueryContext(ctx, `SELECT id, coalesce((SELECT last FROM step WHERE run_id = id ORDER BY first DESC LIMIT 1), 0) FROM unnest($1::text[]) AS v(id)`, ids)
	if err != nil {
		return fmt.Errorf("ask how far the runs of a group have come: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var last int64
		if err := rows.Scan(&id, &last); err != nil {
			return fmt.Errorf("ask how far the runs of a group have come: %w", err)
		}
		s.hot.check(engine.ID(id), last)
	}
	return rows.Err()
}

// step decides and writes one step. refused is the answer of the rules, before
// anything was written; err breaks the transaction.
func (s *Store) step(ctx context.Context, tx open, step flow.Step) (w flow.Writes, refused, err error) {
	st := &txState{ctx: ctx, s: s, tx: tx.Conn, run: step.Run, sent: tx.sent}
	run, open, err := s.runForStep(ctx, tx, step)
	if engine.CodeOf(err) == engine.NotFound {
		return w, err, nil
	}
	if err != nil {
		return w, nil, err
	}
	st.open = open
	if st.known = s.hot.of(step.Run); step.New != nil {
		st.known = newlyBegun()
	}
	was := run
	w, refused = step.Decide(run, st)
	if st.err != nil {
		return w, nil, st.err
	}
	if refused != nil {
		return w, refused, nil
	}
	return w, nil, s.apply(ctx, tx.Conn, step, &was, &w, open)
}

// runForStep returns the run of a step, its row locked, and how many open
// nodes it has.
func (s *Store) runForStep(ctx context.Context, tx open, step flow.Step) (engine.Run, int, error) {
	if step.New != nil {
		return *step.New, 0, nil
	}
	if known := s.hot.of(step.Run); known != nil {
		return known.run, known.open, nil
	}
	row, err := scanRun(tx.Conn.Conn.QueryRowContext(ctx, s.bind(selectRun+` WHERE id = ?`), string(step.Run)))
	if errors.Is(err, sql.ErrNoRows) {
		return engine.Run{}, 0, engine.Errorf(engine.NotFound, "There is no run with the id %s.", step.Run)
	}
	if err != nil {
		return engine.Run{}, 0, fmt.Errorf("read run %s: %w", step.Run, err)
	}
	run, err := row.run()
	if err != nil {
		return run, 0, err
	}
	var open int
	if err := tx.Conn.Conn.QueryRowContext(ctx, s.bind(selectProgress), string(step.Run), string(step.Run)).Scan(&run.Seq, &open); err != nil {
		return run, 0, fmt.Errorf("read how far run %s has come: %w", step.Run, err)
	}
	s.hot.read(run, open)
	return run, open, nil
}

// apply writes what a step decided. It fills in the numbers that only the
// store knows.
func (s *Store) apply(ctx context.Context, tx bun.Conn, step flow.Step, was *engine.Run, w *flow.Writes, open int) error {
	number(w)
	var err error
	if step.New != nil {
		err = s.insertRuns(ctx, tx, []engine.Run{w.Run})
	} else {
		err = s.updateRun(ctx, tx, was, &w.Run)
	}
	if err != nil {
		return err
	}
	if err := put(ctx, s, tx, putStep, stepRows(nil, w), stepArgs); err != nil {
		return err
	}
	if err := put(ctx, s, tx, putNode, w.Nodes, nodeArgs); err != nil {
		return err
	}
	if err := put(ctx, s, tx, putTrigger, w.Triggers, triggerArgs); err != nil {
		return err
	}
	if !w.Run.Open() {
		if err := s.send(ctx, tx, "note who took part in a run", putParts, string(w.Run.ID)); err != nil {
			return err
		}
	}
	s.hot.wrote(step.New != nil, w, open+w.OpenNodes)
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
