package dbtest_test

import (
	"testing"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// TestATargetIsHeldWhileItsNodeWorks, and by whoever asks next once it has ended.
func TestATargetIsHeldWhileItsNodeWorks(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		start := func(name string) (engine.Run, engine.NodeRun) {
			run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, Object: engine.NewID(dbtest.Noon), Name: name, By: "owner", Started: dbtest.Noon}
			node := engine.NodeRun{Run: run.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: run.Object}, Name: name, Start: 1, Attempt: 1, State: engine.Running, ReadyAt: dbtest.Noon}
			written := store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				return flow.Writes{Run: run, Nodes: []engine.NodeRun{node}, OpenNodes: 1}, nil
			}}})
			must(t, written[0].Err)
			return written[0].Run, node
		}
		run, first := start("first")
		_, second := start("second")
		hold := func(node engine.NodeRun, name string) *engine.NodeKey {
			holder, err := store.HoldTargets(t.Context(), node.Key(), []string{name})
			must(t, err)
			return holder
		}

		taken, within, apart := hold(first, "/out"), hold(second, "/out/day"), hold(second, "/elsewhere")
		first.State, first.Ended = engine.Succeeded, dbtest.Noon
		written := store.Commit(t.Context(), []flow.Step{{Run: run.ID, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
			return flow.Writes{Run: run, Nodes: []engine.NodeRun{first}, OpenNodes: -1}, nil
		}}})
		must(t, written[0].Err)
		after := hold(second, "/out/day")

		if taken != nil || within == nil || *within != first.Key() || apart != nil {
			t.Errorf("holders: %v of a free target, %v of one within it, %v of another; want none, the first, none", taken, within, apart)
		}
		if after != nil {
			t.Errorf("after its end the target is still held by %v", after)
		}
	})
}
