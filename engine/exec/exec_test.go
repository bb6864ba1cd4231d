package exec_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// work is a runner whose nodes do what a test says, by the node's name.
type work struct {
	mu  sync.Mutex
	do  map[string]func(ctx context.Context, a runner.Attempt, h runner.Host) (runner.Result, error)
	ran []string
	// publish is called for each try to publish.
	publish func(ctx context.Context, b engine.Batch) error
	// discard is called for each stage that is removed.
	discard func(context.Context) error
	dropped []engine.ID
}

func (w *work) Run(ctx context.Context, a runner.Attempt, h runner.Host) (runner.Result, error) {
	w.mu.Lock()
	w.ran = append(w.ran, fmt.Sprintf("%s.%d.%d", a.Node.Name, a.Node.Start, a.Node.Attempt))
	do := w.do[a.Node.Name]
	w.mu.Unlock()
	if do == nil {
		do = succeed
	}
	return do(ctx, a, h)
}

func (w *work) Publish(ctx context.Context, b engine.Batch, _ runner.Host) ([]engine.TableChange, error) {
	if w.publish == nil {
		return nil, nil
	}
	return nil, w.publish(ctx, b)
}

func (w *work) Discard(ctx context.Context, b engine.Batch) error {
	if w.discard != nil {
		if err := w.discard(ctx); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropped = append(w.dropped, b.ID)
	return nil
}

func succeed(ctx context.Context, _ runner.Attempt, h runner.Host) (runner.Result, error) {
	return runner.Result{State: engine.Succeeded}, h.Started(ctx, engine.Process{PID: 0})
}

func fail(ctx context.Context, _ runner.Attempt, h runner.Host) (runner.Result, error) {
	return runner.Result{State: engine.Failed, Error: "It broke."}, h.Started(ctx, engine.Process{})
}

// untilStopped runs until it is told to stop.
func untilStopped(ctx context.Context, _ runner.Attempt, h runner.Host) (runner.Result, error) {
	if err := h.Started(ctx, engine.Process{}); err != nil {
		return runner.Result{}, err
	}
	<-ctx.Done()
	return runner.Result{State: engine.Stopped}, nil
}

type dead struct{}

func (dead) Alive(engine.Process) bool { return false }
func (dead) Kill(engine.Process) error { return nil }
func (dead) Marked() []runner.Marked   { return nil }

// house is a store, a server over it and the words of a test's graph.
type house struct {
	t     *testing.T
	store *db.Store
	dir   string
	work  *work
	exec  *exec.Exec
	stop  func()
	// changed gets a token after every commit.
	changed chan struct{}
	refs    map[string]engine.Ref
	ahead   atomic.Int64              // by how much the clock of the server is ahead
	other   atomic.Pointer[exec.Exec] // hears of what this one commits
	sink    string                    // where the jobs write, if anywhere
	// properties are what drawn workflows declare.
	properties map[string]string
	ttl        time.Duration
	slots      int // 0 is the default
	processes  exec.Processes
}

// tell notes that something was committed.
func (h *house) tell() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// changedOr is a channel that gets something after the next commit, or after d.
func (h *house) changedOr(d time.Duration) <-chan struct{} {
	out := make(chan struct{})
	go func() {
		defer close(out)
		select {
		case <-h.changed:
		case <-time.After(d):
		}
	}()
	return out
}

func newHouse(t *testing.T, store *db.Store) *house {
	h := &house{t: t, store: store, dir: t.TempDir(), work: &work{do: map[string]func(context.Context, runner.Attempt, runner.Host) (runner.Result, error){}}, refs: map[string]engine.Ref{}, changed: make(chan struct{}, 1), processes: dead{}}
	release, err := store.Own() // as a server does, which then keeps what it writes
	must(t, err)
	t.Cleanup(release)
	h.serve()
	return h
}

// serve starts a server; the one before it is gone without a word.
func (h *house) serve() {
	ctx, cancel := context.WithCancel(context.Background())
	h.exec = exec.New(exec.Config{
		Store: h.store, Runners: map[engine.Kind]runner.Runner{engine.KindJob: h.work, engine.KindCrawler: h.work}, Processes: h.processes,
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Now().Add(time.Duration(h.ahead.Load())) }, Dir: h.dir, TTL: h.ttl, Slots: h.slots,
		Backoff: func(int) time.Duration { return time.Millisecond },
		Retry:   func(*engine.JobBody, int) time.Duration { return time.Millisecond },
		Logged:  func(engine.NodeKey) { h.tell() },
		Committed: func(flow.Writes) {
			h.tell()
			if other := h.other.Load(); other != nil {
				other.Heard()
			}
		},
	})
	done := make(chan error, 1)
	running := h.exec
	go func() { done <- running.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		must(h.t, <-done)
	})
	h.t.Cleanup(h.stop)
}

