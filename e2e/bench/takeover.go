package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"dogear/db"
	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/handlers/control"
)

const (
	lease          = 3 * time.Second
	takeoverRounds = 5
)

// silence is an object store that never answers and tells when it is asked: a
// job that reads from it is under way until it is stopped, without work for the
// machine.
func silence(ctx context.Context) (*httptest.Server, <-chan time.Time) {
	asked := make(chan time.Time, 1000)
	return httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- time.Now()
		select {
		case <-r.Context().Done():
		case <-ctx.Done():
		}
	})), asked
}

// takeover measures how long work lies still whose server was killed, or hangs,
// until another server of the PostgreSQL goes on with it.
func takeover(ctx context.Context, dir string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	address, err := newDatabase(ctx, "bench_takeover")
	if err != nil {
		return err
	}
	lake, asked := silence(ctx)
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	if err := furnish(ctx, first, address, func(store *db.Store) error { return slowJob(ctx, store, lake.URL) }); err != nil {
		return err
	}
	key, err := os.ReadFile(first + ".key")
	if err != nil {
		return err
	}
	start := func(data string) (*instance, error) {
		return startInstance(ctx, data, "--database", address, "--secret-key", string(key), "--lease", lease.String())
	}
	b, err := start(second)
	if err != nil {
		return err
	}
	defer b.end()
	for _, blow := range []struct {
		name, what string
		signal     syscall.Signal
	}{{"g8", "a server that was killed", syscall.SIGKILL}, {"g8_halted", "a server that hangs, halted by SIGSTOP", syscall.SIGSTOP}} {
		var took []time.Duration
		for round := range takeoverRounds {
			a, err := start(first)
			if err != nil {
				return err
			}
			one, err := takenOver(ctx, address, a, b, asked, blow.signal, time.Duration(round)*lease/3/takeoverRounds)
			a.end()
			if err != nil {
				return err
			}
			took = append(took, one)
		}
		measure.Figure{
			Name: blow.name, Ours: measure.Quantile(took, 1) / 1e6, Limit: (lease + 500*time.Millisecond).Seconds(), Unit: "s",
			Note: fmt.Sprintf("until another server goes on with the work of %s, the longest of %d; the lease is 3 s; median %.2f s", blow.what, takeoverRounds, measure.Median(took)/1e6),
		}.Print()
	}
	return nil
}

// slowJob makes the job that reads from silence.
func slowJob(ctx context.Context, store *db.Store, endpoint string) error {
	word := "bench"
	lake, err := store.SaveConnection(ctx, "", "silence", engine.ConnectionBody{Type: engine.ConnectionS3, Endpoint: endpoint, Region: "us-east-1", PathStyle: true, AccessKey: word}, &word, word, time.Now())
	if err != nil {
		return err
	}
	id, err := store.CreateJob(ctx, "slow", engine.JobBody{
		Kind: engine.JobSQL, Bookmark: engine.BookmarkOff, MaxRuns: 1000,
		SQL: &engine.SQLJob{
			Sources: []engine.Source{{Name: "raw", Connection: lake.ID, Path: "s3://silence/in/*.csv", Format: engine.CSV, Schema: []engine.Column{{Name: "id", Type: "BIGINT"}}}},
			Sinks:   []engine.Sink{{From: "raw", Path: "out", Mode: engine.Append}},
		},
	}, word, time.Now())
	if err == nil {
		_, err = store.PublishJob(ctx, id, word, time.Now())
	}
	return err
}

// takenOver lets one server work on the job, strikes it, and waits until the
// other does the work. A lease is renewed each third of it: later says at which
// moment between two renewals the blow falls.
func takenOver(ctx context.Context, address string, one, other *instance, asked <-chan time.Time, blow syscall.Signal, later time.Duration) (time.Duration, error) {
	run, err := inHand(ctx, address, one, asked)
	if err != nil {
		return 0, err
	}
	time.Sleep(lease/2 + later) // the lease has been renewed by then
	drop(asked)
	if err := worksOn(ctx, address, run, one.cmd.Process.Pid); err != nil {
		return 0, err
	}
	struck := time.Now()
	if err := one.cmd.Process.Signal(blow); err != nil {
		return 0, err
	}
	select {
	case at := <-asked:
		return at.Sub(struck), stopRun(ctx, other, run)
	case <-time.After(4 * lease):
		return 0, fmt.Errorf("nobody took run %s up in %s; the other server said:\n%s", run, 4*lease, other.said())
	}
}

// inHand starts the job on a server until it is that server which works on it:
// one that has just begun may find that the other was quicker to take it.
func inHand(ctx context.Context, address string, s *instance, asked <-chan time.Time) (run engine.ID, err error) {
	const most = 20
	for range most {
		drop(asked)
		var started control.Run
		if err := s.ask(ctx, http.MethodPost, "/job", control.StartJob{Job: "slow"}, &started); err != nil {
			return "", err
		}
		run = started.ID
		<-asked
		if err = worksOn(ctx, address, run, s.cmd.Process.Pid); err == nil {
			return run, nil
		}
		if err := stopRun(ctx, s, run); err != nil {
			return "", err
		}
	}
	return "", err
}

// drop forgets what was asked until now.
func drop(asked <-chan time.Time) {
	for len(asked) > 0 {
		<-asked
	}
}

func stopRun(ctx context.Context, s *instance, run engine.ID) error {
	var stopped control.Run
	return s.ask(ctx, http.MethodPost, "/stop", control.RunID{ID: run}, &stopped)
}

// worksOn fails where a run is not in the hands of a server: then its end would
// hurt nobody, and there would be nothing to measure.
func worksOn(ctx context.Context, address string, run engine.ID, pid int) (err error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	var process string
	err = conn.QueryRow(ctx, "SELECT r.process FROM node_run n JOIN replica r ON r.id = n.owner WHERE n.run_id = $1", string(run)).Scan(&process)
	if err == nil && !strings.Contains(process, strconv.Itoa(pid)) {
		err = fmt.Errorf("run %s is in the hands of the process %s, not of %d", run, process, pid)
	}
	return err
}
