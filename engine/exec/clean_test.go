package exec_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"dogear/engine"
	"dogear/engine/runner"
)

// TestNoDirectoryOfAnEndedRunStays, nor one that an earlier server left.
func TestNoDirectoryOfAnEndedRunStays(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		work := func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			if err := os.MkdirAll(filepath.Join(a.Dir, "scratch"), 0o700); err != nil {
				return runner.Result{}, err
			}
			return succeed(ctx, a, host)
		}
		h.work.do["a"], h.work.do["b"], h.work.do["c"] = work, work, work
		id := h.draw("start -> a b", "a b -> c on succeeded")
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		ended, _ := h.ends(run.ID)
		h.stop() // all attempts have cleaned up
		after, err := os.ReadDir(filepath.Join(h.dir, "work"))
		must(t, err)
		must(t, os.MkdirAll(filepath.Join(h.dir, "work", "left-empty"), 0o700))
		must(t, os.MkdirAll(filepath.Join(h.dir, "work", "of-a-run", "attempt", "scratch"), 0o700))

		h.serve()
		again, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.ends(again.ID)
		h.stop()

		if ended.Outcome != engine.RunSucceeded || len(after) > 0 {
			t.Errorf("after the run, which %s: got %v, want no directory", ended.Outcome, after)
		}
		left, err := os.ReadDir(filepath.Join(h.dir, "work"))
		must(t, err)
		if len(left) > 0 {
			t.Errorf("after the next server: got %v, want nothing", left)
		}
	})
}