func (h *house) job(name string, retries int) engine.Ref {
	if ref, ok := h.refs[name]; ok {
		return ref
	}
	sql := &engine.SQLJob{}
	if h.sink != "" {
		sql.Sinks = []engine.Sink{{From: "x", Path: h.sink}}
	}
	id, err := h.store.CreateJob(h.t.Context(), name, engine.JobBody{Kind: engine.JobSQL, SQL: sql, Retries: retries}, "owner", time.Now())
	must(h.t, err)
	_, err = h.store.PublishJob(h.t.Context(), id, "owner", time.Now())
	must(h.t, err)
	h.refs[name] = engine.Ref{Kind: engine.KindJob, ID: id}
	return h.refs[name]
}

// draw makes and publishes a workflow from lines such as "a b -> c on
// succeeded"; "start -> a" is its trigger on demand.
func (h *house) draw(lines ...string) engine.ID {
	body := engine.WorkflowBody{Properties: h.properties}
	for i, line := range lines {
		left, right, ok := strings.Cut(line, " -> ")
		if !ok {
			h.t.Fatalf("%q has no arrow", line)
		}
		target, condition, _ := strings.Cut(right, " on ")
		trigger := engine.Trigger{ID: engine.NewID(time.Now()), Name: fmt.Sprintf("t%d", i), Type: engine.OnDemand}
		if left != "start" {
			trigger.Type = engine.Conditional
			for name := range strings.FieldsSeq(left) {
				if name == "any:" {
					trigger.Predicate.Logic = engine.Any
					continue
				}
				trigger.Predicate.Conditions = append(trigger.Predicate.Conditions, engine.Condition{Ref: h.job(name, 0), State: engine.State(condition)})
			}
		}
		for name := range strings.FieldsSeq(target) {
			trigger.Actions = append(trigger.Actions, engine.Action{Ref: h.job(name, 0)})
		}
		body.Triggers = append(body.Triggers, trigger)
	}
	id, err := h.store.CreateWorkflow(h.t.Context(), "w", body, "owner", time.Now())
	must(h.t, err)
	_, err = h.store.PublishWorkflow(h.t.Context(), id, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return time.Time{} })
	must(h.t, err)
	return id
}

// await waits until a run is as it should be, looking after every commit.
func (h *house) await(run engine.ID, what string, is func(engine.Run, []engine.NodeRun) bool) (engine.Run, []engine.NodeRun) {
	h.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		r, err := h.store.Run(h.t.Context(), run)
		must(h.t, err)
		nodes, err := h.store.NodeRuns(h.t.Context(), run)
		must(h.t, err)
		if is(r, nodes) {
			return r, nodes
		}
		select {
		case <-h.changed:
		case <-limit:
			h.t.Fatalf("waited too long until %s; the run is %q and its nodes are %s", what, r.Outcome, said(nodes))
		}
	}
}

func (h *house) ends(run engine.ID) (engine.Run, []engine.NodeRun) {
	h.t.Helper()
	return h.await(run, "the run has ended", func(r engine.Run, _ []engine.NodeRun) bool { return !r.Open() })
}

// said lists node runs as name.start.attempt state, sorted.
func said(nodes []engine.NodeRun) string {
	var lines []string
	for _, n := range nodes {
		lines = append(lines, fmt.Sprintf("%s.%d.%d %s", n.Name, n.Start, n.Attempt, n.State))
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

func both(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) { test(t, newHouse(t, store)) })
}

