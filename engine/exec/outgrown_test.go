package exec_test

import (
	"context"
	"log/slog"
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

// newest is the store as a server of the newest version sees it.
type newest struct{ *db.Store }

func (newest) Newer(context.Context) (string, error) { return "", nil }

// TestAServerThatIsOutgrownDoesNothingAnyMore: a newer version changes the schema while
// this one works. It ends its work, which goes on at the newer server, and writes
// nothing: no run is lost and none is done twice.
func TestAServerThatIsOutgrownDoesNothingAnyMore(t *testing.T) {
	t.Parallel()
	address := dbtest.PostgresAddress(t)
	h := newHouse(t, dbtest.Open(t, address))
	id := h.draw("start -> a", "a -> b on succeeded")
	h.work.do["a"] = untilStopped
	run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
	must(t, err)
	h.await(run.ID, "a runs", states("a.1.1 running"))
	older := h.exec

	dbtest.Exec(t, address, `INSERT INTO bun_migrations (name, group_id) VALUES ('29990101000001', 99)`)
	work := &work{do: map[string]func(context.Context, runner.Attempt, runner.Host) (runner.Result, error){}}
	newer := exec.New(exec.Config{
		Store: newest{h.store}, Runners: map[engine.Kind]runner.Runner{engine.KindJob: work, engine.KindCrawler: work}, Processes: dead{},
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Dir: t.TempDir(), Committed: func(flow.Writes) { h.tell() },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- newer.Run(ctx) }()
	t.Cleanup(sync.OnceFunc(func() { cancel(); must(t, <-ended) }))
	older.Heard()
	_, nodes := h.ends(run.ID)

	if got, want := said(nodes), "a.1.1 succeeded, b.1.1 succeeded"; got != want {
		t.Errorf("the run ended with %s, want %s", got, want)
	}
	assertRan(t, work, []string{"a.1.1", "b.1.1"})
	h.work.mu.Lock()
	if len(h.work.ran) != 1 {
		t.Errorf("the older server ran %v, want what it had begun alone", h.work.ran)
	}
	h.work.mu.Unlock()
	before := len(h.runsOf(id))
	_, refused := older.StartWorkflow(t.Context(), id, nil, "owner")
	if engine.CodeOf(refused) != engine.Away || engine.MessageOf(refused) != engine.MessageOf(older.Outgrew()) || len(h.runsOf(id)) != before {
		t.Errorf("a start at the older server: %v and %d runs, want a refusal that says what to do", refused, len(h.runsOf(id))-before)
	}
	if newer.Outgrew() != nil {
		t.Errorf("the newer server says %v", newer.Outgrew())
	}
}

// TestAServerThatWasAwayWhileItWasOutgrown does not come back under a new lease.
func TestAServerThatWasAwayWhileItWasOutgrown(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.Postgres(t))
	h.stop()
	told := make(chan error, 1)
	store := &stranger{Store: h.store}
	e := exec.New(exec.Config{
		Store: store, Processes: dead{}, Log: slog.New(slog.DiscardHandler), Now: time.Now, Dir: t.TempDir(), TTL: time.Second,
		Outgrown: func(why error) { told <- why },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()

	select {
	case <-told:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not notice")
	}
	cancel()
	must(t, <-ended)

	if n := store.joins.Load(); n != 1 {
		t.Errorf("it took %d leases, want the first alone", n)
	}
}

// stranger is the store of a server whose lease ran out while a newer version changed
// the schema.
type stranger struct {
	*db.Store
	joins atomic.Int32
	lost  atomic.Bool
}

func (s *stranger) Join(ctx context.Context, r engine.Replica, ttl time.Duration) error {
	s.joins.Add(1)
	return s.Store.Join(ctx, r, ttl)
}

func (s *stranger) Renew(context.Context, engine.ID, time.Duration) error {
	s.lost.Store(true)
	return engine.Errorf(engine.Conflict, "The lease of this server has run out.")
}

func (s *stranger) Newer(context.Context) (string, error) {
	if s.lost.Load() {
		return "29990101000001", nil
	}
	return "", nil
}
