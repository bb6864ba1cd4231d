package dbtest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// said is a step that adds one event to a run.
func said(run engine.ID, text string, fresh *engine.Run) flow.Step {
	return flow.Step{Run: run, New: fresh, Decide: func(r engine.Run, _ flow.State) (flow.Writes, error) {
		return flow.Writes{Run: r, Events: []engine.Event{{Run: r.ID, Kind: "note", Text: text, At: dbtest.Noon}}}, nil
	}}
}

// TestACommitWithoutAnswerIsWrittenOnce: the line to the database breaks before
// or after each COMMIT arrives. Whether it stands is found out, and each step is
// written once.
func TestACommitWithoutAnswerIsWrittenOnce(t *testing.T) {
	t.Parallel()
	proxy := dbtest.NewProxy(t, dbtest.PostgresAddress(t))
	store := dbtest.Open(t, proxy.Address)
	run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, Started: dbtest.Noon}
	const steps = 60
	for i := range steps {
		proxy.CutNext([]dbtest.Cut{dbtest.NoCut, dbtest.CutLost, dbtest.CutAfter}[i%3])
		var fresh *engine.Run
		if i == 0 {
			fresh = &run
		}

		written := store.Commit(t.Context(), []flow.Step{said(run.ID, fmt.Sprint(i), fresh)})

		must(t, written[0].Err)
		if got := written[0].Run.Seq; got != int64(i+1) {
			t.Fatalf("step %d is told the number %d", i, got)
		}
	}

	if n := proxy.Cuts(); n < steps/2 {
		t.Errorf("the line was cut %d times, want it cut for two of three steps", n)
	}
	events, err := store.Events(t.Context(), run.ID, 0)
	must(t, err)
	if len(events) != steps {
		t.Fatalf("%d events were written by %d steps", len(events), steps)
	}
	for i, e := range events {
		if e.Text != fmt.Sprint(i) {
			t.Errorf("event %d is %q", i+1, e.Text)
		}
	}
}

// TestALargeGroupWithoutAnswerIsWrittenOnce: one that goes out in parts, of which the
// line breaks before or after one that begins or commits.
func TestALargeGroupWithoutAnswerIsWrittenOnce(t *testing.T) {
	t.Parallel()
	proxy := dbtest.NewProxy(t, dbtest.PostgresAddress(t))
	store := dbtest.Open(t, proxy.Address)
	const runs, groups = 150, 24
	var all []engine.Run
	for i := range runs {
		all = append(all, engine.Run{ID: engine.NewID(dbtest.Noon.Add(time.Duration(i))), Kind: engine.RunJob, Started: dbtest.Noon})
	}
	for group := range groups {
		var steps []flow.Step
		for i := range all {
			var fresh *engine.Run
			if group == 0 {
				fresh = &all[i]
			}
			steps = append(steps, said(all[i].ID, fmt.Sprint(group), fresh))
		}
		proxy.CutNext([]dbtest.Cut{dbtest.NoCut, dbtest.CutLost, dbtest.CutAfter}[group%3])

		for _, w := range store.Commit(t.Context(), steps) {
			must(t, w.Err)
			if w.Run.Seq != int64(group+1) {
				t.Fatalf("a step of group %d is told the number %d", group, w.Run.Seq)
			}
		}
	}

	if n := proxy.Cuts(); n < groups/2 {
		t.Errorf("the line was cut %d times, want it cut for two of three groups", n)
	}
	var want []string
	for group := range groups {
		want = append(want, fmt.Sprint(group))
	}
	for i := range all {
		assertTexts(t, store, all[i].ID, want...)
	}
}

