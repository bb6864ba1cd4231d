package exec_test

import (
	"sync"
	"testing"
	"time"

	"dogear/engine"
)

// TestStartsAtOnceKeepTheLimit starts a workflow many times in one instant.
// The runs are counted in the transaction that makes one, so only as many
// begin as may.
func TestStartsAtOnceKeepTheLimit(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["a"] = untilStopped
		id := h.draw("start -> a")
		w, err := h.store.Workflow(t.Context(), id)
		must(t, err)
		w.MaxRuns = 2
		limited, err := h.store.CreateWorkflow(t.Context(), "limited", w.WorkflowBody, "owner", time.Now())
		must(t, err)
		_, err = h.store.PublishWorkflow(t.Context(), limited, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)

		const starts = 12
		errs := make(chan error, starts)
		var all sync.WaitGroup
		for range starts {
			all.Go(func() {
				_, err := h.exec.StartWorkflow(t.Context(), limited, nil, "owner")
				errs <- err
			})
		}
		all.Wait()
		close(errs)
		began := 0
		for err := range errs {
			switch {
			case err == nil:
				began++
			case engine.CodeOf(err) != engine.LimitHit:
				t.Errorf("a start was refused by %v, want a limit", err)
			}
		}
		if began != w.MaxRuns {
			t.Errorf("%d of %d starts began a run, want %d", began, starts, w.MaxRuns)
		}
	})
}
