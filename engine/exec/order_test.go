package exec_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// over starts a server over another store, which is that of h with a trouble.
func (h *house) over(store exec.Store) *exec.Exec {
	e := exec.New(exec.Config{
		Store: store, Runners: map[engine.Kind]runner.Runner{engine.KindJob: h.work}, Processes: dead{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Dir: h.t.TempDir(), Slots: 1, Committed: func(flow.Writes) { h.tell() },
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	h.t.Cleanup(func() { cancel(); must(h.t, <-done) })
	return e
}

func (h *house) runsOf(object engine.ID) []engine.Run {
	h.t.Helper()
	runs, err := h.store.Runs(h.t.Context(), engine.RunFilter{Object: object})
	must(h.t, err)
	return runs
}

// TestA20AStartThatIsAskedTwiceWithOneToken is one run, also of a workflow that
// may have no second one and where both ask at once; another token, or none, is
// another run.
func TestA20AStartThatIsAskedTwiceWithOneToken(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["a"] = untilStopped
		id := h.job("a", 0).ID
		order := exec.Order{Kind: engine.RunJob, Object: id, Properties: map[string]string{"day": "2026-03-01"}, By: "owner", Token: "day 1"}

		first, err := h.exec.Start(t.Context(), order)
		must(t, err)
		again, err := h.exec.Start(t.Context(), order)
		must(t, err)

		if again.ID != first.ID || len(h.runsOf(id)) != 1 {
			t.Errorf("asked again: run %s beside %s, and there are %d, want one", again.ID, first.ID, len(h.runsOf(id)))
		}
		other := order
		other.Properties = map[string]string{"day": "2026-03-02"}
		if _, err := h.exec.Start(t.Context(), other); engine.CodeOf(err) != engine.Invalid || !strings.Contains(err.Error(), string(first.ID)) {
			t.Errorf("the same token for other properties: %v, want a refusal that names the run", err)
		}
		other.Token = "day 2"
		second, err := h.exec.Start(t.Context(), other)
		must(t, err)
		order.Token = ""
		third, err := h.exec.Start(t.Context(), order)
		must(t, err)
		if second.ID == first.ID || third.ID == first.ID || len(h.runsOf(id)) != 3 {
			t.Errorf("another token and none: runs %s and %s, %d in all, want three", second.ID, third.ID, len(h.runsOf(id)))
		}
	})
}

// TestA20ManyWhoAskAtOnceWithOneToken get one run between them.
func TestA20ManyWhoAskAtOnceWithOneToken(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		servers := []*exec.Exec{h.exec}
		if h.store.Shared() {
			servers = append(servers, h.another(4, 0).exec)
		}
		id := h.draw("start -> a")
		w, err := h.store.Workflow(t.Context(), id)
		must(t, err)
		order := exec.Order{Kind: engine.RunWorkflow, Object: w.ID, By: "owner", Token: "now"}
		answers := make(chan engine.ID, 16)
		var all sync.WaitGroup
		for i := range cap(answers) {
			all.Go(func() {
				run, err := servers[i%len(servers)].Start(context.Background(), order)
				if err != nil {
					t.Error(err)
				}
				answers <- run.ID
			})
		}
		all.Wait()
		close(answers)

		runs := h.runsOf(id)
		if len(runs) != 1 {
			t.Fatalf("%d runs began, want one", len(runs))
		}
		for got := range answers {
			if got != runs[0].ID {
				t.Errorf("somebody was told of run %s, want %s", got, runs[0].ID)
			}
		}
	})
}

