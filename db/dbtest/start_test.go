package dbtest_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// beginsOf is a step that starts a run of a workflow where fewer than most are open.
func beginsOf(workflow engine.ID, most int) flow.Step {
	run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunWorkflow, Object: workflow, Started: dbtest.Noon}
	return flow.Step{Run: run.ID, New: &run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		if st.OpenRuns(workflow, most) >= most {
			return flow.Writes{}, errFull
		}
		event := engine.Event{Run: run.ID, Kind: "run", State: "running", At: dbtest.Noon}
		return flow.Writes{Run: run, Events: []engine.Event{event}}, nil
	}}
}

func madeWorkflow(t *testing.T, store *db.Store) engine.ID {
	t.Helper()
	id, err := store.CreateWorkflow(t.Context(), "daily", engine.WorkflowBody{}, "owner", dbtest.Noon)
	must(t, err)
	return id
}

// TestServersStartNoMoreRunsThanThereMayBe: each of them asks at the same time.
func TestServersStartNoMoreRunsThanThereMayBe(t *testing.T) {
	t.Parallel()
	const most, each = 25, 60
	address := dbtest.PostgresAddress(t)
	stores := []*db.Store{dbtest.Open(t, address), dbtest.Open(t, address)}
	workflow := madeWorkflow(t, stores[0])
	var begun, refused atomic.Int64
	var both sync.WaitGroup
	for _, store := range stores {
		both.Go(func() {
			for range each {
				switch w := store.Commit(context.Background(), []flow.Step{beginsOf(workflow, most)})[0]; {
				case w.Err == nil:
					begun.Add(1)
				case errors.Is(w.Err, errFull):
					refused.Add(1)
				default:
					t.Error(w.Err)
				}
			}
		})
	}
	both.Wait()

	runs, err := stores[0].Runs(t.Context(), engine.RunFilter{Object: workflow, Open: true, Limit: 2 * each})
	must(t, err)
	if len(runs) != most || begun.Load() != most || refused.Load() != 2*each-most {
		t.Errorf("%d runs are open, %d were told that they begin and %d that they do not; want %d, %d and %d",
			len(runs), begun.Load(), refused.Load(), most, most, 2*each-most)
	}
}

// TestAStartWithoutAnswerIsMadeOnce: the line breaks before or after the start
// arrives.
func TestAStartWithoutAnswerIsMadeOnce(t *testing.T) {
	t.Parallel()
	proxy := dbtest.NewProxy(t, dbtest.PostgresAddress(t))
	store := dbtest.Open(t, proxy.Address)
	workflow := madeWorkflow(t, store)
	const all = 30
	for i := range all {
		proxy.CutNext([]dbtest.Cut{dbtest.CutLost, dbtest.CutAfter}[i%2])

		must(t, store.Commit(t.Context(), []flow.Step{beginsOf(workflow, all)})[0].Err)
	}

	if n := proxy.Cuts(); n < all*2/3 {
		t.Errorf("the line was cut %d times for %d starts", n, all)
	}
	runs, err := store.Runs(t.Context(), engine.RunFilter{Object: workflow, Limit: 2 * all})
	must(t, err)
	if len(runs) != all {
		t.Errorf("%d runs began, want %d", len(runs), all)
	}
	for _, run := range runs {
		if events, err := store.Events(t.Context(), run.ID, 0); err != nil || len(events) != 1 {
			t.Errorf("run %s has %d events (%v), want one", run.ID, len(events), err)
		}
	}
}
