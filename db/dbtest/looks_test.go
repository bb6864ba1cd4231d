package dbtest_test

import (
	"strings"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// TestARunIsFoundByAPartOfItsID, in small letters as people see it.
func TestARunIsFoundByAPartOfItsID(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		var ids []engine.ID
		for i := range 3 {
			at := dbtest.Noon.Add(time.Duration(i) * time.Second)
			run := engine.Run{ID: engine.NewID(at), Kind: engine.RunJob, Object: engine.NewID(at), Name: "b", By: "owner", Started: at}
			written := store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				return flow.Writes{Run: run}, nil
			}}})
			must(t, written[0].Err)
			ids = append(ids, run.ID)
		}
		for text, want := range map[string]int{strings.ToLower(string(ids[1])[16:]): 1, string(ids[1]): 1, string(ids[1])[:6]: 3, "%": 0, "______": 0} {
			found, err := store.Runs(t.Context(), engine.RunFilter{ID: text})
			must(t, err)
			if len(found) != want || want == 1 && found[0].ID != ids[1] {
				t.Errorf("%q finds %d runs, want %d", text, len(found), want)
			}
		}
	})
}

// TestTheLoadCountsWhatWaits and knows how large the database is.
func TestTheLoadCountsWhatWaits(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, Object: engine.NewID(dbtest.Noon), Name: "b", By: "owner", Started: dbtest.Noon}
		node := func(start int, state engine.State) engine.NodeRun {
			n := engine.NodeRun{Run: run.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: run.Object}, Start: start, Attempt: 1, Name: "b", State: state, ReadyAt: dbtest.Noon}
			if state.Done() {
				n.Ended = dbtest.Noon.Add(time.Second)
			}
			return n
		}
		written := store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
			return flow.Writes{Run: run, Nodes: []engine.NodeRun{node(1, engine.Succeeded), node(2, engine.Running), node(3, engine.Ready), node(4, engine.Ready)}}, nil
		}}})
		must(t, written[0].Err)

		load, err := store.Load(t.Context())
		must(t, err)

		if load.Waiting != 2 || load.Database < 10_000 || load.Shared != store.Shared() {
			t.Errorf("load = %+v, want 2 that wait and the size of the database", load)
		}
	})
}
