package infer

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"dogear/engine"
)

// maxName is how long the name of a column may be (Glue's classifier).
const maxName = 149

var (
	// plainName is what most names of columns look like. Where nothing else tells
	// names from data, each cell of the first line must be one.
	plainName = regexp.MustCompile(`^[\pL_][\pL\pN\pM\pS_ .:/()#%&*?!"'\[\]-]*$`)
	// period is a year, month or day that heads a column, as in a table of
	// amounts by year.
	period = regexp.MustCompile(`^(19|20|21)\d\d([-/ ]?(0[1-9]|1[0-2])([-/](0[1-9]|[12]\d|3[01]))?)?$`)
)

// noValues are texts that stand for a missing value, and so in a row of data.
var noValues = []string{"null", "na", "n/a", "nan", "none", "nil", "-", "?", `\n`}

// isHeader reports whether the first record names the columns: each cell can be
// a name, and none comes again below it. Names that are odd, alike, missing or
// a year count only where something shows that the rows are another thing:
// text stands above numbers or dates, or a year above other numbers.
func isHeader(records [][]string, d engine.Dialect) bool {
	first, rows := records[0], records[1:]
	plain, differs := true, false
	seen := map[string]bool{}
	for i, cell := range first {
		cell = strings.TrimSpace(cell)
		if cell == "" {
			plain = plain && i == len(first)-1 && i > 0
			continue
		}
		below := columnOf(rows, i)
		isPeriod := period.MatchString(cell)
		if slices.Contains(below, cell) || !isPeriod && !isName(cell, d) || isPeriod && allPeriods(below) {
			return false
		}
		plain = plain && !isPeriod && !seen[cell] && plainName.MatchString(cell) && !strings.Contains(cell, "://")
		seen[cell] = true
		var c Column
		for _, value := range below {
			c.see(value, d.Decimal, isoDate, d.NullText)
		}
		differs = differs || c.kind != text && c.kind != unknown
	}
	return len(seen) > 0 && (plain || differs)
}

// columnOf is what stands in column i of rows.
func columnOf(rows [][]string, i int) []string {
	var values []string
	for _, row := range rows {
		if i < len(row) {
			values = append(values, strings.TrimSpace(row[i]))
		}
	}
	return values
}

// isName reports whether a cell can name a column: it is text, on one line, and
// no value that is merely written as text.
func isName(cell string, d engine.Dialect) bool {
	if len([]rune(cell)) > maxName || slices.Contains(noValues, strings.ToLower(cell)) || d.NullText != "" && cell == d.NullText {
		return false
	}
	if strings.ContainsFunc(cell, unicode.IsControl) || strings.ContainsFunc(cell, unicode.IsDigit) && !strings.ContainsFunc(cell, unicode.IsLetter) {
		return false
	}
	return classify(cell, d.Decimal, isoDate).kind == text
}

// allPeriods reports whether a column holds years or months: then one more of
// them above it is a value.
func allPeriods(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return v != "" && !period.MatchString(v) })
}
