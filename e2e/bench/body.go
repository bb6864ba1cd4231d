package main

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"time"

	"dogear/db"
	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/handlers/control"
)

const bodyRounds = 50

// untilBody measures from a command that starts a job to its worker process
// being there, recorded and let go.
func untilBody(ctx context.Context, dir string) error {
	data := filepath.Join(dir, "data")
	if err := furnish(ctx, data, "", func(store *db.Store) error {
		h := &house{store: store}
		_, err := h.job(ctx, "short", engine.JobBody{
			Kind: engine.JobSQL, Bookmark: engine.BookmarkOff,
			SQL: &engine.SQLJob{Steps: []engine.Step{{Name: "one", SQL: "SELECT 1 AS n"}}, Sinks: []engine.Sink{{From: "one", Path: "out", Format: engine.Parquet, Mode: engine.Append}}},
		})
		return err
	}); err != nil {
		return err
	}
	s, err := startInstance(ctx, data)
	if err != nil {
		return err
	}
	defer s.end()
	var took, alone []time.Duration
	for range bodyRounds {
		began := time.Now()
		var run control.Run
		if err := s.ask(ctx, http.MethodPost, "/job", control.StartJob{Job: "short"}, &run); err != nil {
			return err
		}
		if err := s.ask(ctx, http.MethodGet, "/run?wait=true&id="+string(run.ID), nil, &run); err != nil {
			return err
		}
		if run.Outcome != engine.RunSucceeded {
			return fmt.Errorf("the job ended %s: %s", run.Outcome, run.Nodes[0].Error)
		}
		took = append(took, run.Nodes[0].Started.Sub(began))
		began = time.Now()
		if err := exec.CommandContext(ctx, serverBinary, "version").Run(); err != nil {
			return err
		}
		alone = append(alone, time.Since(began))
	}
	measure.Figure{
		Name: "g14", Ours: measure.Median(took) / 1e3, Limit: 5, Unit: "ms",
		Note: fmt.Sprintf("command to start a job on the socket to its worker running, p50 of %d; p99 %.1f ms; the binary alone starts and ends in %.1f ms", bodyRounds, measure.Quantile(took, 0.99)/1e3, measure.Median(alone)/1e3),
	}.Print()
	return nil
}
