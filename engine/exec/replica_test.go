package exec_test

import (
	"context"
	"errors"
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

// replica is another server over the store of a house.
type replica struct {
	exec *exec.Exec
	work *work
	stop func()
	// cut is set while the server cannot renew its lease.
	cut atomic.Bool
}

// shortTTL is the lease of a server whose lease a test awaits the end of: no
// longer than needs be, and long enough to be renewed in time on a busy machine.
const shortTTL = 3 * time.Second

// another starts a second server over the store of h; each hears of what the
// other commits, as NOTIFY tells it in a real one.
func (h *house) another(slots int, ttl time.Duration) *replica {
	r := &replica{work: &work{do: map[string]func(context.Context, runner.Attempt, runner.Host) (runner.Result, error){}}}
	ctx, cancel := context.WithCancel(context.Background())
	first := h.exec
	r.exec = exec.New(exec.Config{
		Store: away{h.store, &r.cut}, Runners: map[engine.Kind]runner.Runner{engine.KindJob: r.work, engine.KindCrawler: r.work}, Processes: dead{},
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Dir: h.t.TempDir(), Slots: slots, TTL: ttl,
		Backoff: func(int) time.Duration { return time.Millisecond },
		Retry:   func(*engine.JobBody, int) time.Duration { return time.Millisecond },
		Committed: func(flow.Writes) {
			h.tell()
			first.Heard()
		},
	})
	done := make(chan error, 1)
	go func() { done <- r.exec.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		r.cut.Store(false)
		cancel()
		must(h.t, <-done)
	})
	h.t.Cleanup(r.stop)
	h.other.Store(r.exec)
	return r
}

// away is the store as a server sees it whose renewals do not arrive.
type away struct {
	*db.Store
	cut *atomic.Bool
}

func (a away) Renew(ctx context.Context, id engine.ID, ttl time.Duration) error {
	if a.cut.Load() {
		return errors.New("no route to host")
	}
	return a.Store.Renew(ctx, id, ttl)
}

// Ping fails as well.
func (a away) Ping(ctx context.Context) error {
	if a.cut.Load() {
		return errors.New("no route to host")
	}
	return a.Store.Ping(ctx)
}

// Join fails as well: a server that is cut off stays so.
func (a away) Join(ctx context.Context, r engine.Replica, ttl time.Duration) error {
	if a.cut.Load() {
		return errors.New("no route to host")
	}
	return a.Store.Join(ctx, r, ttl)
}

func onPostgres(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	test(t, newHouse(t, dbtest.Postgres(t)))
}

// atOnce counts how many bodies run at the same moment.
type atOnce struct{ now, most, all atomic.Int32 }

func (c *atOnce) body(ctx context.Context, _ runner.Attempt, h runner.Host) (runner.Result, error) {
	if err := h.Started(ctx, engine.Process{}); err != nil {
		return runner.Result{}, err
	}
	c.all.Add(1)
	n := c.now.Add(1)
	defer c.now.Add(-1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	select { // long enough for others to meet it
	case <-ctx.Done():
	case <-time.After(5 * time.Millisecond):
	}
	return runner.Result{State: engine.Succeeded}, nil
}

func TestServersShareTheWorkOfARun(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		other := h.another(4, 0)
		id := h.draw("start -> a b c d e f g h", "a b c d e f g h -> z on succeeded")
		counts := map[string]*atOnce{}
		shared := make(chan struct{})
		share := sync.OnceFunc(func() { close(shared) })
		for name := range h.refs {
			count := &atOnce{}
			counts[name] = count
			h.work.do[name] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
				<-shared // so that some are left for the other server
				return count.body(ctx, a, host)
			}
			other.work.do[name] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
				share()
				return count.body(ctx, a, host)
			}
		}

		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		run, _ = h.ends(run.ID)

		if run.Outcome != engine.RunSucceeded {
			t.Errorf("the run %s, want it to succeed", run.Outcome)
		}
		for name, c := range counts {
			if n := c.all.Load(); n != 1 {
				t.Errorf("%s ran %d times, want once", name, n)
			}
		}
		if n, m := len(h.work.ran), len(other.work.ran); n == 0 || n+m != 9 {
			t.Errorf("the servers ran %d and %d nodes, want some each and 9 in all", n, m)
		}
	})
}

