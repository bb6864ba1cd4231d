package bookmark

import (
	"strings"

	"github.com/a-h/templ"

	rules "dogear/engine/bookmark"
	"dogear/views/show"
)

// followsCoverage are the attributes by which the coverage follows its bookmark: the same
// before and after it was asked for, so that it stays one element (see Source).
func followsCoverage(v View) templ.Attributes {
	return templ.Attributes{"hx-get": v.href("/coverage"), "hx-trigger": "revealed, dogear:bookmarks-changed from:body", "hx-sync": "replace", "hx-swap": "outerSync"}
}

// look is how a period looks: a hue, a word and what it holds.
func look(c rules.Cell) (hue, word string) {
	switch {
	case c.Gap():
		return "bad", "gap"
	case c.Waiting.Files > 0:
		return "warn", "waiting"
	case c.Held.Files > 0:
		return "warn", "held"
	case c.Read.Files > 0:
		return "ok", "covered"
	case c.Partition:
		return "idle", "target only"
	}
	return "none", "nothing"
}

// cellTitle says what a period has.
func cellTitle(c rules.Cell, unit rules.Unit) string {
	parts := []string{}
	for _, of := range []struct {
		n    int64
		word string
	}{{c.Read.Files, "read"}, {c.Waiting.Files, "waiting"}, {c.Held.Files, "held"}} {
		if of.n > 0 {
			parts = append(parts, show.Many(of.n, "file")+" "+of.word)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no files")
	}
	switch {
	case !c.Partition:
		parts = append(parts, "no partition")
	case c.Rows > 0:
		parts = append(parts, show.Many(c.Rows, "row")+" in the target")
	default:
		parts = append(parts, "in the target")
	}
	return period(c, unit) + ": " + strings.Join(parts, ", ")
}

// period names the period of a cell.
func period(c rules.Cell, unit rules.Unit) string {
	switch unit {
	case rules.ByYear:
		return c.At.Format("2006")
	case rules.ByMonth:
		return c.At.Format("Jan 2006")
	default:
		return c.At.Format("2 Jan 2006")
	}
}

// mark is the short name of a period, in its cell.
func cellMark(c rules.Cell, unit rules.Unit) string {
	switch unit {
	case rules.ByYear:
		return c.At.Format("2006")
	case rules.ByMonth:
		return c.At.Format("Jan")
	default:
		return c.At.Format("2")
	}
}

// keysOf are the files of a cell, one a line, which no key holds.
func keysOf(c rules.Cell) string { return strings.Join(c.Keys, "\n") }

// gaps counts the periods of which the target has nothing.
func gaps(c rules.Coverage) (n int64) {
	for i := range c.Cells {
		if c.Cells[i].Gap() {
			n++
		}
	}
	return n
}

// coverageTitle says what is compared.
func coverageTitle(c rules.Coverage) string {
	text := "each cell is a " + string(c.Unit) + " of files, by the date in their names or else by arrival, against the partitions of " + c.Table
	if gaps(c) > 0 {
		return text + "; drag over gaps to read their files again"
	}
	return text
}

func gapWords(n int64) string {
	if n == 0 {
		return "no gap"
	}
	return show.Many(n, "gap")
}

func gapSign(n int64) show.Sign {
	if n == 0 {
		return show.Sign{Icon: "check", Word: gapWords(n), Hue: "ok"}
	}
	return show.Sign{Icon: "x", Word: gapWords(n), Hue: "bad"}
}
