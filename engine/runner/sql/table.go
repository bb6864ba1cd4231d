package sql

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/duck"
	"dogear/engine/runner"
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
	if part.Compared != nil {
		if sel.Picked, err = w.pick(ctx, i, part); err != nil {
			return err
		}
	}
	w.selects[i], w.fetched[i] = sel, got
	return nil
}

// pick writes the list of the rows that a compared table is read by.
func (w *work) pick(ctx context.Context, i int, part engine.SourcePlan) (*table.Picked, error) {
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the scratch of an attempt: %w", err)
	}
	picked := &table.Picked{
		Instead: part.Spec.Options.Table.Instead, Keys: part.Compared.Keys,
		List: filepath.Join(w.Dir, fmt.Sprintf("rows-%d", i)), Left: filepath.Join(w.Dir, fmt.Sprintf("left-%d", i)),
	}
	return picked, table.WritePrints(picked.List, bookmark.RowsToRead(ctx, w.Pages, *part.Compared))
}

// compared is what the ledger keeps of an object of a table that was compared.
// Rows that changed or went between plan and read are left for the next run.
func (w *work) compared(ctx context.Context, i int, o engine.Object, landed []duck.Landing) (engine.Object, error) {
	part := w.batch.Plan.Sources[i]
	r, _ := o.KeyRange()
	if r.Compared == nil || r.Compared.Rows != "" { // an earlier read, which was asked for again
		return o, nil
	}
	r, err := bookmark.AfterCompare(ctx, w.Pages, part, r, w.Attempt.Run.ID, table.ReadPrints(w.selects[i].Picked.Left))
	if err != nil {
		return o, err
	}
	left := part.Compared.Taken()
	for _, l := range landed {
		if l.Input == part.Spec.Name {
			left -= l.Rows
		}
	}
	if left > 0 {
		w.host.Log(runner.Warn, fmt.Sprintf("%d rows of %s changed or went since the plan; they are left for the next run", left, part.Root))
		o.Size, r.Rows = o.Size/r.Rows*max(0, r.Rows-left), max(0, r.Rows-left)
	}
	o.Range = r.Text()
	return o, nil
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
