// Package infer finds out how a CSV file is written and what its columns
// hold, from the beginning of the file alone. What it finds is shown to a
// person and then frozen: a run never infers what a job has written down.
package infer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"dogear/engine"
)

// Sizes of the beginning that is looked at. A file with very long lines is
// read further, so that at least its header and a row are seen.
const (
	headSize    = 64 << 10
	maxHeadSize = 8 << 20
	minLines    = 3
)

// Head is the beginning of a file, decompressed.
type Head struct {
	Data  []byte
	Whole bool // Data is all there is
}

// Read takes the beginning of r.
func Read(r io.Reader) (Head, error) {
	var data bytes.Buffer
	for limit := int64(headSize); ; limit *= 2 {
		_, err := io.CopyN(&data, r, limit-int64(data.Len()))
		if errors.Is(err, io.EOF) {
			return Head{data.Bytes(), true}, nil
		}
		if err != nil {
			return Head{}, err
		}
		if limit >= maxHeadSize || bytes.Count(data.Bytes(), []byte("\n")) >= minLines {
			return Head{Data: data.Bytes()}, nil
		}
	}
}

// Trailing says how rows end beyond their last named column.
type Trailing int

// The ends of rows. An unnamed last column that is always empty is dropped.
const (
	NoTrailing   Trailing = iota
	TrailingBoth          // header and rows end with a delimiter
	TrailingRows          // only rows do
	TrailingHead          // only the header does
)

// Shape is what the beginning of a file shows.
type Shape struct {
	Dialect  engine.Dialect
	Columns  []Column
	Trailing Trailing
	Rows     int // data rows seen
	Notes    []string
}

// Header reports whether the first line names the columns.
func (s Shape) Header() bool { return s.Dialect.Header != nil && *s.Dialect.Header }

// CSV looks at the beginning of a file. What given already says is taken as
// it is; the rest is found out.
func CSV(head Head, given engine.Dialect) (Shape, error) {
	shape := Shape{Dialect: given}
	shape.Dialect.Encoding = Encoding(head, given.Encoding)
	text, err := decode(head, shape.Dialect.Encoding)
	if err != nil {
		return Shape{}, err
	}
	if shape.Dialect.Quote == "" {
		shape.Dialect.Quote = `"`
	}
	if shape.Dialect.Escape == "" {
		shape.Dialect.Escape = shape.Dialect.Quote
	}
	if shape.Dialect.Delimiter == "" {
		shape.Dialect.Delimiter = delimiter(text, head.Whole, shape.Dialect.Quote[0])
	}
	records := parse(text, shape.Dialect.Delimiter[0], shape.Dialect.Quote[0], head.Whole)
	if len(records) == 0 {
		return shape, nil
	}
	if shape.Dialect.Decimal == "" && shape.Dialect.Delimiter != "," {
		shape.Dialect.Decimal = decimal(records)
	}
	if shape.Dialect.Header == nil {
		header := isHeader(records, shape.Dialect)
		shape.Dialect.Header = &header
	}
	shape.describe(records)
	return shape, nil
}

// describe names and types the columns of records.
func (s *Shape) describe(records [][]string) {
	rows := records
	var names []string
	if s.Header() {
		names, rows = slices.Clone(records[0]), records[1:]
	}
	s.Rows = len(rows)
	s.trail(&names, rows)
	width := len(names)
	if !s.Header() {
		width = 0
		for _, row := range rows {
			width = max(width, len(row))
		}
		if s.Trailing == TrailingBoth {
			width--
		}
	}
	s.Columns = make([]Column, width)
	clean := s.clean(names, width)
	format := s.Dialect.DateFormat
	if format == "" {
		format = dateFormat(rows, width)
	}
	for i := range s.Columns {
		s.Columns[i].Name = clean[i]
		for _, row := range rows {
			if i < len(row) {
				s.Columns[i].see(row[i], s.Dialect.Decimal, format, s.Dialect.NullText)
			}
		}
		if s.Columns[i].kind == date && format != isoDate {
			s.Dialect.DateFormat = format
		}
	}
}

// trail finds delimiters at the end of lines that name no column.
func (s *Shape) trail(names *[]string, rows [][]string) {
	head := len(*names)
	ends := func(n int) bool { // every row has n fields, the last one empty
		for _, row := range rows {
			if len(row) != n || row[n-1] != "" {
				return false
			}
		}
		return len(rows) > 0
	}
	switch {
	case head > 1 && (*names)[head-1] == "" && ends(head):
		s.Trailing = TrailingBoth
	case head > 1 && (*names)[head-1] == "" && len(rows) > 0 && len(rows[0]) == head-1:
		s.Trailing = TrailingHead
	case head > 0 && ends(head+1):
		s.Trailing = TrailingRows
		s.Notes = append(s.Notes, "Each row ends with a delimiter; the empty field after it is left out.")
		return
	case head == 0 && len(rows) > 1 && len(rows[0]) > 2 && ends(len(rows[0])):
		s.Trailing = TrailingBoth
	default:
		return
	}
	if head > 0 {
		*names = (*names)[:head-1]
	}
	s.Notes = append(s.Notes, "The lines end with a delimiter; the empty column after it is left out.")
}

// clean makes names unique and fills in those that are missing.
func (s *Shape) clean(names []string, width int) []string {
	seen := map[string]bool{}
	clean := make([]string, width)
	for i := range clean {
		name := ""
		if i < len(names) {
			name = strings.TrimSpace(names[i])
		}
		if name == "" {
			name = fmt.Sprintf("column%d", i)
			if i < len(names) {
				s.Notes = append(s.Notes, fmt.Sprintf("Column %d has no name in the header; it is called %s.", i+1, name))
			}
		}
		unique := name
		for n := 1; seen[strings.ToLower(unique)]; n++ {
			unique = fmt.Sprintf("%s_%d", name, n)
		}
		if unique != name {
			s.Notes = append(s.Notes, fmt.Sprintf("The name %s stands twice in the header; the second is called %s.", name, unique))
		}
		seen[strings.ToLower(unique)] = true
		clean[i] = unique
	}
	return clean
}