func TestRunsFollowTheirTriggers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		graph   []string
		fail    []string
		want    string
		outcome engine.Outcome
	}{
		"a chain": {
			graph: []string{"start -> a", "a -> b on succeeded", "b -> c on succeeded"},
			want:  "a.1.1 succeeded, b.1.1 succeeded, c.1.1 succeeded", outcome: engine.RunSucceeded,
		},
		"a failure skips what waits for success and starts what waits for it": {
			graph: []string{"start -> a", "a -> b on succeeded", "b -> c on succeeded", "a -> alarm on failed"}, fail: []string{"a"},
			want: "a.1.1 failed, alarm.1.1 succeeded, b.1.1 skipped, c.1.1 skipped", outcome: engine.RunPartlyFailed,
		},
		"nothing reached": {
			graph: []string{"start -> a", "a -> b on succeeded"}, fail: []string{"a"},
			want: "a.1.1 failed, b.1.1 skipped", outcome: engine.RunFailed,
		},
		"a join waits for all": {
			graph: []string{"start -> a b", "a b -> c on succeeded"},
			want:  "a.1.1 succeeded, b.1.1 succeeded, c.1.1 succeeded", outcome: engine.RunSucceeded,
		},
		"A04 a join with one failure": {
			graph: []string{"start -> a b", "a b -> c on succeeded"}, fail: []string{"b"},
			want: "a.1.1 succeeded, b.1.1 failed, c.1.1 skipped", outcome: engine.RunFailed,
		},
		"any fires once": {
			graph: []string{"start -> a b", "any: a b -> c on succeeded"}, fail: []string{"a"},
			want: "a.1.1 failed, b.1.1 succeeded, c.1.1 succeeded", outcome: engine.RunPartlyFailed,
		},
		"two triggers start a job twice": {
			graph: []string{"start -> a", "a -> b c on succeeded", "b -> d on succeeded", "c -> d on succeeded"},
			want:  "a.1.1 succeeded, b.1.1 succeeded, c.1.1 succeeded, d.1.1 succeeded, d.2.1 succeeded", outcome: engine.RunSucceeded,
		},
		"a branch not taken does not count": {
			graph: []string{"start -> a", "a -> alarm on failed", "a -> b on any"},
			want:  "a.1.1 succeeded, alarm.1.1 skipped, b.1.1 succeeded", outcome: engine.RunSucceeded,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, h *house) {
				for _, f := range tt.fail {
					h.work.do[f] = fail
				}
				id := h.draw(tt.graph...)

				run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
				must(t, err)
				run, nodes := h.ends(run.ID)

				if got := said(nodes); got != tt.want {
					t.Errorf("nodes = %s, want %s", got, tt.want)
				}
				if run.Outcome != tt.outcome {
					t.Errorf("outcome = %s, want %s", run.Outcome, tt.outcome)
				}
				assertDense(t, h, run)
			})
		})
	}
}

// assertDense checks that the events of a run are numbered as the run says. A step
// without an event takes a number, too.
func assertDense(t *testing.T, h *house, run engine.Run) {
	t.Helper()
	events, err := h.store.Events(t.Context(), run.ID, 0)
	must(t, err)
	for i, e := range events {
		if i == 0 && e.Seq != 1 || i > 0 && e.Seq <= events[i-1].Seq {
			t.Fatalf("event %d has the number %d", i+1, e.Seq)
		}
	}
	if len(events) == 0 || run.Seq != events[len(events)-1].Seq {
		t.Errorf("the run says that its newest event is number %d; there are %d", run.Seq, len(events))
	}
}

func TestRetriesAreAttempts(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.job("a", 2)
		tries := 0
		h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			if tries++; tries < 3 {
				return fail(ctx, a, host)
			}
			return succeed(ctx, a, host)
		}
		id := h.draw("start -> a", "a -> b on succeeded", "a -> alarm on failed")

		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		run, nodes := h.ends(run.ID)

		want := "a.1.1 failed, a.1.2 failed, a.1.3 succeeded, alarm.1.1 skipped, b.1.1 succeeded"
		if got := said(nodes); got != want || run.Outcome != engine.RunSucceeded {
			t.Errorf("nodes = %s (%s), want %s (succeeded)", got, run.Outcome, want)
		}
	})
}

func TestStopEndsWhatRunsAndStartsNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["a"] = untilStopped
		id := h.draw("start -> a", "a -> b on any")
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.await(run.ID, "a runs", func(_ engine.Run, n []engine.NodeRun) bool { return len(n) == 1 && n[0].State == engine.Running })

		_, err = h.exec.Stop(t.Context(), run.ID, "owner")
		must(t, err)
		ended, nodes := h.ends(run.ID)
		_, again := h.exec.Stop(t.Context(), run.ID, "owner")

		if got, want := said(nodes), "a.1.1 stopped, b.1.1 skipped"; got != want || ended.Outcome != engine.RunStopped {
			t.Errorf("nodes = %s (%s), want %s (stopped)", got, ended.Outcome, want)
		}
		if engine.CodeOf(again) != engine.Conflict {
			t.Errorf("stopping an ended run = %v, want a conflict", again)
		}
	})
}

func TestOneJobRunsOnceAtATime(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		ref := h.job("a", 0)
		release := make(chan struct{})
		h.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			if err := host.Started(ctx, engine.Process{}); err != nil {
				return runner.Result{}, err
			}
			<-release
			return runner.Result{State: engine.Succeeded}, nil
		}
		first, err := h.exec.StartJob(t.Context(), ref.ID, nil, nil, "owner")
		must(t, err)
		h.await(first.ID, "the first runs", func(_ engine.Run, n []engine.NodeRun) bool { return n[0].State == engine.Running })
		second, err := h.exec.StartJob(t.Context(), ref.ID, nil, nil, "owner")
		must(t, err)

		_, waiting := h.await(second.ID, "the second waits", func(_ engine.Run, n []engine.NodeRun) bool { return n[0].State == engine.Ready })
		close(release)
		h.ends(first.ID)
		_, nodes := h.ends(second.ID)

		if !strings.Contains(waiting[0].Why, "another run of a") {
			t.Errorf("the second says %q, want what it waits for", waiting[0].Why)
		}
		if got := said(nodes); got != "a.1.1 succeeded" {
			t.Errorf("the second = %s, want a.1.1 succeeded", got)
		}
	})
}

func TestServerTakesUpWhatAnotherLeft(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			if err := host.Started(ctx, engine.Process{}); err != nil {
				return runner.Result{}, err
			}
			<-ctx.Done()
			return runner.Result{}, context.Cause(ctx)
		}
		id := h.draw("start -> a", "a -> b on succeeded")
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.await(run.ID, "a runs", func(_ engine.Run, n []engine.NodeRun) bool { return n[0].State == engine.Running })
		h.stop()

		h.work.do["a"] = succeed
		h.serve()
		ended, nodes := h.ends(run.ID)

		if got, want := said(nodes), "a.1.1 succeeded, b.1.1 succeeded"; got != want || ended.Outcome != engine.RunSucceeded {
			t.Errorf("nodes = %s (%s), want %s (succeeded)", got, ended.Outcome, want)
		}
		if want := []string{"a.1.1", "a.1.1", "b.1.1"}; !slices.Equal(h.work.ran, want) {
			t.Errorf("ran %v, want %v: the same attempt again", h.work.ran, want)
		}
	})
}

