package table_test

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/table"
	"dogear/engine/table/tabletest"
)

// noon is when the tests run.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// reader reads a table as runs do: a survey, then what it found. It keeps the
// ledger as its ranges.
type reader struct {
	t      *testing.T
	base   tabletest.Base
	source engine.Source
	ledger []engine.KeyRange
	now    time.Time
	found  engine.TableSurvey // of the last run
}

func newReader(t *testing.T, b tabletest.Base, name string, keys ...string) *reader {
	return &reader{t: t, base: b, source: engine.Source{Name: name, Connection: tabletest.Connection, Table: name, Keys: keys}, now: noon}
}

func (r *reader) survey() (engine.TableSurvey, error) {
	q := engine.TableQuestion{Source: r.source, Now: r.now}
	for i, done := range r.ledger {
		if !done.Nulls {
			q.Mark = &r.ledger[i]
			q.Seen += done.Rows
		}
	}
	return r.base.Databases.Survey(r.t.Context(), q)
}

// run reads what is new and returns the first column of every row, in order.
func (r *reader) run() []string {
	r.t.Helper()
	var err error
	r.found, err = r.survey()
	tabletest.Must(r.t, err)
	rows := r.read(r.found.New)
	r.ledger = append(r.ledger, r.found.New...)
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row[0]
	}
	slices.SortFunc(ids, func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	})
	return ids
}

func (r *reader) read(ranges []engine.KeyRange) [][]string {
	r.t.Helper()
	snapshot, err := table.OpenSnapshot(r.t.Context(), r.base.Config)
	tabletest.Must(r.t, err)
	defer snapshot.Close()
	stream, err := snapshot.Read(r.t.Context(), table.Select{Config: r.base.Config, Table: r.source.Table, Columns: r.found.Columns, Ranges: ranges})
	tabletest.Must(r.t, err)
	defer stream.Close()
	var got collector
	for {
		got.begin()
		n, err := stream.Fill(&got, 100)
		tabletest.Must(r.t, err)
		if n == 0 {
			return got.rows
		}
	}
}

func (r *reader) mark() string {
	for _, done := range slices.Backward(r.ledger) {
		if !done.Nulls {
			return engine.KeyWords(done.High)
		}
	}
	return ""
}

func (r *reader) noticed(text string) bool {
	return slices.ContainsFunc(r.found.Notices, func(n string) bool { return strings.Contains(n, text) })
}

// collector is a Filler that keeps texts.
type collector struct {
	rows [][]string
	base int
}

func (c *collector) begin() { c.base = len(c.rows) }

func (c *collector) put(column, row int, v string) error {
	if c.base+row == len(c.rows) {
		c.rows = append(c.rows, nil)
	}
	if at := &c.rows[c.base+row]; column == len(*at) {
		*at = append(*at, v)
	}
	return nil
}

func (c *collector) Null(column, row int) error { return c.put(column, row, "NULL") }
func (c *collector) Integer(column, row int, v int64) error {
	return c.put(column, row, strconv.FormatInt(v, 10))
}

func (c *collector) Float(column, row int, v float64) error {
	return c.put(column, row, strconv.FormatFloat(v, 'g', -1, 64))
}
func (c *collector) Text(column, row int, v []byte) error { return c.put(column, row, string(v)) }
func (c *collector) Bytes(column, row int, v []byte) error {
	return c.put(column, row, hex.EncodeToString(v))
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
