package main

import (
	"context"
	"fmt"
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
	now := time.Now()
	s.starts = append(s.starts, now)
	s.ends = append(s.ends, time.Now())
	return runner.Result{State: engine.Succeeded}, nil
}

const chainLength = 400

// transition measures from the end of a node that does nothing to the start of
// the next, on SQLite with full synchronisation, in a chain.
func transition(ctx context.Context, dir string) error {
	nothing := &still{}
	h, err := newHouse(ctx, dir, func(*db.Store) runner.Runner { return nothing })
	if err != nil {
		return err
	}
	body := engine.WorkflowBody{}
	var last engine.Ref
	for i := range chainLength {
		id, err := h.job(ctx, fmt.Sprint("n", i), engine.JobBody{Kind: engine.JobSQL, SQL: &engine.SQLJob{}})
		if err != nil {
			return err
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
	id, err := h.store.CreateWorkflow(ctx, "chain", body, "bench", time.Now())
	if err != nil {
		return err
	}
	if _, err := h.store.PublishWorkflow(ctx, id, 0, nil, "bench", time.Now(), func(engine.Trigger) time.Time { return time.Time{} }); err != nil {
		return err
	}
	// A young log of the database grows with every commit, which costs twice a
	// flush; the second chain runs on one that is written over, as it is from
	// the first minute of a server on.
	var before float64
	for range 2 {
		nothing.starts, nothing.ends = nil, nil
		if before, err = syncProbe(dir); err != nil {
			return err
		}
		if _, err := h.exec.StartWorkflow(ctx, id, nil, "bench"); err != nil {
			return err
		}
		if run := <-h.ended; run.Outcome != engine.RunSucceeded {
			return fmt.Errorf("the chain ended %s", run.Outcome)
		}
	}
	after, err := syncProbe(dir)
	if err != nil {
		return err
	}
	var gaps []time.Duration
	for i := 1; i < len(nothing.starts); i++ {
		gaps = append(gaps, nothing.starts[i].Sub(nothing.ends[i-1]))
	}
	measure.Figure{
		Name: "transition_p50", Ours: measure.Median(gaps), Against: (before + after) / 2, Limit: 4, Unit: "us",
		Note: "end of a no-op node to start of the next, SQLite FULL, against one fdatasync; the limit is on the ratio",
	}.Print()
	return nil
}
