package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/runner/shim"
)

const (
	stopRounds = 30
	stopLimit  = 20 // ms
)

// stop measures from the word that stops a run to the end of the last process
// of its script, which obeys.
func stop(ctx context.Context, dir string) error {
	running := make(chan engine.NodeRun, 16)
	h, err := newHouse(ctx, dir, "", 0, func(w flow.Writes) {
		for i := range w.Nodes {
			if w.Nodes[i].State == engine.Running {
				running <- w.Nodes[i]
			}
		}
	})
	if err != nil {
		return err
	}
	defer h.shims.Close()
	h.serve(ctx)
	id, err := h.script(ctx, "sleeper", "import subprocess\nsubprocess.run(['sleep', '600'])\n", 1)
	if err != nil {
		return err
	}
	var dead, written []time.Duration
	for range stopRounds {
		run, err := h.exec.StartJob(ctx, id, nil, nil, "bench")
		if err != nil {
			return err
		}
		node := <-running
		for marked(run.ID) < 2 { // the script and what it has started
			time.Sleep(time.Millisecond)
		}
		start := time.Now()
		if _, err := h.exec.Stop(ctx, run.ID, "bench"); err != nil {
			return err
		}
		for (shim.Processes{}).Alive(node.Process) || marked(run.ID) > 0 {
			time.Sleep(100 * time.Microsecond)
		}
		dead = append(dead, time.Since(start))
		if ended := <-h.ended; ended.Outcome != engine.RunStopped {
			return fmt.Errorf("a run that was stopped ended %s", ended.Outcome)
		}
		written = append(written, time.Since(start))
	}
	measure.Figure{Name: "g10", Ours: measure.Quantile(dead, 0.95) / 1e3, Limit: stopLimit, Unit: "ms", Note: "from the word to the end of the last process of a script that obeys, p95 of 30"}.Print()
	measure.Figure{Name: "g10_written", Ours: measure.Quantile(written, 0.95) / 1e3, Unit: "ms", Note: "the same, to the commit of the end of the run"}.Print()
	return nil
}

// marked counts the processes of the scripts of a run.
func marked(run engine.ID) (n int) {
	for _, p := range (shim.Processes{}).Marked() {
		if strings.HasPrefix(p.Marker, string(run)) {
			n++
		}
	}
	return n
}
