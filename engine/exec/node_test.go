package exec_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/runner"
)

// states reports whether node runs are as a test has it, as said lists them.
func states(want string) func(engine.Run, []engine.NodeRun) bool {
	return func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == want }
}

// TestANodeThatIsSkippedBeforeItsTurn never runs, and what waits for it starts when
// its turn has come. A second skip is told of the first.
func TestANodeThatIsSkippedBeforeItsTurn(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a", "a -> b on succeeded", "b -> c on succeeded", "b -> alarm on failed")
		release := make(chan struct{})
		h.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			err := host.Started(ctx, engine.Process{})
			<-release
			return runner.Result{State: engine.Succeeded}, err
		}
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.await(run.ID, "a runs", states("a.1.1 running"))

		_, err = h.exec.Skip(t.Context(), run.ID, h.refs["b"], "owner", "the source is away")
		must(t, err)
		_, again := h.exec.Skip(t.Context(), run.ID, h.refs["b"], "other", "")
		_, begun := h.exec.Skip(t.Context(), run.ID, h.refs["a"], "other", "")
		close(release)
		run, nodes := h.ends(run.ID)

		if got, want := said(nodes), "a.1.1 succeeded, alarm.1.1 skipped, b.1.1 skipped, c.1.1 succeeded"; got != want || run.Outcome != engine.RunSucceeded {
			t.Errorf("got %s, %s; want %s, succeeded", got, run.Outcome, want)
		}
		assertRan(t, h.work, []string{"a.1.1", "c.1.1"})
		i := slices.IndexFunc(nodes, func(n engine.NodeRun) bool { return n.Name == "b" })
		const why = "skipped by owner: the source is away"
		if nodes[i].Why != why || run.Skips[h.refs["b"].String()] != why {
			t.Errorf("b says %q and the run %v, want who skipped it", nodes[i].Why, run.Skips)
		}
		if engine.CodeOf(again) != engine.Conflict || !strings.Contains(engine.MessageOf(again), why) {
			t.Errorf("the second skip is told %v, want who was first", again)
		}
		if engine.CodeOf(begun) != engine.Conflict || !strings.Contains(engine.MessageOf(begun), "a has begun already") {
			t.Errorf("a skip of what runs is told %v", begun)
		}
		assertDense(t, h, run)
	})
}

// TestAQueuedNodeIsSkippedAtOnce, also in a run that is paused: it takes no slot any
// more, and what follows waits until the run goes on.
func TestAQueuedNodeIsSkippedAtOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a", "a -> b on succeeded", "b -> c on succeeded")
		release := make(chan struct{})
		h.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			err := host.Started(ctx, engine.Process{})
			<-release
			return runner.Result{State: engine.Succeeded}, err
		}
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.await(run.ID, "a runs", states("a.1.1 running"))
		_, err = h.exec.Pause(t.Context(), run.ID, "owner")
		must(t, err)
		close(release)
		h.await(run.ID, "b is queued", states("a.1.1 succeeded, b.1.1 ready"))

		_, err = h.exec.Skip(t.Context(), run.ID, h.refs["b"], "owner", "")
		must(t, err)
		h.await(run.ID, "c is queued", states("a.1.1 succeeded, b.1.1 skipped, c.1.1 ready"))
		_, err = h.exec.GoOn(t.Context(), run.ID, "owner")
		must(t, err)
		run, nodes := h.ends(run.ID)

		if got, want := said(nodes), "a.1.1 succeeded, b.1.1 skipped, c.1.1 succeeded"; got != want || run.Outcome != engine.RunSucceeded {
			t.Errorf("got %s, %s; want %s, succeeded", got, run.Outcome, want)
		}
		assertRan(t, h.work, []string{"a.1.1", "c.1.1"})
	})
}

// TestOneNodeIsStopped and its run goes on, also where the node breaks while it is
// being stopped and would be tried again.
func TestOneNodeIsStopped(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		state   engine.State // in which the runner ends it
		want    string
		outcome engine.Outcome
	}{
		"it ends as stopped":     {engine.Stopped, "a.1.1 stopped, after.1.1 skipped, alarm.1.1 succeeded, b.1.1 succeeded, next.1.1 succeeded", engine.RunStopped},
		"it breaks meanwhile":    {engine.Failed, "a.1.1 stopped, after.1.1 skipped, alarm.1.1 succeeded, b.1.1 succeeded, next.1.1 succeeded", engine.RunStopped},
		"it has just been done":  {engine.Succeeded, "a.1.1 succeeded, after.1.1 succeeded, alarm.1.1 skipped, b.1.1 succeeded, next.1.1 succeeded", engine.RunSucceeded},
		"its time was over, too": {engine.TimedOut, "a.1.1 stopped, after.1.1 skipped, alarm.1.1 succeeded, b.1.1 succeeded, next.1.1 succeeded", engine.RunStopped},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, h *house) {
				h.job("a", 2)
				id := h.draw("start -> a b", "a -> after on succeeded", "a -> alarm on stopped", "b -> next on succeeded")
				release := make(chan struct{})
				h.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
					err := host.Started(ctx, engine.Process{})
					<-ctx.Done()
					return runner.Result{State: tt.state, Error: "It broke."}, err
				}
				h.work.do["b"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
					err := host.Started(ctx, engine.Process{})
					<-release
					return runner.Result{State: engine.Succeeded}, err
				}
				run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
				must(t, err)
				h.await(run.ID, "both run", states("a.1.1 running, b.1.1 running"))

				_, err = h.exec.StopNode(t.Context(), run.ID, h.refs["a"], 0, "owner")
				must(t, err)
				h.await(run.ID, "a has ended", func(_ engine.Run, nodes []engine.NodeRun) bool {
					return slices.ContainsFunc(nodes, func(n engine.NodeRun) bool { return n.Name == "a" && n.State.Done() })
				})
				_, again := h.exec.StopNode(t.Context(), run.ID, h.refs["a"], 0, "other")
				close(release)
				run, nodes := h.ends(run.ID)

				if got := said(nodes); got != tt.want || run.Outcome != tt.outcome || !run.StopAsked.IsZero() {
					t.Errorf("got %s, %s (stop asked %s); want %s, %s in a run that nobody stopped", got, run.Outcome, run.StopAsked, tt.want, tt.outcome)
				}
				i := slices.IndexFunc(nodes, func(n engine.NodeRun) bool { return n.Name == "a" })
				if nodes[i].Why != "stopped by owner" {
					t.Errorf("a says %q, want who stopped it", nodes[i].Why)
				}
				if engine.CodeOf(again) != engine.Conflict || !strings.Contains(engine.MessageOf(again), "a has ended in this run already") {
					t.Errorf("the second stop is told %v", again)
				}
			})
		})
	}
}

