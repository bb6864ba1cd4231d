package sql

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"dogear/engine"
	"dogear/engine/duck"
	"dogear/engine/source"
)

// Desk answers questions about data for the pages: rows of a query, a preview
// of steps on a sample, and columns. Each runs in a worker of its own.
type Desk struct {
	Source   *source.Source
	Command  []string // starts a worker; empty is this binary with "worker"
	Dir      string   // where workers have their scratch
	MemoryMB int
	Threads  int
}

// Question is what is asked.
type Question struct {
	Sources    []engine.Source // resolved to paths
	Steps      []engine.Step
	Properties map[string]string
	SQL        string
	MaxRows    int
	// SampleFiles and SampleRows bound what is read of each source; 0 reads
	// all of it.
	SampleFiles int
	SampleRows  int64
	// Export, where it is set, is a file that gets every row.
	Export string
	Format engine.Format
}

// everything is how many files a question without a sample reads at most.
const everything = 1 << 20

// Query returns rows, or writes them to the export.
func (d *Desk) Query(ctx context.Context, q Question) (duck.Result, error) {
	return d.ask(ctx, q, func(inputs []duck.Input, r *duck.Request) {
		r.Query = &duck.Query{
			Inputs: inputs, Steps: q.Steps, Properties: q.Properties, SQL: q.SQL, MaxRows: q.MaxRows, Export: q.Export, Format: q.Format,
		}
	})
}

// Describe returns the columns of the sources, the steps and the SQL. What is
// wrong in the SQL is an error that wraps a duck.Failure with its place.
func (d *Desk) Describe(ctx context.Context, q Question) (duck.Result, error) {
	return d.ask(ctx, q, func(inputs []duck.Input, r *duck.Request) {
		r.Describe = &duck.Describe{Inputs: inputs, Steps: q.Steps, Properties: q.Properties, SQL: q.SQL}
	})
}

func (d *Desk) ask(ctx context.Context, q Question, fill func([]duck.Input, *duck.Request)) (duck.Result, error) {
	if err := os.MkdirAll(d.Dir, 0o700); err != nil {
		return duck.Result{}, fmt.Errorf("make a folder for the worker: %w", err)
	}
	dir, err := os.MkdirTemp(d.Dir, "ask-")
	if err != nil {
		return duck.Result{}, fmt.Errorf("make a folder for the worker: %w", err)
	}
	defer os.RemoveAll(dir)
	limit := q.SampleFiles
	if limit == 0 {
		limit = everything
	}
	var inputs []duck.Input
	for i, src := range q.Sources {
		objects, err := d.Source.Peek(ctx, src, limit)
		if err != nil {
			return duck.Result{}, err
		}
		got, err := d.Source.Fetch(ctx, src, objects, filepath.Join(dir, fmt.Sprintf("in-%d", i)))
		if err != nil {
			return duck.Result{}, err
		}
		in := input(src, got)
		in.Limit = q.SampleRows
		inputs = append(inputs, in)
	}
	request := duck.Request{Limits: duck.Limits{Threads: d.Threads, MemoryMB: d.MemoryMB, Scratch: filepath.Join(dir, "scratch")}}
	fill(inputs, &request)
	return duck.Worker{Command: d.Command}.Do(ctx, request)
}
