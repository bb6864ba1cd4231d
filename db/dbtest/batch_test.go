package dbtest_test

import (
	"slices"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// TestManifestsAreOfCommittedBatches: neither a batch that was only staged nor
// one from long ago is recalled.
func TestManifestsAreOfCommittedBatches(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		now := time.Now()
		put := func(at time.Time, state engine.BatchState, root string) engine.ID {
			t.Helper()
			run := engine.Run{ID: engine.NewID(at), Kind: engine.RunJob, Object: "j", Name: "j", Started: at}
			batch := engine.Batch{ID: engine.NewID(at), Job: "j", State: state, At: at, Manifest: engine.Manifest{Sinks: []engine.SinkManifest{{Root: root}}}}
			for _, w := range store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				return flow.Writes{Run: run, Batch: &batch}, nil
			}}}) {
				if w.Err != nil {
					t.Fatal(w.Err)
				}
			}
			return batch.ID
		}
		ended := put(now.Add(-48*time.Hour), engine.BatchFinalized, "long ago")
		put(now.Add(-2*time.Minute), engine.BatchFinalized, "older")
		put(now.Add(-time.Minute), engine.BatchStaged, "staged")
		committed := put(now, engine.BatchCommitted, "newest")

		got, err := store.Manifests(t.Context(), now.Add(-time.Hour), 10)
		one, errOne := store.Manifests(t.Context(), now.Add(-time.Hour), 1)

		if err != nil || len(got) != 2 || got[0].Sinks[0].Root != "newest" || got[1].Sinks[0].Root != "older" {
			t.Errorf("got %+v and %v, want newest and older", got, err)
		}
		if ids, err := store.Finalized(t.Context(), []engine.ID{committed, ended, "nobody's"}); err != nil || len(ids) != 1 || ids[0] != ended {
			t.Errorf("finalized: got %v and %v, want %s", ids, err, ended)
		}
		// Each has the next number of their job; another job's batch has none of them.
		tags, err := store.Siblings(t.Context(), committed, []int64{1, 4, 9})
		first, last := engine.Batch{ID: ended}, engine.Batch{ID: committed}
		if err != nil || len(tags) != 2 || tags[1] != first.Tag() || tags[4] != last.Tag() {
			t.Errorf("siblings: got %v and %v, want %s and %s", tags, err, first.Tag(), last.Tag())
		}
		if tags, err := store.Siblings(t.Context(), "nobody's", []int64{1}); err != nil || len(tags) > 0 {
			t.Errorf("siblings of nothing: got %v and %v", tags, err)
		}
		if errOne != nil || len(one) != 1 {
			t.Errorf("at most one: got %+v and %v", one, errOne)
		}
	})
}

// TestThePagesOfAPlanUnderWayStay: a run that was cut off long ago still reads
// by the rows that its plan lists.
func TestThePagesOfAPlanUnderWayStay(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		at := time.Now().Add(-72 * time.Hour)
		for state, list := range map[engine.BatchState]string{engine.BatchPlanned: "planned", engine.BatchFinalized: "finalized", engine.BatchDiscarded: "discarded"} {
			run := engine.Run{ID: engine.NewID(at), Kind: engine.RunJob, Object: "j", Name: "j", Started: at}
			batch := engine.Batch{ID: engine.NewID(at), Job: "j", State: state, At: at, Plan: engine.Plan{Sources: []engine.SourcePlan{
				{Compared: &engine.Compared{Base: "base of " + list, Took: list}}, {Source: "files"},
			}}}
			for _, w := range store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				return flow.Writes{Run: run, Batch: &batch}, nil
			}}}) {
				if w.Err != nil {
					t.Fatal(w.Err)
				}
			}
		}

		roots, err := store.LedgerRoots(t.Context(), time.Now())

		slices.Sort(roots)
		if err != nil || !slices.Equal(roots, []string{"base of planned", "planned"}) {
			t.Errorf("got %v and %v, want the lists of the plan under way", roots, err)
		}
	})
}
