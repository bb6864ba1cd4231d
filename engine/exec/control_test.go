package exec_test

import (
	"context"
	"slices"
	"testing"

	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// TestARunGoesOnFromAnother: nodes that succeeded are copied, the others and
// what comes after them are done again.
func TestARunGoesOnFromAnother(t *testing.T) {
	t.Parallel()
	diamond := []string{"start -> a", "a -> b c on succeeded", "b c -> d on succeeded", "d -> e on succeeded"}
	tests := map[string]struct {
		graph []string
		fail  []string // the first time
		again []string
		marks map[string]engine.State
		ran   []string // by the second run
		want  string
	}{
		"from what failed": {
			graph: diamond, fail: []string{"c"}, ran: []string{"c.1.1", "d.1.1", "e.1.1"},
			want: "a.1.1 succeeded, b.1.1 succeeded, c.1.1 succeeded, d.1.1 succeeded, e.1.1 succeeded",
		},
		"from a chosen node": {
			graph: diamond, again: []string{"d"}, ran: []string{"d.1.1", "e.1.1"},
			want: "a.1.1 succeeded, b.1.1 succeeded, c.1.1 succeeded, d.1.1 succeeded, e.1.1 succeeded",
		},
		"one that comes after another is left to the triggers": {
			graph: diamond, again: []string{"a", "d"}, ran: []string{"a.1.1", "b.1.1", "c.1.1", "d.1.1", "e.1.1"},
			want: "a.1.1 succeeded, b.1.1 succeeded, c.1.1 succeeded, d.1.1 succeeded, e.1.1 succeeded",
		},
		"with a node marked succeeded": {
			graph: diamond, fail: []string{"c"}, marks: map[string]engine.State{"c": engine.Succeeded}, ran: []string{"d.1.1", "e.1.1"},
			want: "a.1.1 succeeded, b.1.1 succeeded, c.1.1 succeeded, d.1.1 succeeded, e.1.1 succeeded",
		},
		"with a node marked failed": {
			graph: []string{"start -> a", "a -> b on succeeded", "a -> alarm on failed"},
			marks: map[string]engine.State{"a": engine.Failed}, ran: []string{"alarm.1.1"},
			want: "a.1.1 failed, alarm.1.1 succeeded, b.1.1 skipped",
		},
		"a branch that was not taken may be taken now": {
			graph: []string{"start -> a", "a -> b on succeeded", "a -> alarm on failed"}, fail: []string{"a"}, ran: []string{"a.1.1", "b.1.1"},
			want: "a.1.1 succeeded, alarm.1.1 skipped, b.1.1 succeeded",
		},
		"an any gate that a kept node meets does not fire again": {
			graph: []string{"start -> a b", "any: a b -> c on succeeded"}, fail: []string{"b"}, ran: []string{"b.1.1"},
			want: "a.1.1 succeeded, b.1.1 succeeded, c.1.1 succeeded",
		},
		"an any gate that nothing meets which is kept waits for what is done again": {
			graph: []string{"start -> a b", "any: a b -> c on succeeded"}, fail: []string{"b"}, again: []string{"a"}, ran: []string{"a.1.1", "c.1.1"},
			want: "a.1.1 succeeded, b.1.1 failed, c.1.1 succeeded",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, h *house) {
				id := h.draw(tt.graph...)
				for _, name := range tt.fail {
					h.work.do[name] = fail
				}
				first, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
				must(t, err)
				h.ends(first.ID)
				h.work.mu.Lock()
				clear(h.work.do)
				h.work.ran = nil
				h.work.mu.Unlock()
				how := exec.Resume{Marks: map[engine.Ref]engine.State{}, Why: "done by hand"}
				for _, name := range tt.again {
					how.Nodes = append(how.Nodes, h.refs[name])
				}
				for name, state := range tt.marks {
					how.Marks[h.refs[name]] = state
				}

				second, err := h.exec.Resume(t.Context(), first.ID, how, "owner")

				must(t, err)
				run, nodes := h.ends(second.ID)
				if got := said(nodes); got != tt.want || run.Previous != first.ID {
					t.Errorf("got %s after %s, want %s after %s", got, run.Previous, tt.want, first.ID)
				}
				assertRan(t, h.work, tt.ran)
				for _, n := range nodes {
					if mark, ok := tt.marks[n.Name]; ok && n.Why != "marked "+string(mark)+" by owner: done by hand" {
						t.Errorf("%s says %q, want who marked it and why", n.Name, n.Why)
					}
					if done := contains(tt.ran, n.Name); n.State != engine.Skipped && (n.Copied == "") != done {
						t.Errorf("%s says it was copied from %q", n.Name, n.Copied)
					}
				}
			})
		})
	}
}

func contains(ran []string, name string) bool {
	return slices.Contains(ran, name+".1.1")
}

func assertRan(t *testing.T, w *work, want []string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	got := map[string]bool{}
	for _, r := range w.ran {
		got[r] = true
	}
	for _, r := range want {
		if !got[r] {
			t.Errorf("%s did not run; ran %v", r, w.ran)
		}
	}
	if len(w.ran) != len(want) {
		t.Errorf("ran %v, want %v", w.ran, want)
	}
}

