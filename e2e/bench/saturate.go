package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"dogear/db"
	"dogear/e2e/bench/measure"
	"dogear/engine"
)

const (
	saturation        = time.Minute
	saturationRuns    = 200 // at once
	saturationReaders = 8
)

// saturate lets as many runs as can be written go on for a minute while readers
// ask what pages ask, and counts who was told that the database is locked.
func saturate(ctx context.Context, dir string) error {
	nothing := &many{ended: map[engine.ID]time.Time{}}
	h, id, err := newCrowd(ctx, site{dir: filepath.Join(dir, "house")}, nothing)
	if err != nil {
		return err
	}
	var locked, reads atomic.Int64
	var mu sync.Mutex
	var other error
	count := func(err error) {
		switch text := fmt.Sprint(err); {
		case err == nil:
			reads.Add(1)
		case strings.Contains(text, "locked") || strings.Contains(text, "BUSY"):
			locked.Add(1)
		default:
			mu.Lock()
			other = err
			mu.Unlock()
		}
	}
	reading, stop := context.WithCancel(ctx)
	var readers errgroup.Group
	for range saturationReaders {
		readers.Go(func() error {
			for reading.Err() == nil {
				ask(ctx, h.store, id, count)
			}
			return nil
		})
	}
	runs := 0
	for until := time.Now().Add(saturation); time.Now().Before(until); runs += saturationRuns {
		_, err := h.crowd(ctx, id, saturationRuns, 0)
		if err != nil {
			count(err)
			break
		}
		nothing.take()
	}
	stop()
	_ = readers.Wait() // they return nothing
	if other != nil {
		return other
	}
	measure.Figure{
		Name: "g15", Ours: float64(locked.Load()), Unit: "errors",
		Note: fmt.Sprintf("\"database is locked\" in a minute of %d runs of 10 nodes and %d reads; it must be 0", runs, reads.Load()),
	}.Print()
	if locked.Load() > 0 {
		return fmt.Errorf("the database was locked %d times", locked.Load())
	}
	return nil
}

// ask reads once what the lists, the page of a run and the health page read.
func ask(ctx context.Context, store *db.Store, workflow engine.ID, count func(error)) {
	_, err := store.Workflows(ctx)
	count(err)
	runs, err := store.Runs(ctx, engine.RunFilter{Object: workflow, Limit: 50})
	count(err)
	if len(runs) > 0 {
		_, err = store.NodeRuns(ctx, runs[0].ID)
		count(err)
		_, err = store.Events(ctx, runs[0].ID, 0)
		count(err)
	}
	_, err = store.Checks(ctx)
	count(err)
}