// TestTheLimitOfAJobHoldsForAllServers: one job that may run once at a time is
// started by two servers at once, many times.
func TestTheLimitOfAJobHoldsForAllServers(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		other := h.another(4, 0)
		ref := h.job("a", 0)
		var count atOnce
		h.work.do["a"], other.work.do["a"] = count.body, count.body
		const starts = 20
		var runs [starts]engine.ID
		var all sync.WaitGroup
		for i := range starts {
			server := h.exec
			if i%2 == 1 {
				server = other.exec
			}
			all.Go(func() {
				run, err := server.StartJob(context.Background(), ref.ID, nil, nil, "owner")
				if err != nil {
					t.Error(err)
				}
				runs[i] = run.ID
			})
		}
		all.Wait()

		for _, id := range runs {
			h.ends(id)
		}

		if count.most.Load() != 1 || count.all.Load() != starts {
			t.Errorf("%d bodies, up to %d at once; want %d, one at a time", count.all.Load(), count.most.Load(), starts)
		}
	})
}

func TestAnotherServerStopsAndPausesARun(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		other := h.another(1, 0)
		id := h.draw("start -> a", "a -> b on succeeded")
		h.work.do["a"], other.work.do["a"] = untilStopped, untilStopped
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.await(run.ID, "a runs", func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == "a.1.1 running" })

		_, err = other.exec.Pause(t.Context(), run.ID, "owner")
		must(t, err)
		_, err = other.exec.Stop(t.Context(), run.ID, "owner")
		must(t, err)
		run, nodes := h.ends(run.ID)

		if run.Outcome != engine.RunStopped || said(nodes) != "a.1.1 stopped, b.1.1 skipped" {
			t.Errorf("the run ended %s with %s, want it stopped", run.Outcome, said(nodes))
		}
	})
}

// TestAServerThatIsCutOffStopsBeforeOthersTakeItsWork: at no moment do two
// bodies of one node run live, and what the first would have said is not
// counted.
func TestAServerThatIsCutOffStopsBeforeOthersTakeItsWork(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		cut := h.another(2, shortTTL)
		ref := h.job("a", 0)
		var live, both, second atomic.Int32
		begun := make(chan struct{})
		cut.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			if err := host.Started(ctx, engine.Process{}); err != nil {
				return runner.Result{}, err
			}
			live.Add(1)
			defer live.Add(-1)
			close(begun)
			<-ctx.Done()
			return runner.Result{State: engine.Succeeded}, nil // a lie nobody may believe
		}
		h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			both.Add(live.Load())
			second.Add(1)
			return succeed(ctx, a, host)
		}
		run, err := cut.exec.StartJob(t.Context(), ref.ID, nil, nil, "owner")
		must(t, err)
		<-begun
		_, nodes := h.await(run.ID, "it runs", func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == "a.1.1 running" })
		owner := nodes[0].Owner

		cut.cut.Store(true)
		h.exec.Heard() // it learns when the other's lease will end
		run, nodes = h.ends(run.ID)

		if run.Outcome != engine.RunSucceeded || said(nodes) != "a.1.1 succeeded" || second.Load() != 1 || nodes[0].Owner == owner {
			t.Errorf("the run ended %s with %s, taken up %d times; want the same attempt to succeed on the other server", run.Outcome, said(nodes), second.Load())
		}
		events, err := h.store.Events(t.Context(), run.ID, 0)
		must(t, err)
		if slices.ContainsFunc(events, func(e engine.Event) bool { return e.Kind == "late" && e.State == "succeeded" }) {
			t.Error("a server without a lease wrote something")
		}
		if both.Load() != 0 {
			t.Error("two bodies of one node run were alive at once")
		}

		// Once it can be reached it works again, under a new id.
		cut.cut.Store(false)
		cut.work.mu.Lock()
		cut.work.do["a"] = succeed
		cut.work.mu.Unlock()
		for {
			again, err := cut.exec.StartJob(t.Context(), ref.ID, nil, nil, "owner")
			if engine.CodeOf(err) == engine.Away {
				<-h.changedOr(10 * time.Millisecond)
				continue
			}
			must(t, err)
			h.ends(again.ID)
			break
		}
	})
}

// TestATargetIsHeldAgainstOtherServers: a job of another server waits for the
// end of whoever writes its target.
func TestATargetIsHeldAgainstOtherServers(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		other := h.another(4, 0)
		h.sink = "one/target"
		first, second := h.job("first", 0), h.job("second", 0)
		finish := make(chan struct{})
		var ended atomic.Bool
		body := func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			if a.Node.Name == "first" {
				err := host.Started(ctx, engine.Process{})
				<-finish
				ended.Store(true)
				return runner.Result{State: engine.Succeeded}, err
			}
			if !ended.Load() {
				t.Error("the second began while the first wrote its target")
			}
			return succeed(ctx, a, host)
		}
		for _, name := range []string{"first", "second"} {
			h.work.do[name], other.work.do[name] = body, body
		}
		one, err := h.exec.StartJob(t.Context(), first.ID, nil, nil, "owner")
		must(t, err)
		h.await(one.ID, "the first runs", func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == "first.1.1 running" })

		two, err := other.exec.StartJob(t.Context(), second.ID, nil, nil, "owner")
		must(t, err)
		h.await(two.ID, "the second says that it waits", func(_ engine.Run, nodes []engine.NodeRun) bool {
			return len(nodes) == 1 && nodes[0].Why == "waits until run "+string(one.ID)+" has written its target"
		})
		close(finish)

		h.ends(one.ID)
		h.ends(two.ID)
	})
}

