package exec_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"dogear/db"
	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// keeper is a runner that has a process waiting for every node.
type keeper struct {
	*work
	next     int
	back     []engine.NodeKey
	recorded []string      // nodes that Run found waiting
	until    chan struct{} // nil, or closed when such a node may end
}

func (k *keeper) Reserve(a *runner.Attempt) (engine.Process, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.next++
	return engine.Process{PID: k.next, Apart: true}, a.Job != nil && a.Dir != ""
}

func (k *keeper) Return(key engine.NodeKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.back = append(k.back, key)
}

func (k *keeper) Run(ctx context.Context, a runner.Attempt, h runner.Host) (runner.Result, error) {
	if !a.Waits {
		return k.work.Run(ctx, a, h)
	}
	k.mu.Lock()
	k.recorded = append(k.recorded, a.Node.Name)
	k.mu.Unlock()
	if k.until != nil {
		<-k.until
	}
	return runner.Result{State: engine.Succeeded}, nil
}

// fickle is a store that refuses what was decided, while it is told so.
type fickle struct {
	*db.Store
	refuses atomic.Bool
}

func (f *fickle) Commit(ctx context.Context, steps []flow.Step) []flow.Written {
	for i := range steps {
		decide := steps[i].Decide
		steps[i].Decide = func(run engine.Run, st flow.State) (flow.Writes, error) {
			w, err := decide(run, st)
			if err == nil && f.refuses.Load() {
				err = errors.New("the disk broke")
			}
			return w, err
		}
	}
	return f.Store.Commit(ctx, steps)
}

// serveWith starts a server of which a test keeps the runner, and which tells it
// what it writes.
func (h *house) serveWith(store exec.Store, work runner.Runner, committed func(flow.Writes)) *exec.Exec {
	h.t.Helper()
	h.stop()
	ctx, cancel := context.WithCancel(context.Background())
	e := exec.New(exec.Config{
		Store: store, Runners: map[engine.Kind]runner.Runner{engine.KindJob: work, engine.KindCrawler: work}, Processes: dead{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Dir: h.t.TempDir(), Backoff: func(int) time.Duration { return time.Millisecond }, Committed: func(w flow.Writes) { committed(w); h.tell() },
	})
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	h.t.Cleanup(func() { cancel(); must(h.t, <-done) })
	return e
}

// TestAClaimRecordsTheProcessThatWaits: one write less for each script. With
// other servers on the database it is not done.
func TestAClaimRecordsTheProcessThatWaits(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		work := &keeper{work: h.work}
		first := map[string]engine.NodeRun{}
		var events []string
		e := h.serveWith(h.store, work, func(w flow.Writes) { // the store is asked by one goroutine
			for _, n := range w.Nodes {
				if _, ok := first[n.Name]; !ok {
					first[n.Name] = n
				}
			}
			for _, ev := range w.Events {
				events = append(events, ev.State)
			}
		})

		run, err := e.StartWorkflow(t.Context(), h.draw("start -> a", "a -> b on succeeded"), nil, "owner")
		must(t, err)
		_, nodes := h.ends(run.ID)

		if said(nodes) != "a.1.1 succeeded, b.1.1 succeeded" {
			t.Fatalf("got %s", said(nodes))
		}
		if h.store.Shared() {
			if len(work.recorded) != 0 || work.next != 0 {
				t.Errorf("%d processes are reserved, and %v began with them, want none where there may be other servers", work.next, work.recorded)
			}
			return
		}
		if !slices.Equal(work.recorded, []string{"a", "b"}) {
			t.Errorf("%v began with the process of their claim, want both", work.recorded)
		}
		for _, n := range first {
			if n.State != engine.Running || n.Process.PID == 0 || n.Started.IsZero() || n.Deadline.Sub(n.Started) != engine.DefaultTimeout.Duration() {
				t.Errorf("%s is first written as %s with %+v, begun at %s, until %s; want it running with a process and a limit", n.Name, n.State, n.Process, n.Started, n.Deadline)
			}
		}
		if slices.Contains(events, string(engine.Starting)) {
			t.Errorf("the events say %v, want none that it starts", events)
		}
		if len(work.back) != 0 {
			t.Errorf("%v are given back", work.back)
		}
	})
}

