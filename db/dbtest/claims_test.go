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

// TestARunSaysWhenItsAttemptsWereTakenUp the last time, each of them.
func TestARunSaysWhenItsAttemptsWereTakenUp(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		ref := engine.Ref{Kind: engine.KindJob, ID: engine.NewID(dbtest.Noon)}
		run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, Object: ref.ID, Name: "w", By: "owner", Started: dbtest.Noon}
		event := func(state engine.State, attempt, second int) engine.Event {
			return engine.Event{Run: run.ID, Kind: "node", Card: ref.String(), State: string(state), Start: 1, Attempt: attempt, At: dbtest.Noon.Add(time.Duration(second) * time.Second)}
		}
		written := store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
			return flow.Writes{Run: run, Events: []engine.Event{
				event(engine.Starting, 1, 1), event(engine.Lost, 1, 2), event(engine.Starting, 1, 3), event(engine.Running, 1, 4), event(engine.Starting, 2, 5),
			}}, nil
		}}})
		must(t, written[0].Err)

		claims, err := store.Claims(t.Context(), run.ID)
		must(t, err)

		key := engine.NodeKey{Run: run.ID, Ref: ref, Start: 1, Attempt: 1}
		want := map[engine.NodeKey]time.Time{key: dbtest.Noon.Add(3 * time.Second)}
		key.Attempt = 2
		want[key] = dbtest.Noon.Add(5 * time.Second)
		if !maps.EqualFunc(claims, want, time.Time.Equal) {
			t.Errorf("claims = %v, want %v", claims, want)
		}
	})
}
