package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

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
// are read in one snapshot. A session of its own does it, before any SQL of
// the job: DuckDB sees rows from outside only here (guard G6).
func land(ctx context.Context, limits Limits, inputs []Input, events *speaker) ([]Input, []Landing, error) {
	if !slices.ContainsFunc(inputs, func(in Input) bool { return in.Table != nil }) {
		return inputs, nil, nil
	}
	s, err := open(ctx, limits, false, events)
	if err != nil {
		return nil, nil, err
	}
	l := lander{session: s, snapshots: map[table.Config]*table.Snapshot{}}
	inputs = slices.Clone(inputs)
	for i := range inputs {
		if inputs[i].Table != nil {
			if err = l.land(ctx, i, &inputs[i]); err != nil {
				break
			}
		}
	}
	return inputs, l.landings, errors.Join(err, l.close())
}

// lander lands tables.
type lander struct {
	*session
	snapshots map[table.Config]*table.Snapshot
	landings  []Landing
}

func (l *lander) close() error {
	var all []error
	for _, s := range l.snapshots {
		all = append(all, s.Close())
	}
	return errors.Join(append(all, l.session.close())...)
}

func (l *lander) land(ctx context.Context, number int, in *Input) error {
	sel := *in.Table
	snapshot := l.snapshots[sel.Config]
	if snapshot == nil {
		var err error
		if snapshot, err = table.OpenSnapshot(ctx, sel.Config); err != nil {
			return fromTable(err)
		}
		l.snapshots[sel.Config] = snapshot
	}
	stream, err := snapshot.Read(ctx, sel)
	if err != nil {
		return fromTable(err)
	}
	path := filepath.Join(l.limits.Scratch, fmt.Sprintf("table-%d.parquet", number))
	rows, err := l.copy(ctx, number, sel.Table, stream, path)
	if err := errors.Join(err, fromTable(stream.Close())); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at what was landed: %w", err)
	}
	l.landings = append(l.landings, Landing{Input: in.Name, Rows: rows, Bytes: info.Size()})
	in.Table, in.Format, in.Dialect, in.Schema = nil, engine.Parquet, engine.Dialect{}, sel.Columns
	in.Files = []File{{Key: sel.Table, Path: path}}
	in.Root = l.limits.Scratch
	return nil
}

// copy writes a stream to a file and proves that every row of it arrived.
func (l *lander) copy(ctx context.Context, number int, name string, stream *table.Stream, path string) (int64, error) {
	source := &tableSource{stream: stream, columns: stream.Columns}
	function := fmt.Sprintf("dogear_table_%d", number)
	err := duckdb.RegisterTableUDF(l.c, function, duckdb.ChunkTableFunction{
		BindArguments: func(map[string]any, ...any) (duckdb.ChunkTableSource, error) { return source, nil },
	})
	if err != nil {
		return 0, fmt.Errorf("offer a table to DuckDB: %w", err)
	}
	casts := make([]string, len(stream.Columns))
	for i, c := range stream.Columns {
		casts[i] = strings.ReplaceAll(c.Cast, "%s", quote(c.Name)) + " AS " + quote(c.Name)
	}
	// It is read once, by us: little work beats a small file.
	copied, err := l.c.ExecContext(ctx, fmt.Sprintf("COPY (SELECT %s FROM %s()) TO %s (FORMAT parquet, COMPRESSION snappy)",
		strings.Join(casts, ", "), function, literal(path)))
	if source.err != nil {
		return 0, fromTable(source.err)
	}
	if err != nil {
		if c, ok := complaintOf(err); ok && (c.Type == "Conversion" || c.Type == "Invalid Input" || c.Type == "Out of Range") {
			return 0, failf(FailData, "A value of %s does not fit its column: %s Write another type for that column into the source's schema, such as VARCHAR.", name, sentence(c.Message))
		}
		return 0, fmt.Errorf("land %s: %w", name, err)
	}
	rows, err := copied.RowsAffected()
	if err == nil && rows != source.rows {
		return 0, failf(FailInternal, "%d rows of %s were read and %d arrived", source.rows, name, rows)
	}
	return rows, err
}

// fromTable makes an error of a database one of the worker's, with its code.
func fromTable(err error) error {
	if engine.CodeOf(err) == engine.Internal {
		return err
	}
	if err == nil {
		return nil
	}
	return failf(FailData, "%s", engine.MessageOf(err))
}

// tableSource gives DuckDB the rows of a stream, a chunk at a time.
type tableSource struct {
	stream  *table.Stream
	columns []table.Landed
	rows    int64
	err     error
}

// ColumnInfos are the columns as they travel.
func (t *tableSource) ColumnInfos() []duckdb.ColumnInfo {
	types := map[string]duckdb.Type{
		"BIGINT": duckdb.TYPE_BIGINT, "DOUBLE": duckdb.TYPE_DOUBLE, "VARCHAR": duckdb.TYPE_VARCHAR, "BLOB": duckdb.TYPE_BLOB,
	}
	infos := make([]duckdb.ColumnInfo, len(t.columns))
	for i, c := range t.columns {
		info, err := duckdb.NewTypeInfo(types[c.Raw])
		if err != nil {
			t.err = err
		}
		infos[i] = duckdb.ColumnInfo{Name: c.Name, T: info}
	}
	return infos
}

// Cardinality is unknown.
func (t *tableSource) Cardinality() *duckdb.CardinalityInfo { return nil }

// Init has nothing to do: the stream runs already.
func (t *tableSource) Init() {}

// FillChunk hands over the next rows.
func (t *tableSource) FillChunk(chunk duckdb.DataChunk) error {
	n, err := t.stream.Fill(filler{chunk}, duckdb.GetDataChunkCapacity())
	if err != nil {
		t.err = err
		return errors.New("the table could not be read")
	}
	t.rows += int64(n)
	return chunk.SetSize(n)
}

// filler puts values into a chunk.
type filler struct{ chunk duckdb.DataChunk }

func (f filler) Null(column, row int) error { return f.chunk.SetValue(column, row, nil) }

func (f filler) Integer(column, row int, v int64) error {
	return duckdb.SetChunkValue(f.chunk, column, row, v)
}

func (f filler) Float(column, row int, v float64) error {
	return duckdb.SetChunkValue(f.chunk, column, row, v)
}

func (f filler) Text(column, row int, v []byte) error {
	return duckdb.SetChunkValue(f.chunk, column, row, v)
}

func (f filler) Bytes(column, row int, v []byte) error {
	return duckdb.SetChunkValue(f.chunk, column, row, v)
}
