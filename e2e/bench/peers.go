package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"dogear/db"
	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/engine/runner"
)

// peers is another engine with work to do, in a process of its own. Make builds
// it from ./peers; where that failed its figures say so and stay empty.
type peers struct {
	args []string
	err  error
}

// peerResult is what the process prints.
type peerResult struct {
	P50       float64 `json:"p50"`
	P99       float64 `json:"p99"`
	Each      float64 `json:"each"`
	PerSecond float64 `json:"per_second"`
}

const peersBinary = "bin/bench-peers"

// newPeers names an engine with its store, such as "dbos postgres", and what it
// shall do with n steps.
func newPeers(engine, shape string, n int) *peers {
	return &peers{args: append(strings.Fields(engine), shape, strconv.Itoa(n))}
}

// run lets the engine work once.
func (p *peers) run(ctx context.Context, dir string) (peerResult, bool) {
	if p.err != nil {
		return peerResult{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, peersBinary, append(p.args, dir)...)
	cmd.Stdout, cmd.Stderr = &out, &said
	var result peerResult
	if p.err = cmd.Run(); p.err == nil {
		p.err = json.Unmarshal(out.Bytes(), &result)
	}
	if p.err != nil {
		measure.Figure{Name: "peer_" + strings.Join(p.args[:3], "_"), Note: fmt.Sprintf("not measured: %v %s", p.err, bytes.TrimSpace(said.Bytes()))}.Print()
	}
	return result, p.err == nil
}

// served reports whether all that was asked of it was measured.
func (p *peers) served() bool { return p.err == nil }

// newDatabase makes a database of the PostgreSQL anew and returns its address.
func newDatabase(ctx context.Context, name string) (string, error) {
	at, err := url.Parse(os.Getenv("DOGEAR_TEST_POSTGRES"))
	if err != nil || at.Host == "" {
		return "", errors.New("DOGEAR_TEST_POSTGRES names no server; run it by e2e/with-postgres.sh")
	}
	conn, err := pgx.Connect(ctx, at.String())
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)", "CREATE DATABASE " + name} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return "", err
		}
	}
	at.Path = "/" + name
	return at.String(), nil
}

// commitProbe is the median of the insert of one row that commits by itself:
// what a transition on PostgreSQL cannot beat.
func commitProbe(ctx context.Context, address string) (float64, error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(ctx) }()
	var fsync string
	if err := conn.QueryRow(ctx, "SHOW fsync").Scan(&fsync); err != nil {
		return 0, err
	}
	if fsync != "on" {
		return 0, errors.New("this PostgreSQL does not flush; say DOGEAR_POSTGRES_FSYNC=on to e2e/with-postgres.sh, as make bench does")
	}
	if _, err := conn.Exec(ctx, "CREATE TABLE IF NOT EXISTS probe (id bigserial PRIMARY KEY, at bigint NOT NULL, what text NOT NULL)"); err != nil {
		return 0, err
	}
	var all []time.Duration
	for i := range 300 {
		start := time.Now()
		if _, err := conn.Exec(ctx, "INSERT INTO probe (at, what) VALUES ($1, $2)", i, "a node has ended"); err != nil {
			return 0, err
		}
		all = append(all, time.Since(start))
	}
	return measure.Median(all), nil
}

const (
	besideLength = 50 // of a chain, for an engine of 50 ms a step must end, too
	besideWidth  = 100
	besideRounds = 5
)

// beside measures a chain and a fan-out with its join through each peer and
// through us in turns.
func beside(ctx context.Context, dir string) error {
	postgres, err := newDatabase(ctx, "bench_beside")
	if err != nil {
		return err
	}
	for _, at := range []site{
		{dir: filepath.Join(dir, "sqlite"), slots: besideWidth},
		{dir: filepath.Join(dir, "postgres"), database: postgres, slots: besideWidth},
	} {
		store := filepath.Base(at.dir)
		nothing := &still{}
		h, err := at.build(ctx, func(*db.Store) runner.Runner { return nothing })
		if err != nil {
			return err
		}
		chain, err := h.chain(ctx, "chain", besideLength, 1)
		if err != nil {
			return err
		}
		fan, err := h.fan(ctx, "fan", besideWidth)
		if err != nil {
			return err
		}
		for _, engine := range []string{"dbos", "workflows", "river"} {
			if engine == "workflows" && store == "postgres" {
				continue // it has none
			}
			if err := h.against(ctx, dir, engine, store, "chain", chain, nothing); err != nil {
				return err
			}
			if err := h.against(ctx, dir, engine, store, "fan", fan, nothing); err != nil {
				return err
			}
		}
	}
	return nil
}

// besideNotes say how each engine was set.
var besideNotes = map[string]string{
	"dbos sqlite":      "DBOS, which sets synchronous=NORMAL and may lose its last steps with the power; ours loses none",
	"dbos postgres":    "DBOS",
	"workflows sqlite": "go-workflows in one process",
	"river sqlite":     "River, set to look every millisecond (its default is each second, with 100 ms of rest); it has no joins",
	"river postgres":   "River, set to look every millisecond (its default is each second, with 100 ms of rest); it has no joins",
}

// against measures one workflow against the same of a peer.
func (h *house) against(ctx context.Context, dir, peer, store, shape string, workflow engine.ID, nothing *still) error {
	n := besideLength
	if shape == "fan" {
		n = besideWidth
	}
	theirs := newPeers(peer+" "+store, shape, n)
	var rounds measure.Rounds
	for range besideRounds {
		nothing.gaps()
		began := time.Now()
		if err := h.runChain(ctx, workflow); err != nil {
			return err
		}
		ours := float64(time.Since(began).Nanoseconds()) / 1e3 / float64(n)
		if shape == "chain" {
			ours = measure.Median(nothing.gaps())
		}
		result, ok := theirs.run(ctx, dir)
		if !ok {
			return nil // it has been said
		}
		if shape == "chain" {
			result.Each = result.P50
		}
		rounds.Add(ours, result.Each)
	}
	what := "end to start, p50 in a chain of 50"
	if shape == "fan" {
		what = "one node of a fan-out of 100 and its join"
	}
	rounds.Figure(measure.Figure{Name: "peer_" + peer + "_" + store + "_" + shape, Unit: "us", Note: what + ", against " + besideNotes[peer+" "+store]}).Print()
	return nil
}
