// Package catalog holds the rules of tables in the catalog.
package catalog

import (
	"fmt"
	"slices"
	"strings"

	"dogear/engine"
)

// Widen lays columns that somebody saw over those that a table has. A table is
// never narrowed: a column that nothing new holds stays, a new one is added at
// the end, and where the types differ the one that holds both stands.
func Widen(old, seen []engine.Column) []engine.Column {
	columns := slices.Clone(old)
	for _, s := range seen {
		i := slices.IndexFunc(columns, func(c engine.Column) bool { return strings.EqualFold(c.Name, s.Name) })
		if i < 0 {
			columns = append(columns, s)
			continue
		}
		columns[i].Type = wider(columns[i].Type, s.Type)
	}
	return columns
}

// ladders are types of which each holds all values of those before it. A
// DOUBLE does not hold a BIGINT: it rounds whole numbers of more than 15
// digits, and two ids would become one.
var ladders = [][]string{
	{"TINYINT", "SMALLINT", "INTEGER", "BIGINT"},
	{"TINYINT", "SMALLINT", "INTEGER", "DOUBLE"},
	{"FLOAT", "DOUBLE"},
	{"DATE", "TIMESTAMP"},
}

// wider is a type that holds the values of both; text holds everything.
func wider(a, b string) string {
	a, b = strings.ToUpper(a), strings.ToUpper(b)
	if a == b {
		return a
	}
	for _, ladder := range ladders {
		i, j := slices.Index(ladder, a), slices.Index(ladder, b)
		if i >= 0 && j >= 0 {
			return ladder[max(i, j)]
		}
	}
	wholeA, scaleA := decimal(a)
	wholeB, scaleB := decimal(b)
	if whole, scale := max(wholeA, wholeB), max(scaleA, scaleB); wholeA > 0 && wholeB > 0 && whole+scale <= maxDigits {
		return fmt.Sprintf("DECIMAL(%d,%d)", whole+scale, scale)
	}
	return "VARCHAR"
}

// maxDigits is how many digits a DECIMAL holds.
const maxDigits = 38

// integers says how many digits the whole numbers of a type have at most.
var integers = map[string]int{"TINYINT": 3, "SMALLINT": 5, "INTEGER": 10, "BIGINT": 19}

// decimal is how many digits a number of the type kind has before and after
// its point; 0 before it for what is no exact number.
func decimal(kind string) (whole, scale int) {
	if digits, ok := integers[kind]; ok {
		return digits, 0
	}
	var width int
	if _, err := fmt.Sscanf(kind, "DECIMAL(%d,%d)", &width, &scale); err != nil {
		return 0, 0
	}
	return max(width-scale, 1), scale
}
