package app

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dogear/engine"
	"dogear/engine/flow"
)

// TestD17TheLatenessOfASchedulesWorkIsAFigure, that of its run another; events
// are due at no time, and what goes on from an earlier run is not late.
func TestD17TheLatenessOfASchedulesWorkIsAFigure(t *testing.T) {
	t.Parallel()
	m := newMetrics(prometheus.NewRegistry())
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	run := engine.Run{ID: engine.NewID(noon), Trigger: "t", Due: noon, Started: noon.Add(time.Second)}
	works := func(run engine.Run, by engine.ID, attempt int, after time.Duration) {
		m.count(flow.Writes{Run: run, Nodes: []engine.NodeRun{{By: by, Attempt: attempt, State: engine.Running, Started: noon.Add(after)}}})
	}
	again := run
	again.Previous = "before"
	claims := func(start int, after time.Duration, held bool) { // it is claimed, and then works
		n := engine.NodeRun{Ref: engine.Ref{Kind: engine.KindJob, ID: "a"}, By: "t", Start: start, Attempt: 1, State: engine.Starting, Held: held}
		m.count(flow.Writes{Run: run, Nodes: []engine.NodeRun{n}})
		n.State, n.Started = engine.Running, noon.Add(after)
		m.count(flow.Writes{Run: run, Nodes: []engine.NodeRun{n}})
	}

	m.count(flow.Writes{Run: run, Fire: &flow.Fire{Trigger: "t", Due: noon}})
	works(run, "t", 1, 42*time.Minute) // its worker was blocked for so long
	claims(1, 30*time.Minute, true)    // a person held it: it is as late as its run
	claims(2, 3*time.Minute, false)
	works(run, "after", 1, time.Hour) // it waits for others, not for its time
	works(run, "t", 2, time.Hour)     // a retry
	works(again, "t", 1, 24*time.Hour)
	m.count(flow.Writes{Run: engine.Run{Started: noon}, Fire: &flow.Fire{Trigger: "e", Events: []string{"a"}}})

	sums := map[string][2]float64{}
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if h := f.GetMetric()[0].GetHistogram(); h != nil {
			sums[f.GetName()] = [2]float64{float64(h.GetSampleCount()), h.GetSampleSum()}
		}
	}
	if got, want := sums["dogear_schedule_lateness_seconds"], [2]float64{1, 1}; got != want {
		t.Errorf("runs: count and seconds = %v, want %v", got, want)
	}
	if got, want := sums["dogear_schedule_start_lateness_seconds"], [2]float64{3, 42*60 + 1 + 3*60}; got != want {
		t.Errorf("work: count and seconds = %v, want %v", got, want)
	}
}
