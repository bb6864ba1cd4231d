package duck

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

// reject is a row that does not fit: one that DuckDB's scan of CSV refused, or one
// whose value is not the same in the type of its column.
type reject struct {
	input   string
	file    facts
	line    int64 // as DuckDB counts: a row that spans lines is one
	begins  int64 // the byte of the file, decompressed, that the row begins at, from 1
	row     string
	column  string
	kind    string // DuckDB's word for what is wrong
	message string
	wanted  string // the type of the column
	// misfit says that value is not the same in that type; line then counts units,
	// and is 0 where its place was not found.
	misfit bool
	landed bool // from a table of a database
	value  string
	unit   string
}

func (r reject) String() string {
	if r.landed { // its rows have no numbers that people know
		return "column " + r.column + " of the table " + r.file.file.Key + ": " + r.wrong()
	}
	where := r.file.file.Key
	if r.line > 0 {
		where += fmt.Sprintf(" %s %d", cmp.Or(r.unit, "line"), r.line)
	}
	if r.column != "" {
		where += ", column " + r.column
	}
	return where + ": " + r.wrong()
}

// What DuckDB says of a row that holds a value of another type, or too few or
// too many.
var (
	notCast = regexp.MustCompile(`(?s)Could not convert string "(.*)" to '([^']*)'`)
	counted = regexp.MustCompile(`Expected Number of Columns: (\d+) Found: (\d+)`)
)

// wrong says what is wrong with the row, as a sentence.
func (r reject) wrong() string {
	switch {
	case r.misfit:
		return misfit(r.column, r.value, r.wanted)
	case r.kind == "CAST" && notCast.MatchString(r.message):
		m := notCast.FindStringSubmatch(r.message)
		return misfit(r.column, m[1], cmp.Or(r.wanted, m[2]))
	case counted.MatchString(r.message):
		m := counted.FindStringSubmatch(r.message)
		return fmt.Sprintf("the row has another number of values (%s) than the file has columns (%s).", m[2], m[1])
	case r.kind == "UNQUOTED VALUE":
		return "a quote is not closed, or something stands between a closing quote and the next delimiter."
	case r.kind == "INVALID ENCODING":
		return "a byte is not UTF-8 text."
	}
	return sentence(r.message)
}

// misfit says that a value is not of the type of its column.
func misfit(column, value, wanted string) string {
	return fmt.Sprintf("%s does not fit the type %s.", shown(column, value), wanted)
}

// rejects lists the refused rows, each once however often its file was read.
func (s *session) rejects(ctx context.Context) ([]reject, error) {
	tables, err := s.count(ctx, "SELECT count(*) FROM duckdb_tables() WHERE table_name IN ('reject_errors', 'reject_scans')")
	if err != nil || tables < 2 {
		return nil, err
	}
	first := func(column string) string { return "coalesce(first(" + column + " ORDER BY e.column_idx), '')" }
	rows, err := s.c.QueryContext(ctx, fmt.Sprintf(`
		SELECT s.file_path, e.line, coalesce(min(e.line_byte_position), 0), left(%s, %d), %s, %s, %s
		FROM reject_errors e JOIN reject_scans s USING (scan_id, file_id)
		GROUP BY s.file_path, e.line ORDER BY ALL`,
		first("e.csv_line"), maxText, first("e.column_name"), first("e.error_type::VARCHAR"), first("e.error_message")))
	if err != nil {
		return nil, fmt.Errorf("read the refused rows: %w", err)
	}
	defer rows.Close()
	known := s.files()
	var all []reject
	for rows.Next() {
		var r reject
		var path string
		if err := rows.Scan(&path, &r.line, &r.begins, &r.row, &r.column, &r.kind, &r.message); err != nil {
			return nil, fmt.Errorf("read a refused row: %w", err)
		}
		if at, ok := known[filepath.Clean(path)]; ok {
			r.input, r.file = at.reading.in.Name, at.facts
			wanted, _ := find(at.reading.columns, r.column)
			r.wanted = wanted.Type
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// locate makes the line of r the one that an editor shows: rows with line breaks
// in quotes, and empty lines, count differently there.
func (r *reject) locate() {
	if r.misfit {
		return // it was placed when it was found
	}
	if line, ok := lineAt(r.file, r.begins-1, r.row); ok {
		r.line = line
	}
}

// lineAt is the line of a file that a row stands in which begins at offset; ok is
// false where it does not.
func lineAt(f facts, offset int64, row string) (line int64, ok bool) {
	if offset < 0 {
		return 0, false
	}
	var lines newlines
	begins := false
	readText(f, func(text *bufio.Reader) {
		if _, err := io.CopyN(&lines, text, offset); err != nil {
			return
		}
		start, err := text.Peek(len(row))
		begins = err == nil && string(start) == row
		// DuckDB counts the empty lines before a row as its own.
		_, _ = io.WriteString(&lines, row[:len(row)-len(strings.TrimLeft(row, "\r\n"))]) // it never fails
	})
	return lines.n + 1, begins
}

// newlines counts the line breaks that are written to it, of any system.
type newlines struct {
	n    int64
	last byte
}

func (l *newlines) Write(p []byte) (int, error) {
	for _, c := range p {
		if c == '\r' || c == '\n' && l.last != '\r' {
			l.n++
		}
		l.last = c
	}
	return len(p), nil
}

// noted is how many refused rows the log names one by one.
const noted = 20

// judge decides what refused rows mean. Within the job's limit they are
// named and the work goes on. Beyond it, files of inputs that hold are
// returned to be left out; otherwise the work fails with the first row.
func (s *session) judge(ctx context.Context) (count int64, hold []Held, err error) {
	all, err := s.rejects(ctx)
	if err != nil {
		return 0, nil, err
	}
	all = append(all, s.misfits...)
	count = int64(len(all))
	if count > s.maxRejects {
		return count, s.holdable(all), s.tooMany(all)
	}
	for i, r := range all {
		if i == noted {
			s.events.note(true, "%d more rows were refused", len(all)-noted)
			break
		}
		r.locate()
		s.events.note(true, "row refused: %s", r)
	}
	return count, nil, nil
}

// holdable lists the files with refused rows whose input holds such files.
func (s *session) holdable(all []reject) []Held {
	holds := map[string]bool{}
	for _, in := range s.inputs {
		holds[in.Name] = in.Hold
	}
	var held []Held
	seen := map[Held]bool{}
	for _, r := range all {
		id := Held{Input: r.input, Key: r.file.file.Key}
		if holds[r.input] && !seen[id] {
			seen[id] = true
			r.locate()
			held = append(held, Held{Input: r.input, Key: id.Key, Note: r.String()})
		}
	}
	return held
}

// What there is to do about rows and files that do not fit.
const (
	mendRows = " Correct the file; or let the job refuse such rows, or the source hold such files."
	mendFile = " Correct the file, or let the source hold such files."
)

func (s *session) tooMany(all []reject) error {
	first := all[0]
	first.locate()
	if first.landed {
		return failf(FailData, "%s Correct the row, or give the column the type VARCHAR in the source.", first)
	}
	f := failf(FailUnreadable, "%s", first)
	if n := len(all); n > 1 {
		f.Message = fmt.Sprintf("%d rows do not fit; the first is in %s", n, first)
	}
	if s.maxRejects > 0 {
		f.Message += fmt.Sprintf(" The job accepts %s.", plural(s.maxRejects, "such row", "such rows"))
	}
	f.Message += mendRows
	f.Input, f.File, f.Line = first.input, first.file.file.Key, int(first.line)
	return f
}