// TestA20ATokenOutlivesItsLimitAndItsWindowEnds: at the limit of the workflow the
// answer is the run that there is, and a token of long ago is a new one.
func TestA20ATokenOutlivesItsLimitAndItsWindowEnds(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["a"] = untilStopped
		trigger := engine.Trigger{ID: engine.NewID(time.Now()), Name: "go", Type: engine.OnDemand, Actions: []engine.Action{{Ref: h.job("a", 0)}}}
		id, err := h.store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{MaxRuns: 1, Triggers: []engine.Trigger{trigger}}, "owner", time.Now())
		must(t, err)
		_, err = h.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)
		order := exec.Order{Kind: engine.RunWorkflow, Object: id, By: "owner", Token: "once"}
		first, err := h.exec.Start(t.Context(), order)
		must(t, err)

		again, err := h.exec.Start(t.Context(), order)
		must(t, err)
		if again.ID != first.ID {
			t.Errorf("at the limit the answer is run %s, want %s", again.ID, first.ID)
		}
		order.Token = ""
		if _, err := h.exec.Start(t.Context(), order); engine.CodeOf(err) != engine.LimitHit {
			t.Errorf("without a token at the limit: %v, want the limit", err)
		}
		_, err = h.exec.Stop(t.Context(), first.ID, "owner")
		must(t, err)
		h.ends(first.ID)
		h.ahead.Store(int64(exec.TokenWindow + time.Minute))
		order.Token = "once"
		next, err := h.exec.Start(t.Context(), order)
		must(t, err)
		if next.ID == first.ID || len(h.runsOf(id)) != 2 {
			t.Errorf("after the window: run %s, and there are %d, want a new one", next.ID, len(h.runsOf(id)))
		}
		n, err := h.store.PruneTokens(t.Context(), time.Now().Add(2*exec.TokenWindow))
		if n != 1 || err != nil {
			t.Errorf("%d tokens were forgotten (%v), want one", n, err)
		}
	})
}

// TestA20AStartWhoseWriteIsLost leaves its token free, and one whose answer is
// lost has used it.
func TestA20AStartWhoseWriteIsLost(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.stop()
		store := &unreliable{Store: h.store}
		e := h.over(store)
		order := exec.Order{Kind: engine.RunJob, Object: h.job("a", 0).ID, By: "owner", Token: "x"}

		store.before = true
		_, err := e.Start(t.Context(), order)
		if runs := len(h.runsOf(order.Object)); err == nil || runs != 0 {
			t.Errorf("lost before it was written: %v and %d runs, want none", err, runs)
		}
		store.after = true
		run, err := e.Start(t.Context(), order)
		if runs := h.runsOf(order.Object); err != nil || len(runs) != 1 || runs[0].ID != run.ID {
			t.Errorf("lost after it was written: run %s, %v, and there are %d, want that one", run.ID, err, len(runs))
		}
		again, err := e.Start(t.Context(), order)
		if err != nil || again.ID != run.ID {
			t.Errorf("asked again: run %s, %v, want %s", again.ID, err, run.ID)
		}
	})
}

func TestATokenIsOneLineOfText(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.SQLite(t))
	for _, bad := range []string{strings.Repeat("x", 256), "a\nb", "a\x00", "\xff"} {
		_, err := h.exec.Start(t.Context(), exec.Order{Kind: engine.RunJob, Object: h.job("a", 0).ID, By: "owner", Token: bad})
		if engine.CodeOf(err) != engine.Invalid || len(h.runsOf(h.job("a", 0).ID)) != 0 {
			t.Errorf("token %.20q: %v, want a refusal", bad, err)
		}
	}
}

