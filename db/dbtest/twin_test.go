package dbtest_test

import (
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// TestA20ARunThatAsksForTheSameAsOneBefore is told from those that do not, both
// by what they ask for and by who started them.
func TestA20ARunThatAsksForTheSameAsOneBefore(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		job, other := engine.NewID(dbtest.Noon), engine.NewID(dbtest.Noon)
		day := map[string]string{"day": "1"}
		start := func(after time.Duration, change func(*engine.Run)) engine.Run {
			at := dbtest.Noon.Add(after)
			run := engine.Run{ID: engine.NewID(at), Kind: engine.RunJob, Object: job, Name: "b", By: "owner", Properties: day, Started: at}
			if change != nil {
				change(&run)
			}
			written := store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				return flow.Writes{Run: run}, nil
			}}})
			must(t, written[0].Err)
			return run
		}
		first := start(0, nil)
		runs := map[string]engine.Run{
			"the same, soon":        start(40*time.Second, nil),
			"another job":           start(41*time.Second, func(r *engine.Run) { r.Object = other }),
			"other properties":      start(42*time.Second, func(r *engine.Run) { r.Properties = map[string]string{"day": "2"} }),
			"other files":           start(43*time.Second, func(r *engine.Run) { r.Pick = &engine.Selection{Keys: []string{"a.csv"}} }),
			"by a schedule":         start(44*time.Second, func(r *engine.Run) { r.By, r.Due = "schedule", dbtest.Noon }),
			"by somebody else":      start(44100*time.Millisecond, func(r *engine.Run) { r.By = "sample" }),
			"run again":             start(44500*time.Millisecond, func(r *engine.Run) { r.Repeats = first.ID }),
			"goes on from another":  start(45*time.Second, func(r *engine.Run) { r.Previous = first.ID }),
			"the same, much later":  start(time.Minute+engine.TwinWindow, nil),
			"the same, after that":  start(time.Minute+engine.TwinWindow+2*time.Second, nil),
			"the same, years later": start(1000*24*time.Hour, nil),
		}
		want := map[string]engine.Twin{
			"the same, soon":       {Run: first.ID, Before: 40 * time.Second},
			"the same, after that": {Run: runs["the same, much later"].ID, Before: 2 * time.Second},
		}
		for _, changed := range []engine.Run{first, runs["the same, soon"]} { // after its start
			written := store.Commit(t.Context(), []flow.Step{{Run: changed.ID, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				return flow.SetProperties(run, map[string]string{"day": string(run.ID)}, "owner", dbtest.Noon)
			}}})
			must(t, written[0].Err)
		}
		list := []engine.Run{first}
		for _, run := range runs {
			list = append(list, run)
		}

		twins, err := store.Twins(t.Context(), list)
		must(t, err)

		if _, ok := twins[first.ID]; ok || len(twins) != len(want) {
			t.Errorf("%d runs have a twin, want %d: %v", len(twins), len(want), twins)
		}
		for name, run := range runs {
			if twins[run.ID] != want[name] {
				t.Errorf("%s: twin %v, want %v", name, twins[run.ID], want[name])
			}
		}
	})
}
