package exec_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/runner"
)

// TestAPlaceGoesToTheHighestPriorityThatWaits, and not to what becomes ready just when
// the place is free: the next node of the run that had it, or a run that begins.
func TestAPlaceGoesToTheHighestPriorityThatWaits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pool  string
		slots int
	}{
		"a slot of the server": {"", 1},
		"a place in a pool":    {"warehouse", 4},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, h *house) {
				must(t, h.store.PutPool(t.Context(), "warehouse", 1, "owner", time.Now()))
				h.slots = tt.slots
				h.stop()
				h.serve()
				for name, priority := range map[string]int{"holder": 0, "next": 0, "after": 0, "high": 7, "low": -5, "same": 0} {
					h.jobIn(name, engine.JobBody{Lane: engine.Lane{Pool: tt.pool, Priority: priority}})
				}
				gate := make(chan struct{})
				h.work.do["holder"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
					err := host.Started(ctx, engine.Process{})
					<-gate
					return runner.Result{State: engine.Succeeded}, err
				}
				chain := h.draw("start -> holder", "holder -> next on succeeded", "next -> after on succeeded")
				first, err := h.exec.StartWorkflow(t.Context(), chain, nil, "owner")
				must(t, err)
				h.await(first.ID, "the place is taken", states("holder.1.1 running"))
				runs := []engine.ID{first.ID}
				for _, name := range []string{"low", "same", "high"} {
					run, err := h.exec.StartJob(t.Context(), h.refs[name].ID, nil, nil, "owner")
					must(t, err)
					runs = append(runs, run.ID)
				}

				close(gate)
				for _, id := range runs {
					h.ends(id)
				}

				h.work.mu.Lock()
				defer h.work.mu.Unlock()
				// Of equals what belongs to the oldest run goes first.
				if got := strings.Join(h.work.ran, " "); got != "holder.1.1 high.1.1 next.1.1 after.1.1 same.1.1 low.1.1" {
					t.Errorf("they ran as %s", got)
				}
			})
		})
	}
}
