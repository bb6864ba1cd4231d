package exec_test

import (
	"context"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/runner"
)

// TestTheNextNodeDoesNotWaitForAStageToBeRemoved: that may take as long as a bucket does.
func TestTheNextNodeDoesNotWaitForAStageToBeRemoved(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		began := make(chan struct{})
		h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			if err := host.Started(ctx, engine.Process{}); err != nil {
				return runner.Result{}, err
			}
			_, err := host.Planned(ctx, engine.Plan{ID: engine.NewID(time.Now()), Job: a.Job.ID})
			return runner.Result{State: engine.Failed}, err
		}
		h.work.do["alarm"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			close(began)
			return succeed(ctx, a, host)
		}
		h.work.discard = func(context.Context) error {
			select {
			case <-began:
			case <-time.After(10 * time.Second):
				t.Error("the next node has not begun while a stage was removed")
			}
			return nil
		}

		run, err := h.exec.StartWorkflow(t.Context(), h.draw("start -> a", "a -> alarm on failed"), nil, "owner")
		must(t, err)
		h.ends(run.ID)
		h.stop()

		if len(h.work.dropped) != 1 {
			t.Errorf("%d stages were removed, want 1", len(h.work.dropped))
		}
	})
}

// TestARefusedEndHoldsUpNobody: what was started beside it runs.
func TestARefusedEndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		job := h.job("a", 0)
		first, err := h.exec.StartJob(t.Context(), job.ID, nil, nil, "owner")
		must(t, err)
		h.ends(first.ID) // the server works by now
		started := make(chan engine.Run, 1)

		err = h.exec.RefusedBeside(func() {
			run, err := h.exec.StartJob(t.Context(), job.ID, nil, nil, "owner")
			if err != nil {
				t.Error(err)
			}
			started <- run
		})

		if engine.CodeOf(err) != engine.NotFound {
			t.Errorf("an end of a run that is not there: %v", err)
		}
		if run, _ := h.ends((<-started).ID); run.Outcome != engine.RunSucceeded {
			t.Errorf("the other run %s, want it done", run.Outcome)
		}
	})
}
