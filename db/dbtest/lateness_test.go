package dbtest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// TestD17LateStartsAreListed: a due time without a run, and runs whose work began
// late or has not begun; not those in time, nor those that no schedule started, nor
// those that wait, or waited, for what a person has set, unless they were made late.
func TestD17LateStartsAreListed(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		const minutes = 42 * time.Minute
		trigger := engine.Trigger{ID: engine.NewID(dbtest.Noon), Name: "each hour", Type: engine.Scheduled, Schedule: "cron(0 * * * ? *)"}
		id, err := store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{Triggers: []engine.Trigger{trigger}}, "owner", dbtest.Noon)
		must(t, err)
		_, err = store.PublishWorkflow(t.Context(), id, 0, nil, "owner", dbtest.Noon, func(engine.Trigger) time.Time { return dbtest.Noon.Add(-minutes) })
		must(t, err)
		run := func(name string, due, began time.Time, change func(*engine.Run), nodes ...engine.NodeRun) {
			r := engine.Run{ID: engine.NewID(dbtest.Noon.Add(-time.Hour)), Kind: engine.RunWorkflow, Object: id, Name: name, By: "schedule", Due: due, Started: dbtest.Noon.Add(-time.Hour)}
			if change != nil {
				change(&r)
			}
			n := engine.NodeRun{Run: r.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: "a"}, Name: "a", Start: 1, Attempt: 1, State: engine.Ready, Started: began}
			if len(nodes) == 0 {
				nodes = []engine.NodeRun{n}
			}
			for i := range nodes {
				nodes[i].Run, nodes[i].Ref, nodes[i].Start, nodes[i].Attempt = r.ID, engine.Ref{Kind: engine.KindJob, ID: engine.ID('a' + rune(i))}, 1, 1
				if !nodes[i].Started.IsZero() {
					nodes[i].Held, nodes[i].Why = engine.HeldBack(nodes[i].Why), ""
				}
			}
			w := store.Commit(t.Context(), []flow.Step{{Run: r.ID, New: &r, Decide: func(r engine.Run, _ flow.State) (flow.Writes, error) {
				return flow.Writes{Run: r, Nodes: nodes, OpenNodes: len(nodes)}, nil
			}}})
			must(t, w[0].Err)
		}
		hour := dbtest.Noon.Add(-time.Hour)
		run("late", hour, hour.Add(minutes), nil)
		run("waits", hour, time.Time{}, nil)
		const pool, slot = engine.WaitsForPlace + "x", "waits for one of the server's slots"
		ready, works := engine.NodeRun{State: engine.Ready}, engine.NodeRun{State: engine.Running, Started: hour.Add(minutes)}
		because := func(n engine.NodeRun, why string) engine.NodeRun { n.Why = why; return n }
		run("waits for a pool", hour, hour, nil, because(ready, pool))
		run("waited for a pool", hour, hour, nil, because(works, pool))
		run("waits for a slot", hour, hour, nil, because(ready, slot))
		run("waited for a slot", hour, hour, nil, because(works, slot))
		run("late, and its second waits for a pool", hour, hour, nil, works, because(ready, pool))
		run("made late, then held", hour.Add(-minutes), hour, nil, because(ready, pool))
		run("in time", hour, hour.Add(time.Second), nil)
		run("by hand", time.Time{}, hour.Add(minutes), nil)
		run("goes on", hour.Add(-24*time.Hour), hour, func(r *engine.Run) { r.Previous = "before" })
		run("long ago", hour.Add(-48*time.Hour), hour.Add(-47*time.Hour), func(r *engine.Run) { r.ID = engine.NewID(hour.Add(-48 * time.Hour)) })

		late, err := store.LateStarts(t.Context(), dbtest.Noon)
		must(t, err)

		var got []string
		for _, l := range late {
			got = append(got, fmt.Sprintf("%s %s waits %t with a run %t due %s", l.Name, l.Late, l.Waits, l.Run != "", l.Due.Format(time.TimeOnly)))
		}
		slices.Sort(got)
		want := []string{
			"late 42m0s waits false with a run true due 11:00:00",
			"late, and its second waits for a pool 42m0s waits false with a run true due 11:00:00",
			"made late, then held 42m0s waits false with a run true due 10:18:00",
			"w 42m0s waits true with a run false due 11:18:00",
			"waited for a slot 42m0s waits false with a run true due 11:00:00",
			"waits 1h0m0s waits true with a run true due 11:00:00",
			"waits for a slot 1h0m0s waits true with a run true due 11:00:00",
		}
		if !slices.Equal(got, want) {
			t.Errorf("late starts = %q, want %q", got, want)
		}
	})
}
