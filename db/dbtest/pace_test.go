package dbtest_test

import (
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/flow"
)

// TestThePaceCountsRunsFromWhenTheyCouldStart: the time before a process works
// belongs to a run; a run that failed, read nothing or was copied is no measure.
func TestThePaceCountsRunsFromWhenTheyCouldStart(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		job := engine.NewID(dbtest.Noon)
		ran := func(after time.Duration, state engine.State, bytes int64, spent time.Duration, copied engine.ID) {
			t.Helper()
			at := dbtest.Noon.Add(after)
			run := engine.Run{ID: engine.NewID(at), Kind: engine.RunJob, Object: job, Name: "load", Started: at}
			node := engine.NodeRun{
				Run: run.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: job}, Name: "load", Start: 1, Attempt: 1, State: state, Copied: copied,
				Counts: engine.Counts{BytesIn: bytes, RowsIn: bytes, RowsOut: bytes / 10}, ReadyAt: at, Started: at.Add(spent / 2), Ended: at.Add(spent),
			}
			for _, w := range store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				return flow.Writes{Run: run, Nodes: []engine.NodeRun{node}}, nil
			}}}) {
				must(t, w.Err)
			}
		}
		ran(0, engine.Succeeded, 1000, 4*time.Second, "")
		ran(time.Minute, engine.Succeeded, 500, 2*time.Second, "")
		ran(2*time.Minute, engine.Failed, 900, time.Second, "")
		ran(3*time.Minute, engine.Succeeded, 0, time.Second, "")
		ran(4*time.Minute, engine.Succeeded, 700, time.Second, engine.NewID(dbtest.Noon))

		got, err := store.Pace(t.Context(), job)

		must(t, err)
		if want := (bookmark.Pace{Bytes: 1500, Rows: 150, Spent: 6 * time.Second, Shortest: 2 * time.Second}); got != want {
			t.Errorf("Pace = %+v, want %+v", got, want)
		}
	})
}
