// Command peers runs a chain, a fan-out or many jobs through another engine and
// prints one line of JSON: what ./e2e/bench puts beside its own figures. It is a
// module of its own, so that what the others need is not what the product needs.
//
//	peers ENGINE STORE SHAPE N DIR
//
// ENGINE is river, dbos or workflows, STORE postgres or sqlite, SHAPE chain, fan
// or jobs. DIR holds the SQLite file; PostgreSQL is named by
// DOGEAR_TEST_POSTGRES.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// engine makes durable runs of steps that do nothing but note when they ran.
type engine interface {
	// chain runs n steps, one after the other.
	chain(ctx context.Context, n int) error
	// fan runs n steps at once, and ends when all have.
	fan(ctx context.Context, n int) error
	// close ends what open has started.
	close()
}

// open starts an engine over a store.
type open func(ctx context.Context, at place, notes *notes) (engine, error)

var engines = map[string]open{"river": openRiver, "dbos": openDBOS, "workflows": openWorkflows}

// result is the line that is printed; times are in microseconds.
type result struct {
	P50       float64 `json:"p50,omitempty"` // end of a step to start of the next
	P99       float64 `json:"p99,omitempty"`
	Each      float64 `json:"each"` // the whole by the number of steps
	PerSecond float64 `json:"per_second"`
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 5 {
		return fmt.Errorf("want ENGINE STORE SHAPE N DIR")
	}
	start, ok := engines[args[0]]
	n, err := strconv.Atoi(args[3])
	if !ok || err != nil || n < 2 {
		return fmt.Errorf("there is no engine %s, or %s is no number of steps", args[0], args[3])
	}
	at, err := newPlace(ctx, args[0], args[1], args[4])
	if err != nil {
		return err
	}
	notes := &notes{}
	e, err := start(ctx, at, notes)
	if err != nil {
		return err
	}
	defer e.close()
	do, warm := e.chain, n
	switch args[2] {
	case "chain":
	case "fan", "jobs": // the same to an engine; of many jobs the first are enough to warm up
		do, warm = e.fan, min(n, 100)
	default:
		return fmt.Errorf("there is no shape %s", args[2])
	}
	if err := do(ctx, warm); err != nil {
		return err
	}
	notes.take()
	began := time.Now()
	if err := do(ctx, n); err != nil {
		return err
	}
	took := time.Since(began)
	all := notes.take()
	if len(all) != n {
		return fmt.Errorf("%d steps ran, want %d", len(all), n)
	}
	r := result{Each: micros(took) / float64(n), PerSecond: float64(n) / took.Seconds()}
	if args[2] == "chain" {
		r.P50, r.P99 = gaps(all)
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// notes are when steps ran.
type notes struct {
	mu  sync.Mutex
	all []note
}

type note struct{ start, end time.Time }

// step is the body of every step.
func (n *notes) step() {
	n.mu.Lock()
	defer n.mu.Unlock()
	start := time.Now()
	n.all = append(n.all, note{start, time.Now()})
}

func (n *notes) take() []note {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.all
	n.all = nil
	return all
}

// gaps are p50 and p99 from the end of a step to the start of the next.
func gaps(all []note) (p50, p99 float64) {
	var between []time.Duration
	for i := 1; i < len(all); i++ {
		between = append(between, all[i].start.Sub(all[i-1].end))
	}
	slices.Sort(between)
	at := func(q float64) float64 {
		return micros(between[max(int(math.Ceil(q*float64(len(between))))-1, 0)])
	}
	return at(0.5), at(0.99)
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// place is a store that holds nothing yet.
type place struct {
	postgres string // its address
	file     string // of SQLite
}

func newPlace(ctx context.Context, engine, store, dir string) (place, error) {
	switch store {
	case "sqlite":
		dir, err := os.MkdirTemp(dir, engine)
		return place{file: filepath.Join(dir, "peer.db")}, err
	case "postgres":
		address, err := newDatabase(ctx, "peer_"+engine)
		return place{postgres: address}, err
	}
	return place{}, fmt.Errorf("there is no store %s", store)
}

// newDatabase makes a database anew and returns its address.
func newDatabase(ctx context.Context, name string) (string, error) {
	at, err := url.Parse(os.Getenv("DOGEAR_TEST_POSTGRES"))
	if err != nil || at.Host == "" {
		return "", fmt.Errorf("DOGEAR_TEST_POSTGRES names no server")
	}
	conn, err := pgx.Connect(ctx, at.String())
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)", "CREATE DATABASE " + name} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return "", err
		}
	}
	at.Path = "/" + name
	return at.String(), nil
}

// quiet is a log that nobody reads: writing it would be counted as work.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
