package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver of the store, to compare with
	"golang.org/x/sync/errgroup"

	"dogear/db"
	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/engine/runner"
)

const (
	crowdRuns   = 1000
	crowdNodes  = 10
	crowdRounds = 5
	// crowdTransitions is how often a node ends in them or begins, where both are one
	// transition: a run begins with its first node, and ends with its last.
	crowdTransitions = crowdRuns * (crowdNodes + 1)
	groupSize        = 100 // transitions in a transaction of the limit
)

// many is a runner that does nothing, or ends each node of a run at a moment
// that was planned before, and notes when they started.
type many struct {
	runner.Runner
	// pace is the time between two planned ends of a run; 0 ends them at once.
	pace time.Duration

	mu    sync.Mutex
	ended map[engine.ID]time.Time // of the last node of a run: when it ended, or should have
	gaps  []time.Duration         // from that end to the start of the next
}

func (m *many) Run(_ context.Context, a runner.Attempt, _ runner.Host) (runner.Result, error) {
	started, run := time.Now(), a.Node.Run
	m.mu.Lock()
	last, later := m.ended[run]
	if later {
		m.gaps = append(m.gaps, started.Sub(last))
	} else {
		last = started
	}
	end := last.Add(m.pace)
	m.ended[run] = end
	m.mu.Unlock()
	if m.pace == 0 {
		m.mu.Lock()
		m.ended[run] = time.Now()
		m.mu.Unlock()
	}
	time.Sleep(time.Until(end))
	return runner.Result{State: engine.Succeeded}, nil
}

// take returns the gaps so far and forgets them.
func (m *many) take() []time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	gaps := m.gaps
	m.gaps, m.ended = nil, map[engine.ID]time.Time{}
	return gaps
}

// crowd starts many runs of a chain and waits until all have ended. They start
// over the time spread.
func (h *house) crowd(ctx context.Context, id engine.ID, runs int, spread time.Duration) (time.Duration, error) {
	began := time.Now()
	var starts errgroup.Group
	starts.SetLimit(200)
	for i := range runs {
		time.Sleep(time.Until(began.Add(spread * time.Duration(i) / time.Duration(runs))))
		starts.Go(func() error {
			_, err := h.exec.StartWorkflow(ctx, id, nil, "bench")
			return err
		})
	}
	if err := starts.Wait(); err != nil {
		return 0, err
	}
	for range runs {
		if run := <-h.ended; run.Outcome != engine.RunSucceeded {
			return 0, fmt.Errorf("a run of %d ended %s", runs, run.Outcome)
		}
	}
	return time.Since(began), nil
}

// throughput measures how many durable transitions of nodes a second 1,000 runs
// of 10 nodes make at once on SQLite, against what the same driver writes in
// large groups.
func throughput(ctx context.Context, dir string) error {
	nothing := &many{ended: map[engine.ID]time.Time{}}
	h, id, err := newCrowd(ctx, site{dir: dir}, nothing)
	if err != nil {
		return err
	}
	var rate measure.Rounds
	var late []time.Duration
	for range crowdRounds {
		limit, err := groupedLimit(ctx, filepath.Join(dir, "limit.db"))
		if err != nil {
			return err
		}
		took, err := h.crowd(ctx, id, crowdRuns, 0)
		if err != nil {
			return err
		}
		late = append(late, nothing.take()...)
		rate.Add(crowdTransitions/took.Seconds(), limit)
	}
	rate.Figure(measure.Figure{Name: "g5", Limit: 0.2, AtLeast: true, Unit: "transitions/s", Note: "durable transitions a second of 1,000 runs of 10 nodes at once on SQLite FULL: a start with its first node, the end of each with the start of the next; against the same rows in raw groups of 100"}).Print()
	measure.Figure{Name: "g6", Ours: measure.Quantile(late, 0.99) / 1e3, Limit: 50, Unit: "ms", Note: "end of a node to start of the next in these runs, all at once, p99"}.Print()
	return nil
}

// throughputPostgres measures the same on PostgreSQL against the simple jobs of
// River.
func throughputPostgres(ctx context.Context, dir string) error {
	address, err := newDatabase(ctx, "bench_crowd")
	if err != nil {
		return err
	}
	nothing := &many{ended: map[engine.ID]time.Time{}}
	h, id, err := newCrowd(ctx, site{dir: filepath.Join(dir, "postgres"), database: address}, nothing)
	if err != nil {
		return err
	}
	var rate measure.Rounds
	river := newPeers("river postgres", "jobs", crowdRuns*crowdNodes)
	for range crowdRounds {
		nothing.take()
		took, err := h.crowd(ctx, id, crowdRuns, 0)
		if err != nil {
			return err
		}
		result, ok := river.run(ctx, dir)
		if !ok {
			result.PerSecond = 0 // it has been said; ours stands alone
		}
		rate.Add(crowdTransitions/took.Seconds(), result.PerSecond)
	}
	rate.Figure(measure.Figure{Name: "g5_postgres", Limit: 1, AtLeast: true, Unit: "transitions/s", Note: "the same on PostgreSQL, against 10,000 jobs a second of River that do nothing, inserted at once, each to its written end"}).Print()
	return nil
}

