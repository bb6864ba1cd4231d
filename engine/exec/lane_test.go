package exec_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/runner"
)

// jobIn makes a published job that waits in a lane.
func (h *house) jobIn(name string, body engine.JobBody) engine.Ref {
	body.Kind, body.SQL = engine.JobSQL, &engine.SQLJob{}
	id, err := h.store.CreateJob(h.t.Context(), name, body, "owner", time.Now())
	must(h.t, err)
	_, err = h.store.PublishJob(h.t.Context(), id, "owner", time.Now())
	must(h.t, err)
	h.refs[name] = engine.Ref{Kind: engine.KindJob, ID: id}
	return h.refs[name]
}

// TestAPoolBoundsJobsOfAllWorkflows: two servers, two jobs, one pool with two
// places.
func TestAPoolBoundsJobsOfAllWorkflows(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		other := h.another(4, 0)
		must(t, h.store.PutPool(t.Context(), "warehouse", 2, "owner", time.Now()))
		must(t, h.exec.PoolsChanged(t.Context()))
		must(t, other.exec.PoolsChanged(t.Context()))
		var count atOnce
		var jobs []engine.Ref
		for i := range 3 {
			name := fmt.Sprintf("j%d", i)
			jobs = append(jobs, h.jobIn(name, engine.JobBody{MaxRuns: 8, Lane: engine.Lane{Pool: "warehouse"}}))
			h.work.do[name], other.work.do[name] = count.body, count.body
		}
		var runs []engine.ID
		for i := range 24 {
			server := h.exec
			if i%2 == 1 {
				server = other.exec
			}
			run, err := server.StartJob(t.Context(), jobs[i%3].ID, nil, nil, "owner")
			must(t, err)
			runs = append(runs, run.ID)
		}

		for _, id := range runs {
			h.ends(id)
		}

		if count.most.Load() > 2 || count.all.Load() != 24 {
			t.Errorf("%d bodies, up to %d at once; want 24, two at once", count.all.Load(), count.most.Load())
		}
	})
}

func TestAPoolSaysThatItIsFull(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		must(t, h.store.PutPool(t.Context(), "warehouse", 1, "owner", time.Now()))
		must(t, h.exec.PoolsChanged(t.Context()))
		first := h.jobIn("first", engine.JobBody{Lane: engine.Lane{Pool: "warehouse"}})
		second := h.jobIn("second", engine.JobBody{Lane: engine.Lane{Pool: "warehouse"}})
		h.work.do["first"] = untilStopped
		one, err := h.exec.StartJob(t.Context(), first.ID, nil, nil, "owner")
		must(t, err)
		two, err := h.exec.StartJob(t.Context(), second.ID, nil, nil, "owner")
		must(t, err)
		h.await(two.ID, "the second says what it waits for", func(_ engine.Run, nodes []engine.NodeRun) bool {
			return len(nodes) == 1 && nodes[0].Why == "waits for a place in the pool warehouse"
		})
		pools, err := h.store.Pools(t.Context())
		must(t, err)
		i := slices.IndexFunc(pools, func(p engine.Pool) bool { return p.Name == "warehouse" })
		if p := pools[i]; p.Places != 1 || p.Waiting != 1 || p.Taken != 1 || len(p.Jobs) != 2 {
			t.Errorf("the pool is %+v, want one place that is taken, one that waits and two jobs", p)
		}
		if err := h.store.DeletePool(t.Context(), "warehouse"); engine.CodeOf(err) != engine.Conflict {
			t.Errorf("deleting a pool in use: %v, want a conflict", err)
		}

		must(t, h.store.PutPool(t.Context(), "warehouse", 2, "owner", time.Now()))
		must(t, h.exec.PoolsChanged(t.Context()))

		h.ends(two.ID) // beside the first, which has not ended
		_, err = h.exec.Stop(t.Context(), one.ID, "owner")
		must(t, err)
		h.ends(one.ID)
	})
}

// TestAPoolWithoutPlacesSaysSo, and what waits for it starts once it has one; the event of
// its start keeps what it waited for, and its row that a person held it, so that nobody
// calls it late.
func TestAPoolWithoutPlacesSaysSo(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		must(t, h.store.PutPool(t.Context(), "held", 0, "owner", time.Now()))
		must(t, h.exec.PoolsChanged(t.Context()))
		job := h.jobIn("a", engine.JobBody{Lane: engine.Lane{Pool: "held"}})
		run, err := h.exec.StartJob(t.Context(), job.ID, nil, nil, "owner")
		must(t, err)
		h.await(run.ID, "it says that there are none", func(_ engine.Run, nodes []engine.NodeRun) bool {
			return len(nodes) == 1 && nodes[0].Why == "waits for the pool held, which has no places"
		})

		must(t, h.store.PutPool(t.Context(), "held", 1, "owner", time.Now()))
		must(t, h.exec.PoolsChanged(t.Context()))

		if _, nodes := h.ends(run.ID); !nodes[0].Held {
			t.Error("nothing says that it was held back")
		}
		events, err := h.store.Events(t.Context(), run.ID, 0)
		must(t, err)
		i := slices.IndexFunc(events, func(e engine.Event) bool { return e.Kind == "node" && e.State == string(engine.Starting) })
		if i < 0 || events[i].Text != "waits for the pool held, which has no places" {
			t.Errorf("the events are %+v, want a start that says what was waited for", events)
		}
	})
}

