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

// fanOut is a fan-out over n jobs that do nothing and their join.
type fanOut struct {
	*house
	id engine.ID
	n  int
}

func newFanOut(ctx context.Context, dir string, n int) (*fanOut, error) {
	h, err := newHouse(ctx, filepath.Join(dir, fmt.Sprint(n)), func(*db.Store) runner.Runner { return &still{} })
	if err != nil {
		return nil, err
	}
	id, err := h.fan(ctx, "wide", n)
	return &fanOut{house: h, id: id, n: n}, err
}

// node runs it so many times and returns what one node took of it, in microseconds.
func (f *fanOut) node(ctx context.Context, times int) (float64, error) {
	began := time.Now()
	for range times {
		if _, err := f.exec.StartWorkflow(ctx, f.id, nil, "bench"); err != nil {
			return 0, err
		}
		if run := <-f.ended; run.Outcome != engine.RunSucceeded {
			return 0, fmt.Errorf("the fan-out of %d ended %s", f.n, run.Outcome)
		}
	}
	return float64(time.Since(began).Nanoseconds()) / 1e3 / float64(times*f.n), nil
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

const (
	flatRounds = 5
	narrowRuns = 10 // of the narrow one at a time: one alone ends within a breath of the machine
)

// flat compares a wide fan-out with a narrow one, by turns: what a node costs must
// not grow with the run.
func flat(ctx context.Context, dir string) error {
	narrow, err := newFanOut(ctx, dir, 100)
	if err != nil {
		return err
	}
	broad, err := newFanOut(ctx, dir, 10_000)
	if err != nil {
		return err
	}
	var rounds measure.Rounds
	for round := range flatRounds + 1 {
		before, err := narrow.node(ctx, narrowRuns)
		if err != nil {
			return err
		}
		ours, err := broad.node(ctx, 1)
		if err != nil {
			return err
		}
		after, err := narrow.node(ctx, narrowRuns)
		if err != nil {
			return err
		}
		if round > 0 { // the first fills what is remembered
			rounds.Add(ours, (before+after)/2)
		}
	}
	rounds.Figure(measure.Figure{
		Name: "g4", Limit: 1.2, Unit: "us",
		Note: "one node of a fan-out of 10,000 and its join, against one of 100, five rounds by turns",
	}).Print()
	return nil
}