// newCrowd makes a house with room for all runs at once, and their workflow. A
// first, smaller crowd lets the log of the database grow to its size.
func newCrowd(ctx context.Context, at site, nothing *many) (*house, engine.ID, error) {
	at.slots = crowdRuns
	h, err := at.build(ctx, func(*db.Store) runner.Runner { return nothing })
	if err != nil {
		return nil, "", err
	}
	id, err := h.chain(ctx, "crowd", crowdNodes, crowdRuns)
	if err == nil {
		_, err = h.crowd(ctx, id, crowdRuns/4, 0)
	}
	nothing.take()
	return h, id, err
}

// openLoop measures the wait from the planned end of a node to the start of the
// next while 1,000 runs are open and 1,000 nodes a second end, whether the
// server keeps up or not: a node that starts late does not put off the ends that
// were planned after it.
func openLoop(ctx context.Context, dir string) error {
	nothing := &many{ended: map[engine.ID]time.Time{}}
	h, id, err := newCrowd(ctx, site{dir: dir}, nothing)
	if err != nil {
		return err
	}
	nothing.pace = time.Second
	if _, err := h.crowd(ctx, id, crowdRuns, nothing.pace); err != nil {
		return err
	}
	gaps := nothing.take()
	if want := crowdRuns * (crowdNodes - 1); len(gaps) != want {
		return fmt.Errorf("%d gaps were measured, want %d", len(gaps), want)
	}
	measure.Figure{
		Name: "g6_open", Ours: measure.Quantile(gaps, 0.99) / 1e3, Limit: 2, Unit: "ms",
		Note: fmt.Sprintf("planned end of a node to start of the next, p99, with 1,000 open runs and 1,000 ends a second; p50 %.2f ms", measure.Quantile(gaps, 0.5)/1e3),
	}.Print()
	return nil
}

// groupedLimit is how many transitions a second the driver of the store writes
// by itself in groups: the end of a node, the next one, and two events each.
func groupedLimit(ctx context.Context, path string) (rate float64, err error) {
	pool, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=FULL&_stmt_cache_size=64&_txlock=immediate")
	if err != nil {
		return 0, err
	}
	pool.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, pool.Close()) }()
	for _, statement := range []string{
		"DROP TABLE IF EXISTS node", "DROP TABLE IF EXISTS event",
		"CREATE TABLE node (run TEXT, ref TEXT, state TEXT, fence INTEGER, at INTEGER, PRIMARY KEY (run, ref)) WITHOUT ROWID",
		"CREATE TABLE event (run TEXT, seq INTEGER, kind TEXT, at INTEGER, PRIMARY KEY (run, seq)) WITHOUT ROWID",
	} {
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			return 0, err
		}
	}
	const groups = 100
	began := time.Now()
	for g := range groups {
		tx, err := pool.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		for i := range groupSize {
			run := fmt.Sprintf("01J%023d", i)
			for _, s := range []struct {
				text string
				args []any
			}{
				{"UPDATE node SET state = 'succeeded', fence = fence + 1, at = ? WHERE run = ? AND ref = ?", []any{g, run, fmt.Sprint("job:", g-1)}},
				{"INSERT INTO node (run, ref, state, fence, at) VALUES (?, ?, 'starting', 1, ?)", []any{run, fmt.Sprint("job:", g), g}},
				{"INSERT INTO event (run, seq, kind, at) VALUES (?, ?, 'ended', ?)", []any{run, 2 * g, g}},
				{"INSERT INTO event (run, seq, kind, at) VALUES (?, ?, 'started', ?)", []any{run, 2*g + 1, g}},
			} {
				if _, err := tx.Exec(s.text, s.args...); err != nil { //nolint:noctx // with one a goroutine is started for each
					return 0, errors.Join(err, tx.Rollback())
				}
			}
		}
		if err := tx.Commit(); err != nil {
			return 0, err
		}
	}
	took := time.Since(began)
	runtime.GC() // what the measuring left is not the server's to clean up
	return groups * groupSize / took.Seconds(), nil
}
