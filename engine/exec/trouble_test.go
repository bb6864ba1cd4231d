package exec_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/runner"
)

// TestATriggerThatIsTakenAwayGoesOnInARunThatHasIt: a run keeps to the workflow
// as it was when it began.
func TestATriggerThatIsTakenAwayGoesOnInARunThatHasIt(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		published := make(chan struct{})
		h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			<-published
			return succeed(ctx, a, host)
		}
		id := h.draw("start -> a", "a -> b on succeeded")
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		w, err := h.store.Workflow(t.Context(), id)
		must(t, err)
		body := w.WorkflowBody
		body.Triggers = body.Triggers[:1]
		second, err := h.store.CreateWorkflow(t.Context(), "shorter", body, "owner", time.Now())
		must(t, err)
		_, err = h.store.PublishWorkflow(t.Context(), second, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)
		close(published)

		_, nodes := h.ends(run.ID)

		if got := said(nodes); got != "a.1.1 succeeded, b.1.1 succeeded" {
			t.Errorf("nodes = %s, want b to run as drawn when the run began", got)
		}
	})
}

// TestPropertiesOfAMegabyteAreRefused: with what to do instead, and no run.
func TestPropertiesOfAMegabyteAreRefused(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		body := engine.WorkflowBody{Properties: map[string]string{"Names": ""}, Triggers: []engine.Trigger{{
			ID: engine.NewID(time.Now()), Name: "start", Type: engine.OnDemand, Actions: []engine.Action{{Ref: h.job("a", 0)}},
		}}}
		id, err := h.store.CreateWorkflow(t.Context(), "w", body, "owner", time.Now())
		must(t, err)
		_, err = h.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)

		_, err = h.exec.StartWorkflow(t.Context(), id, map[string]string{"Names": strings.Repeat("x", 1<<20)}, "owner")

		if engine.CodeOf(err) != engine.Invalid || !strings.Contains(err.Error(), "at most 262144") {
			t.Errorf("a start with a megabyte: %v, want it refused with the limit", err)
		}
		runs, err := h.store.Runs(t.Context(), engine.RunFilter{})
		must(t, err)
		if len(runs) != 0 {
			t.Errorf("%d runs began", len(runs))
		}
		run, err := h.exec.StartWorkflow(t.Context(), id, map[string]string{"Names": strings.Repeat("x", 200<<10)}, "owner")
		must(t, err)
		h.ends(run.ID)
	})
}