// TestALogIsReadOnEveryServer: a log that one server began and another went on
// with is one log, and stands in the database whole.
func TestALogIsReadOnEveryServer(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		cut := h.another(2, shortTTL)
		ref := h.job("a", 0)
		begun := make(chan struct{})
		cut.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			host.Log(runner.Info, "the first server speaks")
			close(begun)
			return untilStopped(ctx, runner.Attempt{}, host)
		}
		h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			host.Log(runner.Info, "the second server speaks")
			return succeed(ctx, a, host)
		}
		run, err := cut.exec.StartJob(t.Context(), ref.ID, nil, nil, "owner")
		must(t, err)
		<-begun
		key := engine.NodeKey{Run: run.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: ref.ID}, Start: 1, Attempt: 1}
		logged := func(what string) (text []byte) {
			for range 1000 { // it is shipped a moment after it was said
				text, _, err = h.store.LogText(t.Context(), key, 0, 1<<20)
				must(t, err)
				if strings.Contains(string(text), what) {
					break
				}
				<-h.changedOr(10 * time.Millisecond)
			}
			return text
		}
		logged("first server")
		cut.cut.Store(true)
		h.exec.Heard()
		_, nodes := h.ends(run.ID)

		text := logged("second server")
		first, second := strings.Index(string(text), "the first server speaks"), strings.Index(string(text), "the second server speaks")
		if first < 0 || second < first {
			t.Errorf("the log says %q, want both servers in their order", text)
		}
		part, size, err := h.store.LogText(t.Context(), nodes[0].Key(), 10, 20)
		must(t, err)
		if string(part) != string(text[10:30]) || size != int64(len(text)) {
			t.Errorf("a part of it is %q of %d bytes, want %q of %d", part, size, text[10:30], len(text))
		}
	})
}

// TestADatabaseThatGoesAwayLosesNothing: the line to the database is gone for
// less, and then for more, than a lease while a run goes on.
func TestADatabaseThatGoesAwayLosesNothing(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]time.Duration{"for less than a lease": shortTTL / 10, "for longer": 2 * shortTTL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := dbtest.NewProxy(t, dbtest.PostgresAddress(t))
			h := newHouse(t, dbtest.Open(t, proxy.Address))
			h.stop()
			h.ttl = shortTTL
			h.serve()
			id := h.draw("start -> a", "a -> b on succeeded", "b -> c on succeeded")
			var most, now, bodies atomic.Int32
			away := sync.OnceFunc(func() {
				proxy.Down()
				time.AfterFunc(gone, proxy.Up)
			})
			body := func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
				if err := host.Started(ctx, engine.Process{}); err != nil {
					return runner.Result{}, err
				}
				bodies.Add(1)
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				away()
				return runner.Result{State: engine.Succeeded}, ctx.Err()
			}
			for _, name := range []string{"a", "b", "c"} {
				h.work.do[name] = body
			}

			run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
			must(t, err)
			run, nodes := h.endsThrough(run.ID)

			if run.Outcome != engine.RunSucceeded || said(nodes) != "a.1.1 succeeded, b.1.1 succeeded, c.1.1 succeeded" {
				t.Errorf("the run %s with %s, want it to succeed", run.Outcome, said(nodes))
			}
			if most.Load() != 1 || bodies.Load() < 3 || bodies.Load() > 4 {
				t.Errorf("%d bodies, up to %d at once; want 3, and one again where the lease was lost", bodies.Load(), most.Load())
			}
			assertDense(t, h, run)
		})
	}
}

// endsThrough waits for the end of a run over a database that is away at times.
func (h *house) endsThrough(id engine.ID) (engine.Run, []engine.NodeRun) {
	h.t.Helper()
	for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit); <-h.changedOr(50 * time.Millisecond) {
		if run, err := h.store.Run(h.t.Context(), id); err == nil && !run.Open() {
			return h.ends(id)
		}
	}
	return h.ends(id)
}
