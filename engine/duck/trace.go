package duck

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/place"
)

// searchTime bounds how long a failed run is kept waiting for where the value
// stands that it failed of.
const searchTime = 30 * time.Second

// traced says of an error over rows which file, row and column the value stands in
// that could not be taken, and which step did not take it. from is the relation that
// was written.
func (s *session) traced(ctx context.Context, err error, from string, steps []engine.Step) error {
	c, ok := complaintOf(err)
	if !ok {
		return err
	}
	for i := range s.reads {
		if blamed := s.blame(ctx, &s.reads[i], err); blamed != err { //nolint:errorlint // it is the same, or another
			return blamed
		}
	}
	if c.Type == "Invalid" { // a part of a file that makes no sense
		for i := range s.reads {
			err = s.alone(ctx, &s.reads[i], err)
		}
	}
	if !slices.Contains([]string{"Conversion", "Invalid Input", "Out of Range", "Mismatch Type"}, c.Type) {
		return err
	}
	v := valueOf(c.Message)
	at, found := s.search(ctx, v)
	if found && at.own && at.in.landed {
		return failf(FailData, "%s: %s Correct the row, or give the column the type VARCHAR in the source.", at, misfit(at.column, v.text, at.wanted))
	}
	if found && at.own {
		return misplaced(at.in, at.file, at.unit, at.n, at.column, misfit(at.column, v.text, at.wanted))
	}
	if failure := s.inPath(ctx, v); failure != nil {
		return failure
	}
	return v.failure(c, at, from, steps)
}

// value is what DuckDB names in an error over rows.
type value struct {
	message string // without the column
	text    string // "" where it names none
	column  string // that it came from, of some relation; "" where it is not said
}

var (
	fromColumn = regexp.MustCompile(`(?s)^(.*) when casting from source column (.*)$`)
	quotedText = regexp.MustCompile(`(?s)(?:string|format|range|value)[: ]+(?:"(.*?)"|'(.*?)')`)
	bareNumber = regexp.MustCompile(`(?:with|cast) value (-?[0-9.e+-]+)`)
)

func valueOf(message string) value {
	v := value{message: message}
	if m := fromColumn.FindStringSubmatch(message); m != nil {
		v.message, v.column = m[1], m[2]
	}
	if m := quotedText.FindStringSubmatch(v.message); m != nil {
		v.text = m[1] + m[2]
	} else if m := bareNumber.FindStringSubmatch(v.message); m != nil {
		v.text = m[1]
	}
	return v
}

// spot is where a value stands.
type spot struct {
	in     Input
	file   File
	unit   string // line, value or row
	n      int64  // of these, from 1
	column string
	wanted string // the type of the column in the source
	own    bool   // it does not fit that type, whatever the SQL does
}

func (at spot) String() string {
	if at.in.landed { // its rows have no numbers that people know
		return "column " + at.column + " of the table " + at.file.Key
	}
	return fmt.Sprintf("%s %s %d, column %s", at.file.Key, at.unit, at.n, at.column)
}

// search looks for a value in the files. That costs another read of them, and is
// given up after searchTime.
func (s *session) search(ctx context.Context, v value) (spot, bool) {
	if v.text == "" {
		return spot{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	for i := range s.reads {
		r := &s.reads[i]
		for _, g := range r.groups {
			for _, column := range g.mayHold(v.column, r.columns) {
				if at, found := s.inColumn(ctx, r, g, column, v.text); found {
					return at, true
				}
			}
		}
	}
	return spot{}, false
}

// inColumn looks for a value in a column of g. What cannot be looked for is not found.
func (s *session) inColumn(ctx context.Context, r *reading, g *group, column, text string) (spot, bool) {
	var path string
	first := fmt.Sprintf("SELECT %s FROM %s WHERE %s::VARCHAR = %s LIMIT 1", quote(fileColumn), g.from, quote(column), literal(text))
	if s.c.QueryRowContext(ctx, first).Scan(&path) != nil {
		return spot{}, false
	}
	file, known := s.files()[path]
	if !known {
		return spot{}, false
	}
	unit, n := s.placeOf(ctx, r, g, file.facts, column, text)
	if n == 0 {
		return spot{}, false
	}
	wanted, _ := find(r.columns, column)
	return spot{in: r.in, file: file.facts.file, unit: unit, n: n, column: column, wanted: wanted.Type, own: !s.casts(ctx, text, wanted.Type)}, true
}

// casts reports whether a text is one of a type.
func (s *session) casts(ctx context.Context, text, kind string) bool {
	n, err := s.count(ctx, fmt.Sprintf("SELECT count(TRY_CAST(%s AS %s))", literal(text), kind))
	return err != nil || n == 1
}

// mayHold lists the columns of g that a value may come from: the one of that name,
// or else all that are text there or in the input.
func (g *group) mayHold(column string, in []engine.Column) []string {
	if c, ok := find(g.columns, column); ok {
		return []string{c.Name}
	}
	var all []string
	for _, c := range g.columns {
		if read, _ := find(in, c.Name); c.Type == "VARCHAR" || read.Type == "VARCHAR" {
			all = append(all, c.Name)
		}
	}
	return all
}

// of is the scan of one file of g.
func (g *group) of(path string) string {
	return strings.Replace(g.from, "getvariable("+literal(g.variable)+")", list(exactly(path)), 1)
}

// inPath is the failure of a file whose path has a value that is not of the type of
// its partition key; else it is nil.
func (s *session) inPath(ctx context.Context, v value) *Failure {
	for _, r := range s.reads {
		for _, g := range r.groups {
			for _, f := range g.facts {
				keys, values := place.Values(f.file.Key)
				for i, key := range keys {
					c, known := find(r.columns, key)
					if known && values[i] != nil && *values[i] == v.text && !s.casts(ctx, v.text, c.Type) {
						return unreadable(r.in, f.file, "the value of %s in its path: %s Rename the folder, or let the source hold such files.", key, misfit(key, v.text, c.Type))
					}
				}
			}
		}
	}
	return nil
}

// failure is that of SQL which did not take a value.
func (v value) failure(c complaint, at spot, from string, steps []engine.Step) *Failure {
	f := failf(FailData, "")
	f.Step, f.Line, f.Column = stepAt(c, steps)
	where := from
	if f.Line > 0 || from == "" {
		where = placed(f.Step, f.Line, f.Column)
	}
	text := sentence(v.message)
	if secret.MatchString(v.column + " " + at.column) {
		text = "A value cannot be converted."
	}
	f.Message = where + ": " + text
	if at.file.Key != "" {
		f.Message += " It stands in " + at.String() + "."
	}
	if v.text != "" {
		f.Message += " Correct it, or convert it with TRY_CAST or try_strptime, which make NULL of what does not fit."
	}
	return f
}

// stepAt is the place of a conversion in the steps, where it can only be one.
// DuckDB tells where it stands in a step, and not in which.
func stepAt(c complaint, steps []engine.Step) (step string, line, column int) {
	for _, candidate := range steps {
		at, ok := c.within(candidate.SQL, len(viewOf(candidate.Name)))
		if !ok || !conversion.MatchString(candidate.SQL[at:]) {
			continue
		}
		if line > 0 {
			return "", 0, 0
		}
		step = candidate.Name
		line, column = lineAndColumn(candidate.SQL, at)
	}
	if step == resultView {
		step = ""
	}
	return step, line, column
}

// conversion begins where DuckDB says that one stands.
var conversion = regexp.MustCompile(`(?i)^(CAST\b|::)`)
