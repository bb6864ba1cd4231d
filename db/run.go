package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/uptrace/bun"

	"dogear/engine"
)

// runRow is a run without the workflow's body, which lies in run_body.
type runRow struct {
	ID, Kind, ObjectID, Name       string
	Version                        int
	Properties, By, TriggerID      string
	Due, Started, Ended, StopAsked int64
	StopBy, Outcome, Error         string
	Pick, Previous, Repeats        string
	Paused, Deadline               int64
	Seq                            int64 // of its newest step
	Skips                          string
}

const selectRun = `SELECT id, kind, object_id, name, version, properties, "by", trigger_id, due, started, ended, stop_asked, stop_by, outcome, error,
  coalesce((SELECT last FROM step WHERE run_id = run.id ORDER BY first DESC LIMIT 1), 0), pick, previous, repeats, paused, deadline, skips FROM run`

// selectProgress asks how far a run has come: the number of its newest step, and
// how many of its nodes are open. It is a question of its own, for what is asked
// together with a lock may be as it was before the lock was free.
const selectProgress = `SELECT coalesce((SELECT last FROM step WHERE run_id = ? ORDER BY first DESC LIMIT 1), 0), (SELECT count(*) FROM node_run WHERE run_id = ? AND ended = 0)`

// scanner is a row of either driver.
type scanner interface{ Scan(to ...any) error }

func scanRun(row scanner) (runRow, error) {
	var r runRow
	err := row.Scan(&r.ID, &r.Kind, &r.ObjectID, &r.Name, &r.Version, &r.Properties, &r.By, &r.TriggerID, &r.Due, &r.Started,
		&r.Ended, &r.StopAsked, &r.StopBy, &r.Outcome, &r.Error, &r.Seq, &r.Pick, &r.Previous, &r.Repeats, &r.Paused, &r.Deadline, &r.Skips)
	return r, err
}

func (r *runRow) run() (engine.Run, error) {
	properties, err := decode[map[string]string](r.Properties)
	pick, pickErr := decode[*engine.Selection](r.Pick)
	skips, skipsErr := decode[map[string]string](r.Skips)
	return engine.Run{
		ID: engine.ID(r.ID), Kind: engine.RunKind(r.Kind), Object: engine.ID(r.ObjectID), Name: r.Name, Version: r.Version,
		Properties: properties, By: r.By, Trigger: engine.ID(r.TriggerID), Due: instant(r.Due), Started: instant(r.Started),
		Ended: instant(r.Ended), StopAsked: instant(r.StopAsked), StopBy: r.StopBy, Outcome: engine.Outcome(r.Outcome),
		Error: r.Error, Seq: r.Seq, Pick: pick, Previous: engine.ID(r.Previous), Repeats: engine.ID(r.Repeats), Paused: instant(r.Paused), Deadline: instant(r.Deadline),
		Skips: skips,
	}, errors.Join(err, pickErr, skipsErr)
}

// rowChanged reports whether a step has changed what the row of a run says. Most do
// not: the row says nothing of the nodes.
func rowChanged(was, run *engine.Run) bool {
	return !was.StopAsked.Equal(run.StopAsked) || was.StopBy != run.StopBy || was.Error != run.Error || !was.Paused.Equal(run.Paused) ||
		!was.Ended.Equal(run.Ended) || was.Outcome != run.Outcome || !maps.Equal(was.Skips, run.Skips)
}

// runChanges is what may change in a run: of an open one nothing is said of its
// end, for which an index would be written anew.
func runChanges(run *engine.Run) (set string, args []any) {
	set = `stop_asked = ?, stop_by = ?, error = ?, paused = ?, skips = ?`
	args = []any{micros(run.StopAsked), run.StopBy, run.Error, micros(run.Paused), skipsText(run)}
	if !run.Open() {
		set, args = set+`, ended = ?, outcome = ?`, append(args, micros(run.Ended), string(run.Outcome))
	}
	return set, args
}

func skipsText(run *engine.Run) string { return encodeSome(run.Skips, len(run.Skips) == 0, "") }

// insertRuns makes the rows of runs that begin.
func (s *Store) insertRuns(ctx context.Context, tx bun.Conn, runs []engine.Run) error {
	return errors.Join(
		put(ctx, s, tx, putRun, runs, runArgs),
		put(ctx, s, tx, putBody, runs, func(to []any, run *engine.Run) []any { return append(to, string(run.ID), encode(run.Body)) }),
	)
}

