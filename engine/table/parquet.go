package table

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// rowGroup is how many rows are held in memory and written together. DuckDB
// reads its row groups in parallel.
const rowGroup = 61_440

// Land writes the rows of s into a new Parquet file and returns how many there
// were. It is read once and soon, so little work beats a small file: values are
// written as they come, neither packed nor compressed.
func (s *Stream) Land(path string) (rows int64, err error) {
	out, err := os.Create(path)
	if err != nil {
		return 0, fmt.Errorf("make the file that %s lands in: %w", s.table, err)
	}
	buffer := bufio.NewWriterSize(out, 1<<20)
	defer func() { err = errors.Join(err, buffer.Flush(), out.Close()) }()
	l, err := newLander(s, buffer)
	if err != nil {
		return 0, err
	}
	for {
		n, err := s.Fill(l, rowGroup)
		if err == nil && n > 0 {
			err = l.flush()
		}
		if err != nil {
			return rows, errors.Join(err, l.file.Close())
		}
		rows += int64(n)
		if n < rowGroup {
			return rows, l.file.Close()
		}
	}
}

// lander is a Filler that keeps one row group, column by column.
type lander struct {
	file    *file.Writer
	columns []*landingColumn
}

// landingColumn holds the values of a column: those that are there, and for
// each row whether there is one.
type landingColumn struct {
	kind   parquet.Type
	full   bool // every row has a value, and there stays empty
	there  []int16
	longs  []int64
	ints   []int32
	bools  []bool
	floats []float64
	texts  []parquet.ByteArray
	arena  []byte // of the bytes of texts
}

func newLander(s *Stream, out *bufio.Writer) (*lander, error) {
	l := &lander{}
	var fields schema.FieldList
	for _, c := range s.Columns {
		repetition := parquet.Repetitions.Optional
		if c.full {
			repetition = parquet.Repetitions.Required
		}
		node, err := schema.NewPrimitiveNodeLogical(c.Name, repetition, c.logical(), c.physical(), -1, -1)
		if err != nil {
			return nil, fmt.Errorf("describe the column %s of %s: %w", c.Name, s.table, err)
		}
		fields = append(fields, node)
		l.columns = append(l.columns, &landingColumn{kind: c.physical(), full: c.full})
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, fmt.Errorf("describe the columns of %s: %w", s.table, err)
	}
	l.file = file.NewParquetWriter(out, root, file.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithDictionaryDefault(false), parquet.WithStats(false), parquet.WithCompression(compress.Codecs.Uncompressed),
	)))
	return l, nil
}

// physical is how a column is stored.
func (c Landed) physical() parquet.Type {
	switch {
	case c.how == asInteger && c.duck == "BOOLEAN":
		return parquet.Types.Boolean
	case c.how == asInteger || c.how == asMicros:
		return parquet.Types.Int64
	case c.how == asDays:
		return parquet.Types.Int32
	case c.how == asFloat:
		return parquet.Types.Double
	}
	return parquet.Types.ByteArray
}

// logical is what the stored values mean.
func (c Landed) logical() schema.LogicalType {
	switch c.how {
	case asText:
		return schema.StringLogicalType{}
	case asMicros:
		return schema.NewTimestampLogicalType(strings.HasSuffix(c.duck, "TIME ZONE"), schema.TimeUnitMicros)
	case asDays:
		return schema.DateLogicalType{}
	case asBytes, asInteger, asFloat:
	}
	return schema.NoLogicalType{}
}

// flush writes the rows that are held and forgets them.
func (l *lander) flush() error {
	group, err := l.file.AppendRowGroupChecked()
	if err != nil {
		return fmt.Errorf("begin a group of rows: %w", err)
	}
	for _, c := range l.columns {
		w, err := group.NextColumn()
		if err != nil {
			return fmt.Errorf("write a column: %w", err)
		}
		switch w := w.(type) {
		case *file.Int64ColumnChunkWriter:
			_, err = w.WriteBatch(c.longs, c.there, nil)
		case *file.Int32ColumnChunkWriter:
			_, err = w.WriteBatch(c.ints, c.there, nil)
		case *file.BooleanColumnChunkWriter:
			_, err = w.WriteBatch(c.bools, c.there, nil)
		case *file.Float64ColumnChunkWriter:
			_, err = w.WriteBatch(c.floats, c.there, nil)
		case *file.ByteArrayColumnChunkWriter:
			_, err = w.WriteBatch(c.texts, c.there, nil)
		}
		if err = errors.Join(err, w.Close()); err != nil {
			return fmt.Errorf("write a column: %w", err)
		}
		c.there, c.longs, c.ints, c.bools = c.there[:0], c.longs[:0], c.ints[:0], c.bools[:0]
		c.floats, c.texts, c.arena = c.floats[:0], c.texts[:0], c.arena[:0]
	}
	return group.Close()
}

// Null notes that a row has no value.
func (l *lander) Null(column, _ int) error {
	c := l.columns[column]
	if c.full {
		return fmt.Errorf("column %d is declared to have a value in every row, and has none in one", column)
	}
	c.there = append(c.there, 0)
	return nil
}

// has notes that a row has a value.
func (c *landingColumn) has() {
	if !c.full {
		c.there = append(c.there, 1)
	}
}

// Integer keeps a number, a day, a moment or yes and no.
func (l *lander) Integer(column, _ int, v int64) error {
	c := l.columns[column]
	c.has()
	switch c.kind {
	case parquet.Types.Boolean:
		c.bools = append(c.bools, v != 0)
	case parquet.Types.Int32:
		c.ints = append(c.ints, int32(v))
	default:
		c.longs = append(c.longs, v)
	}
	return nil
}

// Float keeps a number in floating point.
func (l *lander) Float(column, _ int, v float64) error {
	c := l.columns[column]
	c.has()
	c.floats = append(c.floats, v)
	return nil
}

// Text keeps a copy of a text.
func (l *lander) Text(column, row int, v []byte) error { return l.Bytes(column, row, v) }

// arenaSize is how many bytes of texts lie together.
const arenaSize = 1 << 20

// Bytes keeps a copy of bytes.
func (l *lander) Bytes(column, _ int, v []byte) error {
	c := l.columns[column]
	c.has()
	if len(v) > cap(c.arena)-len(c.arena) {
		c.arena = make([]byte, 0, max(arenaSize, len(v))) // texts before keep the old one
	}
	from := len(c.arena)
	c.arena = append(c.arena, v...)
	c.texts = append(c.texts, c.arena[from:len(c.arena):len(c.arena)])
	return nil
}
