package form

import (
	"regexp"
	"strconv"

	"github.com/a-h/templ"
)

// Spot is a place in a text; lines and columns count from 1, and a Column of 0 is not
// known.
type Spot struct{ Line, Column int }

// said is how engine/syntax says a place: "The step out at line 2, column 6: ...".
var said = regexp.MustCompile(`at line (\d+)(?:, column (\d+))?:`)

// SpotOf is the place that a sentence about a text names; ok is false where it names
// none.
func SpotOf(sentence string) (s Spot, ok bool) {
	found := said.FindStringSubmatch(sentence)
	if found == nil {
		return s, false
	}
	s.Line, _ = strconv.Atoi(found[1]) // of digits alone
	s.Column, _ = strconv.Atoi(found[2])
	return s, s.Line > 0
}

func (s Spot) word() string { return "Go to line " + strconv.Itoa(s.Line) }

// Marks are the attributes by which an editor marks what is said of its text.
func Marks(fails Errors, name string) templ.Attributes {
	s, ok := SpotOf(fails[name])
	if !ok {
		return nil
	}
	return templ.Attributes{"data-wrong": fails[name], "data-wrong-line": strconv.Itoa(s.Line), "data-wrong-column": strconv.Itoa(s.Column)}
}
