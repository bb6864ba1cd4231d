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

// TestARunSaysWhichNodeItFailedOf: the first that failed in its newest attempt, and how
// many more; one that was only stopped comes last.
func TestARunSaysWhichNodeItFailedOf(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		ref := func() engine.Ref { return engine.Ref{Kind: engine.KindJob, ID: engine.NewID(dbtest.Noon)} }
		load := ref()
		node := func(of engine.Ref, name string, start, attempt int, state engine.State, after time.Duration) engine.NodeRun {
			return engine.NodeRun{Ref: of, Name: name, Start: start, Attempt: attempt, State: state, ReadyAt: dbtest.Noon, Ended: dbtest.Noon.Add(after)}
		}
		begin := func(outcome engine.Outcome, nodes ...engine.NodeRun) engine.Run {
			run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunWorkflow, Object: engine.NewID(dbtest.Noon), Name: "w", By: "owner", Started: dbtest.Noon}
			written := store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				w := flow.Writes{Run: run}
				for _, n := range nodes {
					n.Run = run.ID
					w.Nodes = append(w.Nodes, n)
				}
				w.Run.Ended, w.Run.Outcome = dbtest.Noon.Add(time.Hour), outcome
				return w, nil
			}}})
			must(t, written[0].Err)
			run.Ended, run.Outcome = dbtest.Noon.Add(time.Hour), outcome
			return run
		}
		several := begin(engine.RunPartlyFailed,
			node(ref(), "stopped", 1, 1, engine.Stopped, 0),
			node(ref(), "later", 1, 1, engine.TimedOut, 2*time.Minute),
			node(load, "load", 1, 1, engine.Failed, time.Second), node(load, "load", 1, 2, engine.Failed, time.Minute),
			node(load, "load", 2, 1, engine.Failed, 3*time.Minute),
			node(ref(), "first", 1, 1, engine.Failed, 0), node(ref(), "good", 1, 1, engine.Succeeded, 0))
		// What failed at first and succeeded when it was tried again is no failure.
		again := ref()
		one := begin(engine.RunFailed, node(again, "again", 1, 1, engine.Failed, 0), node(again, "again", 1, 2, engine.Succeeded, time.Second), node(load, "load", 1, 1, engine.Stopped, time.Minute))
		good := begin(engine.RunSucceeded, node(load, "load", 1, 1, engine.Succeeded, 0))
		stopped, part := begin(engine.RunStopped, node(load, "load", 1, 1, engine.Stopped, 0)), begin(engine.RunStopped, node(load, "load", 1, 1, engine.Stopped, 0))
		stopped.StopAsked = dbtest.Noon // as a whole
		open := good
		open.ID, open.Ended, open.Outcome = engine.NewID(dbtest.Noon), time.Time{}, ""

		fallen, err := store.Fallen(t.Context(), []engine.Run{several, one, good, stopped, part, open})
		must(t, err)
		many := make([]engine.Run, 999) // as many as a list shows
		for i := range many {
			many[i] = engine.Run{ID: engine.NewID(dbtest.Noon), Outcome: engine.RunFailed}
		}
		_, err = store.Fallen(t.Context(), many)
		must(t, err)

		first := fallen[several.ID].Ref
		want := map[engine.ID]engine.Fallen{
			several.ID: {NodeKey: engine.NodeKey{Run: several.ID, Ref: first, Start: 1, Attempt: 1}, Name: "first", State: engine.Failed, More: 3},
			part.ID:    {NodeKey: engine.NodeKey{Run: part.ID, Ref: load, Start: 1, Attempt: 1}, Name: "load", State: engine.Stopped},
			one.ID:     {NodeKey: engine.NodeKey{Run: one.ID, Ref: load, Start: 1, Attempt: 1}, Name: "load", State: engine.Stopped},
		}
		if !maps.Equal(fallen, want) {
			t.Errorf("fallen = %+v\nwant %+v", fallen, want)
		}
	})
}
