package dbtest_test

import (
	"fmt"
	"slices"
	"testing"

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