// TestACommitWithoutAnswerIsWrittenOnceBesideAnother: what became of it is not
// taken from the run, which another server writes at the same time.
func TestACommitWithoutAnswerIsWrittenOnceBesideAnother(t *testing.T) {
	t.Parallel()
	address := dbtest.PostgresAddress(t)
	proxy := dbtest.NewProxy(t, address)
	one, other := dbtest.Open(t, proxy.Address), dbtest.Open(t, address)
	run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, Started: dbtest.Noon}
	must(t, one.Commit(t.Context(), []flow.Step{said(run.ID, "first", &run)})[0].Err)
	ctx, cancel := context.WithCancel(t.Context())
	var beside sync.WaitGroup
	beside.Go(func() {
		for ctx.Err() == nil {
			for _, w := range other.Commit(context.Background(), []flow.Step{said(run.ID, "other", nil)}) {
				if w.Err != nil {
					t.Error(w.Err)
				}
			}
		}
	})
	const steps = 60
	for i := range steps {
		proxy.CutNext([]dbtest.Cut{dbtest.CutLost, dbtest.CutAfter}[i%2])
		must(t, one.Commit(t.Context(), []flow.Step{said(run.ID, fmt.Sprint(i), nil)})[0].Err)
	}
	cancel()
	beside.Wait()

	events, err := other.Events(t.Context(), run.ID, 0)
	must(t, err)
	times := map[string]int{}
	for _, e := range events {
		times[e.Text]++
	}
	for i := range steps {
		if n := times[fmt.Sprint(i)]; n != 1 {
			t.Errorf("step %d was written %d times", i, n)
		}
	}
}

// TestACommitWaitsForADatabaseThatIsAway, and says so when its time is over.
func TestACommitWaitsForADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	proxy := dbtest.NewProxy(t, dbtest.PostgresAddress(t))
	store := dbtest.Open(t, proxy.Address)
	run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, Started: dbtest.Noon}
	must(t, store.Commit(t.Context(), []flow.Step{said(run.ID, "first", &run)})[0].Err)
	proxy.Down()
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()

	err := store.Commit(short, []flow.Step{said(run.ID, "never", nil)})[0].Err

	if engine.CodeOf(err) != engine.Away {
		t.Errorf("a step whose time is over: %v, want it told that the database is away", err)
	}
	done := make(chan flow.Written, 1)
	go func() { done <- store.Commit(t.Context(), []flow.Step{said(run.ID, "second", nil)})[0] }()
	select {
	case w := <-done:
		t.Errorf("a step ended while the database was away: %v", w.Err)
	case <-time.After(300 * time.Millisecond):
	}
	proxy.Up()
	must(t, (<-done).Err)
	assertTexts(t, store, run.ID, "first", "second")
}

// TestEachStepIsToldThatTheDatabaseIsAway: a server that loses its lease while a group
// waits says so to all of it, and not that a context was cancelled.
func TestEachStepIsToldThatTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	proxy := dbtest.NewProxy(t, dbtest.PostgresAddress(t))
	store := dbtest.Open(t, proxy.Address)
	proxy.Down()
	for _, n := range []int{1, 3} {
		var steps []flow.Step
		for range n {
			run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, Started: dbtest.Noon}
			steps = append(steps, said(run.ID, "late", &run))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		ended, end := context.WithCancel(t.Context())
		end()
		for name, ctx := range map[string]context.Context{"waits": ctx, "has ended": ended} {
			for i, w := range store.Commit(ctx, steps) {
				if engine.CodeOf(w.Err) != engine.Away {
					t.Errorf("%s, %d steps: step %d is told %v, want that the database is away", name, n, i, w.Err)
				}
			}
		}
		cancel()
	}
}

// TestALineThatBreaksIsExplained, and no other error taken for it.
func TestALineThatBreaksIsExplained(t *testing.T) {
	t.Parallel()
	proxy := dbtest.NewProxy(t, dbtest.PostgresAddress(t))
	store := dbtest.Open(t, proxy.Address)
	_, missing := store.Run(t.Context(), "nobody")
	proxy.Down()

	_, err := store.Runs(t.Context(), engine.RunFilter{})

	if engine.CodeOf(err) != engine.Internal || engine.CodeOf(store.Explain(err)) != engine.Away {
		t.Errorf("%v is explained as %v, want that the database is away", err, store.Explain(err))
	}
	if got := store.Explain(missing); got != missing || engine.CodeOf(got) != engine.NotFound { //nolint:errorlint // it is left as it is
		t.Errorf("%v is explained as %v", missing, got)
	}
}

func assertTexts(t *testing.T, store *db.Store, run engine.ID, want ...string) {
	t.Helper()
	events, err := store.Events(t.Context(), run, 0)
	must(t, err)
	var got []string
	for _, e := range events {
		got = append(got, e.Text)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the events are %v, want %v", got, want)
	}
}