func TestWhatARunCannotGoOnWith(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a", "a -> b on failed")
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		h.ends(run.ID)
		for name, tt := range map[string]struct {
			run  engine.ID
			how  exec.Resume
			code engine.Code
		}{
			"nothing failed": {run.ID, exec.Resume{}, engine.Invalid},
			"never ran":      {run.ID, exec.Resume{Nodes: []engine.Ref{h.refs["b"]}}, engine.Invalid},
			"a stranger":     {run.ID, exec.Resume{Nodes: []engine.Ref{h.job("z", 0)}}, engine.Invalid},
			"a wrong mark":   {run.ID, exec.Resume{Marks: map[engine.Ref]engine.State{h.refs["a"]: engine.Running}}, engine.Invalid},
			"no such run":    {"01", exec.Resume{}, engine.NotFound},
		} {
			if _, err := h.exec.Resume(t.Context(), tt.run, tt.how, "owner"); engine.CodeOf(err) != tt.code {
				t.Errorf("%s: %v, want %s", name, err, tt.code)
			}
		}
		h.work.mu.Lock()
		h.work.do["a"] = untilStopped
		h.work.mu.Unlock()
		open, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		if _, err := h.exec.Resume(t.Context(), open.ID, exec.Resume{}, "owner"); engine.CodeOf(err) != engine.Conflict {
			t.Errorf("a run under way: %v, want a conflict", err)
		}
	})
}

// TestARunGoesOnWithOtherProperties where they are declared, and with those of the
// earlier run beside them; a token is for these alone.
func TestARunGoesOnWithOtherProperties(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.properties = map[string]string{"Day": "1", "Region": "eu"}
		h.work.do["a"] = fail
		first, err := h.exec.StartWorkflow(t.Context(), h.draw("start -> a"), nil, "owner")
		must(t, err)
		h.ends(first.ID)
		how := exec.Resume{Properties: map[string]string{"Day": "} due {"}, Token: "once"}

		next, err := h.exec.Resume(t.Context(), first.ID, how, "owner")
		must(t, err)
		again, err := h.exec.Resume(t.Context(), first.ID, how, "owner")
		must(t, err)

		if again.ID != next.ID || next.Properties["Day"] != "} due {" || next.Properties["Region"] != "eu" {
			t.Errorf("it goes on with %v, asked again %t, want the Day that was given to the letter, and the Region of before", next.Properties, again.ID == next.ID)
		}
		how.Properties = map[string]string{"Day": "2"}
		for about, change := range map[string]map[string]string{"another day by the same token": how.Properties, "a stranger": {"Dya": "2"}, "the engine's own": {"aws:eventIds": "[]"}} {
			other := how
			if other.Properties = change; about != "another day by the same token" {
				other.Token = ""
			}
			if _, err := h.exec.Resume(t.Context(), first.ID, other, "owner"); engine.CodeOf(err) != engine.Invalid {
				t.Errorf("%s: %v, want it refused", about, err)
			}
		}
	})
}

// TestAPausedRunStartsNothing, also after the server has gone and come back.
func TestAPausedRunStartsNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.draw("start -> a", "a -> b on succeeded")
		finish := make(chan struct{})
		h.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			err := host.Started(ctx, engine.Process{})
			select {
			case <-finish:
			case <-ctx.Done():
			}
			return runner.Result{State: engine.Succeeded}, err
		}
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		_, err = h.exec.Pause(t.Context(), run.ID, "owner")
		must(t, err)
		close(finish)
		_, nodes := h.await(run.ID, "b waits", func(_ engine.Run, nodes []engine.NodeRun) bool {
			return said(nodes) == "a.1.1 succeeded, b.1.1 ready"
		})
		for _, n := range nodes {
			if n.Name == "b" && n.Why != "waits until its run goes on" {
				t.Errorf("b says it %s", n.Why)
			}
		}
		if _, err := h.exec.Pause(t.Context(), run.ID, "owner"); engine.CodeOf(err) != engine.Conflict {
			t.Errorf("pausing twice: %v, want a conflict", err)
		}
		h.stop()
		h.serve()

		_, err = h.exec.GoOn(t.Context(), run.ID, "owner")

		must(t, err)
		ended, nodes := h.ends(run.ID)
		if got := said(nodes); got != "a.1.1 succeeded, b.1.1 succeeded" || ended.Outcome != engine.RunSucceeded {
			t.Errorf("got %s and %s", got, ended.Outcome)
		}
		if _, err := h.exec.GoOn(t.Context(), run.ID, "owner"); engine.CodeOf(err) != engine.Conflict {
			t.Errorf("going on after the end: %v, want a conflict", err)
		}
	})
}

// TestALateResultIsKeptAndNotCounted: an attempt ends after its node was taken
// over.
func TestALateResultIsKeptAndNotCounted(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		gone, finish := make(chan struct{}), make(chan struct{})
		h.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			err := host.Started(ctx, engine.Process{})
			close(gone)
			<-finish
			return runner.Result{State: engine.Failed, Error: "It broke."}, err
		}
		h.work.do["b"] = untilStopped
		run, err := h.exec.StartWorkflow(t.Context(), h.draw("start -> a b"), nil, "owner")
		must(t, err)
		<-gone
		for _, w := range h.store.Commit(t.Context(), []flow.Step{{Run: run.ID, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
			node := st.NodeRuns(h.refs["a"])[0]
			node.Fence++ // as one that takes it over does
			return flow.Writes{Run: run, Nodes: []engine.NodeRun{node}}, nil
		}}}) {
			must(t, w.Err)
		}
		close(finish)

		h.await(run.ID, "the late result is kept", func(r engine.Run, nodes []engine.NodeRun) bool {
			events, err := h.store.Events(t.Context(), r.ID, 0)
			must(t, err)
			late := slices.ContainsFunc(events, func(e engine.Event) bool { return e.Kind == "late" && e.State == "failed" })
			return late && said(nodes) == "a.1.1 running, b.1.1 running"
		})
	})
}
