package crawl

import (
	"slices"
	"strings"

	"dogear/engine"
)

// widen lays what a crawl saw over the columns a table has. A table is never
// narrowed: a column that no new file holds stays, a new one is added at the
// end, and where the types differ the one that holds both stands.
func widen(old, seen []engine.Column) []engine.Column {
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

// ladders are types of which each holds all values of those before it.
var ladders = [][]string{
	{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "DECIMAL(38,0)"},
	{"INTEGER", "BIGINT", "DOUBLE"},
	{"FLOAT", "DOUBLE"},
	{"DATE", "TIMESTAMP"},
}

// wider is a type that holds the values of both; text holds everything.
func wider(a, b string) string {
	if strings.EqualFold(a, b) {
		return a
	}
	for _, ladder := range ladders {
		i, j := slices.Index(ladder, strings.ToUpper(a)), slices.Index(ladder, strings.ToUpper(b))
		if i >= 0 && j >= 0 {
			return ladder[max(i, j)]
		}
	}
	return "VARCHAR"
}
