package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"dogear/db"
	"dogear/db/secret"
	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/bucket"
	"dogear/engine/exec"
	"dogear/engine/flow"
	"dogear/engine/place"
	"dogear/engine/runner"
	"dogear/engine/runner/shim"
	"dogear/engine/runner/sql"
	"dogear/engine/sink"
	"dogear/engine/source"
)

// quiet is a log that nobody reads.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func datasync(file *os.File) error { return unix.Fdatasync(int(file.Fd())) }

// mostRuns is how many runs may end before somebody asks for them.
const mostRuns = 4096

// house is a store and an exec over it, without the web.
type house struct {
	store *db.Store
	exec  *exec.Exec
	ended chan engine.Run
}

func newHouse(ctx context.Context, dir string, jobs func(*db.Store) runner.Runner) (*house, error) {
	return site{dir: dir}.build(ctx, jobs)
}

// site is where a house stands and how large it is.
type site struct {
	dir      string
	database string // address of a PostgreSQL; "" is SQLite in dir
	slots    int    // 0 is the default of a server
	// committed is told of what was written; nil is nobody.
	committed func(flow.Writes)
}

func (s site) build(ctx context.Context, jobs func(*db.Store) runner.Runner) (*house, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	key, err := secret.New(make([]byte, 32))
	if err != nil {
		return nil, err
	}
	store, err := db.Open(ctx, cmp.Or(s.database, filepath.Join(s.dir, "dogear.db")), key)
	if err != nil {
		return nil, err
	}
	if _, err := store.Own(); err != nil { // as a server does; it goes with the process
		return nil, err
	}
	h := &house{store: store, ended: make(chan engine.Run, mostRuns)}
	h.exec = exec.New(exec.Config{
		Store: store, Runners: map[engine.Kind]runner.Runner{engine.KindJob: jobs(store)}, Processes: shim.Processes{}, Slots: s.slots,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Now: time.Now, Dir: filepath.Join(s.dir, "runs"),
		Committed: func(w flow.Writes) {
			if s.committed != nil {
				s.committed(w)
			}
			if !w.Run.Open() {
				h.ended <- w.Run
			}
		},
	})
	go func() { _ = h.exec.Run(ctx) }()
	return h, nil
}

// sqlRunner is the real runner of SQL jobs over folders below root.
func sqlRunner(root string) func(*db.Store) runner.Runner {
	return func(store *db.Store) runner.Runner {
		roots, buckets := place.Roots{Base: root, Allowed: []string{root}}, bucket.New(nil)
		files := source.New(roots, buckets)
		planner := &bookmark.Planner{Ledger: store, Lister: files, Tables: store, Hasher: files}
		return &sql.Runner{Planner: planner, Source: files, Sink: sink.New(roots, buckets), Now: time.Now}
	}
}

func (h *house) job(ctx context.Context, name string, body engine.JobBody) (engine.ID, error) {
	id, err := h.store.CreateJob(ctx, name, body, "bench", time.Now())
	if err != nil {
		return "", err
	}
	_, err = h.store.PublishJob(ctx, id, "bench", time.Now())
	return id, err
}

// runJob runs a job to its end and returns how long that took.
func (h *house) runJob(ctx context.Context, id engine.ID) (time.Duration, engine.NodeRun, error) {
	start := time.Now()
	run, err := h.exec.StartJob(ctx, id, nil, nil, "bench")
	if err != nil {
		return 0, engine.NodeRun{}, err
	}
	ended := <-h.ended
	took := time.Since(start)
	nodes, err := h.store.NodeRuns(ctx, run.ID)
	if err == nil && ended.Outcome != engine.RunSucceeded {
		err = fmt.Errorf("the run ended %s: %s", ended.Outcome, nodes[0].Error)
	}
	return took, nodes[0], err
}

// childPeak is the highest resident memory of any child so far in MB.
func childPeak() float64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &usage) != nil {
		return 0
	}
	return float64(usage.Maxrss) / 1000
}
