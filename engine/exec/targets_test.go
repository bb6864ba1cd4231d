package exec_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// TestOneTargetHasOneWriter: a target is the same however it is spelled, and one
// that lies in another is written by both. The hold ends with its node run.
func TestOneTargetHasOneWriter(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		node := func() engine.NodeRun {
			now := time.Now()
			run := engine.Run{ID: engine.NewID(now), Kind: engine.RunJob, Started: now}
			n := engine.NodeRun{Run: run.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: engine.NewID(now)}, Start: 1, Attempt: 1, State: engine.Running}
			for _, w := range store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				return flow.Writes{Run: run, Nodes: []engine.NodeRun{n}, OpenNodes: 1}, nil
			}}}) {
				must(t, w.Err)
			}
			return n
		}
		end := func(n engine.NodeRun) {
			n.State, n.Ended = engine.Succeeded, time.Now()
			for _, w := range store.Commit(t.Context(), []flow.Step{{Run: n.Run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				return flow.Writes{Run: run, Nodes: []engine.NodeRun{n}, OpenNodes: -1}, nil
			}}}) {
				must(t, w.Err)
			}
		}
		take := func(n engine.NodeRun, paths ...string) *engine.NodeKey {
			t.Helper()
			for i := range paths {
				paths[i] = filepath.Join("/data", paths[i])
			}
			holder, err := store.HoldTargets(context.WithoutCancel(t.Context()), n.Key(), paths)
			must(t, err)
			return holder
		}
		first := node()
		if holder := take(first, "out/day", "log"); holder != nil {
			t.Fatal("a target that nobody writes: got a holder, want it")
		}
		tests := map[string]struct {
			paths []string
			free  bool
		}{
			"the same":       {[]string{"out/day"}, false},
			"spelled anew":   {[]string{"./out//x/../day/"}, false},
			"a folder in it": {[]string{"out/day/1"}, false},
			"a folder of it": {[]string{"out"}, false},
			"one of two":     {[]string{"free", "log"}, false},
			"beside it":      {[]string{"out/days", "logs"}, true},
			"nothing at all": {nil, true},
			"another part":   {[]string{"day"}, true},
		}
		for name, tt := range tests {
			second := node()

			holder := take(second, tt.paths...)

			if free := holder == nil; free != tt.free || !free && *holder != first.Key() {
				t.Errorf("%s: got the holder %v, want free %v", name, holder, tt.free)
			}
			end(second)
		}
		if take(first, "out/day") != nil {
			t.Error("by who holds it: got another holder, want it")
		}
		end(first)
		if holder := take(node(), "out/day/1"); holder != nil {
			t.Errorf("after its end: got the holder %v, want it free", holder)
		}
	})
}
