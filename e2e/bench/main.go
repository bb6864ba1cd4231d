// Command bench measures what the project promises, both sides of each ratio
// in the same run on the same machine, and prints one JSON line a figure.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"dogear/engine/duck"
)

// figure is one line of the output. Against, where it is set, was measured in
// the same run; Limit is what must hold.
type figure struct {
	Name    string  `json:"name"`
	Ours    float64 `json:"ours"`
	Against float64 `json:"against,omitempty"`
	Ratio   float64 `json:"ratio,omitempty"`
	Limit   float64 `json:"limit,omitempty"`
	Unit    string  `json:"unit"`
	Note    string  `json:"note,omitempty"`
}

func (f figure) print() {
	if f.Against != 0 {
		f.Ratio = f.Ours / f.Against
	}
	line, _ := json.Marshal(f)
	fmt.Println(string(line))
}

// figures are measured each in a process of its own, so that the memory of one
// is not that of another.
var figures = []struct {
	name    string
	measure func(ctx context.Context, dir string) error
}{
	{"transition_p50", transition},
	{"g4", flat},
	{"noop_run_100k", noop},
	{"csv_to_parquet", convert},
	{"postgres_to_parquet", postgresToParquet},
	{"ledger", ledger},
	{"graph_500", graph500},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(duck.Main(context.Background()))
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
	if len(args) == 3 && args[0] == "ledger" {
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return makeLedger(context.Background(), args[1], n)
	}
	if len(args) == 2 && args[0] == "measure" {
		return measure(args[1])
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

// again starts this program for another part of a figure, so that what that
// part takes of memory is not counted here.
func again(ctx context.Context, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

func measure(name string) error {
	dir, err := os.MkdirTemp("", "dogear-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, f := range figures {
		if f.name == name {
			return f.measure(context.Background(), dir)
		}
	}
	return fmt.Errorf("there is no figure %s", name)
}

// median of durations in microseconds.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Nanoseconds()) / 1e3
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
	return median(all), nil
}
