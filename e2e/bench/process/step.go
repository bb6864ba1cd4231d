package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"dogear/e2e/bench/measure"
	"dogear/engine"
)

const (
	chainLength = 100
	chainRounds = 5
	chainLimit  = 1.6
)

// step measures a run of scripts that do nothing, one after the other, by the
// step: against a commit and the bare start of the same program.
func step(ctx context.Context, dir string) error {
	h, err := newHouse(ctx, dir, "/bin/true", 0, nil)
	if err != nil {
		return err
	}
	defer h.shims.Close()
	h.serve(ctx)
	body := engine.WorkflowBody{}
	var last engine.Ref
	for i := range chainLength {
		id, err := h.script(ctx, fmt.Sprint("n", i), "nothing", 1)
		if err != nil {
			return err
		}
		ref := engine.Ref{Kind: engine.KindJob, ID: id}
		t := engine.Trigger{ID: engine.NewID(time.Now()), Name: fmt.Sprint("t", i), Type: engine.OnDemand, Actions: []engine.Action{{Ref: ref}}}
		if i > 0 {
			t.Type = engine.Conditional
			t.Predicate.Conditions = []engine.Condition{{Ref: last, State: engine.Succeeded}}
		}
		body.Triggers = append(body.Triggers, t)
		last = ref
	}
	id, err := h.store.CreateWorkflow(ctx, "chain", body, "bench", time.Now())
	if err != nil {
		return err
	}
	if _, err := h.store.PublishWorkflow(ctx, id, 0, nil, "bench", time.Now(), func(engine.Trigger) time.Time { return time.Time{} }); err != nil {
		return err
	}
	var rounds measure.Rounds
	for round := range chainRounds + 1 {
		before, err := bare(ctx, dir)
		if err != nil {
			return err
		}
		start := time.Now()
		if _, err := h.exec.StartWorkflow(ctx, id, nil, "bench"); err != nil {
			return err
		}
		if run := <-h.ended; run.Outcome != engine.RunSucceeded {
			return fmt.Errorf("the chain ended %s", run.Outcome)
		}
		ours := float64(time.Since(start).Microseconds()) / chainLength
		after, err := bare(ctx, dir)
		if err != nil {
			return err
		}
		if round > 0 { // the first grows the database's log
			rounds.Add(ours, (before+after)/2)
		}
	}
	rounds.Figure(measure.Figure{
		Name: "g3", Limit: chainLimit, Unit: "us",
		Note: "a step of a chain of 100 scripts that do nothing, with its process, shim and handshake, against one fdatasync and the bare start of /bin/true",
	}).Print()
	return nil
}

// bare is what a step cannot beat: an fdatasync and the start and end of /bin/true,
// as often as the chain is long and by the step, as the chain is measured.
func bare(ctx context.Context, dir string) (float64, error) {
	file, err := os.Create(filepath.Join(dir, "probe"))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	page := make([]byte, 4096)
	start := time.Now()
	for range chainLength {
		if _, err := file.WriteAt(page, 0); err != nil {
			return 0, err
		}
		if err := unix.Fdatasync(int(file.Fd())); err != nil {
			return 0, err
		}
		if err := exec.CommandContext(ctx, "/bin/true").Run(); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(start).Microseconds()) / chainLength, nil
}
