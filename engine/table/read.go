package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"dogear/engine"
)

// Select is what is read of a table. It goes to a worker by pipe.
type Select struct {
	Config  Config            `json:"config"`
	Table   string            `json:"table"`
	Columns []engine.Column   `json:"columns"` // as they land, in DuckDB's types
	Ranges  []engine.KeyRange `json:"ranges"`
	Limit   int64             `json:"limit,omitempty"` // rows, for a sample
	// Picked, where it is set, are the only rows that are read, instead of
	// Ranges.
	Picked *Picked `json:"picked,omitempty"`
}

// Landed is one column of a stream: how its values travel, and the DuckDB type
// that they have in the database.
type Landed struct {
	Name string
	how  travel
	duck string
	full bool // every row has a value
}

// Filler takes the values of one row after the other. A text is valid only
// until the call returns.
type Filler interface {
	Null(column, row int) error
	Integer(column, row int, v int64) error
	Float(column, row int, v float64) error
	Text(column, row int, v []byte) error
	Bytes(column, row int, v []byte) error
}

// Snapshot is one moment of a database, from which any number of tables are
// read one after the other.
type Snapshot struct {
	db *DB
	tx *sql.Tx
	pg *postgresSnapshot // PostgreSQL is read by its own protocol, which is faster
}

// OpenSnapshot begins to see a database as it is now.
func OpenSnapshot(ctx context.Context, c Config) (*Snapshot, error) {
	if c.Kind == engine.ConnectionPostgres {
		pg, err := openPostgres(ctx, c)
		if err != nil {
			return nil, c.explain(err, "cannot be reached")
		}
		return &Snapshot{pg: pg}, nil
	}
	db, err := Open(ctx, c)
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, db.snapshot())
	if err != nil {
		return nil, c.explain(err, "refuses a snapshot")
	}
	return &Snapshot{db: db, tx: tx}, nil
}

// Close ends the snapshot.
func (s *Snapshot) Close() error {
	if s.pg != nil {
		return s.pg.close()
	}
	_ = s.tx.Rollback() // it has only read
	return s.db.Close()
}

func (s *Snapshot) dialect() dialect {
	if s.db != nil {
		return s.db.dialect
	}
	return postgres{}
}

// Stream is the rows of one table on their way. Close it.
type Stream struct {
	Columns []Landed

	config Config
	table  string
	rows   *sql.Rows
	cells  [][]byte // of a row, those of its key behind those of Columns
	into   []any
	pg     *postgresStream
	prints *printer // where rows are compared
	picked *picking // where only some are read
}

// Read begins to read. What a source has frozen and the table lost comes as
// NULL.
func (s *Snapshot) Read(ctx context.Context, sel Select) (*Stream, error) {
	stream := &Stream{config: sel.Config, table: sel.Table}
	var err error
	if sel.Picked != nil {
		if stream.picked, err = pick(*sel.Picked); err != nil {
			return nil, err
		}
	}
	if err := s.begin(ctx, s.dialect(), sel, stream); err != nil {
		return nil, errors.Join(err, stream.picked.close())
	}
	return stream, nil
}

// begin sends the query of a stream.
func (s *Snapshot) begin(ctx context.Context, d dialect, sel Select, stream *Stream) error {
	query, args, err := s.query(ctx, d, sel, stream)
	if err != nil {
		return sel.Config.explain(err, "could not be read")
	}
	if s.pg != nil {
		stream.pg, err = s.pg.stream(ctx, query, args)
	} else {
		stream.rows, err = s.tx.QueryContext(ctx, query, args...) //nolint:rowserrcheck // row looks at it
	}
	if err != nil {
		return sel.Config.explain(err, "could not read "+sel.Table)
	}
	stream.cells = make([][]byte, len(stream.Columns)+stream.prints.width())
	for i := range stream.cells {
		stream.into = append(stream.into, (*sql.RawBytes)(&stream.cells[i]))
	}
	return nil
}

