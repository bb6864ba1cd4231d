package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"dogear/engine"
	"dogear/engine/table"
)

// Landing is what was read of a table.
type Landing struct {
	Input string `json:"input"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"` // of the file it landed in
}

// land reads every input that is a table of a database into a Parquet file of
// the worker's scratch, and makes that file the input. Tables of one database
// are read in one snapshot. It happens before DuckDB is opened, so that no SQL
// of the job meets rows that are still on their way (guard G6).
func land(ctx context.Context, limits Limits, inputs []Input, events *speaker) (landed []Input, _ []Landing, err error) {
	l := lander{events: events, snapshots: map[table.Config]*table.Snapshot{}}
	defer func() { err = errors.Join(err, l.close()) }()
	landed = slices.Clone(inputs)
	for i := range landed {
		if landed[i].Table == nil {
			continue
		}
		if err := l.land(ctx, limits, i, &landed[i]); err != nil {
			return nil, nil, err
		}
	}
	return landed, l.landings, nil
}

// lander lands tables.
type lander struct {
	events    *speaker
	snapshots map[table.Config]*table.Snapshot
	landings  []Landing
}

func (l *lander) close() error {
	var all []error
	for _, s := range l.snapshots {
		all = append(all, s.Close())
	}
	return errors.Join(all...)
}

func (l *lander) land(ctx context.Context, limits Limits, number int, in *Input) error {
	sel := *in.Table
	snapshot := l.snapshots[sel.Config]
	if snapshot == nil {
		var err error
		if snapshot, err = table.OpenSnapshot(ctx, sel.Config); err != nil {
			return fromTable(err)
		}
		l.snapshots[sel.Config] = snapshot
	}
	_ = l.events.say(Event{Progress: &Progress{Percent: -1, Note: "reading " + sel.Table}}) // a lost percentage does no harm
	stream, err := snapshot.Read(ctx, sel)
	if err != nil {
		return fromTable(err)
	}
	path := filepath.Join(limits.Scratch, fmt.Sprintf("table-%d.parquet", number))
	rows, err := stream.Land(path)
	if err := errors.Join(err, stream.Close()); err != nil {
		return fromTable(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at what was landed: %w", err)
	}
	l.landings = append(l.landings, Landing{Input: in.Name, Rows: rows, Bytes: info.Size()})
	in.Table, in.Format, in.Dialect, in.Schema = nil, engine.Parquet, engine.Dialect{}, sel.Columns
	in.Files = []File{{Key: sel.Table, Path: path}}
	in.Root, in.landed = limits.Scratch, true
	return nil
}

// fromTable makes an error of a database one of the worker's, with its code.
func fromTable(err error) error {
	if engine.CodeOf(err) == engine.Internal {
		return err
	}
	if err == nil {
		return nil
	}
	return failf(FailData, "%s", Brief(engine.MessageOf(err)))
}
