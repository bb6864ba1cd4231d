package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"dogear/db"
	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/engine/runner"
)

// wide measures a fan-out over n jobs that do nothing and their join, and
// returns what one node took of it.
func wide(ctx context.Context, dir string, n int) (time.Duration, error) {
	h, err := newHouse(ctx, filepath.Join(dir, fmt.Sprint(n)), func(*db.Store) runner.Runner { return &still{} })
	if err != nil {
		return 0, err
	}
	id, err := h.fan(ctx, "wide", n)
	if err != nil {
		return 0, err
	}
	var best time.Duration
	for range 3 {
		began := time.Now()
		if _, err := h.exec.StartWorkflow(ctx, id, nil, "bench"); err != nil {
			return 0, err
		}
		if run := <-h.ended; run.Outcome != engine.RunSucceeded {
			return 0, fmt.Errorf("the fan-out of %d ended %s", n, run.Outcome)
		}
		if took := time.Since(began) / time.Duration(n); best == 0 || took < best {
			best = took
		}
	}
	return best, nil
}

// fan makes and publishes a workflow of n jobs that run at once and one that
// joins them.
func (h *house) fan(ctx context.Context, name string, n int) (engine.ID, error) {
	var refs []engine.Ref
	for i := range n + 1 {
		id, err := h.job(ctx, fmt.Sprint(name, i), plain(1))
		if err != nil {
			return "", err
		}
		refs = append(refs, engine.Ref{Kind: engine.KindJob, ID: id})
	}
	start := engine.Trigger{ID: engine.NewID(time.Now()), Name: "start", Type: engine.OnDemand}
	join := engine.Trigger{ID: engine.NewID(time.Now()), Name: "join", Type: engine.Conditional, Actions: []engine.Action{{Ref: refs[n]}}}
	for _, ref := range refs[:n] {
		start.Actions = append(start.Actions, engine.Action{Ref: ref})
		join.Predicate.Conditions = append(join.Predicate.Conditions, engine.Condition{Ref: ref, State: engine.Succeeded})
	}
	return h.workflow(ctx, name, engine.WorkflowBody{Triggers: []engine.Trigger{start, join}}, func(engine.Trigger) time.Time { return time.Time{} })
}

// flat compares a wide fan-out with a narrow one: what a node costs must not
// grow with the run.
func flat(ctx context.Context, dir string) error {
	narrow, err := wide(ctx, dir, 100)
	if err != nil {
		return err
	}
	broad, err := wide(ctx, dir, 10_000)
	if err != nil {
		return err
	}
	measure.Figure{
		Name: "g4", Ours: float64(broad.Nanoseconds()) / 1e3, Against: float64(narrow.Nanoseconds()) / 1e3, Limit: 1.2, Unit: "us",
		Note: "one node of a fan-out of 10,000 and its join, against one of 100; best of three; the limit is on the ratio",
	}.Print()
	return nil
}
