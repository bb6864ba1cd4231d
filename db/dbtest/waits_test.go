package dbtest_test

import (
	"maps"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// TestARunSaysWhatItWaitsFor, also where some of it works: its oldest waiting node,
// or how many wait for the same.
func TestARunSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		const full = "waits for a place in the pool warehouse"
		node := func(name string, state engine.State, why string, after time.Duration) engine.NodeRun {
			n := engine.NodeRun{
				Ref: engine.Ref{Kind: engine.KindJob, ID: engine.NewID(dbtest.Noon)}, Name: name, Start: 1, Attempt: 1, State: state, Why: why, ReadyAt: dbtest.Noon.Add(after),
			}
			if state.Done() {
				n.Ended = dbtest.Noon
			}
			return n
		}
		start := func(nodes ...engine.NodeRun) engine.Run {
			run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunWorkflow, Object: engine.NewID(dbtest.Noon), Name: "w", By: "owner", Started: dbtest.Noon}
			written := store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				w := flow.Writes{Run: run}
				for _, n := range nodes {
					n.Run = run.ID
					w.Nodes, w.OpenNodes = append(w.Nodes, n), w.OpenNodes+1
				}
				return w, nil
			}}})
			must(t, written[0].Err)
			return run
		}
		waiting := start(node("second", engine.Ready, "waits for a free slot", time.Minute), node("load", engine.Ready, full, 0), node("done", engine.Succeeded, "", 0))
		working := start(node("load", engine.Ready, full, 0), node("other", engine.Running, "", 0))
		several := start(node("a", engine.Ready, full, 0), node("b", engine.Ready, full, time.Minute), node("c", engine.Ready, "waits for a free slot", time.Minute), node("other", engine.Running, "", 0))
		brief := start(node("load", engine.Ready, "", 0))
		over := waiting
		over.ID, over.Ended = engine.NewID(dbtest.Noon), dbtest.Noon

		waits, err := store.Waits(t.Context(), []engine.Run{waiting, working, several, brief, over})
		must(t, err)
		many := make([]engine.Run, 999)
		for i := range many {
			many[i].ID = engine.NewID(dbtest.Noon)
		}
		_, err = store.Waits(t.Context(), many) // as many as a list shows
		must(t, err)
		_, err = store.Twins(t.Context(), many)
		must(t, err)
		none, err := store.Waits(t.Context(), []engine.Run{over})
		must(t, err)

		if want := map[engine.ID]string{waiting.ID: "load " + full, working.ID: "load " + full, several.ID: "2 wait for a place in the pool warehouse"}; !maps.Equal(waits, want) || len(none) != 0 {
			t.Errorf("waits = %v and, of runs that have ended, %v; want %v and none", waits, none, want)
		}
	})
}
