package dbtest_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

var errFull = errors.New("there is no room")

// begins makes a run of a job whose node is ready.
func begins(t *testing.T, store *db.Store, job engine.ID) engine.NodeRun {
	t.Helper()
	run := engine.Run{ID: engine.NewID(time.Now()), Kind: engine.RunJob, Object: job, Started: dbtest.Noon}
	n := engine.NodeRun{Run: run.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: job}, Start: 1, Attempt: 1, State: engine.Ready, ReadyAt: dbtest.Noon}
	commits(t, store, flow.Step{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		return flow.Writes{Run: run, Nodes: []engine.NodeRun{n}, OpenNodes: 1}, nil
	}})
	return n
}

// moves lets a node go to a state, where its job may run once at a time, and
// returns what was known of the job.
func moves(store *db.Store, key engine.NodeKey, to engine.State) (head flow.Head, err error) {
	return head, store.Commit(context.Background(), []flow.Step{moving(key, to, &head)})[0].Err
}

// moving is the step of moves.
func moving(key engine.NodeKey, to engine.State, head *flow.Head) flow.Step {
	return flow.Step{Run: key.Run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		n := st.NodeRuns(key.Ref)[0]
		if *head = st.Head(key.Ref); to == engine.Starting && !st.Room(&n, 1, 0) {
			return flow.Writes{}, errFull
		}
		open := 0
		if n.State == engine.Ready && to == engine.Starting {
			n.State = to
		} else if err := n.Move(to, dbtest.Noon); err != nil {
			return flow.Writes{}, err
		}
		if to.Done() {
			open = -1
		}
		return flow.Writes{Run: run, Nodes: []engine.NodeRun{n}, OpenNodes: open}, nil
	}}
}

// TestWhatAnotherServerChangedIsSeen: a server goes by what it remembers of its
// runs and of their jobs, but never against what another server has written.
func TestWhatAnotherServerChangedIsSeen(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// meanwhile is what the other server does once the first remembers both.
		meanwhile func(t *testing.T, other *db.Store, job engine.ID, key engine.NodeKey)
		version   int // of the job that starts then
		refused   bool
	}{
		"nothing": {func(*testing.T, *db.Store, engine.ID, engine.NodeKey) {}, 1, false},
		"the node was stopped": {func(t *testing.T, other *db.Store, _ engine.ID, key engine.NodeKey) {
			t.Helper()
			_, err := moves(other, key, engine.Stopped)
			must(t, err)
		}, 0, true},
		"the job was published anew": {func(t *testing.T, other *db.Store, job engine.ID, _ engine.NodeKey) {
			t.Helper()
			draft, err := other.JobDraft(t.Context(), job)
			must(t, err)
			draft.Body.Retries = 3
			_, err = other.SaveJobDraft(t.Context(), job, draft.Body, draft.Seq, "owner", dbtest.Noon)
			must(t, err)
			_, err = other.PublishJob(t.Context(), job, "owner", dbtest.Noon)
			must(t, err)
		}, 2, false},
		"the job runs there": {func(t *testing.T, other *db.Store, job engine.ID, _ engine.NodeKey) {
			t.Helper()
			n := begins(t, other, job)
			_, err := moves(other, n.Key(), engine.Starting)
			must(t, err)
		}, 0, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := dbtest.PostgresAddress(t)
			one, other := dbtest.Open(t, address), dbtest.Open(t, address)
			job, err := one.CreateJob(t.Context(), "load", engine.JobBody{Kind: engine.JobSQL, SQL: &engine.SQLJob{}}, "owner", dbtest.Noon)
			must(t, err)
			_, err = one.PublishJob(t.Context(), job, "owner", dbtest.Noon)
			must(t, err)
			first := begins(t, one, job)
			for _, to := range []engine.State{engine.Starting, engine.Succeeded} { // what these ask of the job is remembered
				_, err = moves(one, first.Key(), to)
				must(t, err)
			}
			second := begins(t, one, job)
			tt.meanwhile(t, other, job, second.Key())

			head, err := moves(one, second.Key(), engine.Starting)

			if tt.refused != (err != nil) {
				t.Fatalf("the start was told %v, want it refused: %v", err, tt.refused)
			}
			if !tt.refused && head.Version != tt.version {
				t.Errorf("version %d of the job starts, want %d", head.Version, tt.version)
			}
		})
	}
}

