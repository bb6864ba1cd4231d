package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/flow"
)

// Commit writes a group of steps in one transaction, so that one flush of the
// disk serves all of them. A step that is refused, because its run has moved
// on, leaves nothing behind and does not hold up the others.
func (s *Store) Commit(ctx context.Context, steps []flow.Step) []flow.Written {
	written := make([]flow.Written, len(steps))
	err := s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		for i, step := range steps {
			w, refused, err := s.step(ctx, tx, step)
			if err != nil {
				return err
			}
			written[i] = flow.Written{Writes: w, Err: refused}
		}
		return nil
	})
	switch {
	case err == nil:
		return written
	case len(steps) == 1:
		return []flow.Written{{Err: err}}
	}
	// One of the group broke the transaction: each on its own, so that only
	// that one fails.
	for i := range steps {
		written[i] = s.Commit(ctx, steps[i:i+1])[0]
	}
	return written
}

// step decides and writes one step. refused is the answer of the rules, before
// anything was written; err breaks the transaction.
func (s *Store) step(ctx context.Context, tx bun.Conn, step flow.Step) (w flow.Writes, refused, err error) {
	st := &txState{ctx: ctx, s: s, tx: tx, run: step.Run}
	run, open, err := s.runForStep(ctx, tx, step)
	if err != nil {
		return w, err, nil
	}
	st.open = open
	w, refused = step.Decide(run, st)
	if st.err != nil {
		return w, nil, st.err
	}
	if refused != nil {
		return w, refused, nil
	}
	return w, nil, s.apply(ctx, tx, step, &w, open)
}

// runForStep returns the run of a step, its row locked, and how many open
// nodes it has.
func (s *Store) runForStep(ctx context.Context, tx bun.Conn, step flow.Step) (engine.Run, int, error) {
	if step.New != nil {
		return *step.New, 0, nil
	}
	query := selectRun + ` WHERE id = ?`
	if s.postgres() {
		query += ` FOR UPDATE`
	}
	row, err := scanRun(tx.Conn.QueryRowContext(ctx, s.bind(query), string(step.Run)))
	if errors.Is(err, sql.ErrNoRows) {
		return engine.Run{}, 0, engine.Errorf(engine.NotFound, "There is no run with the id %s.", step.Run)
	}
	if err != nil {
		return engine.Run{}, 0, fmt.Errorf("read run %s: %w", step.Run, err)
	}
	run, err := row.run()
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
	for i := range w.Nodes {
		if err := s.exec(ctx, tx, "write a node run", putNode, nodeArgs(&w.Nodes[i])...); err != nil {
			return err
		}
	}
	for i := range w.Triggers {
		t := &w.Triggers[i]
		err := s.exec(ctx, tx, "write a trigger", putTrigger, string(t.Run), string(t.Trigger), bits(t.Met), bits(t.Dead), micros(t.FiredAt), micros(t.DeadAt))
		if err != nil {
			return err
		}
	}
	for _, e := range w.Events {
		err := s.exec(ctx, tx, "write an event", putEvent, string(e.Run), e.Seq, e.Kind, e.Card, e.State, e.Start, e.Attempt, micros(e.At), e.Text)
		if err != nil {
			return err
		}
	}
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
		return s.putFire(ctx, tx, w.Fire, w.Run.ID)
	}
	return nil
}

// The statements of a transition are plain text on the transaction itself:
// bun's builder costs three times the grouped rate (engine.md 2.2).
const (
	putNode = `INSERT INTO node_run (run_id, ref, start, attempt, name, trigger_id, state, why, fence, version, arguments, process,
  batch_id, counts, error, ready_at, not_before, deadline, started, ended)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run_id, ref, start, attempt) DO UPDATE SET name = excluded.name, state = excluded.state, why = excluded.why,
  fence = excluded.fence, version = excluded.version, process = excluded.process, batch_id = excluded.batch_id,
  counts = excluded.counts, error = excluded.error, not_before = excluded.not_before, deadline = excluded.deadline,
  started = excluded.started, ended = excluded.ended`
	putTrigger = `INSERT INTO trigger_run (run_id, trigger_id, met, dead, fired_at, dead_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (run_id, trigger_id) DO UPDATE SET met = excluded.met, dead = excluded.dead, fired_at = excluded.fired_at, dead_at = excluded.dead_at`
	putEvent = `INSERT INTO event (run_id, seq, kind, card, state, start, attempt, at, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	putInput = `INSERT INTO batch_input (batch_id, ctx, root, files, bytes) VALUES (?, ?, ?, ?, ?)`
)

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

// bits writes marks as a text of zeros and ones.
func bits(marks []bool) string {
	text := make([]byte, len(marks))
	for i, m := range marks {
		text[i] = '0'
		if m {
			text[i] = '1'
		}
	}
	return string(text)
}

func unbits(text string) []bool {
	marks := make([]bool, len(text))
	for i := range text {
		marks[i] = text[i] == '1'
	}
	return marks
}

// txState answers the rules from the rows of an open transaction. The first
// failure is kept; after it every answer is empty and the step is not applied.
type txState struct {
	ctx  context.Context
	s    *Store
	tx   bun.Conn
	run  engine.ID
	open int
	err  error
}

var _ flow.State = (*txState)(nil)

func (t *txState) keep(err error) {
	if t.err == nil && err != nil {
		t.err = err
	}
}

func (t *txState) OpenNodes() int { return t.open }

func (t *txState) TriggerRun(id engine.ID) engine.TriggerRun {
	row := t.tx.Conn.QueryRowContext(t.ctx, t.s.bind(`SELECT met, dead, fired_at, dead_at FROM trigger_run WHERE run_id = ? AND trigger_id = ?`), string(t.run), string(id))
	var met, dead string
	var fired, died int64
	if err := row.Scan(&met, &dead, &fired, &died); err != nil {
		t.keep(fmt.Errorf("read trigger %s of run %s: %w", id, t.run, err))
	}
	return engine.TriggerRun{Run: t.run, Trigger: id, Met: unbits(met), Dead: unbits(dead), FiredAt: instant(fired), DeadAt: instant(died)}
}

func (t *txState) NodeRuns(ref engine.Ref) []engine.NodeRun {
	nodes, err := queryNodes(t.ctx, t.tx.Conn, t.s.bind(selectNode+` WHERE run_id = ? AND ref = ? ORDER BY start, attempt`), string(t.run), ref.String())
	t.keep(err)
	return nodes
}

func (t *txState) All() []engine.NodeRun {
	nodes, err := queryNodes(t.ctx, t.tx.Conn, t.s.bind(selectNode+` WHERE run_id = ? ORDER BY start, attempt`), string(t.run))
	t.keep(err)
	return nodes
}

func (t *txState) NameOf(ref engine.Ref) string {
	var name string
	err := t.tx.Conn.QueryRowContext(t.ctx, t.s.bind(`SELECT name FROM object WHERE id = ?`), string(ref.ID)).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return "deleted " + string(ref.Kind)
	}
	t.keep(err)
	return name
}
