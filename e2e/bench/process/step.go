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
	"dogear/engine/runner/python"
)

const (
	chainLength = 100
	chainRounds = 5
	chainLimit  = 1.6
)

// steps are the chains of scripts that do nothing that are measured, each by the step.
var steps = []struct {
	figure      measure.Figure
	interpreter string // empty is the Python of a server
	bare        func(ctx context.Context, probe *os.File) error
}{
	{
		measure.Figure{
			Name: "g3", Limit: chainLimit, Unit: "us",
			Note: "a step of a chain of 100 scripts that do nothing, with its process, shim and handshake, against one fdatasync and the bare start of /bin/true",
		},
		"/bin/true",
		func(ctx context.Context, probe *os.File) error {
			if _, err := probe.WriteAt(make([]byte, 4096), 0); err != nil {
				return err
			}
			if err := unix.Fdatasync(int(probe.Fd())); err != nil {
				return err
			}
			return exec.CommandContext(ctx, "/bin/true").Run()
		},
	},
	{
		measure.Figure{
			Name: "g13", Unit: "us",
			Note: "a step of a chain of 100 scripts in Python that do nothing, all of it, against the bare start of python3 -c pass",
		},
		"",
		func(ctx context.Context, _ *os.File) error {
			interpreter, err := python.Interpreter("")
			if err != nil {
				return err
			}
			return exec.CommandContext(ctx, interpreter, "-c", "pass").Run()
		},
	},
}

// step measures runs of such scripts, one after the other, by turns with what they
// cannot beat.
func step(ctx context.Context, dir string) error {
	for i := range steps {
		s := &steps[i]
		own := filepath.Join(dir, s.figure.Name)
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}
		h, err := newHouse(ctx, own, s.interpreter, 0, nil)
		if err != nil {
			return err
		}
		h.serve(ctx)
		id, err := h.chain(ctx)
		if err != nil {
			return err
		}
		var rounds measure.Rounds
		for round := range chainRounds + 1 {
			before, err := bare(ctx, own, s.bare)
			if err != nil {
				return err
			}
			ours, err := h.runChain(ctx, id)
			if err != nil {
				return err
			}
			after, err := bare(ctx, own, s.bare)
			if err != nil {
				return err
			}
			if round > 0 { // the first grows the database's log
				rounds.Add(ours, (before+after)/2)
			}
		}
		h.shims.Close()
		rounds.Figure(s.figure).Print()
	}
	return nil
}

// chain makes and publishes a workflow of scripts that do nothing, each of which
// follows the one before.
func (h *house) chain(ctx context.Context) (engine.ID, error) {
	body := engine.WorkflowBody{}
	var last engine.Ref
	for i := range chainLength {
		id, err := h.script(ctx, fmt.Sprint("n", i), "pass", 1)
		if err != nil {
			return "", err
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
		return "", err
	}
	_, err = h.store.PublishWorkflow(ctx, id, 0, nil, "bench", time.Now(), func(engine.Trigger) time.Time { return time.Time{} })
	return id, err
}

// runChain runs a chain and returns what a step of it took, in microseconds.
func (h *house) runChain(ctx context.Context, id engine.ID) (float64, error) {
	start := time.Now()
	if _, err := h.exec.StartWorkflow(ctx, id, nil, "bench"); err != nil {
		return 0, err
	}
	if run := <-h.ended; run.Outcome != engine.RunSucceeded {
		return 0, fmt.Errorf("the chain ended %s", run.Outcome)
	}
	return float64(time.Since(start).Microseconds()) / chainLength, nil
}

// bare does what is measured against as often as the chain is long, and returns what one took, as the
// chain is measured.
func bare(ctx context.Context, dir string, once func(ctx context.Context, probe *os.File) error) (float64, error) {
	probe, err := os.Create(filepath.Join(dir, "probe"))
	if err != nil {
		return 0, err
	}
	defer probe.Close()
	start := time.Now()
	for range chainLength {
		if err := once(ctx, probe); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(start).Microseconds()) / chainLength, nil
}
