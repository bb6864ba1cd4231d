package duck

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dogear/engine"
	"dogear/engine/catalog/infer"
)

// place finds where in f, a file of g, the values of rejects stand, and puts them in
// that order. A scan does not tell. One that is not found has no place.
func (s *session) place(ctx context.Context, r *reading, g *group, f facts, rejects []reject) {
	if len(rejects) == 0 {
		return
	}
	open := len(rejects)
	// met gives a row its place if it is one of those that are looked for.
	met := func(unit string, n int64, is func(reject) bool) (more bool) {
		for i := range rejects {
			if rejects[i].line == 0 && is(rejects[i]) {
				rejects[i].unit, rejects[i].line = unit, n
				open--
				break
			}
		}
		return open > 0
	}
	switch {
	case r.in.Format == engine.Parquet:
		s.placeRows(ctx, g, f, rejects)
	case r.in.Format == engine.JSON:
		eachValue(f, func(unit string, n int64, raw json.RawMessage) bool {
			return met(unit, n, func(r reject) bool {
				value, has := member(raw, r.column)
				return has && sameJSON(value, r.value)
			})
		})
	default:
		d, head := f.shape.Dialect, f.shape.Header()
		d.Encoding = infer.UTF8 // DuckDB is given no other
		eachRecord(f, func(n int64, record string) bool {
			if head {
				head = false
				return true
			}
			if !slices.ContainsFunc(rejects, func(r reject) bool { return strings.Contains(record, r.value) }) {
				return true
			}
			fields, err := infer.Records(infer.Head{Data: []byte(record), Whole: true}, d)
			return err != nil || len(fields) != 1 || met("line", n, func(r reject) bool {
				at := g.position(r.column)
				return at >= 0 && at < len(fields[0]) && (fields[0][at] == r.value || utf8.RuneCountInString(r.value) == valueKept && strings.HasPrefix(fields[0][at], r.value))
			})
		})
	}
	slices.SortStableFunc(rejects, func(a, b reject) int { return cmp.Compare(a.line, b.line) })
}

// placeOf is where in f a value of a column first stands: its line as an editor shows
// it, the number of its value of JSON, or else the number of its row; n is 0 where it is
// not found.
func (s *session) placeOf(ctx context.Context, r *reading, g *group, f facts, column, text string) (unit string, n int64) {
	at := []reject{{column: column, value: text}}
	s.place(ctx, r, g, f, at)
	if at[0].line == 0 { // of records that cannot be told apart, the rows can be counted
		s.placeRows(ctx, g, f, at)
	}
	return at[0].unit, at[0].line
}

// position is which field of a record of CSV a column is; -1 for none.
func (g *group) position(column string) int {
	if column == trailingColumn {
		return len(g.columns)
	}
	return slices.IndexFunc(g.columns, func(c engine.Column) bool { return c.Name == column })
}

// placeRows is place for Parquet, whose rows are counted.
func (s *session) placeRows(ctx context.Context, g *group, f facts, rejects []reject) {
	for i := range min(len(rejects), noted) {
		r := &rejects[i]
		n, err := s.count(ctx, fmt.Sprintf(`SELECT n FROM (SELECT row_number() OVER () AS n, %s AS v FROM %s) WHERE v::VARCHAR = %s LIMIT 1`, quote(r.column), g.of(f.path), literal(r.value)))
		if err == nil { // what cannot be looked for has no place
			r.unit, r.line = "row", n
		}
	}
}

// eachRecord gives the records of a CSV file with the line that each begins at, from 1,
// while see wants more.
func eachRecord(f facts, see func(line int64, record string) bool) {
	d := f.shape.Dialect
	mark := cmp.Or(d.Quote, `"`)
	readText(f, func(text *bufio.Reader) {
		var record strings.Builder
		quotes, begins := 0, int64(1)
		for n := int64(1); ; n++ {
			line, err := text.ReadString('\n')
			record.WriteString(line)
			if d.Escape != "" && d.Escape != mark {
				line = strings.ReplaceAll(line, d.Escape+mark, "")
			}
			quotes += strings.Count(line, mark)
			if quotes%2 == 0 || err != nil {
				if !see(begins, record.String()) || err != nil {
					return
				}
				record.Reset()
				quotes, begins = 0, n+1
			}
		}
	})
}

// eachValue gives the values of a JSON file with their numbers by lines or by values,
// from 1, while see wants more.
func eachValue(f facts, see func(unit string, n int64, raw json.RawMessage) bool) {
	readText(f, func(text *bufio.Reader) {
		if f.layout == "newline_delimited" {
			for n := int64(1); ; n++ {
				line, err := text.ReadBytes('\n')
				if !see("line", n, bytes.TrimSpace(line)) || err != nil {
					return
				}
			}
		}
		values := json.NewDecoder(text)
		if f.layout == "array" {
			if _, err := values.Token(); err != nil {
				return
			}
		}
		for n := int64(1); ; n++ {
			var raw json.RawMessage
			if values.Decode(&raw) != nil || !see("value", n, raw) {
				return
			}
		}
	})
}

// sameJSON reports whether a value of JSON is the one that DuckDB writes as text. A null,
// which it has none for, is not the text "" or "null".
func sameJSON(value json.RawMessage, text string) bool {
	if string(value) == "null" {
		return false
	}
	if plain(value) == text {
		return true
	}
	a, aErr := strconv.ParseFloat(string(value), 64)
	b, bErr := strconv.ParseFloat(text, 64)
	return aErr == nil && bErr == nil && a == b //nolint:nilerr // a text that is no number is another value
}