// plannedResult plans one file by bookmark and reads it.
func plannedResult(ctx context.Context, a runner.Attempt, h runner.Host) (runner.Result, error) {
	var batch engine.Batch
	if a.Recover != nil {
		batch = *a.Recover
	} else {
		o := engine.Object{Key: "x.csv", Size: 10, ModNS: 5}
		var err error
		batch, err = h.Planned(ctx, engine.Plan{ID: engine.NewID(time.Now()), Job: a.Job.ID, Sources: []engine.SourcePlan{{
			Source: "s", Ctx: "s", Read: engine.ReadNew, Moves: true, Fingerprint: "f",
			Taken: []engine.Planned{{Object: o, Taken: true, Reason: engine.ReasonNew}},
		}}})
		if err != nil {
			return runner.Result{}, err
		}
	}
	if err := h.Started(ctx, engine.Process{}); err != nil {
		return runner.Result{}, err
	}
	if err := h.Staged(ctx, batch.ID, engine.Manifest{}); err != nil {
		return runner.Result{}, err
	}
	entry := engine.Entry{Object: batch.Plan.Sources[0].Taken[0].Object, State: engine.EntryRead}
	return runner.Result{
		State: engine.Succeeded, Batch: &batch,
		Ledger: []runner.LedgerChange{{Ctx: "s", Fingerprint: "f", Entries: []engine.Entry{entry}, Rows: 3}},
	}, nil
}

func TestPublishIsTriedUntilItSucceeds(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		ref := h.job("a", 0)
		h.work.do["a"] = plannedResult
		tries := 0
		h.work.publish = func(context.Context, engine.Batch) error {
			if tries++; tries < 3 {
				return errors.New("the bucket refuses")
			}
			return nil
		}

		run, err := h.exec.StartJob(t.Context(), ref.ID, nil, nil, "owner")
		must(t, err)
		_, nodes := h.ends(run.ID)
		batch, err := h.store.Batch(t.Context(), nodes[0].Batch)
		must(t, err)
		mark, err := h.store.BookmarkOf(t.Context(), ref.ID, "s")
		must(t, err)

		if tries != 3 || nodes[0].State != engine.Succeeded || batch.State != engine.BatchFinalized || batch.Number != 1 {
			t.Errorf("after %d tries the node is %s and batch %d %s, want 3, succeeded, 1, finalized", tries, nodes[0].State, batch.Number, batch.State)
		}
		if mark == nil || mark.Version != 1 || mark.Files != 1 || mark.Bytes != 10 {
			t.Errorf("bookmark = %+v, want v1 with one file of 10 bytes", mark)
		}
	})
}

func TestStoppedServerPublishesWhatItCommitted(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		ref := h.job("a", 0)
		h.work.do["a"] = plannedResult
		down := true
		h.work.publish = func(context.Context, engine.Batch) error {
			h.work.mu.Lock()
			defer h.work.mu.Unlock()
			if down {
				return errors.New("the bucket refuses")
			}
			return nil
		}
		run, err := h.exec.StartJob(t.Context(), ref.ID, nil, nil, "owner")
		must(t, err)
		h.await(run.ID, "it publishes", func(_ engine.Run, n []engine.NodeRun) bool { return n[0].State == engine.Publishing })
		h.stop()
		h.work.mu.Lock()
		down = false
		h.work.mu.Unlock()

		h.serve()
		_, nodes := h.ends(run.ID)
		mark, err := h.store.BookmarkOf(t.Context(), ref.ID, "s")
		must(t, err)

		if got := said(nodes); got != "a.1.1 succeeded" || len(h.work.ran) != 1 {
			t.Errorf("nodes = %s after running %v, want one success and one body", got, h.work.ran)
		}
		if mark == nil || mark.Version != 1 {
			t.Errorf("bookmark = %+v, want v1", mark)
		}
	})
}

// TestADefectOfARunnerBreaksOneAttempt: the server goes on, and the next attempt may
// succeed.
func TestADefectOfARunnerBreaksOneAttempt(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			if a.Node.Attempt == 1 {
				panic("a slice is too short")
			}
			return succeed(ctx, a, host)
		}

		run, err := h.exec.StartJob(t.Context(), h.job("a", 1).ID, nil, nil, "owner")
		must(t, err)
		_, nodes := h.ends(run.ID)

		if said(nodes) != "a.1.1 failed, a.1.2 succeeded" || !strings.Contains(nodes[0].Error, "a slice is too short") {
			t.Errorf("got %s (%s), want that the first attempt failed of it", said(nodes), nodes[0].Error)
		}
	})
}