// TestWhatANodeWaitsForIsToldAnew when it waits for something else.
func TestWhatANodeWaitsForIsToldAnew(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		must(t, h.store.PutPool(t.Context(), "gate", 1, "owner", time.Now()))
		must(t, h.exec.PoolsChanged(t.Context()))
		job := h.jobIn("a", engine.JobBody{Lane: engine.Lane{Pool: "gate"}})
		h.work.do["a"] = untilStopped
		one, err := h.exec.StartJob(t.Context(), job.ID, nil, nil, "owner")
		must(t, err)
		two, err := h.exec.StartJob(t.Context(), job.ID, nil, nil, "owner")
		must(t, err)
		waits := func(why string) func(engine.Run, []engine.NodeRun) bool {
			return func(_ engine.Run, nodes []engine.NodeRun) bool { return len(nodes) == 1 && nodes[0].Why == why }
		}
		h.await(two.ID, "it waits for the first", waits("waits until another run of a has ended"))

		must(t, h.store.PutPool(t.Context(), "gate", 0, "owner", time.Now()))
		must(t, h.exec.PoolsChanged(t.Context()))
		_, err = h.exec.Stop(t.Context(), one.ID, "owner")
		must(t, err)
		h.ends(one.ID)
		h.await(two.ID, "it waits for the pool", waits("waits for the pool gate, which has no places"))

		must(t, h.store.PutPool(t.Context(), "gate", 1, "owner", time.Now()))
		must(t, h.exec.PoolsChanged(t.Context()))
		h.await(two.ID, "it runs", func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == "a.1.1 running" })
		_, err = h.exec.Stop(t.Context(), two.ID, "owner")
		must(t, err)
		h.ends(two.ID)
	})
}

// TestTheHighestPriorityHasItsTurnFirst: what waits for a slot starts by
// priority, then in the order it came; a run that reads old files again comes
// behind all of them.
func TestTheHighestPriorityHasItsTurnFirst(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.slots = 1
		h.stop()
		h.serve()
		gate := make(chan struct{})
		h.jobIn("gate", engine.JobBody{})
		h.work.do["gate"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			err := host.Started(ctx, engine.Process{})
			<-gate
			return runner.Result{State: engine.Succeeded}, err
		}
		_, err := h.exec.StartJob(t.Context(), h.refs["gate"].ID, nil, nil, "owner")
		must(t, err)
		var runs []engine.ID
		start := func(name string, priority int, pick *engine.Selection) {
			ref, ok := h.refs[name]
			if !ok {
				ref = h.jobIn(name, engine.JobBody{MaxRuns: 9, Lane: engine.Lane{Priority: priority}})
			}
			run, err := h.exec.StartJob(t.Context(), ref.ID, nil, pick, "owner")
			must(t, err)
			runs = append(runs, run.ID)
		}
		start("backfill", 0, &engine.Selection{Pattern: "*"})
		start("low", -5, nil)
		start("one", 0, nil)
		start("high", 7, nil)
		start("two", 0, nil)
		close(gate)
		for _, id := range runs {
			h.ends(id)
		}

		h.work.mu.Lock()
		defer h.work.mu.Unlock()
		if got := strings.Join(h.work.ran, " "); got != "gate.1.1 high.1.1 one.1.1 two.1.1 low.1.1 backfill.1.1" {
			t.Errorf("they ran as %s", got)
		}
	})
}

// TestOfJobsThatBecomeReadyAtOnceTheHighestPriorityStarts, wherever it stands in
// the drawing.
func TestOfJobsThatBecomeReadyAtOnceTheHighestPriorityStarts(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		must(t, h.store.PutPool(t.Context(), "warehouse", 1, "owner", time.Now()))
		must(t, h.exec.PoolsChanged(t.Context()))
		for name, priority := range map[string]int{"low": -5, "one": 0, "two": 0, "high": 7} {
			h.jobIn(name, engine.JobBody{Lane: engine.Lane{Pool: "warehouse", Priority: priority}})
		}

		run, err := h.exec.StartWorkflow(t.Context(), h.draw("start -> low one two high"), nil, "owner")
		must(t, err)
		h.ends(run.ID)

		h.work.mu.Lock()
		defer h.work.mu.Unlock()
		if got := strings.Join(h.work.ran, " "); got != "high.1.1 one.1.1 two.1.1 low.1.1" {
			t.Errorf("they ran as %s", got)
		}
	})
}