// TestA14PropertiesThatAreChangedAfterTheStart are told to what starts from then
// on; each attempt keeps, and can say, what it was told.
func TestA14PropertiesThatAreChangedAfterTheStart(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		seen, changed := make(chan string, 4), make(chan struct{})
		look := func(a runner.Attempt) {
			seen <- fmt.Sprint(a.Node.Name, ".", a.Node.Attempt, " ", a.Run.Properties["messages"])
		}
		h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			look(a)
			if a.Node.Attempt == 1 {
				<-changed
				return fail(ctx, a, host)
			}
			return succeed(ctx, a, host)
		}
		h.work.do["b"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			look(a)
			return succeed(ctx, a, host)
		}
		h.job("a", 1)
		h.properties = map[string]string{"messages": "none"}
		id := h.draw("start -> a", "a -> b on succeeded")
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		if got := <-seen; got != "a.1 none" {
			t.Errorf("the first attempt saw %q", got)
		}

		_, err = h.exec.SetProperties(t.Context(), run.ID, map[string]string{"messages": "[1, 2]"}, "owner")
		must(t, err)
		close(changed)
		after, nodes := h.ends(run.ID)

		if got := []string{<-seen, <-seen}; got[0] != "a.2 [1, 2]" || got[1] != "b.1 [1, 2]" {
			t.Errorf("after the change they saw %q", got)
		}
		for _, n := range nodes {
			told, err := h.store.PropertiesOf(t.Context(), n.Key())
			must(t, err)
			want := "[1, 2]"
			if n.Name == "a" && n.Attempt == 1 {
				want = "none"
			}
			if told["messages"] != want {
				t.Errorf("%s.%d is said to have been told %q, want %q", n.Name, n.Attempt, told["messages"], want)
			}
		}
		sets, err := h.store.PropertySets(t.Context(), run.ID)
		must(t, err)
		if len(sets) != 2 || sets[0].Values["messages"] != "none" || sets[1].By != "owner" || !maps.Equal(sets[1].Values, after.Properties) {
			t.Errorf("the run keeps %+v", sets)
		}
		if _, err := h.exec.SetProperties(t.Context(), run.ID, map[string]string{"messages": "late"}, "owner"); engine.CodeOf(err) != engine.Conflict {
			t.Errorf("a change after the end: %v, want a conflict", err)
		}
	})
}

// TestA14AnAttemptThatIsTakenUpKeepsWhatItWasTold, by a server that starts after
// the change.
func TestA14AnAttemptThatIsTakenUpKeepsWhatItWasTold(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		told := make(chan string, 2)
		h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			told <- a.Run.Properties["messages"]
			return untilStopped(ctx, a, host)
		}
		h.properties = map[string]string{"messages": "none"}
		id := h.draw("start -> a")
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		<-told
		_, err = h.exec.SetProperties(t.Context(), run.ID, map[string]string{"messages": "new"}, "owner")
		must(t, err)
		h.await(run.ID, "a works", func(_ engine.Run, nodes []engine.NodeRun) bool { return nodes[0].State == engine.Running })

		h.stop()
		h.serve()

		if got := <-told; got != "none" {
			t.Errorf("the attempt is told %q when it is taken up, want what it was told before", got)
		}
		_, err = h.exec.Stop(t.Context(), run.ID, "owner")
		must(t, err)
		h.ends(run.ID)
	})
}

func TestPropertiesThatCannotBeChanged(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.SQLite(t))
	h.work.do["a"] = untilStopped
	h.properties = map[string]string{"day": "1"}
	id := h.draw("start -> a")
	run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
	must(t, err)
	alone, err := h.exec.StartJob(t.Context(), h.job("b", 0).ID, nil, nil, "owner")
	must(t, err)
	tests := map[string]struct {
		run    engine.ID
		change map[string]string
		says   string
	}{
		"nobody knows it":  {run.ID, map[string]string{"dya": "2"}, "It declares: day"},
		"nothing to do":    {run.ID, nil, "at least one"},
		"too long":         {run.ID, map[string]string{"day": strings.Repeat("x", engine.MaxProperties)}, "bytes long"},
		"of a job alone":   {alone.ID, map[string]string{"day": "2"}, "alone"},
		"there is no such": {engine.NewID(time.Now()), map[string]string{"day": "2"}, "no run"},
	}
	for name, tt := range tests {
		_, err := h.exec.SetProperties(t.Context(), tt.run, tt.change, "owner")
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want an error that says %q", name, err, tt.says)
		}
	}
	after, err := h.store.Run(t.Context(), run.ID)
	if sets, setsErr := h.store.PropertySets(t.Context(), run.ID); after.Properties["day"] != "1" || len(sets) != 0 || errors.Join(err, setsErr) != nil {
		t.Errorf("refused changes left %v and %v", after.Properties, sets)
	}
}