// remembered makes a published job, which a server remembers from a run, and a run of
// it that waits.
func remembered(t *testing.T, store *db.Store, name string) (job engine.ID, waits engine.NodeRun) {
	t.Helper()
	job, err := store.CreateJob(t.Context(), name, engine.JobBody{Kind: engine.JobSQL, SQL: &engine.SQLJob{}}, "owner", dbtest.Noon)
	must(t, err)
	_, err = store.PublishJob(t.Context(), job, "owner", dbtest.Noon)
	must(t, err)
	first := begins(t, store, job)
	for _, to := range []engine.State{engine.Starting, engine.Succeeded} {
		_, err = moves(store, first.Key(), to)
		must(t, err)
	}
	return job, begins(t, store, job)
}

// TestWhatAnotherServerChangedOfOneIsSeenInAGroup, of which each step goes by another
// run and another job.
func TestWhatAnotherServerChangedOfOneIsSeenInAGroup(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		meanwhile func(t *testing.T, other *db.Store, job engine.ID)
		version   int // of the job that was changed
		refused   bool
	}{
		"nothing": {func(*testing.T, *db.Store, engine.ID) {}, 1, false},
		"the job was published anew": {func(t *testing.T, other *db.Store, job engine.ID) {
			t.Helper()
			draft, err := other.JobDraft(t.Context(), job)
			must(t, err)
			draft.Body.Retries = 3
			_, err = other.SaveJobDraft(t.Context(), job, draft.Body, draft.Seq, "owner", dbtest.Noon)
			must(t, err)
			_, err = other.PublishJob(t.Context(), job, "owner", dbtest.Noon)
			must(t, err)
		}, 2, false},
		"the job runs there": {func(t *testing.T, other *db.Store, job engine.ID) {
			t.Helper()
			n := begins(t, other, job)
			_, err := moves(other, n.Key(), engine.Starting)
			must(t, err)
		}, 1, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := dbtest.PostgresAddress(t)
			one, other := dbtest.Open(t, address), dbtest.Open(t, address)
			_, kept := remembered(t, one, "kept")
			job, changed := remembered(t, one, "changed")
			tt.meanwhile(t, other, job)

			var heads [2]flow.Head
			written := one.Commit(t.Context(), []flow.Step{moving(kept.Key(), engine.Starting, &heads[0]), moving(changed.Key(), engine.Starting, &heads[1])})

			if written[0].Err != nil || heads[0].Version != 1 {
				t.Errorf("the job that nobody changed: version %d, %v", heads[0].Version, written[0].Err)
			}
			if (written[1].Err != nil) != tt.refused || heads[1].Version != tt.version {
				t.Errorf("the other: version %d, %v; want version %d, refused: %t", heads[1].Version, written[1].Err, tt.version, tt.refused)
			}
		})
	}
}

// TestAGroupWaitsForWhoHasLockedOneOfItsRuns: a server that decides from the rows is
// not overtaken again and again by one that decides from memory.
func TestAGroupWaitsForWhoHasLockedOneOfItsRuns(t *testing.T) {
	t.Parallel()
	address := dbtest.PostgresAddress(t)
	store := dbtest.Open(t, address)
	_, one := remembered(t, store, "one")
	_, two := remembered(t, store, "two")
	lock, err := pgx.Connect(t.Context(), address)
	must(t, err)
	defer func() { must(t, lock.Close(context.Background())) }()
	_, err = lock.Exec(t.Context(), `SELECT pg_advisory_lock(hashtextextended($1, 0))`, string(two.Run))
	must(t, err)
	done := make(chan []flow.Written, 1)
	go func() {
		var heads [2]flow.Head
		done <- store.Commit(context.Background(), []flow.Step{moving(one.Key(), engine.Starting, &heads[0]), moving(two.Key(), engine.Starting, &heads[1])})
	}()
	select {
	case w := <-done:
		t.Errorf("the group was written while somebody had one of its runs: %v, %v", w[0].Err, w[1].Err)
		return
	case <-time.After(300 * time.Millisecond):
	}

	_, err = lock.Exec(t.Context(), `SELECT pg_advisory_unlock_all()`)
	must(t, err)

	for _, w := range <-done {
		must(t, w.Err)
	}
}

// TestAStepIsGivenNoMoreRoomThanThereIs: of several starts in one step each takes
// what is there from the next.
func TestAStepIsGivenNoMoreRoomThanThereIs(t *testing.T) {
	t.Parallel()
	store := dbtest.Open(t, dbtest.PostgresAddress(t))
	run := engine.Run{ID: engine.NewID(time.Now()), Kind: engine.RunWorkflow, Started: dbtest.Noon}
	let := 0
	commits(t, store, flow.Step{Run: run.ID, New: &run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		let = 0
		w := flow.Writes{Run: run}
		for range 6 {
			n := engine.NodeRun{Run: run.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: engine.NewID(time.Now())}, Start: 1, Attempt: 1, State: engine.Ready}
			n.Pool = "warehouse"
			if st.Room(&n, 1, 4) {
				n.State = engine.Starting
				let++
			}
			w.Nodes = append(w.Nodes, n)
		}
		w.OpenNodes = len(w.Nodes)
		return w, nil
	}})

	if let != 4 {
		t.Errorf("%d of 6 were let into a pool of 4 places", let)
	}
}