const selectNode = `SELECT run_id, ref, start, attempt, name, trigger_id, state, why, held, fence, version, arguments, process, batch_id, counts,
  error, ready_at, not_before, deadline, started, ended, copied, owner, pool, priority FROM node_run`

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func queryNodes(ctx context.Context, on querier, query string, args ...any) ([]engine.NodeRun, error) {
	rows, err := on.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read node runs: %w", err)
	}
	defer rows.Close()
	var nodes []engine.NodeRun
	for rows.Next() {
		n, err := scanNode(rows)
		if err != nil {
			return nil, fmt.Errorf("read a node run: %w", err)
		}
		nodes = append(nodes, n)
	}
	return nodes, rows.Err()
}

func scanNode(rows scanner) (n engine.NodeRun, err error) {
	var run, ref, trigger, state, arguments, process, batch, counts string
	var held, ready, notBefore, deadline, started, ended int64
	err = rows.Scan(&run, &ref, &n.Start, &n.Attempt, &n.Name, &trigger, &state, &n.Why, &held, &n.Fence, &n.Version, &arguments, &process,
		&batch, &counts, &n.Error, &ready, &notBefore, &deadline, &started, &ended, &n.Copied, &n.Owner, &n.Pool, &n.Priority)
	if err != nil {
		return n, err
	}
	n.Run, n.By, n.State, n.Batch, n.Held = engine.ID(run), engine.ID(trigger), engine.State(state), engine.ID(batch), held != 0
	n.ReadyAt, n.NotBefore, n.Deadline, n.Started, n.Ended = instant(ready), instant(notBefore), instant(deadline), instant(started), instant(ended)
	var errs [4]error
	n.Ref, errs[0] = engine.ParseRef(ref)
	n.Arguments, errs[1] = decode[map[string]string](arguments)
	n.Process, errs[2] = decode[engine.Process](process)
	n.Counts, errs[3] = decode[engine.Counts](counts)
	return n, errors.Join(errs[:]...)
}

// Run returns a run with the workflow's body that it pinned.
func (s *Store) Run(ctx context.Context, id engine.ID) (engine.Run, error) {
	row, err := scanRun(s.read.DB.QueryRowContext(ctx, s.bind(selectRun+` WHERE id = ?`), string(id)))
	if errors.Is(err, sql.ErrNoRows) {
		return engine.Run{}, engine.Errorf(engine.NotFound, "There is no run with the id %s.", id)
	}
	if err != nil {
		return engine.Run{}, fmt.Errorf("read run %s: %w", id, err)
	}
	run, err := row.run()
	if err != nil {
		return run, err
	}
	var body string
	if err := s.read.DB.QueryRowContext(ctx, s.bind(`SELECT body FROM run_body WHERE run_id = ?`), string(id)).Scan(&body); err != nil {
		return run, fmt.Errorf("read the body of run %s: %w", id, err)
	}
	run.Body, err = decode[engine.WorkflowBody](body)
	return run, err
}

// likeEscaper makes what a person typed stand for itself in a LIKE pattern.
var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// defaultRuns is how many runs a list without a limit gives.
const defaultRuns = 50