// TestA14AScriptClaimedWithItsProcessKeepsWhatItWasTold, though the properties of
// its run change while it runs, and says when it was taken up.
func TestA14AScriptClaimedWithItsProcessKeepsWhatItWasTold(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		work := &keeper{work: h.work, until: make(chan struct{})}
		h.work.do["a"] = func(context.Context, runner.Attempt, runner.Host) (runner.Result, error) {
			<-work.until
			return runner.Result{State: engine.Succeeded}, nil
		}
		e := h.serveWith(h.store, work, func(flow.Writes) {})
		h.properties = map[string]string{"Day": "1"}
		run, err := e.StartWorkflow(t.Context(), h.draw("start -> a"), nil, "owner")
		must(t, err)
		_, err = e.SetProperties(t.Context(), run.ID, map[string]string{"Day": "2"}, "owner")
		must(t, err)
		close(work.until)
		_, nodes := h.ends(run.ID)

		told, err := h.store.PropertiesOf(t.Context(), nodes[0].Key())
		must(t, err)
		claims, err := h.store.Claims(t.Context(), run.ID)
		must(t, err)
		if told["Day"] != "1" || claims[nodes[0].Key()].IsZero() {
			t.Errorf("it was told %v and taken up at %v, want the Day of its claim", told, claims)
		}
	})
}

// TestAClaimThatIsNotWrittenGivesItsProcessBack: it would wait for ever.
func TestAClaimThatIsNotWrittenGivesItsProcessBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		if h.store.Shared() {
			return // nothing is reserved
		}
		store, work := &fickle{Store: h.store}, &keeper{work: h.work}
		store.refuses.Store(true)
		e := h.serveWith(store, work, func(flow.Writes) {})
		ref := h.job("a", 0)
		if _, err := e.StartJob(t.Context(), ref.ID, nil, nil, "owner"); err == nil {
			t.Fatal("the start was written")
		}
		store.refuses.Store(false)
		run, err := e.StartJob(t.Context(), ref.ID, nil, nil, "owner")
		must(t, err)
		_, nodes := h.ends(run.ID)

		if len(work.back) != 1 || work.back[0].Ref != ref || work.back[0].Run == run.ID {
			t.Errorf("%v are given back, want the one of the start that was not written", work.back)
		}
		if said(nodes) != "a.1.1 succeeded" || len(work.recorded) != 1 {
			t.Errorf("got %s, %v with the process of their claim; want the second start to have one", said(nodes), work.recorded)
		}
	})
}

// TestAStopInTheGroupOfTheClaimIsSeen: the attempt of the claim was not yet
// there to be told, and asks nobody before it begins.
func TestAStopInTheGroupOfTheClaimIsSeen(t *testing.T) {
	t.Parallel()
	claimed := engine.NodeRun{Ref: engine.Ref{Kind: engine.KindJob, ID: "a"}, Start: 1, Attempt: 1, State: engine.Running}
	other, stopping := claimed, claimed
	other.Start, other.State, stopping.State = 2, engine.Stopping, engine.Stopping
	for name, tt := range map[string]struct {
		written []flow.Written
		want    engine.State
	}{
		"nothing else":        {[]flow.Written{writes(claimed)}, engine.Running},
		"a stop of it":        {[]flow.Written{writes(claimed), writes(stopping)}, engine.Stopping},
		"a stop of another":   {[]flow.Written{writes(claimed), writes(other)}, engine.Running},
		"a stop, not written": {[]flow.Written{writes(claimed), {Writes: writes(stopping).Writes, Err: errors.New("refused")}}, engine.Running},
	} {
		if got := exec.Launched(claimed, tt.written); got.State != tt.want {
			t.Errorf("%s: it is launched as %s, want %s", name, got.State, tt.want)
		}
	}
}

func writes(n engine.NodeRun) flow.Written {
	return flow.Written{Writes: flow.Writes{Nodes: []engine.NodeRun{n}}}
}
