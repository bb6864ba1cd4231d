package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
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
	err := s.txThen(ctx, s.hot.end, func(ctx context.Context, tx bun.Conn) error {
		if err := s.lockRuns(ctx, tx, steps); err != nil {
			return err
		}
		for i, step := range steps {
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
func (s *Store) step(ctx context.Context, tx bun.Conn, step flow.Step) (w flow.Writes, refused, err error) {
	st := &txState{ctx: ctx, s: s, tx: tx, run: step.Run}
	run, open, err := s.runForStep(ctx, tx, step)
	if engine.CodeOf(err) == engine.NotFound {
		return w, err, nil
	}
	if err != nil {
		return w, nil, err
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
	if known := s.hot.of(step.Run); known != nil {
		return known.run, known.open, nil
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
		return s.putFire(ctx, tx, w.Fire, w.Run.ID)
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

// txState answers the rules from the rows of an open transaction. The first
// failure is kept; after it every answer is empty and the step is not applied.
type txState struct {
	ctx  context.Context
	s    *Store
	tx   bun.Conn
	run  engine.ID
	open int
	// heads are those read already: the rules ask for a name, then exec for the
	// version that starts.
	heads map[engine.Ref]flow.Head
	err   error
}

var _ flow.State = (*txState)(nil)

func (t *txState) keep(err error) {
	if t.err == nil && err != nil {
		t.err = err
	}
}

func (t *txState) OpenNodes() int { return t.open }

func (t *txState) TriggerRun(id engine.ID) engine.TriggerRun {
	known := t.s.hot.of(t.run)
	if known != nil {
		if tr, ok := known.triggers[id]; ok {
			return tr
		}
	}
	row := t.tx.Conn.QueryRowContext(t.ctx, t.s.bind(`SELECT met, dead, fired_at, dead_at FROM trigger_run WHERE run_id = ? AND trigger_id = ?`), string(t.run), string(id))
	var met, dead int
	var fired, died int64
	if err := row.Scan(&met, &dead, &fired, &died); err != nil {
		t.keep(fmt.Errorf("read trigger %s of run %s: %w", id, t.run, err))
	}
	tr := engine.TriggerRun{Run: t.run, Trigger: id, Met: met, Dead: dead, FiredAt: instant(fired), DeadAt: instant(died)}
	if known != nil && t.err == nil {
		known.triggers[id] = tr
	}
	return tr
}

func (t *txState) NodeRuns(ref engine.Ref) []engine.NodeRun {
	known := t.s.hot.of(t.run)
	if nodes, ok := known.nodeRuns(ref); ok {
		return nodes
	}
	nodes, err := queryNodes(t.ctx, t.tx.Conn, t.s.bind(selectNode+` WHERE run_id = ? AND ref = ?`), string(t.run), ref.String())
	t.keep(err)
	slices.SortFunc(nodes, byStart) // SQLite's own sort costs five times the query
	if known != nil && t.err == nil {
		known.nodes[ref] = slices.Clone(nodes)
		t.s.hot.nodes += len(nodes)
	}
	return nodes
}

func (t *txState) All() []engine.NodeRun {
	if nodes, ok := t.s.hot.of(t.run).all(); ok {
		return nodes
	}
	nodes, err := queryNodes(t.ctx, t.tx.Conn, t.s.bind(selectNode+` WHERE run_id = ?`), string(t.run))
	t.keep(err)
	slices.SortFunc(nodes, byStart)
	return nodes
}

func byStart(a, b engine.NodeRun) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Attempt, b.Attempt))
}

func (t *txState) OpenRuns(workflow engine.ID) (n int) {
	if t.s.postgres() { // two that count at once would both find room
		_, err := t.tx.Conn.ExecContext(t.ctx, `SELECT 1 FROM object WHERE id = $1 FOR UPDATE`, string(workflow))
		t.keep(err)
	}
	t.keep(t.tx.Conn.QueryRowContext(t.ctx, t.s.bind(`SELECT count(*) FROM run WHERE object_id = ? AND ended = 0`), string(workflow)).Scan(&n))
	return n
}

// Room asks only where there are other servers: of one alone, exec knows the
// work. Its locks are tried and not waited for, since two groups of steps could
// wait for each other; who fails to get one looks again when the other is done.
func (t *txState) Room(n *engine.NodeRun, ofJob, ofPool int) bool {
	if !t.s.Shared() {
		return true
	}
	return t.below(ofJob, "ref", n.Ref.String()) && (n.Pool == "" || t.below(ofPool, "pool", n.Pool))
}

// below reports whether fewer node runs than limit are under way with one value
// in a column, and keeps others from starting one.
func (t *txState) below(limit int, column, value string) bool {
	var mine bool
	t.keep(t.tx.Conn.QueryRowContext(t.ctx, `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))`, column+" "+value).Scan(&mine))
	if !mine {
		return false
	}
	var n int // a statement of its own: it must see what was committed before the lock was free
	t.keep(t.tx.Conn.QueryRowContext(t.ctx, `SELECT count(*) FROM node_run WHERE `+column+` = $1 AND `+underWay, value).Scan(&n))
	return n < limit
}

func (t *txState) Head(ref engine.Ref) flow.Head {
	if head, ok := t.heads[ref]; ok {
		return head
	}
	var head flow.Head
	err := t.tx.Conn.QueryRowContext(t.ctx, t.s.bind(`SELECT name, version, max_runs, priority, pool FROM object WHERE id = ? AND deleted_at = 0`), string(ref.ID)).
		Scan(&head.Name, &head.Version, &head.MaxRuns, &head.Priority, &head.Pool)
	if errors.Is(err, sql.ErrNoRows) {
		head.Name, err = "deleted "+string(ref.Kind), nil
	}
	t.keep(err)
	if t.heads == nil {
		t.heads = map[engine.Ref]flow.Head{}
	}
	t.heads[ref] = head
	return head
}
