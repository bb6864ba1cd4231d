package duck

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"dogear/engine"
)

// blame turns DuckDB's complaint about a path into one about a file of r that
// people know, and says where in it.
func (s *session) blame(ctx context.Context, r *reading, err error) error {
	if err == nil {
		return nil
	}
	c, ok := complaintOf(err)
	if !ok {
		return err
	}
	var at *scannedFile // the one with the longest path: others may begin alike
	for _, g := range r.groups {
		for _, f := range g.facts {
			if strings.Contains(c.Message, f.path) && (at == nil || len(f.path) > len(at.facts.path)) {
				at = &scannedFile{r, g, f}
			}
		}
	}
	if at == nil {
		return err
	}
	if failure := s.inRecord(ctx, *at, c.Message); failure != nil {
		return failure
	}
	if strings.Contains(c.Message, afterLast) {
		return s.beyond(ctx, *at)
	}
	if m := otherType.FindStringSubmatch(c.Message); m != nil {
		return unreadable(r.in, at.facts.file, "its column %s is %s, and %s in other files of this batch.%s", m[1], m[2], m[3], mendFile)
	}
	text := sentence(strings.ReplaceAll(c.Message, at.facts.path, at.facts.file.Key))
	return unreadable(r.in, at.facts.file, "%s%s", text, mendFile)
}

// beyond is the failure of a CSV file with a value after its last column.
func (s *session) beyond(ctx context.Context, at scannedFile) error {
	in, f := at.reading.in, at.facts.file
	var text string
	query := fmt.Sprintf(`SELECT %[1]s FROM %[2]s WHERE %[1]s <> '' LIMIT 1`, quote(trailingColumn), at.group.of(at.facts.path))
	if s.c.QueryRowContext(ctx, query).Scan(&text) != nil {
		return unreadable(in, f, "there is a value after its last column.%s", mendFile)
	}
	unit, n := s.placeOf(ctx, at.reading, at.group, at.facts, trailingColumn, text)
	if n == 0 {
		return unreadable(in, f, "after its last column stands %s.%s", shown("", text), mendFile)
	}
	return misplaced(in, f, unit, n, "", "after its last column stands "+shown("", text)+".")
}

// otherType finds what DuckDB says where a column has types that do not go together.
var otherType = regexp.MustCompile(`failed to cast column "(.*)" from type (.*) to (.*?): `)

// alone makes an error that names no file one about the first Parquet file of r
// that cannot be read alone either.
func (s *session) alone(ctx context.Context, r *reading, err error) error {
	if _, known := errors.AsType[*Failure](err); known || err == nil || r.in.Format != engine.Parquet {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	for _, g := range r.groups {
		for _, f := range g.facts {
			// A hash looks at every value.
			failed := s.exec(ctx, "SELECT bit_xor(hash(COLUMNS(*))) FROM read_parquet("+list(exactly(f.path))+", hive_partitioning = false)")
			if c, ok := complaintOf(failed); ok {
				return unreadable(r.in, f.file, "%s%s", sentence(strings.ReplaceAll(c.Message, f.path, f.file.Key)), mendFile)
			}
		}
	}
	return err
}

// misplaced is the failure of a file at one of its lines, records or rows.
func misplaced(in Input, f File, unit string, n int64, column, text string) *Failure {
	where := fmt.Sprintf("%s %s %d", f.Key, unit, n)
	if column != "" {
		where += ", column " + column
	}
	failure := failf(FailUnreadable, "%s: %s%s", where, text, mendFile)
	failure.Input, failure.File, failure.Line = in.Name, f.Key, int(n)
	return failure
}

// inJSON finds what DuckDB says of a value of JSON that it cannot take.
var inJSON = regexp.MustCompile(`(?s)^(JSON transform error|Malformed JSON) in file ".*", (?:at byte \d+ )?in (line|record/value) (\d+): (.*)$`)

// inRecord says which value of a JSON file does not fit, where message is about one;
// else it is nil.
func (s *session) inRecord(ctx context.Context, at scannedFile, message string) *Failure {
	m := inJSON.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	in, f := at.reading.in, at.facts
	n, err := strconv.ParseInt(m[3], 10, 64)
	if err != nil {
		return nil
	}
	text := sentence(m[4])
	if secret.MatchString(text) {
		text = "a value does not fit."
	}
	unit := "value"
	if m[2] == "line" {
		unit = "line"
	}
	if m[1] == "Malformed JSON" {
		if unit == "line" {
			n = brokenLine(f, n)
		}
		return misplaced(in, f.file, unit, n, "", "this is not JSON: "+text)
	}
	raw := record(f, n)
	for _, c := range at.group.columns {
		value, has := member(raw, c.Name)
		if !has || s.fits(ctx, value, c.Type) {
			continue
		}
		return misplaced(in, f.file, unit, n, c.Name, misfit(c.Name, plain(value), c.Type))
	}
	return misplaced(in, f.file, unit, n, "", text)
}

// fits reports whether a value of JSON is one of a type, as a scan of JSON sees it.
func (s *session) fits(ctx context.Context, value json.RawMessage, kind string) bool {
	_, err := s.count(ctx, fmt.Sprintf("SELECT count(CAST(%s::JSON AS %s))", literal(string(value)), kind))
	return err == nil
}

// member is the value of an object under a name, as DuckDB compares names.
func member(object []byte, name string) (json.RawMessage, bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil {
		return nil, false
	}
	for own, value := range all {
		if strings.EqualFold(own, name) {
			return value, true
		}
	}
	return nil, false
}

// plain is a value of JSON as people write it: a text without its quotes.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// record is the n-th value of a JSON file, or line of one that has a value a line, from
// 1; nil where it cannot be found.
func record(f facts, n int64) (raw json.RawMessage) {
	eachValue(f, func(_ string, at int64, value json.RawMessage) bool {
		if at == n {
			raw = value
		}
		return at < n
	})
	return raw
}

// brokenLine is the first line that is not JSON, of the one that DuckDB names and
// the one before: it counts the line break that it stumbled over.
func brokenLine(f facts, n int64) int64 {
	readText(f, func(text *bufio.Reader) {
		if before := line(text, n-1); len(bytes.TrimSpace(before)) > 0 && !json.Valid(before) {
			n--
		}
	})
	return n
}

// line is the n-th line that text gives, from 1; nil where there is none.
func line(text *bufio.Reader, n int64) (found []byte) {
	for ; n > 0; n-- {
		var err error
		if found, err = text.ReadBytes('\n'); err != nil && (err != io.EOF || n > 1) {
			return nil
		}
	}
	return found
}

// readText gives what f holds, decompressed, to read. A file that is gone by now
// is not read.
func readText(f facts, read func(*bufio.Reader)) {
	file, err := os.Open(f.path)
	if err != nil {
		return
	}
	defer file.Close()
	text, err := decompress(file, &facts{})
	if err != nil {
		return
	}
	defer text.Close()
	read(bufio.NewReaderSize(text, 64<<10))
}
