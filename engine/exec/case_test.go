package exec_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"dogear/db"
	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// The cases of the field that are about runs (cases.jsonl).

// TestA02AJobStartedByHandFiresNoTrigger of a workflow that watches it.
func TestA02AJobStartedByHandFiresNoTrigger(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a", "a -> b on succeeded", "b -> c on succeeded")
		h.work.do["a"] = untilStopped
		w, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)

		alone, err := h.exec.StartJob(t.Context(), h.refs["b"].ID, nil, nil, "owner")
		must(t, err)
		run, nodes := h.ends(alone.ID)

		if got := said(nodes); got != "b.1.1 succeeded" || run.Kind != engine.RunJob {
			t.Errorf("the run by hand is %s with %s, want b alone", run.Kind, got)
		}
		nodes, err = h.store.NodeRuns(t.Context(), w.ID)
		must(t, err)
		for _, n := range nodes {
			if n.Name == "c" {
				t.Errorf("c is %s in the workflow's run, where b has not run", n.State)
			}
		}
		_, err = h.exec.Stop(t.Context(), w.ID, "owner")
		must(t, err)
		h.ends(w.ID)
	})
}

// TestA16AndA17WhatAResumeTakes: of nodes that follow from each other the first,
// and nothing from a run that goes on or a node that never ran.
func TestA16AndA17WhatAResumeTakes(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a", "a -> b on succeeded", "b -> c on succeeded", "b -> alarm on failed")
		h.work.do["b"] = fail
		old, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.ends(old.ID)
		h.work.mu.Lock()
		h.work.do["b"] = succeed
		h.work.mu.Unlock()

		_, err = h.exec.Resume(t.Context(), old.ID, exec.Resume{Nodes: []engine.Ref{h.refs["c"]}}, "owner")
		if engine.CodeOf(err) != engine.Invalid || !strings.Contains(err.Error(), "never ran") {
			t.Errorf("A17, from a node that never ran: %v", err)
		}
		again, err := h.exec.Resume(t.Context(), old.ID, exec.Resume{Nodes: []engine.Ref{h.refs["b"], h.refs["alarm"]}}, "owner")
		must(t, err)
		run, nodes := h.ends(again.ID)

		if got := said(nodes); got != "a.1.1 succeeded, alarm.1.1 skipped, b.1.1 succeeded, c.1.1 succeeded" || run.Previous != old.ID {
			t.Errorf("A16: nodes = %s after %s, want b done again and what follows from it", got, run.Previous)
		}
		h.work.mu.Lock()
		h.work.do["a"] = untilStopped
		h.work.mu.Unlock()
		open, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		if _, err := h.exec.Resume(t.Context(), open.ID, exec.Resume{}, "owner"); engine.CodeOf(err) != engine.Conflict {
			t.Errorf("A17, of a run that goes on: %v, want a conflict", err)
		}
	})
}

// TestA24AJobInTwoWorkflowsFiresTheTriggersOfItsOwnRun.
func TestA24AJobInTwoWorkflowsFiresTheTriggersOfItsOwnRun(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		first := h.draw("start -> load", "load -> one on succeeded")
		w, err := h.store.Workflow(t.Context(), first)
		must(t, err)
		body := w.WorkflowBody
		body.Triggers = []engine.Trigger{
			{ID: engine.NewID(time.Now()), Name: "start", Type: engine.OnDemand, Actions: []engine.Action{{Ref: h.refs["load"]}}},
			{ID: engine.NewID(time.Now()), Name: "then", Type: engine.Conditional, Actions: []engine.Action{{Ref: h.job("two", 0)}}, Predicate: engine.Predicate{
				Conditions: []engine.Condition{{Ref: h.refs["load"], State: engine.Succeeded}},
			}},
		}
		second, err := h.store.CreateWorkflow(t.Context(), "second", body, "owner", time.Now())
		must(t, err)
		_, err = h.store.PublishWorkflow(t.Context(), second, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)

		x, err := h.exec.StartWorkflow(t.Context(), first, nil, "owner")
		must(t, err)
		y, err := h.exec.StartWorkflow(t.Context(), second, nil, "owner")
		must(t, err)
		_, inFirst := h.ends(x.ID)
		_, inSecond := h.ends(y.ID)

		if said(inFirst) != "load.1.1 succeeded, one.1.1 succeeded" || said(inSecond) != "load.1.1 succeeded, two.1.1 succeeded" {
			t.Errorf("the first ran %s, the second %s", said(inFirst), said(inSecond))
		}
	})
}

