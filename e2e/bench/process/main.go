// Command process measures what scripts cost beside their own work: a step of a
// run (g3, in Python g13), their stop (g10), and to find them again after a crash (g7). It
// prints one JSON line a figure.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"dogear/db"
	"dogear/db/secret"
	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/flow"
	"dogear/engine/heap"
	"dogear/engine/runner"
	"dogear/engine/runner/python"
	"dogear/engine/runner/shim"
)

func main() {
	ctx := context.Background()
	heap.Tune() // as a server does
	var err error
	if len(os.Args) == 3 && os.Args[1] == "children" {
		err = children(ctx, os.Args[2])
	} else {
		err = run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "process:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	for _, measure := range []func(context.Context, string) error{step, stop, adopt} {
		dir, err := os.MkdirTemp("", "dogear-bench-")
		if err != nil {
			return err
		}
		if err := measure(ctx, dir); err != nil {
			return err
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// house is a store and an exec over it, with the real runner of scripts.
type house struct {
	store *db.Store
	exec  *exec.Exec
	shims *shim.Shims
	ended chan engine.Run
}

// newHouse builds a house in dir. interpreter runs the scripts; slots is how
// many of them at once; committed, which may be nil, is told of all that was
// written.
func newHouse(ctx context.Context, dir, interpreter string, slots int, committed func(flow.Writes)) (*house, error) {
	key, err := secret.New(make([]byte, 32))
	if err != nil {
		return nil, err
	}
	store, err := db.Open(ctx, filepath.Join(dir, "dogear.db"), key)
	if err != nil {
		return nil, err
	}
	if _, err := store.Own(); err != nil { // as a server does; it goes with the process
		return nil, err
	}
	h := &house{store: store, shims: &shim.Shims{Dir: filepath.Join(dir, "runs", "shims")}, ended: make(chan engine.Run, 4096)}
	scripts := &python.Runner{Shims: h.shims, Python: interpreter, LogLimit: 64 << 20, Keep: filepath.Join(dir, "scripts")}
	h.exec = exec.New(exec.Config{
		Store: store, Runners: map[engine.Kind]runner.Runner{engine.KindJob: runner.Jobs{engine.JobPython: scripts}}, Processes: shim.Processes{},
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Now: time.Now, Dir: filepath.Join(dir, "runs"), Slots: slots,
		Committed: func(w flow.Writes) {
			if committed != nil {
				committed(w)
			}
			if !w.Run.Open() {
				h.ended <- w.Run
			}
		},
	})
	return h, nil
}

// serve lets the exec of h run.
func (h *house) serve(ctx context.Context) { go func() { _ = h.exec.Run(ctx) }() }

// script makes and publishes a script job.
func (h *house) script(ctx context.Context, name, body string, runs int) (engine.ID, error) {
	job := engine.JobBody{Kind: engine.JobPython, Bookmark: engine.BookmarkOff, MaxRuns: runs, Script: &engine.ScriptJob{Body: body}}
	id, err := h.store.CreateJob(ctx, name, job, "bench", time.Now())
	if err != nil {
		return "", err
	}
	_, err = h.store.PublishJob(ctx, id, "bench", time.Now())
	return id, err
}