// TestGroupsOfTwoServersLoseNothing: two servers write groups over the same
// runs in every order, small ones and such that go out in parts. What is told to be
// written stands, and nothing else.
func TestGroupsOfTwoServersLoseNothing(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct{ runs, groups, size int }{"small": {6, 60, 4}, "in parts": {200, 12, 80}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			twoServers(t, of.runs, of.groups, of.size)
		})
	}
}

func twoServers(t *testing.T, runs, groups, size int) {
	t.Helper()
	address := dbtest.PostgresAddress(t)
	stores := []*db.Store{dbtest.Open(t, address), dbtest.Open(t, address)}
	var ids []engine.ID
	for i := range runs {
		run := engine.Run{ID: engine.NewID(dbtest.Noon.Add(time.Duration(i))), Kind: engine.RunJob, Started: dbtest.Noon}
		must(t, stores[0].Commit(t.Context(), []flow.Step{said(run.ID, "first", &run)})[0].Err)
		ids = append(ids, run.ID)
	}
	counts := [2]map[engine.ID]int{{}, {}}
	var both sync.WaitGroup
	for i, store := range stores {
		both.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 7)) //nolint:gosec // a test that can be repeated
			for range groups {
				var steps []flow.Step
				for range size {
					steps = append(steps, said(ids[random.IntN(runs)], "more", nil))
				}
				for k, w := range store.Commit(context.Background(), steps) {
					if w.Err != nil {
						t.Error(w.Err)
						continue
					}
					counts[i][steps[k].Run]++
				}
			}
		})
	}
	both.Wait()

	for _, id := range ids {
		events, err := stores[0].Events(t.Context(), id, 0)
		must(t, err)
		if want := 1 + counts[0][id] + counts[1][id]; len(events) != want {
			t.Errorf("run %s has %d events, and %d were told to be written", id, len(events), want)
		}
	}
}

// TestAStepThatBreaksItsGroupFailsAlone: those beside it are written, and told so.
func TestAStepThatBreaksItsGroupFailsAlone(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, Started: dbtest.Noon}
		must(t, store.Commit(t.Context(), []flow.Step{said(run.ID, "first", &run)})[0].Err)
		again := run // its row is there already, so this step breaks the transaction of its group

		written := store.Commit(t.Context(), []flow.Step{said(run.ID, "second", nil), said(run.ID, "never", &again), said(run.ID, "third", nil)})

		if written[0].Err != nil || written[1].Err == nil || written[2].Err != nil {
			t.Errorf("got %v, %v and %v, want only the second to fail", written[0].Err, written[1].Err, written[2].Err)
		}
		assertTexts(t, store, run.ID, "first", "second", "third")
	})
}

// TestAServerThatHangsInATransactionLosesItsLocks: another goes on with the run
// that it had locked, and when it comes to itself its step is written once.
func TestAServerThatHangsInATransactionLosesItsLocks(t *testing.T) {
	t.Parallel()
	address := dbtest.PostgresAddress(t)
	halted, other := dbtest.Open(t, address), dbtest.Open(t, address)
	run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, Started: dbtest.Noon}
	must(t, halted.Commit(t.Context(), []flow.Step{said(run.ID, "begun", &run)})[0].Err)
	locked, wake := make(chan struct{}), make(chan struct{})
	var once sync.Once
	late := said(run.ID, "late", nil)
	decide := late.Decide
	late.Decide = func(r engine.Run, st flow.State) (flow.Writes, error) {
		once.Do(func() {
			close(locked)
			<-wake // as a machine that hangs
		})
		return decide(r, st)
	}
	ended := make(chan error, 1)
	go func() { ended <- halted.Commit(t.Context(), []flow.Step{late})[0].Err }()
	<-locked

	asked := time.Now()
	must(t, other.Commit(t.Context(), []flow.Step{said(run.ID, "other", nil)})[0].Err)
	took := time.Since(asked)
	close(wake)
	must(t, <-ended)

	if took > 10*time.Second {
		t.Errorf("the other server waited %s for the lock, want some five seconds", took)
	}
	events, err := other.Events(t.Context(), run.ID, 0)
	must(t, err)
	var texts []string
	for _, e := range events {
		texts = append(texts, e.Text)
	}
	if want := []string{"begun", "other", "late"}; !slices.Equal(texts, want) {
		t.Errorf("the events are %q, want %q", texts, want)
	}
}
