package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"dogear/db"
	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/engine/runner"
)

// still is a runner that does nothing and notes when it did.
type still struct {
	runner.Runner
	mu     sync.Mutex
	starts []time.Time
	ends   []time.Time
}

func (s *still) Run(context.Context, runner.Attempt, runner.Host) (runner.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starts = append(s.starts, time.Now())
	s.ends = append(s.ends, time.Now())
	return runner.Result{State: engine.Succeeded}, nil
}

// gaps are the times from the end of each node of a chain to the start of the
// next, and forgets them.
func (s *still) gaps() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gaps []time.Duration
	for i := 1; i < len(s.starts); i++ {
		gaps = append(gaps, s.starts[i].Sub(s.ends[i-1]))
	}
	s.starts, s.ends = nil, nil
	return gaps
}

// plain is a job that does nothing, with all that a real one has: a bookmark,
// attempts, limits of time and of runs.
func plain(runs int) engine.JobBody {
	return engine.JobBody{Kind: engine.JobSQL, SQL: &engine.SQLJob{}, Bookmark: engine.BookmarkOn, Retries: 2, Timeout: 10, MaxRuns: runs}
}

// chain makes and publishes a workflow of n jobs, each of which follows the one
// before. Of it and its jobs there may be so many runs at once.
func (h *house) chain(ctx context.Context, name string, n, runs int) (engine.ID, error) {
	body := engine.WorkflowBody{MaxRuns: runs, Timeout: 60}
	var last engine.Ref
	for i := range n {
		id, err := h.job(ctx, fmt.Sprint(name, i), plain(runs))
		if err != nil {
			return "", err
		}
		ref := engine.Ref{Kind: engine.KindJob, ID: id}
		t := engine.Trigger{ID: engine.NewID(time.Now()), Name: fmt.Sprint("t", i), Type: engine.OnDemand, Actions: []engine.Action{{Ref: ref}}}
		if i > 0 {
			t.Type = engine.Conditional
			t.Predicate.Conditions = []engine.Condition{{Ref: last, State: engine.Succeeded}}
		}
		body.Triggers = append(body.Triggers, t)
		last = ref
	}
	return h.workflow(ctx, name, body, func(engine.Trigger) time.Time { return time.Time{} })
}

// workflow makes and publishes a workflow. next says when its schedules are due.
func (h *house) workflow(ctx context.Context, name string, body engine.WorkflowBody, next func(engine.Trigger) time.Time) (engine.ID, error) {
	id, err := h.store.CreateWorkflow(ctx, name, body, "bench", time.Now())
	if err != nil {
		return "", err
	}
	_, err = h.store.PublishWorkflow(ctx, id, 0, nil, "bench", time.Now(), next)
	return id, err
}

// runChain runs a chain to its end.
func (h *house) runChain(ctx context.Context, id engine.ID) error {
	if _, err := h.exec.StartWorkflow(ctx, id, nil, "bench"); err != nil {
		return err
	}
	if run := <-h.ended; run.Outcome != engine.RunSucceeded {
		return fmt.Errorf("the chain ended %s", run.Outcome)
	}
	return nil
}

const (
	chainLength = 400
	chainRounds = 5
)

// chainSQLite measures from the end of a node that does nothing to the start of
// the next, on SQLite with full synchronisation, in a chain, against one
// fdatasync.
func chainSQLite(ctx context.Context, dir string) error {
	nothing := &still{}
	h, err := newHouse(ctx, dir, func(*db.Store) runner.Runner { return nothing })
	if err != nil {
		return err
	}
	id, err := h.chain(ctx, "chain", chainLength, 1)
	if err != nil {
		return err
	}
	// A young log of the database grows with every commit, which costs twice a
	// flush; the first chain is not counted, so that the others run on one that
	// is written over, as it is from the first minute of a server on.
	if err := h.runChain(ctx, id); err != nil {
		return err
	}
	nothing.gaps()
	var middle, slow measure.Rounds
	for range chainRounds {
		before, err := syncProbe(dir)
		if err != nil {
			return err
		}
		if err := h.runChain(ctx, id); err != nil {
			return err
		}
		after, err := syncProbe(dir)
		if err != nil {
			return err
		}
		gaps := nothing.gaps()
		middle.Add(measure.Median(gaps), (before+after)/2)
		slow.Add(measure.Quantile(gaps, 0.99), (before+after)/2)
	}
	middle.Figure(measure.Figure{Name: "g1", Limit: 2.5, Unit: "us", Note: "end of a no-op node to start of the next, p50 in a chain of 400 on SQLite FULL, against one fdatasync"}).Print()
	slow.Figure(measure.Figure{Name: "g1_p99", Limit: 8, Unit: "us", Note: "p99 of the same, against the p50 of one fdatasync"}).Print()
	return nil
}

const chainPostgresLength = 200

// chainPostgres measures the same on PostgreSQL against one single-row commit
// and against DBOS, which keeps the result of each step there.
func chainPostgres(ctx context.Context, dir string) error {
	db1, err := newDatabase(ctx, "bench_chain")
	if err != nil {
		return err
	}
	nothing := &still{}
	h, err := site{dir: filepath.Join(dir, "house"), database: db1}.build(ctx, func(*db.Store) runner.Runner { return nothing })
	if err != nil {
		return err
	}
	id, err := h.chain(ctx, "chain", chainPostgresLength, 1)
	if err != nil {
		return err
	}
	if err := h.runChain(ctx, id); err != nil {
		return err
	}
	nothing.gaps()
	var commit, slow, dbos measure.Rounds
	theirs := newPeers("dbos postgres", "chain", chainPostgresLength)
	for range chainRounds {
		before, err := commitProbe(ctx, db1)
		if err != nil {
			return err
		}
		if err := h.runChain(ctx, id); err != nil {
			return err
		}
		after, err := commitProbe(ctx, db1)
		if err != nil {
			return err
		}
		gaps := nothing.gaps()
		commit.Add(measure.Median(gaps), (before+after)/2)
		slow.Add(measure.Quantile(gaps, 0.99), (before+after)/2)
		if peer, ok := theirs.run(ctx, dir); ok {
			dbos.Add(measure.Median(gaps), peer.P50)
		}
	}
	commit.Figure(measure.Figure{Name: "g2", Limit: 2, Unit: "us", Note: "end of a no-op node to start of the next, p50 in a chain of 200 on PostgreSQL, against one single-row commit"}).Print()
	slow.Figure(measure.Figure{Name: "g2_p99", Unit: "us", Note: "p99 of the same, against the p50 of one single-row commit"}).Print()
	if theirs.served() {
		dbos.Figure(measure.Figure{Name: "g2_dbos", Limit: 1, Unit: "us", Note: "the same against a step of DBOS on the same server"}).Print()
	}
	return nil
}
