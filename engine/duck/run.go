package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"dogear/engine"
)

// runJob runs a SQL job. Where a file turns out unreadable only while it is
// read, and its input holds such files, the work begins again without it; and where a
// value does not fit, without the rows of such values.
func runJob(ctx context.Context, limits Limits, run Run, events *speaker) (Result, error) {
	var held []Held
	refusing := false
	for {
		result, more, err := attempt(ctx, limits, run, refusing, events)
		if errors.Is(err, errMisfit) {
			refusing = true
			if err := emptyStages(run.Outputs); err != nil {
				return Result{}, err
			}
			continue
		}
		held = append(held, result.Held...)
		if len(more) == 0 {
			result.Held = held
			return result, err
		}
		for _, h := range more {
			events.note(true, "held: %s", h.Note)
		}
		events.note(true, "the batch begins again without %s", plural(int64(len(more)), "file", "files"))
		held = append(held, more...)
		run.Inputs = without(run.Inputs, held)
		if err := emptyStages(run.Outputs); err != nil {
			return Result{}, err
		}
	}
}

// without leaves the held files out of inputs.
func without(inputs []Input, held []Held) []Input {
	inputs = slices.Clone(inputs)
	for i := range inputs {
		inputs[i].Files = slices.DeleteFunc(slices.Clone(inputs[i].Files), func(f File) bool {
			return slices.ContainsFunc(held, func(h Held) bool { return h.Input == inputs[i].Name && h.Key == f.Key })
		})
	}
	return inputs
}

func emptyStages(outputs []Output) error {
	for _, out := range outputs {
		if out.Table != nil {
			continue // it is made anew when it is filled
		}
		entries, err := os.ReadDir(out.Stage)
		if err != nil {
			return fmt.Errorf("look into the stage: %w", err)
		}
		for _, e := range entries {
			if err := os.RemoveAll(filepath.Join(out.Stage, e.Name())); err != nil {
				return fmt.Errorf("empty the stage: %w", err)
			}
		}
	}
	return nil
}

// attempt runs the job once. A non-empty hold asks for another attempt
// without those files, errMisfit for one that is refusing rows whose values do not fit.
func attempt(ctx context.Context, limits Limits, run Run, refusing bool, events *speaker) (result Result, hold []Held, err error) {
	t := task{inputs: run.Inputs, steps: run.Steps, properties: run.Properties, maxRejects: run.MaxRejects, refusing: refusing}
	for _, out := range run.Outputs {
		if out.Table == nil {
			t.write = append(t.write, out.Stage)
		}
		for _, e := range append(slices.Clone(out.Existing), out.Like) {
			if e.Path != "" {
				t.read = append(t.read, e.Path)
			}
		}
	}
	s, err := start(ctx, limits, t, events)
	if err != nil {
		return Result{}, nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if len(s.misfits) > 0 { // perhaps too many, so that nothing need be written
		if _, hold, err := s.judge(ctx); len(hold) > 0 {
			return Result{Held: s.held}, hold, nil
		} else if err != nil {
			return Result{}, nil, err
		}
	}
	w := writer{session: s, batch: run.Batch, tag: run.Tag, uses: uses(run.Outputs), landed: map[string]string{}, scans: map[string]int64{}}
	for i, out := range run.Outputs {
		written, err := w.write(ctx, i, out)
		if isMisfit(err) {
			return Result{}, nil, errMisfit
		}
		if err != nil {
			hold, err := s.heldBy(s.traced(ctx, err, out.Sink.From, run.Steps))
			return Result{Held: s.held}, hold, err
		}
		result.Written = append(result.Written, written)
	}
	count, hold, err := s.judge(ctx)
	if err != nil || len(hold) > 0 {
		if len(hold) > 0 {
			err = nil
		}
		return Result{Held: s.held}, hold, err
	}
	result.Rejects, result.Held, result.Relations = count, s.held, s.relations()
	result.RowsIn = w.rowsIn()
	return result, nil, nil
}

// heldBy turns an error about one file into a file to hold, where its input
// holds such files.
func (s *session) heldBy(err error) ([]Held, error) {
	failure, ok := errors.AsType[*Failure](err)
	if !ok || failure.Kind != FailUnreadable {
		return nil, err
	}
	for _, in := range s.inputs {
		if in.Hold && in.Name == failure.Input {
			return []Held{{Input: failure.Input, Key: failure.File, Note: failure.Message}}, nil
		}
	}
	return nil, failure
}

// uses counts how many outputs are made from each relation.
func uses(outputs []Output) map[string]int {
	n := map[string]int{}
	for _, out := range outputs {
		n[out.Sink.From]++
		if out.Sink.Mode == engine.Merge {
			n[out.Sink.From]++ // it looks at its rows more than once
		}
	}
	return n
}
