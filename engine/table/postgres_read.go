package table

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// postgresSnapshot reads by the protocol of PostgreSQL, in its binary form,
// without a value of Go for every cell.
type postgresSnapshot struct {
	db   *sql.DB
	conn *sql.Conn
	raw  *pgx.Conn
}

func openPostgres(ctx context.Context, c Config) (*postgresSnapshot, error) {
	db, err := postgres{}.open(c)
	if err != nil {
		return nil, err
	}
	p := &postgresSnapshot{db: db}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if p.conn, err = db.Conn(limited); err != nil {
		_ = db.Close() // that it cannot be reached matters more
		return nil, err
	}
	err = p.conn.Raw(func(driver any) error {
		p.raw = driver.(*stdlib.Conn).Conn()
		return nil
	})
	if err == nil {
		_, err = p.raw.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	}
	if err != nil {
		_ = p.close()
		return nil, err
	}
	return p, nil
}

// described asks over the same session, so that it sees the same moment.
func (p *postgresSnapshot) described(ctx context.Context, n Name) ([]Column, error) {
	return described(ctx, postgres{}, p.conn, n)
}

// close ends the session, and its transaction with it.
func (p *postgresSnapshot) close() error {
	_ = p.conn.Close()
	return p.db.Close()
}

// binaryFormat asks for every column in its binary form.
var binaryFormat = []int16{pgx.BinaryFormatCode}

func (p *postgresSnapshot) stream(ctx context.Context, query string, args []any) (*postgresStream, error) {
	values := make([][]byte, len(args))
	for i, arg := range args {
		values[i] = []byte(fmt.Sprint(arg)) // every key is bound as text
	}
	return &postgresStream{result: p.raw.PgConn().ExecParams(ctx, query, values, nil, nil, binaryFormat)}, nil
}

type postgresStream struct{ result *pgconn.ResultReader }

// The beginning of PostgreSQL's time, 2000-01-01, seen from 1970.
const (
	epochMicros = 946_684_800_000_000
	epochDays   = 10_957
)

// row is the next row in binary form; nil is the end.
func (p *postgresStream) row() ([][]byte, error) {
	if p.result.NextRow() {
		return p.result.Values(), nil
	}
	_, err := p.result.Close()
	return nil, err
}

// binary hands over a value in the form of PostgreSQL's protocol.
func (s *Stream) binary(to Filler, column, row int, v []byte) error {
	switch s.Columns[column].how {
	case asText:
		return s.text(to, column, row, v)
	case asBytes:
		return to.Bytes(column, row, v)
	case asInteger:
		return to.Integer(column, row, integer(v))
	case asFloat:
		if len(v) == 4 {
			return to.Float(column, row, float64(math.Float32frombits(binary.BigEndian.Uint32(v))))
		}
		return to.Float(column, row, math.Float64frombits(binary.BigEndian.Uint64(v)))
	case asMicros:
		return to.Integer(column, row, moved(integer(v), epochMicros, math.MaxInt64))
	case asDays:
		return to.Integer(column, row, moved(integer(v), epochDays, math.MaxInt32))
	}
	return fmt.Errorf("a column of %s travels in an unknown way", s.table)
}

// integer reads a number of one, two, four or eight bytes.
func integer(v []byte) int64 {
	switch len(v) {
	case 1:
		return int64(v[0])
	case 2:
		return int64(int16(binary.BigEndian.Uint16(v)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(v)))
	}
	return int64(binary.BigEndian.Uint64(v))
}

// moved counts from 1970. Infinity, the largest number, is that of DuckDB too;
// its opposite is the smallest number here and one more there.
func moved(v, by, infinity int64) int64 {
	switch {
	case v == infinity:
		return infinity
	case v == -infinity-1:
		return -infinity
	}
	return v + by
}

func (p *postgresStream) close() error {
	_, err := p.result.Close()
	return err
}