// TestARunThatTakesTooLongIsEnded: its nodes stop, the run has failed and says
// why.
func TestARunThatTakesTooLongIsEnded(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["a"] = untilStopped
		id := h.draw("start -> a", "a -> b on succeeded")
		w, err := h.store.Workflow(t.Context(), id)
		must(t, err)
		w.Timeout = 90
		limited, err := h.store.CreateWorkflow(t.Context(), "limited", w.WorkflowBody, "owner", time.Now())
		must(t, err)
		_, err = h.store.PublishWorkflow(t.Context(), limited, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)
		run, err := h.exec.StartWorkflow(t.Context(), limited, nil, "owner")
		must(t, err)
		h.await(run.ID, "a runs", func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == "a.1.1 running" })

		h.ahead.Store(int64(2 * time.Hour))
		_, err = h.exec.StartWorkflow(t.Context(), limited, nil, "owner") // and the timekeeper looks
		must(t, err)
		run, nodes := h.ends(run.ID)

		if run.Outcome != engine.RunFailed || !strings.Contains(run.Error, "longer than its limit of 1h30m0s") || said(nodes) != "a.1.1 stopped, b.1.1 skipped" {
			t.Errorf("the run ended %s (%s) with %s", run.Outcome, run.Error, said(nodes))
		}
	})
}

// TestAnActionOverridesTheRetriesOfItsJob.
func TestAnActionOverridesTheRetriesOfItsJob(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.job("a", 5)
		h.work.do["a"] = fail
		once := 1
		body := engine.WorkflowBody{Triggers: []engine.Trigger{{
			ID: engine.NewID(time.Now()), Name: "start", Type: engine.OnDemand, Actions: []engine.Action{{Ref: h.refs["a"], Retries: &once}},
		}}}
		id, err := h.store.CreateWorkflow(t.Context(), "w", body, "owner", time.Now())
		must(t, err)
		_, err = h.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)

		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		_, nodes := h.ends(run.ID)

		if got := said(nodes); got != "a.1.1 failed, a.1.2 failed" {
			t.Errorf("nodes = %s, want one retry", got)
		}
	})
}

// TestOfSeveralServersOneTellsWhatANodeWaitsForAnew: also of what is full on another.
func TestOfSeveralServersOneTellsWhatANodeWaitsForAnew(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		must(t, h.store.PutPool(t.Context(), "gate", 1, "owner", time.Now()))
		must(t, h.exec.PoolsChanged(t.Context()))
		other := h.another(2, 0)
		job := h.jobIn("a", engine.JobBody{Lane: engine.Lane{Pool: "gate"}})
		beside := h.jobIn("b", engine.JobBody{Lane: engine.Lane{Pool: "gate"}})
		for _, w := range []*work{h.work, other.work} {
			w.do["a"], w.do["b"] = untilStopped, untilStopped
		}
		one, err := other.exec.StartJob(t.Context(), job.ID, nil, nil, "owner")
		must(t, err)
		h.await(one.ID, "the first runs", func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == "a.1.1 running" })
		two, err := h.exec.StartJob(t.Context(), job.ID, nil, nil, "owner")
		must(t, err)
		waits := func(why string) func(engine.Run, []engine.NodeRun) bool {
			return func(_ engine.Run, nodes []engine.NodeRun) bool { return len(nodes) == 1 && nodes[0].Why == why }
		}
		h.await(two.ID, "it waits for the first", waits("waits until another run of a has ended"))

		must(t, h.store.PutPool(t.Context(), "gate", 0, "owner", time.Now()))
		must(t, h.exec.PoolsChanged(t.Context()))
		must(t, other.exec.PoolsChanged(t.Context()))
		_, err = h.exec.Stop(t.Context(), one.ID, "owner")
		must(t, err)
		h.ends(one.ID)
		h.await(two.ID, "it waits for the pool", waits("waits for the pool gate, which has no places"))

		must(t, h.store.PutPool(t.Context(), "gate", 1, "owner", time.Now()))
		must(t, h.exec.PoolsChanged(t.Context()))
		must(t, other.exec.PoolsChanged(t.Context()))
		h.await(two.ID, "it runs", func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == "a.1.1 running" })
		three, err := h.exec.StartJob(t.Context(), beside.ID, nil, nil, "owner")
		must(t, err)
		h.await(three.ID, "it waits for a place", waits("waits for a place in the pool gate"))
		for _, run := range []engine.Run{two, three} {
			_, err = h.exec.Stop(t.Context(), run.ID, "owner")
			must(t, err)
			h.ends(run.ID)
		}
		events, err := h.store.Events(t.Context(), two.ID, 0)
		must(t, err)
		told := 0
		for _, e := range events {
			if e.State == string(engine.Ready) {
				told++
			}
		}
		if told > 4 { // as it became ready, of the run, of the pool, and of another server's guess
			t.Errorf("it was told %d times what it waits for, want when that changes: %+v", told, events)
		}
	})
}