// TestAPoolHasThePlacesThatTheDatabaseSays, also before a server has heard of them:
// in memory and in rows.
func TestAPoolHasThePlacesThatTheDatabaseSays(t *testing.T) {
	t.Parallel()
	address := dbtest.PostgresAddress(t)
	one, other := dbtest.Open(t, address), dbtest.Open(t, address)
	must(t, other.PutPool(t.Context(), "warehouse", 2, "owner", dbtest.Noon))
	let := 0
	for range 6 {
		run := engine.Run{ID: engine.NewID(time.Now()), Kind: engine.RunJob, Started: dbtest.Noon}
		commits(t, one, flow.Step{Run: run.ID, New: &run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
			n := engine.NodeRun{Run: run.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: engine.NewID(time.Now())}, Start: 1, Attempt: 1, State: engine.Ready}
			if n.Pool = "warehouse"; st.Room(&n, 1, math.MaxInt) {
				n.State = engine.Starting
			}
			return flow.Writes{Run: run, Nodes: []engine.NodeRun{n}, OpenNodes: 1}, nil
		}})
		nodes, err := one.NodeRuns(t.Context(), run.ID)
		must(t, err)
		if nodes[0].State == engine.Starting {
			let++
		}
	}

	if let != 2 {
		t.Errorf("%d of 6 were let into a pool of 2 places", let)
	}
}

// TestAGroupSeesThatARowIsNotWhatItTakesItFor: a node run that it would change is gone,
// or one that it would make is there. Who has done that has broken the rules; but
// nothing may be said to be written that is not.
func TestAGroupSeesThatARowIsNotWhatItTakesItFor(t *testing.T) {
	t.Parallel()
	address := dbtest.PostgresAddress(t)
	store := dbtest.Open(t, address)
	_, kept := remembered(t, store, "kept")
	_, gone := remembered(t, store, "gone")
	_, twice := remembered(t, store, "twice")
	dbtest.Exec(t, address, `DELETE FROM node_run WHERE run_id = '`+string(gone.Run)+`'`)
	dbtest.Exec(t, address, `INSERT INTO node_run SELECT (jsonb_populate_record(n, '{"start": 2, "name": "theirs"}')).* FROM node_run AS n WHERE run_id = '`+string(twice.Run)+`'`)
	again := twice
	again.Start, again.Name = 2, "ours"
	step := func(key engine.NodeKey, makes *engine.NodeRun) flow.Step {
		return flow.Step{Run: key.Run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
			nodes := st.NodeRuns(key.Ref)
			if len(nodes) == 0 {
				return flow.Writes{}, errFull
			}
			n, open := nodes[0], 0
			n.Why = "as written"
			w := flow.Writes{Run: run, Nodes: []engine.NodeRun{n}}
			if makes != nil {
				w.Nodes, open = append(w.Nodes, *makes), 1
			}
			w.OpenNodes = open
			return w, nil
		}}
	}

	one := store.Commit(t.Context(), []flow.Step{step(kept.Key(), nil), step(gone.Key(), nil)}) // each is enough to break a group
	other := store.Commit(t.Context(), []flow.Step{step(kept.Key(), nil), step(twice.Key(), &again)})

	if one[0].Err != nil || !errors.Is(one[1].Err, errFull) || other[0].Err != nil || other[1].Err != nil {
		t.Errorf("the answers are %v, %v, %v and %v, want only the one refused of which the row is gone", one[0].Err, one[1].Err, other[0].Err, other[1].Err)
	}
	for _, want := range []struct {
		of   engine.ID
		said string
	}{{kept.Run, "as written"}, {gone.Run, ""}, {twice.Run, "as written, ours"}} {
		nodes, err := store.NodeRuns(t.Context(), want.of)
		must(t, err)
		var said []string
		for _, n := range nodes {
			said = append(said, strings.TrimSpace(n.Name+" "+n.Why))
		}
		if got := strings.Join(said, ", "); got != want.said {
			t.Errorf("there is %q, want %q", got, want.said)
		}
	}
}
