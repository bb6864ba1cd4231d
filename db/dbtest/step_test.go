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

// aRun makes a run that is open, with so many events in its first step.
func aRun(t *testing.T, store *db.Store, events int) engine.Run {
	t.Helper()
	run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, Object: someJob, Name: "w", By: "owner", Started: dbtest.Noon}
	w := store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		return flow.Writes{Run: run, Events: told(run.ID, events)}, nil
	}}})[0]
	must(t, w.Err)
	return w.Run
}

// told are so many events, no two alike.
func told(run engine.ID, n int) (events []engine.Event) {
	ref := engine.Ref{Kind: engine.KindJob, ID: someJob}
	for i := range n {
		events = append(events, engine.Event{
			Run: run, Kind: "node", Card: ref.String(), State: "running", Start: i + 1, Attempt: i % 3, At: dbtest.Noon, Text: fmt.Sprintf("line %d\n\"as is\" ü \\", i),
		})
	}
	return events
}

// then is one more step of a run, with so many events.
func then(t *testing.T, store *db.Store, run engine.ID, events int) engine.Run {
	t.Helper()
	w := store.Commit(t.Context(), []flow.Step{{Run: run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		return flow.Writes{Run: run, Events: told(run.ID, events)}, nil
	}}})[0]
	must(t, w.Err)
	return w.Run
}

// TestEventsAreListedAfterAnyNumber: also after one in the middle of a step, whose
// events lie in one row or in several. A step without events takes a number.
func TestEventsAreListedAfterAnyNumber(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		run := aRun(t, store, 150)
		then(t, store, run.ID, 0)
		run = then(t, store, run.ID, 3)
		var want []engine.Event
		for i, e := range append(told(run.ID, 150), told(run.ID, 3)...) {
			if e.Seq = int64(i + 1); i >= 150 {
				e.Seq++
			}
			want = append(want, e)
		}

		for since := int64(0); since <= run.Seq; since++ {
			got, err := store.Events(t.Context(), run.ID, since)
			must(t, err)
			left := slices.DeleteFunc(slices.Clone(want), func(e engine.Event) bool { return e.Seq <= since })
			if !slices.Equal(got, left) {
				t.Fatalf("after %d there are %d events, want %d: %+v", since, len(got), len(left), got)
			}
		}
		if again, err := store.Run(t.Context(), run.ID); err != nil || run.Seq != 154 || again.Seq != 154 {
			t.Errorf("the run has come to %d, and its row says %d (%v); want 154", run.Seq, again.Seq, err)
		}
	})
}

// TestEventsOfAnEarlierVersionAreSteps, and their run goes on.
func TestEventsOfAnEarlierVersionAreSteps(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		store := dbtest.Open(t, address)
		run := aRun(t, store, 5)
		before, err := store.Events(t.Context(), run.ID, 0)
		must(t, err)
		for _, statement := range []string{
			`DROP VIEW event`, `DROP TABLE step`, `ALTER TABLE run ADD COLUMN stamp TEXT NOT NULL DEFAULT ''`,
			`CREATE TABLE event (run_id TEXT NOT NULL, seq BIGINT NOT NULL, kind TEXT NOT NULL, card TEXT NOT NULL, state TEXT NOT NULL,
start BIGINT NOT NULL, attempt BIGINT NOT NULL, at BIGINT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (run_id, seq))`,
			`DELETE FROM bun_migrations WHERE name = '20261130000120'`,
		} {
			dbtest.Exec(t, address, statement)
		}
		for _, e := range before {
			dbtest.Exec(t, address, fmt.Sprintf(`INSERT INTO event VALUES ('%s', %d, '%s', '%s', '%s', %d, %d, %d, '%s')`,
				e.Run, e.Seq, e.Kind, e.Card, e.State, e.Start, e.Attempt, e.At.UnixMicro(), e.Text))
		}

		newer := dbtest.Open(t, address)

		after, err := newer.Events(t.Context(), run.ID, 0)
		must(t, err)
		if !slices.Equal(after, before) {
			t.Errorf("the events are %+v, want %+v", after, before)
		}
		if run = then(t, newer, run.ID, 1); run.Seq != 6 {
			t.Errorf("the next step has the number %d, want 6", run.Seq)
		}
		if claims, err := newer.Claims(t.Context(), run.ID); err != nil || len(claims) != 5 {
			t.Errorf("%d attempts were taken up (%v), want 5", len(claims), err)
		}
	})
}