// Runs lists runs, newest first, without the bodies they pinned.
func (s *Store) Runs(ctx context.Context, f engine.RunFilter) ([]engine.Run, error) {
	query, args := selectRun+` WHERE 1 = 1`, []any{}
	where := func(condition string, arg ...any) {
		query += " AND " + condition
		args = append(args, arg...)
	}
	if f.Object != "" {
		where("object_id = ?", string(f.Object))
	}
	if f.Outcome != "" {
		where("outcome = ?", string(f.Outcome))
	}
	if f.Open {
		where("ended = 0")
	}
	if f.Name != "" {
		where(`lower(name) LIKE ? ESCAPE '!'`, "%"+likeEscaper.Replace(strings.ToLower(f.Name))+"%")
	}
	if f.ID != "" {
		where(`id LIKE ? ESCAPE '!'`, "%"+likeEscaper.Replace(strings.ToUpper(f.ID))+"%")
	}
	if f.Before != "" {
		where("id < ?", string(f.Before))
	}
	limit := f.Limit
	if limit <= 0 {
		limit = defaultRuns
	}
	rows, err := s.read.DB.QueryContext(ctx, s.bind(query+` ORDER BY id DESC LIMIT ?`), append(args, limit)...)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	defer rows.Close()
	var runs []engine.Run
	for rows.Next() {
		row, err := scanRun(rows)
		if err != nil {
			return nil, fmt.Errorf("list runs: %w", err)
		}
		run, err := row.run()
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, rows.Err()
}

// NodeRuns lists the node runs of a run in the order they began.
func (s *Store) NodeRuns(ctx context.Context, run engine.ID) ([]engine.NodeRun, error) {
	return queryNodes(ctx, s.read.DB, s.bind(selectNode+` WHERE run_id = ? ORDER BY ready_at, ref, start, attempt`), string(run))
}

// openNodes is true of the node runs that have not ended: only open runs have
// such. SQLite finds them by these, PostgreSQL has an index of them.
func (s *Store) openNodes() string {
	if s.postgres() {
		return `ended = 0`
	}
	return `ended = 0 AND run_id IN (SELECT id FROM run WHERE ended = 0)`
}

// underWay is true of the node runs that a server works on: those that are open
// and do not wait.
func (s *Store) underWay() string { return s.openNodes() + ` AND state <> 'ready'` }

const inOrder = ` ORDER BY ready_at, run_id`

// OpenNodes lists every node run of every run that has not ended.
func (s *Store) OpenNodes(ctx context.Context) ([]engine.NodeRun, error) {
	return queryNodes(ctx, s.read.DB, selectNode+` WHERE `+s.openNodes()+inOrder)
}

// putParts notes who took part in a run that has ended. It comes after its nodes.
const putParts = `INSERT INTO part (ref, run_id) SELECT DISTINCT ref, run_id FROM node_run WHERE run_id = ? AND state <> 'skipped' ON CONFLICT DO NOTHING`

// selectHistory asks for the newest node runs of a job or crawler: each run in which
// it took part has one.
const selectHistory = selectNode + ` WHERE ref = ? AND state <> 'skipped' AND run_id IN (
  SELECT id FROM run WHERE ended = 0 UNION ALL SELECT run_id FROM (SELECT run_id FROM part WHERE ref = ? ORDER BY run_id DESC LIMIT ?) AS newest
) ORDER BY run_id DESC, start DESC, attempt DESC LIMIT ?`

// NodeHistory lists the newest node runs of a job or crawler, newest first.
func (s *Store) NodeHistory(ctx context.Context, ref engine.Ref, limit int) ([]engine.NodeRun, error) {
	return queryNodes(ctx, s.read.DB, s.bind(selectHistory), ref.String(), ref.String(), limit, limit)
}

const selectTriggers = `SELECT trigger_id, met, dead, fired_at, dead_at FROM trigger_run`

func scanTrigger(row scanner, run engine.ID) (engine.TriggerRun, error) {
	var id string
	var met, dead int
	var fired, died int64
	err := row.Scan(&id, &met, &dead, &fired, &died)
	return engine.TriggerRun{Run: run, Trigger: engine.ID(id), Met: met, Dead: dead, FiredAt: instant(fired), DeadAt: instant(died)}, err
}

// triggerRuns adds to what is written of the triggers of a run what its nodes say
// of those that started them (flow.step.byNodes).
const triggerRuns = `SELECT trigger_id, max(met), max(dead), max(fired_at), max(dead_at) FROM (
  SELECT trigger_id, met, dead, fired_at, dead_at FROM trigger_run WHERE run_id = ?
  UNION ALL SELECT trigger_id, 0, 0, min(ready_at), 0 FROM node_run
  WHERE run_id = ? AND trigger_id <> '' AND (SELECT previous FROM run WHERE id = run_id) = '' GROUP BY trigger_id
) AS t GROUP BY trigger_id`

// TriggerRuns lists how far the triggers of a run have come. One to which nothing
// has happened yet is left out.
func (s *Store) TriggerRuns(ctx context.Context, run engine.ID) ([]engine.TriggerRun, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(triggerRuns), string(run), string(run))
	if err != nil {
		return nil, fmt.Errorf("list the triggers of run %s: %w", run, err)
	}
	defer rows.Close()
	var all []engine.TriggerRun
	for rows.Next() {
		t, err := scanTrigger(rows, run)
		if err != nil {
			return nil, fmt.Errorf("list the triggers of run %s: %w", run, err)
		}
		all = append(all, t)
	}
	return all, rows.Err()
}

// PausedRuns lists the open runs that are paused.
func (s *Store) PausedRuns(ctx context.Context) ([]engine.ID, error) {
	rows, err := s.read.DB.QueryContext(ctx, `SELECT id FROM run WHERE ended = 0 AND paused <> 0`)
	if err != nil {
		return nil, fmt.Errorf("find the paused runs: %w", err)
	}
	defer rows.Close()
	var ids []engine.ID
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("find the paused runs: %w", err)
		}
		ids = append(ids, engine.ID(id))
	}
	return ids, rows.Err()
}
