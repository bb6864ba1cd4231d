package table

import (
	"context"
	"database/sql"
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

// Stream is the rows of one table on their way. Close it.
type Stream struct {
	Columns []Landed

	config Config
	table  string
	rows   *sql.Rows
	cells  []sql.RawBytes
	into   []any
	pg     *postgresStream
}

// Read begins to read. What a source has frozen and the table lost comes as
// NULL.
func (s *Snapshot) Read(ctx context.Context, sel Select) (*Stream, error) {
	var d dialect = postgres{}
	if s.db != nil {
		d = s.db.dialect
	}
	stream := &Stream{config: sel.Config, table: sel.Table}
	query, args, err := s.query(ctx, d, sel, stream)
	if err != nil {
		return nil, sel.Config.explain(err, "could not be read")
	}
	if s.pg != nil {
		stream.pg, err = s.pg.stream(ctx, query, args)
	} else {
		stream.rows, err = s.tx.QueryContext(ctx, query, args...) //nolint:rowserrcheck // Fill looks at it
	}
	if err != nil {
		return nil, sel.Config.explain(err, "could not read "+sel.Table)
	}
	stream.cells = make([]sql.RawBytes, len(stream.Columns))
	for i := range stream.cells {
		stream.into = append(stream.into, &stream.cells[i])
	}
	return stream, nil
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
	if s.pg != nil {
		n, err := s.pg.fill(s, to, max)
		return n, s.config.explain(err, "broke off while "+s.table+" was read")
	}
	for n := range max {
		if !s.rows.Next() {
			return n, s.config.explain(s.rows.Err(), "broke off while "+s.table+" was read")
		}
		if err := s.rows.Scan(s.into...); err != nil {
			return n, fmt.Errorf("read a row of %s: %w", s.table, err)
		}
		for i, cell := range s.cells {
			if err := s.cell(to, i, n, cell); err != nil {
				return n, err
			}
		}
	}
	return max, nil
}

func (s *Stream) cell(to Filler, column, row int, cell []byte) error {
	switch {
	case cell == nil:
		return to.Null(column, row)
	case s.Columns[column].how == asBytes:
		return to.Bytes(column, row, cell)
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
		return s.pg.close()
	}
	return s.rows.Close()
}