// took makes a run in which two jobs took part and a third was skipped, and ends it
// or leaves the first of them open.
func took(t *testing.T, store *db.Store, jobs [3]engine.Ref, second int, open bool) engine.ID {
	t.Helper()
	at := dbtest.Noon.Add(time.Duration(second) * time.Second)
	run := engine.Run{ID: engine.NewID(at), Kind: engine.RunWorkflow, Object: someJob, Name: "w", By: "owner", Started: at}
	node := func(ref engine.Ref, state engine.State, attempt int) engine.NodeRun {
		n := engine.NodeRun{Run: run.ID, Ref: ref, Name: "n", Start: 1, Attempt: attempt, State: state, ReadyAt: at}
		if state.Done() {
			n.Ended = at
		}
		return n
	}
	w := store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		nodes := []engine.NodeRun{node(jobs[0], engine.Failed, 1), node(jobs[0], engine.Running, 2), node(jobs[1], engine.Succeeded, 1), node(jobs[2], engine.Skipped, 1)}
		return flow.Writes{Run: run, Nodes: nodes, OpenNodes: 1}, nil
	}}})[0]
	must(t, w.Err)
	if open {
		return run.ID
	}
	w = store.Commit(t.Context(), []flow.Step{{Run: run.ID, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		run.Ended, run.Outcome = at, engine.RunSucceeded
		return flow.Writes{Run: run, Nodes: []engine.NodeRun{node(jobs[0], engine.Succeeded, 2)}, OpenNodes: -1}, nil
	}}})[0]
	must(t, w.Err)
	return run.ID
}

// TestTheHistoryOfAJobIsOfOpenRunsAndOfEndedOnes, newest first, also in a database of
// an earlier version, and not of runs that skipped it.
func TestTheHistoryOfAJobIsOfOpenRunsAndOfEndedOnes(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		store := dbtest.Open(t, address)
		var jobs [3]engine.Ref
		for i := range jobs {
			jobs[i] = engine.Ref{Kind: engine.KindJob, ID: engine.NewID(dbtest.Noon)}
		}
		var runs []engine.ID
		for i, open := range []bool{false, true, false, false} {
			runs = append(runs, took(t, store, jobs, i, open))
		}
		history := func(store *db.Store, ref engine.Ref, limit int) string {
			nodes, err := store.NodeHistory(t.Context(), ref, limit)
			must(t, err)
			var text string
			for _, n := range nodes {
				text += fmt.Sprintf("%d.%d %s, ", slices.Index(runs, n.Run), n.Attempt, n.State)
			}
			return text
		}
		check := func(store *db.Store) {
			t.Helper()
			for _, c := range []struct {
				job, limit int
				want       string
			}{
				{0, 10, "3.2 succeeded, 3.1 failed, 2.2 succeeded, 2.1 failed, 1.2 running, 1.1 failed, 0.2 succeeded, 0.1 failed, "},
				{0, 5, "3.2 succeeded, 3.1 failed, 2.2 succeeded, 2.1 failed, 1.2 running, "},
				{1, 3, "3.1 succeeded, 2.1 succeeded, 1.1 succeeded, "},
				{1, 1, "3.1 succeeded, "},
				{2, 10, ""},
			} {
				if got := history(store, jobs[c.job], c.limit); got != c.want {
					t.Errorf("job %d, %d at most: %q, want %q", c.job, c.limit, got, c.want)
				}
			}
		}
		check(store)

		for _, statement := range []string{
			`DROP TABLE part`, `CREATE INDEX node_run_ref ON node_run (ref, run_id)`, `DELETE FROM bun_migrations WHERE name = '20261130000130'`,
		} {
			dbtest.Exec(t, address, statement)
		}
		check(dbtest.Open(t, address))
	})
}