func (s *Snapshot) query(ctx context.Context, d dialect, sel Select, stream *Stream) (string, []any, error) {
	name := ParseName(sel.Table)
	columns, err := s.described(ctx, d, name)
	if err != nil {
		return "", nil, err
	}
	var selected []string
	for _, want := range sel.Columns {
		c, ok := find(columns, want.Name)
		if !ok {
			stream.Columns = append(stream.Columns, Landed{Name: want.Name, duck: "VARCHAR"})
			selected = append(selected, "NULL")
			continue
		}
		how := d.landed(c)
		if want.Type == "VARCHAR" && how.duck != "VARCHAR" && how.how != asBytes {
			how = landing{expr: d.printed(c), how: asText, duck: "VARCHAR"} // as it is printed, whatever it is
		}
		if how.expr == "" {
			how.expr = d.quote(c.Name)
		}
		selected = append(selected, how.expr)
		stream.Columns = append(stream.Columns, Landed{Name: want.Name, how: how.how, duck: how.duck, full: !c.Nullable})
	}
	if sel.Picked != nil {
		return sel.Picked.query(d, name, columns, selected, stream)
	}
	w := &conditions{d: d}
	if err := w.within(columns, sel.Ranges); err != nil {
		return "", nil, err
	}
	query := "SELECT " + strings.Join(selected, ", ") + " FROM " + name.in(d) + w.text()
	if sel.Limit > 0 {
		query = d.top(query, sel.Limit)
	}
	return query, w.args, nil
}

func (s *Snapshot) described(ctx context.Context, d dialect, n Name) ([]Column, error) {
	if s.pg != nil {
		return s.pg.described(ctx, n)
	}
	return described(ctx, d, s.tx, n)
}

// Fill hands over up to max rows. 0 is the end.
func (s *Stream) Fill(to Filler, max int) (int, error) {
	for n := range max {
		cells, err := s.next()
		if err != nil || cells == nil {
			return n, s.config.explain(err, "broke off while "+s.table+" was read")
		}
		for i := range s.Columns {
			if err := s.cell(to, i, n, cells[i]); err != nil {
				return n, s.config.explain(err, "broke off while "+s.table+" was read")
			}
		}
	}
	return max, nil
}

// next is the next row that is wanted, good until the next call; nil is the
// end.
func (s *Stream) next() ([][]byte, error) {
	for {
		cells, err := s.row()
		if err != nil || s.picked == nil {
			return cells, err
		}
		if cells == nil {
			return nil, s.picked.end()
		}
		print, err := s.prints.print(cells)
		if err != nil {
			return nil, err
		}
		if wanted, err := s.picked.wants(print); err != nil || wanted {
			return cells, err
		}
	}
}

// row is the next row; nil is the end.
func (s *Stream) row() ([][]byte, error) {
	if s.pg != nil {
		return s.pg.row()
	}
	if !s.rows.Next() {
		return nil, s.rows.Err()
	}
	if err := s.rows.Scan(s.into...); err != nil {
		return nil, fmt.Errorf("read a row of %s: %w", s.table, err)
	}
	return s.cells, nil
}

func (s *Stream) cell(to Filler, column, row int, cell []byte) error {
	switch {
	case cell == nil:
		return to.Null(column, row)
	case s.Columns[column].how == asBytes:
		return to.Bytes(column, row, cell)
	case s.pg != nil:
		return s.binary(to, column, row, cell)
	}
	return s.text(to, column, row, cell)
}

// text hands over a text, which must be UTF-8: DuckDB would make NULL of any
// other without a word.
func (s *Stream) text(to Filler, column, row int, v []byte) error {
	if !utf8.Valid(v) {
		return engine.Errorf(engine.Invalid, "The column %s of %s holds text that is not UTF-8, such as %q. Correct it, or leave the column out by a view.", s.Columns[column].Name, s.table, v)
	}
	return to.Text(column, row, v)
}

// Close ends the stream.
func (s *Stream) Close() error {
	if s.pg != nil {
		return errors.Join(s.pg.close(), s.picked.close())
	}
	return errors.Join(s.rows.Close(), s.picked.close())
}
