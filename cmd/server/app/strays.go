package app

import (
	"context"
	"slices"

	"dogear/engine"
	"dogear/engine/runner"
	"dogear/engine/runner/shim"
)

// endStrays ends what scripts of this database have left behind whose attempts
// have ended. A server does that a moment after each end; where it is killed or
// stopped within that moment, this does it.
func (h *house) endStrays(ctx context.Context) {
	done := map[string]bool{}
	for _, p := range (shim.Processes{}).Marked() {
		if done[p.Marker] {
			continue
		}
		done[p.Marker] = true
		key, err := runner.ParseMarker(p.Marker)
		if err != nil {
			continue // not ours
		}
		nodes, err := h.store.NodeRuns(ctx, key.Run) // none of another database
		if err != nil {
			h.log.Warn("could not look what scripts have left behind", "err", err)
			return
		}
		ended := slices.ContainsFunc(nodes, func(n engine.NodeRun) bool { return n.Key() == key && n.State.Done() })
		if !ended {
			continue
		}
		h.log.Info("what a script has left behind is ended", "run", key.Run, "process", p.PID, "name", p.Name)
		shim.Sweep(p.Marker)
	}
}
