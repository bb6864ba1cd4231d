// Package query shows SQL over the catalog and its results.
package query

import (
	"fmt"
	"strings"

	"dogear/engine"
)

// View is the screen before a result.
type View struct {
	SQL    string
	Tables []engine.Table
	Editor string // address of the editor's bundle
	CSRF   string
}

// words are what completion offers: tables and their columns.
func (v View) words() map[string][]string {
	words := map[string][]string{}
	for _, t := range v.Tables {
		var names []string
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
		for _, c := range t.Keys {
			names = append(names, c.Name)
		}
		words[t.FullName()] = names
	}
	return words
}

// first is a statement to begin with.
func (v View) first() string {
	if v.SQL != "" || len(v.Tables) == 0 {
		return v.SQL
	}
	return fmt.Sprintf("SELECT *\nFROM %s\nLIMIT 100", v.Tables[0].FullName())
}

func place(f engine.SQLFault) string {
	var parts []string
	if f.Step != "" {
		parts = append(parts, "step "+f.Step)
	}
	if f.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d", f.Line))
	}
	if f.Column > 0 {
		parts = append(parts, fmt.Sprintf("column %d", f.Column))
	}
	return strings.Join(parts, ", ")
}