// TestA19AndD10ADueTimeStartsOneRun, however many servers find it due and
// whatever their clocks say, and none beyond the limit of the workflow.
func TestA19AndD10ADueTimeStartsOneRun(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		other := h.another(4, 0)
		trigger := engine.Trigger{ID: engine.NewID(time.Now()), Name: "each minute", Type: engine.Scheduled, Schedule: "cron(* * * * ? *)", Actions: []engine.Action{{Ref: h.job("a", 0)}}}
		id, err := h.store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{MaxRuns: 1, Triggers: []engine.Trigger{trigger}}, "owner", time.Now())
		must(t, err)
		start := time.Now().UTC().Truncate(time.Minute)
		_, err = h.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return start })
		must(t, err)
		servers := []*exec.Exec{h.exec, other.exec, h.exec}
		for minute := range 10 {
			due := start.Add(time.Duration(minute) * time.Minute)
			began := make(chan engine.ID, len(servers))
			var all sync.WaitGroup
			for _, server := range servers {
				all.Go(func() {
					run, err := server.Due(context.Background(), id, flow.Fire{Trigger: trigger.ID, Due: due, Next: due.Add(time.Minute)})
					switch code := engine.CodeOf(err); {
					case err == nil:
						began <- run.ID
					case code != engine.Conflict && code != engine.LimitHit:
						t.Error(err)
					}
				})
			}
			all.Wait()
			close(began)
			if len(began) != 1 {
				t.Fatalf("D10: %d runs began for %s, want one", len(began), due)
			}
			run := <-began
			h.ends(run)
		}

		h.work.mu.Lock()
		h.work.do["a"], other.work.do["a"] = untilStopped, untilStopped
		h.work.mu.Unlock()
		due := start.Add(time.Hour)
		_, err = h.exec.Due(t.Context(), id, flow.Fire{Trigger: trigger.ID, Due: due, Next: due.Add(time.Minute)})
		must(t, err)
		if _, err := other.exec.StartWorkflow(t.Context(), id, nil, "owner"); engine.CodeOf(err) != engine.LimitHit {
			t.Errorf("A19: a start by hand on another server at the limit: %v, want the limit", err)
		}
		late := due.Add(time.Minute)
		if _, err := other.exec.Due(t.Context(), id, flow.Fire{Trigger: trigger.ID, Due: late, Next: late.Add(time.Minute)}); engine.CodeOf(err) != engine.LimitHit {
			t.Errorf("A19: a due time on another server at the limit: %v, want the limit", err)
		}
	})
}

// unreliable is a store whose next commit is lost before it is written, or
// whose answer is lost after it was.
type unreliable struct {
	*db.Store
	before, after bool
}

func (u *unreliable) Commit(ctx context.Context, steps []flow.Step) []flow.Written {
	lost := []flow.Written{{Err: errors.New("the server is gone")}}
	if u.before {
		u.before = false
		return lost
	}
	written := u.Store.Commit(ctx, steps)
	if u.after {
		u.after = false
		return lost
	}
	return written
}

// TestD11ADueTimeAndItsRunAreWrittenTogether: whoever dies between them leaves
// both or none, and whoever tries again starts no second run.
func TestD11ADueTimeAndItsRunAreWrittenTogether(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.stop()
		trigger := engine.Trigger{ID: engine.NewID(time.Now()), Name: "daily", Type: engine.Scheduled, Schedule: "cron(0 12 * * ? *)", Actions: []engine.Action{{Ref: h.job("a", 0)}}}
		id, err := h.store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{Triggers: []engine.Trigger{trigger}}, "owner", time.Now())
		must(t, err)
		due := time.Now().UTC().Truncate(time.Minute)
		_, err = h.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return due })
		must(t, err)
		store := &unreliable{Store: h.store}
		e := exec.New(exec.Config{
			Store: store, Runners: map[engine.Kind]runner.Runner{engine.KindJob: h.work}, Processes: dead{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
			Dir: t.TempDir(), Slots: 1, Committed: func(flow.Writes) { h.tell() },
		})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		t.Cleanup(func() { cancel(); must(t, <-done) })
		count := func() (runs, ticks int) {
			all, err := h.store.Runs(t.Context(), engine.RunFilter{Object: id})
			must(t, err)
			used, err := h.store.Ticks(t.Context(), trigger.ID, 10)
			must(t, err)
			return len(all), len(used)
		}
		fire := flow.Fire{Trigger: trigger.ID, Due: due, Next: due.Add(24 * time.Hour)}

		store.before = true
		_, err = e.Due(t.Context(), id, fire)
		if runs, ticks := count(); err == nil || runs != 0 || ticks != 0 {
			t.Errorf("after a death before the commit: %v with %d runs and %d ticks, want none", err, runs, ticks)
		}
		store.after = true
		_, err = e.Due(t.Context(), id, fire)
		if runs, ticks := count(); err == nil || runs != 1 || ticks != 1 {
			t.Errorf("after a death behind the commit: %v with %d runs and %d ticks, want one of each", err, runs, ticks)
		}
		if _, err = e.Due(t.Context(), id, fire); engine.CodeOf(err) != engine.Conflict {
			t.Errorf("the next server: %v, want a conflict", err)
		}
		if runs, _ := count(); runs != 1 {
			t.Errorf("%d runs, want one", runs)
		}
	})
}