// TestTheWatchdogFindsANodeThatDoesNotStopAlone: a minute after it was told, and not
// before.
func TestTheWatchdogFindsANodeThatDoesNotStopAlone(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a")
		release := make(chan struct{})
		h.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			err := host.Started(ctx, engine.Process{})
			<-release
			return runner.Result{State: engine.Stopped}, err
		}
		t.Cleanup(func() { close(release) })
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.await(run.ID, "a runs", states("a.1.1 running"))
		_, err = h.exec.StopNode(t.Context(), run.ID, h.refs["a"], 0, "owner")
		must(t, err)

		if n := len(broken(t, h.exec, "I11", time.Now())); n != 0 {
			t.Errorf("%d nodes are found at once, want none", n)
		}
		if found := broken(t, h.exec, "I11", later()); len(found) != 1 || found[0].Run != run.ID {
			t.Errorf("got %+v, want the node of run %s", found, run.ID)
		}
	})
}

func resumeOf(nodes ...engine.Ref) exec.Resume { return exec.Resume{Nodes: nodes} }

// TestASkippedNodeIsDoneAgain in a run that goes on from the one that skipped it;
// where it is kept, it counts as it did.
func TestASkippedNodeIsDoneAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a", "a -> b on succeeded", "b -> c on succeeded")
		h.work.do["c"] = fail
		release := make(chan struct{})
		h.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			err := host.Started(ctx, engine.Process{})
			<-release
			return runner.Result{State: engine.Succeeded}, err
		}
		first, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		_, err = h.exec.Skip(t.Context(), first.ID, h.refs["b"], "owner", "")
		must(t, err)
		close(release)
		h.ends(first.ID)
		h.work.mu.Lock()
		clear(h.work.do)
		h.work.mu.Unlock()

		kept, err := h.exec.Resume(t.Context(), first.ID, resumeOf(), "owner")
		must(t, err)
		_, keptNodes := h.ends(kept.ID)
		done, err := h.exec.Resume(t.Context(), first.ID, resumeOf(h.refs["b"]), "owner")
		must(t, err)
		_, doneNodes := h.ends(done.ID)

		if got, want := said(keptNodes), "a.1.1 succeeded, b.1.1 skipped, c.1.1 succeeded"; got != want {
			t.Errorf("with what failed done again: %s, want %s", got, want)
		}
		if got, want := said(doneNodes), "a.1.1 succeeded, b.1.1 succeeded, c.1.1 succeeded"; got != want {
			t.Errorf("with b done again: %s, want %s", got, want)
		}
	})
}

// TestANodeIsSteeredThroughAnotherServer than the one that works on it.
func TestANodeIsSteeredThroughAnotherServer(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		other := h.another(4, 0)
		id := h.draw("start -> a", "a -> alarm on stopped", "alarm -> report on succeeded")
		h.work.do["a"], other.work.do["a"] = untilStopped, untilStopped
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.await(run.ID, "a runs", states("a.1.1 running"))

		_, err = other.exec.Skip(t.Context(), run.ID, h.refs["alarm"], "owner", "")
		must(t, err)
		_, twice := h.exec.Skip(t.Context(), run.ID, h.refs["alarm"], "other", "")
		_, err = other.exec.StopNode(t.Context(), run.ID, h.refs["a"], 1, "owner")
		must(t, err)
		run, nodes := h.ends(run.ID)

		if got, want := said(nodes), "a.1.1 stopped, alarm.1.1 skipped, report.1.1 succeeded"; got != want || run.Outcome != engine.RunStopped {
			t.Errorf("got %s, %s; want %s, stopped", got, run.Outcome, want)
		}
		if engine.CodeOf(twice) != engine.Conflict {
			t.Errorf("the second skip at the first server is told %v, want a conflict", twice)
		}
	})
}
