package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/flow"
)

// txState answers the rules from the rows of an open transaction. The first
// failure is kept; after it every answer is empty and the step is not applied.
type txState struct {
	ctx  context.Context
	s    *Store
	tx   bun.Conn
	run  engine.ID
	open int
	// known is what need not be asked for; nil where that is nothing.
	known *hotRun
	sent  *writes // what was written in the transaction and is not sent yet
	// granted is for how many this step was told that there is room.
	granted map[room]int
	// guess is set where there is no transaction, and what is not known cannot be
	// asked.
	guess *guess
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
	known := t.known
	if known != nil {
		if tr, ok := known.triggers[id]; ok {
			return tr
		}
		if known.whole {
			return engine.TriggerRun{}
		}
	}
	if t.guess != nil {
		t.keep(errGuess)
		return engine.TriggerRun{}
	}
	tr, err := scanTrigger(t.tx.Conn.QueryRowContext(t.ctx, t.s.bind(selectTriggers+` WHERE run_id = ? AND trigger_id = ?`), string(t.run), string(id)), t.run)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil // nothing has happened to it
	}
	if err != nil {
		t.keep(fmt.Errorf("read trigger %s of run %s: %w", id, t.run, err))
	}
	if known != nil && t.err == nil {
		known.triggers[id] = tr
	}
	return tr
}

func (t *txState) NodeRuns(ref engine.Ref) []engine.NodeRun {
	known := t.known
	if nodes, ok := known.nodeRuns(ref); ok {
		return nodes
	}
	if t.guess != nil {
		t.keep(errGuess)
		return nil
	}
	nodes, err := queryNodes(t.ctx, t.tx.Conn, t.s.bind(selectNode+` WHERE run_id = ? AND ref = ?`), string(t.run), ref.String())
	t.keep(err)
	slices.SortFunc(nodes, byStart) // SQLite's own sort costs five times the query
	if known != nil && t.err == nil {
		known.nodes[ref] = slices.Clone(nodes)
		if t.s.hot != nil {
			t.s.hot.nodes += len(nodes)
		}
	}
	return nodes
}

func (t *txState) All() []engine.NodeRun {
	if nodes, ok := t.known.all(); ok {
		return nodes
	}
	if t.guess != nil {
		t.keep(errGuess)
		return nil
	}
	nodes, err := queryNodes(t.ctx, t.tx.Conn, t.s.bind(selectNode+` WHERE run_id = ?`), string(t.run))
	t.keep(err)
	slices.SortFunc(nodes, byStart)
	return nodes
}

func byStart(a, b engine.NodeRun) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Attempt, b.Attempt))
}

func (t *txState) OpenRuns(workflow engine.ID, most int) (n int) {
	if t.guess != nil {
		if t.s.hot.full[workflow] {
			t.keep(errGuess)
		}
		if was, ok := t.guess.starts[workflow]; !ok || most < was {
			t.guess.starts[workflow] = most
		}
		return 0
	}
	if t.s.postgres() { // two that count at once would both find room
		_, err := t.tx.Conn.ExecContext(t.ctx, `SELECT 1 FROM object WHERE id = $1 FOR UPDATE`, string(workflow))
		t.keep(err)
	}
	t.keep(t.tx.Conn.QueryRowContext(t.ctx, t.s.bind(`SELECT count(*) FROM run WHERE object_id = ? AND ended = 0`), string(workflow)).Scan(&n))
	if t.s.postgres() && t.err == nil {
		t.s.hot.full[workflow] = n >= most
	}
	return n
}

// Room asks only where there are other servers: of one alone, exec knows the
// work. Its locks are tried and not waited for, since two groups of steps could
// wait for each other; who fails to get one looks again when the other is done.
func (t *txState) Room(n *engine.NodeRun, ofJob, ofPool int) bool {
	if !t.s.Shared() {
		return true
	}
	job, pool := room{"ref", n.Ref.String()}, room{"pool", n.Pool}
	if !t.below(ofJob, job) || n.Pool != "" && !t.below(ofPool, pool) {
		return false
	}
	if t.granted == nil {
		t.granted = map[room]int{}
	}
	t.granted[job]++
	t.granted[pool]++
	return true
}

const tryLock = `pg_try_advisory_xact_lock(hashtextextended(?, 0))`

// below reports whether fewer node runs than limit are under way in a room, with
// those that this step has let in already, and keeps others from starting one.
// The count is a statement of its own: it must see what was committed before the
// lock was free.
func (t *txState) below(limit int, in room) bool {
	if t.guess != nil {
		t.guess.rooms[in] = limit
		return true
	}
	if t.err == nil {
		t.keep(t.sent.flush(t.ctx, t.tx.Conn))
	}
	var mine bool
	var n int
	expression, args := in.limit(limit)
	var batch pgx.Batch
	batch.Queue(t.s.bind(`SELECT `+tryLock), in.name()).QueryRow(func(row pgx.Row) error { return row.Scan(&mine) })
	batch.Queue(t.s.bind(`SELECT count(*), (`+expression+`)::bigint FROM node_run WHERE `+in.column+` = ? AND `+t.s.underWay()), append(args, in.value)...).
		QueryRow(func(row pgx.Row) error { return row.Scan(&n, &limit) })
	t.keep(pipelined(t.ctx, t.tx.Conn, &batch))
	return mine && n+t.granted[in] < limit
}

func (t *txState) Head(ref engine.Ref) flow.Head {
	if t.heads == nil {
		t.heads = t.s.hot.headsFor(t.guess != nil)
	}
	if head, ok := t.heads[ref]; ok {
		if t.guess != nil {
			t.guess.heads[ref] = head
		}
		return head
	}
	if t.guess != nil {
		t.keep(errGuess)
		return flow.Head{}
	}
	var head flow.Head
	err := t.tx.Conn.QueryRowContext(t.ctx, t.s.bind(`SELECT name, version, max_runs, priority, pool FROM object WHERE id = ? AND deleted_at = 0`), string(ref.ID)).
		Scan(&head.Name, &head.Version, &head.MaxRuns, &head.Priority, &head.Pool)
	if errors.Is(err, sql.ErrNoRows) {
		head.Name, err = "deleted "+string(ref.Kind), nil
	}
	if err != nil {
		t.keep(err)
		return head
	}
	t.heads[ref] = head
	t.s.hot.saw(ref, head)
	return head
}
