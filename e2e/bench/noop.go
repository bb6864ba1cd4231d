package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"dogear/e2e/bench/measure"
	"dogear/engine"
)

const knownFiles = 100_000

// knownJob reads every file below in.
func knownJob() engine.JobBody {
	return engine.JobBody{
		Kind: engine.JobSQL, Bookmark: engine.BookmarkOn,
		SQL: &engine.SQLJob{
			Sources: []engine.Source{{Name: "files", Path: "in/**/*.csv", Format: engine.CSV, Ctx: "files", Schema: []engine.Column{{Name: "id", Type: "BIGINT"}}}},
			Steps:   []engine.Step{{Name: "total", SQL: "SELECT sum(id)::BIGINT AS n FROM files"}},
			Sinks:   []engine.Sink{{From: "total", Path: "out", Mode: engine.Append}},
		},
	}
}

// read makes the files and lets a first run read them.
func read(ctx context.Context, dir string) error {
	root := filepath.Join(dir, "files")
	old := time.Now().Add(-time.Hour)
	for i := range knownFiles {
		folder := filepath.Join(root, "in", fmt.Sprintf("%03d", i/1000))
		if i%1000 == 0 {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return err
			}
		}
		name := filepath.Join(folder, fmt.Sprintf("%06d.csv", i))
		if err := os.WriteFile(name, []byte("id\n1\n"), 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(name, old, old); err != nil {
			return err
		}
	}
	h, err := newHouse(ctx, dir, sqlRunner(root))
	if err != nil {
		return err
	}
	id, err := h.job(ctx, "load", knownJob())
	if err != nil {
		return err
	}
	_, _, err = h.runJob(ctx, id)
	return err
}

// noop measures a run that finds nothing new over files that it all knows. The
// first run, which reads them, is another process.
func noop(ctx context.Context, dir string) error {
	if err := measure.Again(ctx, "read", dir); err != nil {
		return err
	}
	h, err := newHouse(ctx, dir, sqlRunner(filepath.Join(dir, "files")))
	if err != nil {
		return err
	}
	job, err := h.store.JobNamed(ctx, "load")
	if err != nil {
		return err
	}
	id := job.ID
	var best time.Duration
	for range 3 {
		took, node, err := h.runJob(ctx, id)
		if err != nil {
			return err
		}
		if node.Counts.Files != 0 {
			return fmt.Errorf("a run with nothing new read %d files", node.Counts.Files)
		}
		if best == 0 || took < best {
			best = took
		}
	}
	measure.Figure{Name: "noop_run_100k", Ours: best.Seconds(), Limit: 1.5, Unit: "s", Note: "best of three runs over 100,000 known local files"}.Print()
	measure.Figure{Name: "noop_run_100k_memory", Ours: measure.Peak(), Limit: 100, Unit: "MB", Note: "peak of the process that made these three runs"}.Print()
	return nil
}
