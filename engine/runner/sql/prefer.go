package sql

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/duck"
	"dogear/engine/runner"
)

// prefer reads columns of CSV whose types were inferred as the target has them,
// where they reach it as they are: else the files of one day would decide by
// themselves what a column is, and a value that is out of place would make text of
// it. A file that does not fit is then named or held as any other. Sources, of plan,
// are those whose columns were inferred. What the steps make of other types is found
// out by asking for their columns with both; what cannot be found out stays as it is.
func (w *work) prefer(ctx context.Context, plan *engine.Plan, sources []int) error {
	if err := w.findLikes(ctx); err != nil {
		return ctx.Err() // the run itself says what is wrong with the target
	}
	targets, err := w.targets(ctx)
	if err != nil || len(targets) == 0 {
		return ctx.Err()
	}
	before, err := w.resultOf(ctx, *plan, "before")
	if err != nil {
		return ctx.Err()
	}
	wanted := map[string]string{} // type in the target, by lower-case name
	each := func(results map[string][]engine.Column, visit func(name, is, has string)) {
		for _, out := range w.Job.SQL.Sinks {
			for _, c := range results[out.From] {
				if old, ok := column(targets[out.From], c.Name); ok {
					visit(strings.ToLower(c.Name), c.Type, old.Type)
				}
			}
		}
	}
	each(before, func(name, is, has string) {
		if is != has {
			wanted[name] = has
		}
	})
	tried := *plan
	tried.Sources = slices.Clone(plan.Sources)
	changed := false
	for _, i := range sources {
		part := &tried.Sources[i]
		if part.Spec.Format != engine.CSV && part.Spec.Format != "" {
			continue // others say themselves what their columns are
		}
		part.Schema = slices.Clone(part.Schema)
		for j, c := range part.Schema {
			if has := wanted[strings.ToLower(c.Name)]; readsAs(c.Type, has) {
				part.Schema[j].Type, changed = has, true
			}
		}
	}
	if !changed {
		return nil
	}
	after, err := w.resultOf(ctx, tried, "after")
	if err != nil {
		return ctx.Err()
	}
	each(after, func(name, is, has string) {
		if is != has {
			delete(wanted, name)
		}
	})
	for _, i := range sources {
		part := &plan.Sources[i]
		for j, c := range part.Schema {
			if as := tried.Sources[i].Schema[j].Type; as != c.Type && wanted[strings.ToLower(c.Name)] == as {
				part.Schema[j].Type = as
				w.host.Log(runner.Info, fmt.Sprintf("the column %s of %s looks like %s, and is read as %s, which the target has", c.Name, part.Source, c.Type, as))
			}
		}
	}
	return nil
}

// readsAs reports whether CSV that looks like one type may be read as another with
// nothing lost in silence: as the text that it is, or so that a value that does not
// fit is refused. Of a whole number that has got a fraction it is said that the column
// would change its type (ADR 50).
func readsAs(inferred, as string) bool {
	if as == "" || as == inferred {
		return false
	}
	return as == "VARCHAR" || inferred == "VARCHAR" && (as == "DOUBLE" || as == "TIMESTAMP")
}

// targets are the columns that the targets of the sinks have, by the relation that
// is written there.
func (w *work) targets(ctx context.Context) (map[string][]engine.Column, error) {
	columns := map[string][]engine.Column{}
	var inputs []duck.Input
	for i, like := range w.likes {
		if like.Path == "" {
			continue
		}
		inputs = append(inputs, duck.Input{
			Name: w.Job.SQL.Sinks[i].From, Format: engine.Parquet, Root: filepath.Dir(like.Path),
			Files: []duck.File{{Key: filepath.Base(like.Path), Path: like.Path}},
		})
	}
	if len(inputs) == 0 {
		return nil, nil
	}
	for i, in := range inputs { // each alone: two sinks may write one relation
		found, err := w.describe(ctx, fmt.Sprintf("like-%d", i), duck.Describe{Inputs: []duck.Input{in}})
		if err != nil {
			return nil, err
		}
		columns[in.Name] = append(columns[in.Name], found[0].Columns...)
	}
	return columns, nil
}

// resultOf is which columns the sources of a plan and the steps have, by name. It
// reads no file.
func (w *work) resultOf(ctx context.Context, plan engine.Plan, name string) (map[string][]engine.Column, error) {
	ask := duck.Describe{Steps: w.Job.SQL.Steps, Properties: w.Properties()}
	for i, part := range plan.Sources {
		in := input(part, w.fetched[i])
		in.Files = nil
		ask.Inputs = append(ask.Inputs, in)
	}
	found, err := w.describe(ctx, name, ask)
	columns := map[string][]engine.Column{}
	for _, r := range found {
		columns[r.Name] = r.Columns
	}
	return columns, err
}

// describe asks a worker for columns. It writes nothing, so nobody need record that
// it runs.
func (w *work) describe(ctx context.Context, name string, ask duck.Describe) ([]duck.Relation, error) {
	result, err := duck.Worker{Command: w.Command}.Do(ctx, duck.Request{
		Limits:   duck.Limits{Threads: w.Threads, MemoryMB: w.Job.MemoryMB, Scratch: filepath.Join(w.Dir, name)},
		Describe: &ask,
	})
	return result.Relations, err
}

// column finds a column by its name, without regard to case.
func column(columns []engine.Column, name string) (engine.Column, bool) {
	i := slices.IndexFunc(columns, func(c engine.Column) bool { return strings.EqualFold(c.Name, name) })
	if i < 0 {
		return engine.Column{}, false
	}
	return columns[i], true
}
