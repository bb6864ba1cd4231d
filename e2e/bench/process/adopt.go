package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/engine/flow"
)

const (
	orphans    = 50
	adoptLimit = 20 // ms
)

// children is a server of its own with scripts that run; it says so and waits
// to be killed.
func children(ctx context.Context, dir string) error {
	h, err := newHouse(ctx, dir, "", orphans, nil)
	if err != nil {
		return err
	}
	h.serve(ctx)
	up := filepath.Join(dir, "up")
	if err := os.Mkdir(up, 0o700); err != nil {
		return err
	}
	id, err := h.script(ctx, "sleeper", fmt.Sprintf("import os, time\nos.mkdir(os.path.join(%q, os.environ['DOGEAR_RUN']))\ntime.sleep(600)\n", up), orphans)
	if err != nil {
		return err
	}
	for range orphans {
		if _, err := h.exec.StartJob(ctx, id, nil, nil, "bench"); err != nil {
			return err
		}
	}
	for n := 0; n < orphans; { // what only has begun would take the processor from the next server
		all, err := os.ReadDir(up)
		if err != nil {
			return err
		}
		n = len(all)
		time.Sleep(time.Millisecond)
	}
	fmt.Println("up")
	select {}
}

// adopt measures from an open store to the first and to the last script that is
// found again after its server was killed.
func adopt(ctx context.Context, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	server := exec.CommandContext(ctx, self, "children", dir)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return fmt.Errorf("wait for the server that will be killed: %w", err)
	}
	if err := server.Process.Kill(); err != nil {
		return err
	}
	_ = server.Wait() // killed, as it should be
	found := make(chan engine.NodeRun, orphans)
	h, err := newHouse(ctx, dir, "", orphans, func(w flow.Writes) {
		for i := range w.Nodes {
			if n := w.Nodes[i]; n.State == engine.Running && n.Process.Apart {
				found <- n
			}
		}
	})
	if err != nil {
		return err
	}
	defer h.shims.Close()
	start := time.Now()
	h.serve(ctx)
	runs := map[engine.ID]bool{}
	var first time.Duration
	for len(runs) < orphans {
		runs[(<-found).Run] = true
		if first == 0 {
			first = time.Since(start)
		}
	}
	all := time.Since(start)
	for id := range runs {
		if _, err := h.exec.Stop(ctx, id, "bench"); err != nil {
			return err
		}
	}
	for range runs {
		if run := <-h.ended; run.Outcome != engine.RunStopped {
			return fmt.Errorf("a script that was found again and stopped ended %s", run.Outcome)
		}
	}
	measure.Figure{Name: "g7", Ours: float64(first.Microseconds()) / 1e3, Limit: adoptLimit, Unit: "ms", Note: "the first of 50 scripts found again after kill -9 of their server, from the open store"}.Print()
	measure.Figure{Name: "g7_all", Ours: float64(all.Microseconds()) / 1e3, Limit: 100, Unit: "ms", Note: "the last of them"}.Print()
	return nil
}
