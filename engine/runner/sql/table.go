package sql

import (
	"context"

	"dogear/engine"
	"dogear/engine/duck"
	"dogear/engine/source"
	"dogear/engine/table"
)

// fetchTable makes ready what the worker will read of a table itself: its rows
// never pass through this process.
func (w *work) fetchTable(ctx context.Context, i int, part engine.SourcePlan) error {
	config, err := w.Tables.Config(ctx, part.Spec.Connection)
	if err != nil {
		return err
	}
	sel := &table.Select{Config: config, Table: part.Spec.Table, Columns: part.Schema}
	got := source.Fetched{Root: w.Dir}
	for _, o := range part.Taken {
		if r, ok := o.KeyRange(); ok {
			sel.Ranges = append(sel.Ranges, r)
		}
		got.Files = append(got.Files, source.File{Object: o.Object})
	}
	w.selects[i], w.fetched[i] = sel, got
	return nil
}

// read is a range as it was read: rows that were committed after the plan, with
// keys inside it, are counted too. Where a range is only a part of what landed,
// or read more than itself, the count of the plan stands.
func read(o engine.Object, part engine.SourcePlan, landed []duck.Landing) engine.Object {
	r, ok := o.KeyRange()
	if !ok || len(part.Taken) != 1 || r.From != nil {
		return o
	}
	for _, l := range landed {
		if l.Input == part.Spec.Name && r.Rows > 0 {
			o.Size = o.Size / r.Rows * l.Rows
			r.Rows = l.Rows
			o.Range = r.Text()
		}
	}
	return o
}
