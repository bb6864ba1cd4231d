package exec_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/runner"
)

// TestACommittedBatchHoldsItsTargetThroughARestart: what was staged before the
// server went down is published before another job reads the same target.
func TestACommittedBatchHoldsItsTargetThroughARestart(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		sink := engine.JobBody{Kind: engine.JobSQL, SQL: &engine.SQLJob{Sinks: []engine.Sink{{From: "x", Path: "one/target"}}}}
		job := func(name string) engine.ID {
			id, err := h.store.CreateJob(t.Context(), name, sink, "owner", time.Now())
			must(t, err)
			_, err = h.store.PublishJob(t.Context(), id, "owner", time.Now())
			must(t, err)
			return id
		}
		first, second := job("first"), job("second")
		plan := engine.Plan{ID: engine.NewID(time.Now()), Job: first}
		h.work.do["first"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			batch, err := host.Planned(ctx, plan)
			if err != nil {
				return runner.Result{}, err
			}
			return runner.Result{State: engine.Succeeded, Batch: &batch}, host.Started(ctx, engine.Process{})
		}
		committed := make(chan struct{})
		h.work.publish = func(context.Context, engine.Batch) error {
			close(committed)
			return engine.Errorf(engine.Internal, "the disk is away")
		}
		run, err := h.exec.StartJob(t.Context(), first, nil, nil, "owner")
		must(t, err)
		<-committed
		h.stop()

		var order []string
		publish := make(chan struct{})
		h.work.mu.Lock()
		h.work.do["second"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			order = append(order, "second reads")
			return runner.Result{State: engine.Succeeded}, host.Started(ctx, engine.Process{})
		}
		h.work.mu.Unlock()
		h.work.publish = func(context.Context, engine.Batch) error {
			<-publish
			order = append(order, "first is published")
			return nil
		}
		h.serve()
		open := sync.OnceFunc(func() { close(publish) })
		t.Cleanup(open) // a failure must not leave the server waiting
		other, err := h.exec.StartJob(t.Context(), second, nil, nil, "owner")
		must(t, err)
		h.await(other.ID, "the second says that it waits", func(_ engine.Run, nodes []engine.NodeRun) bool {
			return slices.ContainsFunc(nodes, func(n engine.NodeRun) bool {
				return n.Why == "waits until run "+string(run.ID)+" has written its target"
			})
		})
		open()
		h.ends(run.ID)
		h.ends(other.ID)

		if !slices.Equal(order, []string{"first is published", "second reads"}) {
			t.Errorf("got %v, want the publish first", order)
		}
	})
}
