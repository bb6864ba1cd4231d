package sql

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"dogear/engine"
	"dogear/engine/duck"
	"dogear/engine/runner"
	"dogear/engine/source"
)

// infer works out the columns of sources whose schema nobody has frozen, and
// puts them into the plan before it is stored: whoever runs this plan again
// reads by the same columns. What cannot be worked out here is left to the
// run itself, which says why.
func (w *work) infer(ctx context.Context, plan *engine.Plan) error {
	if plan.Empty() {
		return nil
	}
	w.fetched = make([]source.Fetched, len(plan.Sources))
	var unknown []duck.Input
	var at []int
	for i, part := range plan.Sources {
		if len(part.Schema) > 0 || len(part.Taken) == 0 {
			continue
		}
		if err := w.fetchOne(ctx, i, part); err != nil {
			return err
		}
		in := input(part, w.fetched[i])
		in.Hold = true
		unknown, at = append(unknown, in), append(at, i)
	}
	if len(unknown) == 0 {
		return nil
	}
	// This worker writes nothing, so nobody need record that it runs.
	result, err := duck.Worker{Command: w.Command}.Do(ctx, duck.Request{
		Limits:   duck.Limits{Threads: w.Threads, MemoryMB: w.Job.MemoryMB, Scratch: filepath.Join(w.Dir, "infer")},
		Describe: &duck.Describe{Inputs: unknown},
	})
	if err != nil {
		return ctx.Err()
	}
	for j, r := range result.Relations {
		part := &plan.Sources[at[j]]
		part.Schema = r.Columns
		w.learned(*part, r)
	}
	if err := w.prefer(ctx, plan, at); err != nil {
		return err
	}
	for _, i := range at {
		part := plan.Sources[i]
		w.host.Log(runner.Info, fmt.Sprintf("columns of %s were inferred: %s; to fix them, write them in the job, under Columns and their types of the source", part.Source, list(part.Schema)))
	}
	return nil
}

// list writes columns with their types.
func list(columns []engine.Column) string {
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = c.Name + " " + c.Type
	}
	return strings.Join(texts, ", ")
}
