package infer

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"dogear/engine"
)

// kind is what a value looks like. Later kinds need not hold earlier ones;
// widen says what holds both.
type kind int

const (
	unknown kind = iota
	boolean
	whole
	exact // a decimal comma: typed as DECIMAL
	float
	date
	stamp
	zoned
	text
)

// isoDate is the format of dates that need none.
const isoDate = "%Y-%m-%d"

// Column is a name and what its values have shown so far.
type Column struct {
	Name          string
	kind          kind
	digits, scale int    // the most seen before and after the decimal mark
	Why           string // why it is text although its values look like numbers
}

// see takes one more value into account. Empty values say nothing.
func (c *Column) see(value, decimal, format, null string) {
	if value == "" || null != "" && value == null {
		return
	}
	*c = merge(*c, classify(value, decimal, format))
}

// merge returns what holds the values of both a and b, under the name of a.
func merge(a, b Column) Column {
	a.digits, a.scale = max(a.digits, b.digits), max(a.scale, b.scale)
	if a.Why == "" {
		a.Why = b.Why
	}
	a.kind = widen(a.kind, b.kind)
	// A double holds 15 digits of any number; longer whole numbers that stand
	// beside fractions keep all their digits only as text.
	if a.kind == float && a.digits > 15 {
		a.kind, a.Why = text, "it holds both fractions and whole numbers of more than 15 digits"
	}
	if a.kind == exact && a.digits+a.scale > 38 {
		a.kind, a.Why = text, "it holds numbers of more than 38 digits"
	}
	return a
}

func widen(a, b kind) kind {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == b || a == unknown:
		return b
	case a == whole && (b == exact || b == float):
		return b
	case a == exact && b == float:
		return float
	case a == date && b == stamp:
		return stamp
	}
	return text
}

// Type is the DuckDB type of c. A column without values is text.
func (c Column) Type() string {
	switch c.kind {
	case boolean:
		return "BOOLEAN"
	case whole:
		return "BIGINT"
	case exact:
		return fmt.Sprintf("DECIMAL(%d,%d)", max(18, c.digits+c.scale), c.scale)
	case float:
		return "DOUBLE"
	case date:
		return "DATE"
	case stamp:
		return "TIMESTAMP"
	case zoned:
		return "TIMESTAMPTZ"
	case unknown, text:
	}
	return "VARCHAR"
}

// Unknown reports that no value of c was seen.
func (c Column) Unknown() bool { return c.kind == unknown }

var (
	wholeNumber = regexp.MustCompile(`^[+-]?\d+$`)
	fraction    = regexp.MustCompile(`^[+-]?(\d*)\.(\d+)$|^[+-]?(\d+)\.$`)
	scientific  = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)[eE][+-]?\d+$`)
	commaNumber = regexp.MustCompile(`^[+-]?(\d+),(\d+)$`)
	isoStamp    = regexp.MustCompile(`^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?$`)
)

// maxDigits is how long a whole number may be: 18 digits always fit a BIGINT.
const maxDigits = 18

func classify(value, decimal, format string) Column {
	switch v := strings.TrimSpace(value); {
	case v != value:
		return Column{kind: text} // blanks around it are part of the text
	case strings.EqualFold(v, "true"), strings.EqualFold(v, "false"):
		return Column{kind: boolean}
	case wholeNumber.MatchString(v):
		return number(strings.TrimLeft(v, "+-"))
	case decimal == "," && commaNumber.MatchString(v):
		m := commaNumber.FindStringSubmatch(v)
		return leading(m[1], Column{kind: exact, digits: len(m[1]), scale: len(m[2])})
	case decimal == ",":
	case fraction.MatchString(v):
		m := fraction.FindStringSubmatch(v)
		return leading(m[1]+m[3], Column{kind: float})
	case scientific.MatchString(v):
		return Column{kind: float}
	}
	if isDate(value, format) {
		return Column{kind: date}
	}
	if isoStamp.MatchString(value) && isDate(value[:10], isoDate) {
		if clock := value[10:]; strings.ContainsAny(clock, "Z+-") {
			return Column{kind: zoned}
		}
		return Column{kind: stamp}
	}
	return Column{kind: text}
}

func number(digits string) Column {
	switch {
	case len(digits) > 1 && digits[0] == '0':
		return Column{kind: text, Why: "a value begins with a zero"}
	case len(digits) > maxDigits:
		return Column{kind: text, Why: "a value has more than 18 digits"}
	}
	return Column{kind: whole, digits: len(digits)}
}

// leading makes c text where its whole part begins with a zero and goes on.
func leading(digits string, c Column) Column {
	if len(digits) > 1 && digits[0] == '0' {
		return Column{kind: text, Why: "a value begins with a zero"}
	}
	return c
}

// layouts are the date formats that are looked for, in DuckDB's words and in
// Go's. Where day and month could be either, the text is left as it is.
var layouts = []struct{ format, layout string }{
	{isoDate, "2006-01-02"},
	{"%d.%m.%Y", "02.01.2006"},
	{"%d/%m/%Y", "02/01/2006"},
	{"%m/%d/%Y", "01/02/2006"},
}

func isDate(value, format string) bool {
	if len(value) != len("2006-01-02") {
		return false
	}
	for _, l := range layouts {
		if l.format == format {
			_, err := time.Parse(l.layout, value)
			return err == nil
		}
	}
	return false
}

// dateFormat finds the one format in which all dates of a file are written.
// Dates with slashes count only where some column shows which part is the day.
func dateFormat(rows [][]string, width int) string {
	for _, l := range layouts[1:] {
		for i := range width {
			if column(rows, i, l.format) && !ambiguous(rows, i, l.format) {
				return l.format
			}
		}
	}
	return isoDate
}

// column reports whether every value of column i is a date in format.
func column(rows [][]string, i int, format string) bool {
	seen := false
	for _, row := range rows {
		if i >= len(row) || row[i] == "" {
			continue
		}
		if !isDate(row[i], format) {
			return false
		}
		seen = true
	}
	return seen
}

// ambiguous reports whether column i could as well have day and month the
// other way round.
func ambiguous(rows [][]string, i int, format string) bool {
	other := map[string]string{"%d/%m/%Y": "%m/%d/%Y", "%m/%d/%Y": "%d/%m/%Y"}[format]
	return other != "" && column(rows, i, other)
}

// Union returns the columns of all shapes together, each with the type that
// holds the values of every file. Names are compared without regard to case;
// a column that no file has a value for is text.
func Union(shapes []Shape) []engine.Column {
	var all []Column
	at := map[string]int{}
	for _, s := range shapes {
		for _, c := range s.Columns {
			key := strings.ToLower(c.Name)
			if i, ok := at[key]; ok {
				all[i] = merge(all[i], c)
				continue
			}
			at[key] = len(all)
			all = append(all, c)
		}
	}
	columns := make([]engine.Column, len(all))
	for i, c := range all {
		columns[i] = engine.Column{Name: c.Name, Type: c.Type()}
	}
	return columns
}
