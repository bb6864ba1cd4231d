package draft

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Line is a line of a text that changes, or a fold of lines that do not.
type Line struct {
	Mark Mark
	Text string
	Fold int // how many lines are folded; 0 for a line
}

// Mark says what becomes of a line, as programmers write it.
type Mark string

// The marks.
const (
	LineAdded   Mark = "+"
	LineRemoved Mark = "-"
	LineKept    Mark = " "
	LinesFolded Mark = "…" // unchanged ones far from any that is not
	LinesMore   Mark = "⋯" // whatever else there is: too many to show
)

const (
	around    = 2   // unchanged lines that are shown beside a change
	mostLines = 400 // of one text
)

// Lines compares the texts of a field line by line; nil where both are of one line.
func (f Field) Lines() []Line {
	if !strings.Contains(f.From+f.To, "\n") {
		return nil
	}
	from, to := ended(f.From), ended(f.To)
	if from == to {
		from, to = f.From, f.To // the end of the last line is all that differs
	}
	diff, err := udiff.ToUnifiedDiff("", "", from, udiff.Lines(from, to), around)
	if err != nil {
		return nil // edits that it made itself always fit
	}
	var lines []Line
	seen := 0 // lines of the text before
	fold := func(upTo int) {
		if n := upTo - seen; n > 0 {
			lines = append(lines, Line{Mark: LinesFolded, Fold: n})
		}
	}
	for _, hunk := range diff.Hunks {
		fold(hunk.FromLine - 1)
		seen = hunk.FromLine - 1
		for _, line := range hunk.Lines {
			mark := map[udiff.OpKind]Mark{udiff.Insert: LineAdded, udiff.Delete: LineRemoved, udiff.Equal: LineKept}[line.Kind]
			lines = append(lines, Line{Mark: mark, Text: strings.TrimRight(line.Content, "\r\n")})
			if mark != LineAdded {
				seen++
			}
		}
	}
	fold(count(f.From))
	if len(lines) > mostLines {
		lines = append(lines[:mostLines:mostLines], Line{Mark: LinesMore, Fold: len(lines) - mostLines})
	}
	return lines
}

// ended is text with an end of its last line, so that a line which gets another
// after it does not count as changed.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// count is how many lines a text has; the last may lack its end.
func count(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
