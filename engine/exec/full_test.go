package exec_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"dogear/db"
	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// cramped is a store whose disk is full while it is told so.
type cramped struct {
	*db.Store
	full atomic.Bool
	said chan struct{}
}

func (c *cramped) Commit(ctx context.Context, steps []flow.Step) []flow.Written {
	if !c.full.Load() {
		return c.Store.Commit(ctx, steps)
	}
	select {
	case c.said <- struct{}{}:
	default:
	}
	written := make([]flow.Written, len(steps))
	for i := range written {
		written[i].Err = errors.New("no space left on device")
	}
	return written
}

// TestAnEndThatCannotBeWrittenIsTriedAgain: a full disk at the end of a node
// costs only the time until there is room.
func TestAnEndThatCannotBeWrittenIsTriedAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.stop()
		store := &cramped{Store: h.store, said: make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(context.Background())
		e := exec.New(exec.Config{
			Store: store, Runners: map[engine.Kind]runner.Runner{engine.KindJob: h.work}, Processes: dead{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
			Dir: t.TempDir(), Backoff: func(int) time.Duration { return time.Millisecond }, Committed: func(flow.Writes) { h.tell() },
		})
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		t.Cleanup(func() { cancel(); must(t, <-done) })
		ref := h.job("a", 0)
		h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			result, err := succeed(ctx, a, host)
			store.full.Store(true)
			return result, err
		}

		run, err := e.StartJob(t.Context(), ref.ID, nil, nil, "owner")
		must(t, err)
		<-store.said
		store.full.Store(false)
		run, nodes := h.ends(run.ID)

		if run.Outcome != engine.RunSucceeded || said(nodes) != "a.1.1 succeeded" {
			t.Errorf("the run %s with %s, want its end to be written once there is room", run.Outcome, said(nodes))
		}
	})
}