// TestA25AScriptThatEndsWellFiresItsTrigger, whatever it read, and one that does
// not fires none: what counts is its exit code.
func TestA25AScriptThatEndsWellFiresItsTrigger(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["good"], h.work.do["bad"] = scripts(t).Run, scripts(t).Run
		h.script("good", "print(sum(1 for line in open('/etc/passwd')))")
		h.script("bad", "import sys; sys.exit(3)")
		id := h.draw("start -> good bad", "good -> b on succeeded", "bad -> c on succeeded")

		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		_, nodes := h.ends(run.ID)

		if got := said(nodes); got != "b.1.1 succeeded, bad.1.1 failed, c.1.1 skipped, good.1.1 succeeded" {
			t.Errorf("nodes = %s, want b after the script that ended well, and no c", got)
		}
		marks, err := h.store.BookmarksOf(t.Context(), h.refs["good"].ID)
		must(t, err)
		if len(marks) != 0 {
			t.Errorf("the script has %d bookmarks, want none", len(marks))
		}
	})
}

// script makes a job of a script under a name that a graph may use.
func (h *house) script(name, body string) {
	h.t.Helper()
	job := engine.JobBody{Kind: engine.JobPython, Bookmark: engine.BookmarkOff, Script: &engine.ScriptJob{Body: body}}
	id, err := h.store.CreateJob(h.t.Context(), name, job, "owner", time.Now())
	must(h.t, err)
	_, err = h.store.PublishJob(h.t.Context(), id, "owner", time.Now())
	must(h.t, err)
	h.refs[name] = engine.Ref{Kind: engine.KindJob, ID: id}
}

// TestD17ARunThatWaitsForAWorkerIsLate, also while it waits: it was made in time,
// and what counts is when it began to work.
func TestD17ARunThatWaitsForAWorkerIsLate(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.stop()
		h.slots = 1
		h.serve()
		h.work.do["blocker"] = untilStopped
		trigger := engine.Trigger{ID: engine.NewID(time.Now()), Name: "hourly", Type: engine.Scheduled, Schedule: "cron(0 * * * ? *)", Actions: []engine.Action{{Ref: h.job("a", 0)}}}
		id, err := h.store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{Triggers: []engine.Trigger{trigger}}, "owner", time.Now())
		must(t, err)
		due := time.Now().UTC().Truncate(time.Millisecond)
		_, err = h.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return due })
		must(t, err)
		blocker, err := h.exec.StartJob(t.Context(), h.job("blocker", 0).ID, nil, nil, "owner")
		must(t, err)
		h.await(blocker.ID, "the only slot is taken", func(_ engine.Run, nodes []engine.NodeRun) bool { return nodes[0].State == engine.Running })

		run, err := h.exec.Due(t.Context(), id, flow.Fire{Trigger: trigger.ID, Due: due, Next: due.Add(time.Hour)})
		must(t, err)
		h.ahead.Store(int64(42 * time.Minute))
		waits, err := h.store.LateStarts(t.Context(), time.Now().Add(42*time.Minute))
		must(t, err)
		_, err = h.exec.Stop(t.Context(), blocker.ID, "owner")
		must(t, err)
		ended, nodes := h.ends(run.ID)
		worked, err := h.store.LateStarts(t.Context(), time.Now().Add(50*time.Minute))
		must(t, err)

		if len(waits) != 1 || waits[0].Run != run.ID || !waits[0].Waits || waits[0].Late < 42*time.Minute {
			t.Errorf("while it waits: %+v, want run %s 42 minutes late", waits, run.ID)
		}
		if late := ended.Late(nodes, time.Now()); late < 42*time.Minute || late > 43*time.Minute {
			t.Errorf("it is late by %s, want 42 minutes", late)
		}
		if len(worked) != 1 || worked[0].Waits || worked[0].Late > 43*time.Minute {
			t.Errorf("after it: %+v, want 42 minutes and nothing that waits", worked)
		}
	})
}
