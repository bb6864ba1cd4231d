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
		kept := map[engine.ID][]engine.NodeRun{}
		start := func(after time.Duration, change func(*engine.Run)) engine.Run {
			at := dbtest.Noon.Add(after)
			run := engine.Run{ID: engine.NewID(at), Kind: engine.RunJob, Object: job, Name: "b", By: "owner", Properties: day, Started: at}
			if change != nil {
				change(&run)
			}
			written := store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				return flow.Writes{Run: run, Nodes: kept[run.ID]}, nil
			}}})
			must(t, written[0].Err)
			return run
		}
		first := start(0, nil)
		goesOn := func(keeps ...string) func(*engine.Run) {
			return func(r *engine.Run) {
				r.Previous, r.Due = first.ID, dbtest.Noon // as one of a schedule that somebody goes on from
				for _, name := range keeps {
					kept[r.ID] = append(kept[r.ID], engine.NodeRun{
						Run: r.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: engine.ID(name)}, Name: name, Start: 1, Attempt: 1, State: engine.Succeeded, Copied: first.ID,
					})
				}
			}
		}
		runs := map[string]engine.Run{
			"the same, soon":   start(40*time.Second, nil),
			"another job":      start(41*time.Second, func(r *engine.Run) { r.Object = other }),
			"other properties": start(42*time.Second, func(r *engine.Run) { r.Properties = map[string]string{"day": "2"} }),
			"other files":      start(43*time.Second, func(r *engine.Run) { r.Pick = &engine.Selection{Keys: []string{"a.csv"}} }),
			"by a schedule":    start(44*time.Second, func(r *engine.Run) { r.By, r.Due = "schedule", dbtest.Noon }),
			"that is stopped": start(44200*time.Millisecond, func(r *engine.Run) {
				r.Properties, r.Outcome, r.Ended = map[string]string{"day": "3"}, engine.RunStopped, r.Started
			}),
			"after a stopped one":   start(44300*time.Millisecond, func(r *engine.Run) { r.Properties = map[string]string{"day": "3"} }),
			"by somebody else":      start(44100*time.Millisecond, func(r *engine.Run) { r.By = "sample" }),
			"run again":             start(44500*time.Millisecond, func(r *engine.Run) { r.Repeats = first.ID }),
			"goes on from another":  start(45*time.Second, goesOn("a")),
			"goes on, keeps more":   start(46*time.Second, goesOn("a", "c")),
			"goes on, keeps none":   start(47*time.Second, goesOn()),
			"goes on, other day":    start(47500*time.Millisecond, func(r *engine.Run) { goesOn("a")(r); r.Properties = map[string]string{"day": "2"} }),
			"goes on by another":    start(47800*time.Millisecond, func(r *engine.Run) { goesOn("a")(r); r.By = "sample" }),
			"goes on the same way":  start(48*time.Second, goesOn("a")),
			"and once more":         start(49*time.Second, goesOn("a")),
			"the same, much later":  start(time.Minute+engine.TwinWindow, nil),
			"the same, after that":  start(time.Minute+engine.TwinWindow+2*time.Second, nil),
			"the same, years later": start(1000*24*time.Hour, nil),
		}
		want := map[string]engine.Twin{
			"the same, soon":       {Run: first.ID, Before: 40 * time.Second},
			"goes on the same way": {Run: runs["goes on from another"].ID, Before: 3 * time.Second},
			"and once more":        {Run: runs["goes on the same way"].ID, Before: time.Second},
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
