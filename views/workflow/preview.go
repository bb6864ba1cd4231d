package workflow

import (
	"slices"

	"dogear/engine"
	"dogear/engine/portable"
	"dogear/views/show"
)

// Preview is what an import of a file would do.
type Preview struct {
	Report *portable.Report // nil before a file was chosen, and where it is wrong
	Seen   string           // a sum of the report, so that an import does what was shown
	Wrong  []string         // sentences about the file
	Note   string
}

// group are the objects of a report with which the same happens.
type group struct {
	verb  portable.Verb
	title string
	lines []portable.Line
}

// groups are what is made, what is changed and what is left as it is, where there
// is any.
func (p Preview) groups() []group {
	var groups []group
	for _, g := range []group{{verb: portable.Make, title: "Would be made"}, {verb: portable.Change, title: "Would be changed"}, {verb: portable.Keep, title: "Would be left as it is"}} {
		for _, line := range p.Report.Objects {
			if line.Verb == g.verb {
				g.lines = append(g.lines, line)
			}
		}
		if len(g.lines) > 0 {
			g.title += ": " + show.Count(int64(len(g.lines)))
			groups = append(groups, g)
		}
	}
	return groups
}

// changes reports whether the import would do anything.
func (p Preview) changes() bool {
	for _, line := range p.Report.Objects {
		if line.Verb != portable.Keep {
			return true
		}
	}
	return false
}

// fails reports whether the next run of a job would fail of its text.
func (p Preview) fails() bool {
	return p.Report != nil && slices.ContainsFunc(p.Report.Objects, func(line portable.Line) bool { return len(line.Fails) > 0 })
}

func kindIcon(k engine.Kind) string {
	switch k {
	case engine.KindJob:
		return "file-code-2"
	case engine.KindCrawler:
		return "radar"
	default:
		return "workflow"
	}
}