// TestA20GoingOnFromARunTwiceWithOneToken is one run as well.
func TestA20GoingOnFromARunTwiceWithOneToken(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["a"] = fail
		id := h.draw("start -> a")
		old, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.ends(old.ID)
		how := exec.Resume{Nodes: []engine.Ref{h.refs["a"]}, Token: "again"}

		first, err := h.exec.Resume(t.Context(), old.ID, how, "owner")
		must(t, err)
		second, err := h.exec.Resume(t.Context(), old.ID, how, "owner")
		must(t, err)

		if runs := h.runsOf(id); first.ID != second.ID || first.ID == old.ID || len(runs) != 2 {
			t.Errorf("runs %s and %s went on from %s, and there are %d in all, want one that goes on", first.ID, second.ID, old.ID, len(runs))
		}
		how = exec.Resume{Marks: map[engine.Ref]engine.State{h.refs["a"]: engine.Succeeded}, Token: "again"}
		if _, err := h.exec.Resume(t.Context(), old.ID, how, "owner"); engine.CodeOf(err) != engine.Invalid {
			t.Errorf("the same token for marks instead: %v, want a refusal", err)
		}
	})
}

// TestA14AChangeByAnotherServerIsToldToo: what a server remembers of a run does
// not outlive it.
func TestA14AChangeByAnotherServerIsToldToo(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		other := h.another(4, 0)
		began, changed, told := make(chan struct{}), make(chan struct{}), make(chan string, 8)
		first := func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			if err := host.Started(ctx, engine.Process{}); err != nil {
				return runner.Result{}, err
			}
			close(began)
			<-changed
			return runner.Result{State: engine.Succeeded}, nil
		}
		next := func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			told <- a.Run.Properties["messages"]
			return succeed(ctx, a, host)
		}
		for _, w := range []*work{h.work, other.work} {
			w.mu.Lock()
			w.do["a"] = first
			for _, name := range []string{"b", "c", "d"} {
				w.do[name] = next
			}
			w.mu.Unlock()
		}
		h.properties = map[string]string{"messages": "none"}
		id := h.draw("start -> a", "a -> b c on succeeded", "b c -> d on succeeded")
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		<-began

		_, err = other.exec.SetProperties(t.Context(), run.ID, map[string]string{"messages": "new"}, "owner")
		must(t, err)
		close(changed)
		h.ends(run.ID)

		for range 3 {
			if got := <-told; got != "new" {
				t.Errorf("a job was told %q after the change, want new", got)
			}
		}
	})
}

// TestAStartFiresTheTriggerThatWasChosen, and none that is not a start of the
// workflow; a token is for that one alone.
func TestAStartFiresTheTriggerThatWasChosen(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a", "start -> b", "a -> c on succeeded")
		w, err := h.store.Workflow(t.Context(), id)
		must(t, err)
		order := exec.Order{Kind: engine.RunWorkflow, Object: id, Trigger: w.Triggers[1].ID, By: "owner", Token: "once"}

		chosen, err := h.exec.Start(t.Context(), order)
		must(t, err)
		_, nodes := h.ends(chosen.ID)

		var ran []string
		for _, n := range nodes {
			if n.State == engine.Succeeded {
				ran = append(ran, n.Name)
			}
		}
		if chosen.Trigger != w.Triggers[1].ID || fmt.Sprint(ran) != "[b]" {
			t.Errorf("the run began by %s and ran %v, want b by the second trigger", chosen.Trigger, ran)
		}
		order.Trigger = ""
		if _, err := h.exec.Start(t.Context(), order); engine.CodeOf(err) != engine.Invalid {
			t.Errorf("the same token for another trigger: %v, want a refusal", err)
		}
		order.Token, order.Trigger = "", w.Triggers[2].ID
		if _, err := h.exec.Start(t.Context(), order); engine.CodeOf(err) != engine.NotFound || !strings.Contains(err.Error(), "Its starts are t0, t1.") {
			t.Errorf("a trigger that is no start: %v, want the starts", err)
		}
	})
}
