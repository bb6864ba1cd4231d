package exec_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"dogear/db"
	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/runner"
	"dogear/engine/runner/python"
	"dogear/engine/runner/shim"
)

// crammed is a store that can write no end while there is a file.
type crammed struct {
	*db.Store
	file atomic.Pointer[string]
}

func (c *crammed) Commit(ctx context.Context, steps []flow.Step) []flow.Written {
	if file := c.file.Load(); file != nil && steps[0].Ends {
		if _, err := os.Stat(*file); err == nil {
			return []flow.Written{{Err: engine.Errorf(engine.Away, "The disk is full.")}}
		}
	}
	return c.Store.Commit(ctx, steps)
}

// filler is a runner whose attempts fill their folder.
type filler struct {
	*work
	*python.Runner
	store *crammed
}

func (f filler) Run(ctx context.Context, _ runner.Attempt, h runner.Host) (runner.Result, error) {
	file := filepath.Join(f.Shims.Dir, "a-1", shim.WorkDir, "big")
	if err := errors.Join(h.Started(ctx, engine.Process{Folder: "a-1"}), os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		return runner.Result{}, err
	}
	f.store.file.Store(&file)
	return runner.Result{State: engine.Succeeded}, nil
}

func (f filler) Discard(ctx context.Context, b engine.Batch) error { return f.work.Discard(ctx, b) }

func (f filler) Publish(ctx context.Context, b engine.Batch, h runner.Host) ([]engine.TableChange, error) {
	return f.work.Publish(ctx, b, h)
}

// TestWhatFillsTheDiskGoesBeforeItsEndIsWritten: what a script leaves in its folder
// is thrown away in any case, and may be what leaves no room to say that it ended.
func TestWhatFillsTheDiskGoesBeforeItsEndIsWritten(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		store := &crammed{Store: h.store}
		scripts := &python.Runner{Shims: &shim.Shims{Dir: t.TempDir()}}
		e := h.serveWith(store, filler{work: h.work, Runner: scripts, store: store}, func(flow.Writes) {})

		run, err := e.StartJob(t.Context(), h.job("a", 0).ID, nil, nil, "owner")
		must(t, err)
		_, nodes := h.ends(run.ID)

		if said(nodes) != "a.1.1 succeeded" {
			t.Errorf("got %s, want its end", said(nodes))
		}
	})
}

// cut is a store of which the line breaks once when a crawler is read: first when
// it is started, then when its attempt begins.
type cut struct {
	*db.Store
	at, reads atomic.Int64
}

var errCut = errors.New("the line broke")

func (c *cut) Broken(err error) bool { return errors.Is(err, errCut) }

func (c *cut) Crawler(ctx context.Context, id engine.ID) (engine.Crawler, error) {
	if c.reads.Add(1) == c.at.Load() {
		return engine.Crawler{}, errCut
	}
	return c.Store.Crawler(ctx, id)
}

// TestALineThatBreaksBeforeARunBeginsFailsNothing: a start says what is the matter,
// and an attempt reads again.
func TestALineThatBreaksBeforeARunBeginsFailsNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		store := &cut{Store: h.store}
		e := h.serveWith(store, h.work, func(flow.Writes) {})
		now := time.Now()
		id, err := h.store.CreateCrawler(t.Context(), "c", engine.CrawlerBody{Database: "lake", Targets: []engine.CrawlerTarget{{Path: "raw"}}}, "owner", now)
		must(t, err)
		_, err = h.store.PublishCrawler(t.Context(), id, "owner", now)
		must(t, err)

		store.at.Store(1)
		if _, err := e.StartCrawl(t.Context(), id, "owner"); engine.CodeOf(err) != engine.Away {
			t.Errorf("the start says %v, want that the database is away", err)
		}
		store.at.Store(3)
		run, err := e.StartCrawl(t.Context(), id, "owner")
		must(t, err)
		_, nodes := h.ends(run.ID)

		if said(nodes) != "c.1.1 succeeded" || store.reads.Load() != 4 {
			t.Errorf("got %s (%s) after %d reads, want that it was read again", said(nodes), nodes[0].Error, store.reads.Load())
		}
	})
}

// TestWhatAStopBrokeOffIsStopped, however the work came to hear of it.
func TestWhatAStopBrokeOffIsStopped(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["a"] = func(context.Context, runner.Attempt, runner.Host) (runner.Result, error) {
			return runner.Result{}, fmt.Errorf("ask the database: %w", runner.ErrStop)
		}

		run, err := h.exec.StartJob(t.Context(), h.job("a", 2).ID, nil, nil, "owner")
		must(t, err)
		_, nodes := h.ends(run.ID)

		if said(nodes) != "a.1.1 stopped" || nodes[0].Error != "" {
			t.Errorf("got %s (%q), want it stopped", said(nodes), nodes[0].Error)
		}
	})
}
