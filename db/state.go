package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

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
