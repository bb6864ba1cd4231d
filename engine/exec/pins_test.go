package exec_test

import (
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/exec"
)

// TestNothingIsKeptOfARunThatIsNotOpen: of starts that were refused and of runs
// that have ended, a server that lives for months would fill its memory.
func TestNothingIsKeptOfARunThatIsNotOpen(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a", "a -> b on succeeded")
		w, err := h.store.Workflow(t.Context(), id)
		must(t, err)
		w.MaxRuns = 1
		id, err = h.store.CreateWorkflow(t.Context(), "limited", w.WorkflowBody, "owner", time.Now())
		must(t, err)
		_, err = h.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)
		h.work.do["a"] = fail
		old, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.ends(old.ID)
		h.work.mu.Lock()
		h.work.do["a"] = untilStopped
		h.work.mu.Unlock()
		open, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)

		for range 3 {
			_, err = h.exec.StartWorkflow(t.Context(), id, nil, "owner")
			if engine.CodeOf(err) != engine.LimitHit {
				t.Errorf("a start beyond the limit: %v, want the limit", err)
			}
			_, err = h.exec.Resume(t.Context(), old.ID, exec.Resume{}, "owner")
			if engine.CodeOf(err) != engine.LimitHit {
				t.Errorf("a resume beyond the limit: %v, want the limit", err)
			}
			_, err = h.exec.Stop(t.Context(), old.ID, "owner")
			if err == nil {
				t.Error("a run that has ended was stopped")
			}
		}

		if got := h.exec.Pins(); got != 1 {
			t.Errorf("%d runs are kept, want the open one", got)
		}
		_, err = h.exec.Stop(t.Context(), open.ID, "owner")
		must(t, err)
		h.ends(open.ID)
		if got := h.exec.Pins(); got != 0 {
			t.Errorf("%d runs are kept after the last has ended, want none", got)
		}
	})
}
