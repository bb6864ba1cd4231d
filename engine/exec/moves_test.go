package exec_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
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

// torn is a store that cannot keep the pages of ledgers so many times.
type torn struct {
	*db.Store
	err   error
	times int32
	away  bool // it answers nothing meanwhile
	asked atomic.Int32
}

func (s *torn) PutPages(ctx context.Context, pages map[string][]byte) error {
	if s.asked.Add(1) <= s.times {
		return s.err
	}
	return s.Store.PutPages(ctx, pages)
}

func (s *torn) Ping(ctx context.Context) error {
	if n := s.asked.Load(); s.away && n > 0 && n < s.times {
		return s.err
	}
	return s.Store.Ping(ctx)
}

// TestALedgerThatCannotBeWrittenIsTriedAgain: a line to the database that broke
// between the work and its commit does not fail the node.
func TestALedgerThatCannotBeWrittenIsTriedAgain(t *testing.T) {
	t.Parallel()
	broken := errors.New("conn closed")
	for name, tt := range map[string]struct {
		err   error
		times int32
		away  bool
		want  string
		asked int32
	}{
		"a line broke":                      {broken, 2, false, "succeeded", 4},
		"the database is away for longer":   {broken, 20, true, "succeeded", 22},
		"it breaks however often":           {broken, 100, false, "failed", 5},
		"a rule refuses it":                 {engine.Errorf(engine.Invalid, "It may not be."), 1, false, "failed", 1},
		"the database says that it is away": {engine.Errorf(engine.Away, "It does not answer."), 3, true, "succeeded", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, h *house) {
				h.stop()
				store := &torn{Store: h.store, err: tt.err, times: tt.times, away: tt.away}
				e := exec.New(exec.Config{
					Store: store, Runners: map[engine.Kind]runner.Runner{engine.KindJob: h.work}, Processes: dead{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
					Dir: t.TempDir(), Backoff: func(int) time.Duration { return time.Millisecond }, Committed: func(flow.Writes) { h.tell() },
				})
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan error, 1)
				go func() { done <- e.Run(ctx) }()
				t.Cleanup(func() { cancel(); must(t, <-done) })
				ref := h.job("a", 0)
				h.work.do["a"] = plannedResult

				run, err := e.StartJob(t.Context(), ref.ID, nil, nil, "owner")
				must(t, err)
				_, nodes := h.ends(run.ID)
				mark, err := h.store.BookmarkOf(t.Context(), ref.ID, "s")
				must(t, err)

				if got := said(nodes); got != "a.1.1 "+tt.want || store.asked.Load() != tt.asked || len(h.work.ran) != 1 {
					t.Errorf("%s (%s) after %d tries and %v, want it %s after %d and one body", got, nodes[0].Error, store.asked.Load(), h.work.ran, tt.want, tt.asked)
				}
				if moved := mark != nil && mark.Version == 1 && mark.Files == 1; moved != strings.HasSuffix(said(nodes), "succeeded") {
					t.Errorf("the bookmark is %+v", mark)
				}
			})
		})
	}
}

// TestALineThatBreaksBeforeTheCommitFailsNothing: the database is gone for a
// moment once the work is done.
func TestALineThatBreaksBeforeTheCommitFailsNothing(t *testing.T) {
	t.Parallel()
	proxy := dbtest.NewProxy(t, dbtest.PostgresAddress(t))
	h := newHouse(t, dbtest.Open(t, proxy.Address))
	ref := h.job("a", 0)
	h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
		result, err := plannedResult(ctx, a, host)
		proxy.Down()
		time.AfterFunc(300*time.Millisecond, proxy.Up)
		return result, err
	}

	run, err := h.exec.StartJob(t.Context(), ref.ID, nil, nil, "owner")
	must(t, err)
	_, nodes := h.endsThrough(run.ID)

	if got := said(nodes); got != "a.1.1 succeeded" || len(h.work.ran) != 1 {
		t.Errorf("%s (%s) after %v, want it to succeed with one body", got, nodes[0].Error, h.work.ran)
	}
}

// TestAServerThatStopsLeavesALedgerToTheNext, which does the same plan again.
func TestAServerThatStopsLeavesALedgerToTheNext(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.stop()
		store := &torn{Store: h.store, err: errors.New("conn closed"), times: 1 << 30, away: true}
		failed := make(chan struct{}, 1)
		e := exec.New(exec.Config{
			Store: store, Runners: map[engine.Kind]runner.Runner{engine.KindJob: h.work}, Processes: dead{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
			Dir: h.dir, Committed: func(flow.Writes) { h.tell() }, Backoff: func(int) time.Duration {
				select {
				case failed <- struct{}{}:
				default:
				}
				return time.Millisecond
			},
		})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		ref := h.job("a", 0)
		h.work.do["a"] = plannedResult
		run, err := e.StartJob(t.Context(), ref.ID, nil, nil, "owner")
		must(t, err)
		select {
		case <-failed:
		case <-time.After(10 * time.Second):
			t.Error("it was not tried again")
		}
		cancel()
		must(t, <-done)
		nodes, err := h.store.NodeRuns(t.Context(), run.ID)
		must(t, err)
		left := said(nodes)

		h.serve()
		_, nodes = h.ends(run.ID)

		if got := said(nodes); left != "a.1.1 running" || got != "a.1.1 succeeded" {
			t.Errorf("it is left %s and ends %s, want it running and then to succeed", left, got)
		}
	})
}
