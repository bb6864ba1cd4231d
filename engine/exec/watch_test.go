package exec_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/runner"
)

// TestTheWatchdogIsQuietWhileWorkIsDone: attempts under way, nodes that wait
// and a node that stops are all looked after.
func TestTheWatchdogIsQuietWhileWorkIsDone(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a b c d e f") // more than there are slots
		finish := make(chan struct{})
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			h.work.do[name] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
				err := host.Started(ctx, engine.Process{})
				<-finish
				return runner.Result{State: engine.Succeeded}, err
			}
		}
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.await(run.ID, "four of them run", func(_ engine.Run, nodes []engine.NodeRun) bool {
			running := 0
			for _, n := range nodes {
				if n.State == engine.Running {
					running++
				}
			}
			return running == 4
		})
		assertWell(t, h) // two hours later as well
		assertWell(t, h) // slots break the rule only where they do so twice
		close(finish)
		h.ends(run.ID)
		assertWell(t, h)
	})
}

func assertWell(t *testing.T, h *house) {
	t.Helper()
	rows, err := h.store.Checks(t.Context())
	must(t, err)
	work, err := h.exec.Checks(t.Context(), later())
	must(t, err)
	for _, c := range append(rows, work...) {
		if len(c.Broken) > 0 {
			t.Errorf("%s: %+v", c.Rule, c.Broken)
		}
	}
}

// TestTheWatchdogFindsWhatNobodyWorksOn: a node that stands open in the
// database and that no server knows of.
func TestTheWatchdogFindsWhatNobodyWorksOn(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a")
		h.work.do["a"] = untilStopped
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.await(run.ID, "a runs", func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == "a.1.1 running" })

		nodes, err := h.store.NodeRuns(t.Context(), run.ID)
		must(t, err)
		stranger := exec.New(exec.Config{Store: h.store, Now: time.Now})
		if n := len(broken(t, stranger, "I10", later())); n != 0 {
			t.Errorf("%d nodes are found that another server works on, want none", n)
		}
		must(t, h.store.Leave(t.Context(), nodes[0].Owner))

		if n := len(broken(t, stranger, "I10", time.Now())); n != 0 {
			t.Errorf("%d nodes are found before a minute has passed, want none", n)
		}
		if found := broken(t, stranger, "I10", later()); len(found) != 1 || found[0].Run != run.ID {
			t.Errorf("got %+v, want the node of run %s", found, run.ID)
		}
		if n := len(broken(t, h.exec, "I10", later())); n != 0 {
			t.Errorf("%d nodes are found by the server that works on them, want none", n)
		}
	})
}

// TestTheWatchdogFindsWhatDoesNotStop: a runner that does not listen.
func TestTheWatchdogFindsWhatDoesNotStop(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a")
		release := make(chan struct{})
		h.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			err := host.Started(ctx, engine.Process{})
			<-release
			return runner.Result{State: engine.Stopped}, err
		}
		t.Cleanup(sync.OnceFunc(func() { close(release) }))
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.await(run.ID, "a runs", func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == "a.1.1 running" })
		_, err = h.exec.Stop(t.Context(), run.ID, "owner")
		must(t, err)

		if n := len(broken(t, h.exec, "I11", time.Now())); n != 0 {
			t.Errorf("%d nodes are found at once, want none", n)
		}
		if found := broken(t, h.exec, "I11", later()); len(found) != 1 || found[0].Run != run.ID {
			t.Errorf("got %+v, want the node of run %s", found, run.ID)
		}
	})
}

// later is a clock two hours ahead.
func later() time.Time { return time.Now().Add(2 * time.Hour) }

func broken(t *testing.T, e *exec.Exec, id string, now time.Time) []engine.Broken {
	t.Helper()
	checks, err := e.Checks(t.Context(), now)
	must(t, err)
	for _, c := range checks {
		if c.ID == id {
			return c.Broken
		}
	}
	t.Fatalf("there is no check %s", id)
	return nil
}
