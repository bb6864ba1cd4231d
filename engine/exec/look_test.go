package exec_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// beside is the store of a server that is not alone: another one has a lease
// until some moment, and works on whatever it owns until then.
type beside struct {
	*db.Store
	other engine.ID
	until time.Time
	// trouble is what a look meets on its way.
	trouble func(ctx context.Context) error
}

func (beside) Shared() bool { return true }

func (b beside) Replicas(context.Context) ([]engine.Replica, error) {
	return []engine.Replica{{ID: b.other, Left: time.Until(b.until)}}, nil
}

func (b beside) Orphans(ctx context.Context) ([]engine.NodeRun, error) {
	if err := b.trouble(ctx); err != nil || time.Now().Before(b.until) {
		return nil, err
	}
	return b.Held(ctx, b.other)
}

// hung are the processes of a server that hangs: they live until they are killed.
type hung struct{ killed *atomic.Bool }

func (h hung) Alive(p engine.Process) bool { return p.PID != 0 && !h.killed.Load() }
func (h hung) Kill(engine.Process) error   { h.killed.Store(true); return nil }
func (hung) Marked() []runner.Marked       { return nil }

// TestWorkIsTakenUpWhenItsLeaseEnds: by whatever a look is held up just then,
// the work of a server that is silent lies still for half a second at most after
// its lease has ended.
func TestWorkIsTakenUpWhenItsLeaseEnds(t *testing.T) {
	t.Parallel()
	const ttl, most = 3 * time.Second, 500 * time.Millisecond
	nothing := func(context.Context, time.Duration) error { return nil }
	tests := map[string]func(ctx context.Context, left time.Duration) error{
		"nothing":              nothing,
		"a process that hangs": nothing,
		"a failure": func(_ context.Context, left time.Duration) error {
			if left <= 0 && left > -50*time.Millisecond {
				return errors.New("no answer")
			}
			return nil
		},
		"an answer that does not come": func(ctx context.Context, left time.Duration) error {
			if left > 0 && left <= time.Second/100 {
				<-ctx.Done()
			}
			return ctx.Err()
		},
	}
	for name, trouble := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := beside{Store: dbtest.SQLite(t), other: engine.NewID(time.Now()), until: time.Now().Add(ttl)}
				store.trouble = func(ctx context.Context) error { return trouble(ctx, time.Until(store.until)) }
				var process engine.Process
				if name == "a process that hangs" {
					process.PID = 1
				}
				worksOn(t, store.Store, store.other, process)
				begun := make(chan time.Time, 1)
				doer := &work{do: map[string]func(context.Context, runner.Attempt, runner.Host) (runner.Result, error){
					"a": func(ctx context.Context, a runner.Attempt, h runner.Host) (runner.Result, error) {
						begun <- time.Now()
						return succeed(ctx, a, h)
					},
				}}
				e := exec.New(exec.Config{
					Store: store, Runners: map[engine.Kind]runner.Runner{engine.KindJob: doer}, Processes: hung{&atomic.Bool{}},
					Log: slog.New(slog.DiscardHandler), Now: time.Now, Dir: t.TempDir(), Slots: 1, TTL: ttl,
				})
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- e.Run(ctx) }()

				time.Sleep(time.Until(store.until) - time.Second/100)
				e.Heard() // of something else
				late := (<-begun).Sub(store.until)

				if late < 0 || late > most {
					t.Errorf("it was taken up %s after its lease had ended, want %s at most", late, most)
				}
				cancel()
				must(t, <-ended)
			})
		})
	}
}

// worksOn makes a run of the job a, on whose node a server works in a process.
func worksOn(t *testing.T, store *db.Store, owner engine.ID, process engine.Process) {
	t.Helper()
	now := time.Now().UTC()
	id, err := store.CreateJob(t.Context(), "a", engine.JobBody{Kind: engine.JobSQL, SQL: &engine.SQLJob{}}, "owner", now)
	must(t, err)
	_, err = store.PublishJob(t.Context(), id, "owner", now)
	must(t, err)
	run := engine.Run{ID: engine.NewID(now), Kind: engine.RunJob, Object: id, Name: "a", Started: now, By: "owner"}
	for _, w := range store.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		w := flow.BeginAlone(st, run, engine.Ref{Kind: engine.KindJob, ID: id}, now)
		w.Nodes[0].State, w.Nodes[0].Owner, w.Nodes[0].Fence = engine.Starting, owner, 1
		w.Nodes[0].Process = process
		return w, nil
	}}}) {
		must(t, w.Err)
	}
}
