// Command bench measures what the project promises, both sides of each ratio
// in the same run on the same machine, and prints one JSON line a figure. The
// ledger is measured by a program of its own, ./ledger.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"time"

	"dogear/e2e/bench/measure"
	"dogear/engine/duck"
	"dogear/engine/heap"
)

// figures are measured each in a process of its own, so that the memory of one
// is not that of another.
var figures = []struct {
	name    string
	measure func(ctx context.Context, dir string) error
}{
	{"g1", chainSQLite},
	{"g2", chainPostgres},
	{"g4", flat},
	{"g5", throughput},
	{"g5_postgres", throughputPostgres},
	{"g6", openLoop},
	{"g8", takeover},
	{"g9", punctual},
	{"g11", lastSocket},
	{"g12", idle},
	{"g14", untilBody},
	{"g15", saturate},
	{"peers", beside},
	{"noop_run_100k", noop},
	{"csv_to_parquet", convert},
	{"postgres_to_parquet", postgresToParquet},
	{"compare_1m", compareTable},
	{"graph_500", graph500},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(duck.Main(context.Background()))
	}
	if len(os.Args) > 1 && os.Args[1] == "broadcast" {
		if err := broadcast(); err != nil {
			fmt.Fprintln(os.Stderr, "broadcast:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 2 && args[0] == "read" {
		return read(context.Background(), args[1])
	}
	if len(args) == 2 && args[0] == "measure" {
		return one(args[1])
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, f := range figures {
		if len(args) > 0 && !slices.Contains(args, f.name) {
			continue
		}
		cmd := exec.CommandContext(context.Background(), self, "measure", f.name)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

func one(name string) error {
	dir, err := os.MkdirTemp("", "dogear-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	heap.Tune() // as a server does
	for _, f := range figures {
		if f.name == name {
			return profiled(name, func() error { return f.measure(context.Background(), dir) })
		}
	}
	return fmt.Errorf("there is no figure %s", name)
}

// profiled writes a profile of the processor below the folder that
// DOGEAR_BENCH_PROFILE names, if it is set.
func profiled(name string, measure func() error) error {
	dir := os.Getenv("DOGEAR_BENCH_PROFILE")
	if dir == "" {
		return measure()
	}
	file, err := os.Create(filepath.Join(dir, name+".pprof"))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return measure()
}

// syncProbe is the median of one 4 KiB overwrite with fdatasync: what a
// durable commit cannot beat.
func syncProbe(dir string) (float64, error) {
	file, err := os.Create(filepath.Join(dir, "probe"))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	page := make([]byte, 4096)
	var all []time.Duration
	for range 500 {
		start := time.Now()
		if _, err := file.WriteAt(page, 0); err != nil {
			return 0, err
		}
		if err := datasync(file); err != nil {
			return 0, err
		}
		all = append(all, time.Since(start))
	}
	return measure.Median(all), nil
}
