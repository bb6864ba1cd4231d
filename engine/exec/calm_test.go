package exec_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/runner"
)

// hanging is a publish that hangs until it is told to end. Where nobody tells it for
// long, a second one succeeds.
type hanging struct {
	begun chan struct{}
	ended chan error // of the first try
	tries atomic.Int32
}

func newHanging() *hanging {
	return &hanging{begun: make(chan struct{}), ended: make(chan error, 1)}
}

var errNotTold = errors.New("the publish was not told to end")

func (p *hanging) publish(ctx context.Context, _ engine.Batch) (err error) {
	if p.tries.Add(1) > 1 {
		return nil
	}
	close(p.begun)
	defer func() { p.ended <- err }()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(5 * shortTTL):
		return errNotTold
	}
}

// TestAPublishThatHangsDoesNotHoldUpTheEndOfItsServer: whoever comes next publishes it,
// be it that somebody had asked to stop it before.
func TestAPublishThatHangsDoesNotHoldUpTheEndOfItsServer(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		p := newHanging()
		h.work.do["a"], h.work.publish = plannedResult, p.publish
		run, err := h.exec.StartJob(t.Context(), h.job("a", 0).ID, nil, nil, "owner")
		must(t, err)
		<-p.begun
		_, err = h.exec.Stop(t.Context(), run.ID, "owner")
		must(t, err)

		h.stop()

		if err := <-p.ended; errors.Is(err, errNotTold) || p.tries.Load() != 1 {
			t.Errorf("%d tries to publish, the first ended by %v; want it told to end", p.tries.Load(), err)
		}
		h.work.publish = nil
		h.serve()
		if _, nodes := h.ends(run.ID); said(nodes) != "a.1.1 succeeded" {
			t.Errorf("nodes = %s, want what was committed to be published", said(nodes))
		}
	})
}

// TestAPublishEndsWithTheLease: what a server without a lease would publish, another has
// published by then, and perhaps replaced.
func TestAPublishEndsWithTheLease(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		cut := h.another(2, shortTTL)
		ref := h.job("a", 0)
		p := newHanging()
		cut.work.do["a"], cut.work.publish = plannedResult, p.publish
		var other atomic.Int32
		h.work.do["a"] = fail
		h.work.publish = func(context.Context, engine.Batch) error {
			other.Add(1)
			return nil
		}
		run, err := cut.exec.StartJob(t.Context(), ref.ID, nil, nil, "owner")
		must(t, err)
		<-p.begun

		cut.cut.Store(true)
		h.exec.Heard() // it learns when the other's lease will end
		_, nodes := h.ends(run.ID)

		if said(nodes) != "a.1.1 succeeded" || other.Load() != 1 || p.tries.Load() != 1 {
			t.Errorf("nodes = %s, published %d times here and tried %d times there; want once each", said(nodes), other.Load(), p.tries.Load())
		}
		if err := <-p.ended; errors.Is(err, errNotTold) {
			t.Error("the server without a lease still published")
		}
	})
}

// TestAStopWaitsForWhatIsPickedUp: a stage that an earlier server left is still being
// removed when a person stops the run.
func TestAStopWaitsForWhatIsPickedUp(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			result, err := plannedResult(ctx, a, host)
			if err != nil {
				return result, err
			}
			<-ctx.Done()
			return runner.Result{}, context.Cause(ctx)
		}
		run, err := h.exec.StartJob(t.Context(), h.job("a", 0).ID, nil, nil, "owner")
		must(t, err)
		h.await(run.ID, "it runs", func(_ engine.Run, n []engine.NodeRun) bool { return said(n) == "a.1.1 running" })
		h.stop()
		begun, free := make(chan struct{}), make(chan struct{})
		begin := sync.OnceFunc(func() { close(begun) })
		h.work.discard = func(ctx context.Context) error {
			begin()
			<-free
			return ctx.Err()
		}

		h.serve()
		<-begun
		_, err = h.exec.Stop(t.Context(), run.ID, "owner")
		must(t, err)
		close(free)

		if _, nodes := h.ends(run.ID); said(nodes) != "a.1.1 stopped" {
			t.Errorf("nodes = %s, want it stopped", said(nodes))
		}
	})
}

// TestAStopWaitsForTheDatabase: it comes while the attempt waits until the database
// answers again.
func TestAStopWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		cut := h.another(2, time.Minute)
		begun := make(chan struct{})
		first := sync.OnceFunc(func() {
			cut.cut.Store(true)
			close(begun)
		})
		cut.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			if err := host.Started(ctx, engine.Process{}); err != nil {
				return runner.Result{}, err
			}
			first()
			return runner.Result{}, engine.Errorf(engine.Away, "The database does not answer.")
		}
		run, err := cut.exec.StartJob(t.Context(), h.job("a", 0).ID, nil, nil, "owner")
		must(t, err)
		<-begun
		_, err = cut.exec.Stop(t.Context(), run.ID, "owner")
		must(t, err)

		cut.cut.Store(false)

		if _, nodes := h.ends(run.ID); said(nodes) != "a.1.1 stopped" {
			t.Errorf("nodes = %s, want it stopped", said(nodes))
		}
	})
}
