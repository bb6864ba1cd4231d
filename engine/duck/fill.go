package duck

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/table"
)

// fill puts the rows of a result into a table beside the target, from which
// they are published.
func (w *writer) fill(ctx context.Context, number int, target table.Target, sink engine.Sink, query string, columns []engine.Column) (Written, error) {
	written := Written{Columns: columns}
	if sink.Mode == engine.Merge {
		m := merger{writer: w, sink: sink, number: number, columns: columns}
		if err := m.newRows(ctx, query); err != nil {
			return written, err
		}
		query = "SELECT * FROM " + m.name("new")
	}
	path, err := w.landFile(ctx, number+fillFiles, query)
	if err != nil {
		return written, err
	}
	// The rows of a file are numbered: a slice at a time is held in memory.
	file := "read_parquet(" + list(exactly(path)) + ", hive_partitioning = false, file_row_number = true)"
	if written.Rows, err = w.count(ctx, "SELECT count(*) FROM "+file); err != nil {
		return written, fmt.Errorf("count the result: %w", err)
	}
	target.Columns = columns
	err = target.Stage(ctx, written.Rows, func(outgoing func(engine.Column, string) string, from, to int64) (*sql.Rows, error) {
		expressions := make([]string, len(columns))
		for i, c := range columns {
			expressions[i] = outgoing(c, quote(c.Name))
		}
		_ = w.events.say(Event{Progress: &Progress{Percent: 100 * float64(from) / float64(written.Rows), Note: "filling the stage"}}) // a lost percentage does no harm
		return w.c.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE file_row_number >= %d AND file_row_number < %d", strings.Join(expressions, ", "), file, from, to))
	})
	if err != nil {
		return written, fromTable(err)
	}
	if sink.Mode == engine.OverwritePartitions {
		written.Touched, err = w.partitions(ctx, file, sink.PartitionBy)
	}
	return written, err
}

// fillFiles sets the files of what goes into tables apart from others.
const fillFiles = 1000

// partitions lists the partitions of a result, as their paths would be.
func (w *writer) partitions(ctx context.Context, from string, by []string) ([]string, error) {
	parts := make([]string, len(by))
	for i, name := range by {
		parts[i] = fmt.Sprintf("%s || '=' || coalesce(url_encode(CAST(%s AS VARCHAR)), '__HIVE_DEFAULT_PARTITION__')", literal(name), quote(name))
	}
	found, err := w.texts(ctx, "SELECT DISTINCT "+strings.Join(parts, " || '/' || ")+" FROM "+from)
	if err != nil {
		return nil, fmt.Errorf("list the partitions of the result: %w", err)
	}
	slices.Sort(found)
	return found, nil
}
