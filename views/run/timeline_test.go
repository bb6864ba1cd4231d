package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// after is so many seconds into the run; 0 is no time.
func after(seconds int) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return noon.Add(time.Duration(seconds) * time.Second)
}

// timeline is a run that ended 100 s after noon: "load" waits for "read" and
// "check" to succeed.
func timeline(nodes ...engine.NodeRun) View {
	job := func(name string) engine.Ref { return engine.Ref{Kind: engine.KindJob, ID: engine.ID(name)} }
	v := View{Now: after(100), Claims: map[engine.NodeKey]time.Time{}, Nodes: nodes}
	v.Run.Started, v.Run.Ended = noon, after(100)
	v.Run.Body.Triggers = []engine.Trigger{{ID: "both", Type: engine.Conditional, Predicate: engine.Predicate{Conditions: []engine.Condition{
		{Ref: job("read"), State: engine.Succeeded}, {Ref: job("check"), State: engine.Succeeded},
	}}, Actions: []engine.Action{{Ref: job("load")}}}}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		n.Ref, n.Start, n.Attempt = job(n.Name), max(n.Start, 1), max(n.Attempt, 1)
	}
	return v
}

func node(name string, state engine.State, ready, started, ended int) engine.NodeRun {
	return engine.NodeRun{Name: name, State: state, ReadyAt: noon.Add(time.Duration(ready) * time.Second), Started: after(started), Ended: after(ended)}
}

// said is each bar of a timeline: who, from when it waits, works, and to when, in
// per cent of the run.
func said(v View) string {
	var all []string
	for _, s := range v.spans() {
		text := fmt.Sprintf("%s waits %.0f-%.0f", s.name, s.wait, s.left)
		if !s.begun.IsZero() {
			text += fmt.Sprintf(" works to %.0f", s.left+s.width)
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

// TestAWaitOfNoTimeHasNoBar: what is no tenth of a second is not drawn.
func TestAWaitOfNoTimeHasNoBar(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	for name, want := range map[string]struct {
		ready, started int // ms
		bars           int
	}{
		"at once":        {10_000, 10_000, 1},
		"as good as so":  {10_000, 10_049, 1},
		"after a moment": {10_000, 10_050, 2},
	} {
		v := timeline(engine.NodeRun{Name: "read", State: engine.Succeeded, ReadyAt: at(want.ready), Started: at(want.started), Ended: at(30_000)})
		var page strings.Builder
		if err := Timeline(v).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(page.String(), "<i"); got != want.bars {
			t.Errorf("%s: %d bars, want %d", name, got, want.bars)
		}
	}
}

func TestTheTimelineSaysWhatWaitedAndWhatWorked(t *testing.T) {
	t.Parallel()
	v := timeline(
		node("done at once", engine.Succeeded, 10, 0, 12),
		node("never begun", engine.Stopped, 20, 0, 60),
		node("slow to begin", engine.Succeeded, 5, 50, 70),
		node("b waits", engine.Ready, 1, 0, 0),
		node("a waits", engine.Ready, 1, 0, 0),
		node("late", engine.Succeeded, 0, 80, 90),
		node("early", engine.Succeeded, 0, 1, 2),
	)
	v.Claims[v.Nodes[0].Key()] = after(11)
	v.Claims[v.Nodes[2].Key()] = after(30) // 20 s to find its files
	v.Claims[v.Nodes[3].Key()] = after(3)  // by a server that is gone

	got := said(v)

	want := `early waits 0-1 works to 2
done at once waits 10-11 works to 12
slow to begin waits 5-30 works to 70
never begun waits 20-60
late waits 0-80 works to 90
a waits waits 1-100
b waits waits 1-100`
	if got != want {
		t.Errorf("the timeline says\n%s\nwant\n%s", got, want)
	}
}

func TestPagesOfALargeTimelineKeepTheOrder(t *testing.T) {
	t.Parallel()
	var nodes []engine.NodeRun
	for i := range 250 {
		nodes = append(nodes, node(fmt.Sprint(i), engine.Succeeded, 0, 250-i, 300))
	}
	v := timeline(nodes...)
	v.Run.Ended = after(300)

	first, more := v.bars()
	v.Bars = 400
	all, _ := v.bars()

	ordered := slices.IsSortedFunc(all, func(a, b span) int { return a.node.Started.Compare(b.node.Started) })
	if len(first) != barsAtOnce || more != 250-barsAtOnce || len(all) != 250 || !ordered || first[barsAtOnce-1].name != all[barsAtOnce-1].name {
		t.Errorf("%d bars and %d more, then %d, in order: %t", len(first), more, len(all), ordered)
	}
}

func TestTheCriticalPathIsWhatTheEndWaitedFor(t *testing.T) {
	t.Parallel()
	load := node("load", engine.Succeeded, 41, 50, 100)
	load.By = "both"
	retry := node("read", engine.Succeeded, 10, 12, 41)
	retry.Attempt = 2
	tests := map[string]struct {
		nodes []engine.NodeRun
		open  bool
		path  string
		text  string
	}{
		"through a retry, the wait apart": {
			nodes: []engine.NodeRun{node("check", engine.Succeeded, 0, 1, 30), node("read", engine.Failed, 0, 1, 10), retry, load},
			path:  "load 1, read 1, read 2",
			text:  "critical path 1 min 40 s, of which waiting 12 s · 59 % of it in load",
		},
		"without a start of its own": {
			nodes: []engine.NodeRun{node("check", engine.Succeeded, 0, 1, 3), node("read", engine.Succeeded, 0, 0, 41), load},
			path:  "load 1, read 1",
			text:  "critical path 1 min 40 s, of which waiting 50 s · 59 % of it in load",
		},
		"not what ended after it was due": {
			nodes: []engine.NodeRun{node("check", engine.Succeeded, 0, 1, 60), node("read", engine.Succeeded, 0, 1, 41), load},
			path:  "load 1, read 1",
			text:  "critical path 1 min 40 s, of which waiting 10 s · 59 % of it in load",
		},
		"none while it may change": {nodes: []engine.NodeRun{node("check", engine.Succeeded, 0, 1, 3), node("read", engine.Running, 0, 1, 0)}, open: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := timeline(slices.Clone(tt.nodes)...)
			if tt.open {
				v.Run.Ended = time.Time{}
			}

			var path []string
			for key := range v.critical() {
				path = append(path, fmt.Sprintf("%s %d", key.Ref.ID, key.Attempt))
			}
			slices.Sort(path)
			if got := strings.Join(path, ", "); got != tt.path || v.criticalText() != tt.text {
				t.Errorf("path %q, %q; want %q, %q", got, v.criticalText(), tt.path, tt.text)
			}
		})
	}
}
