package duck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dogear/engine"
)

// fitting is a column of a scan whose values may not be the same in the type that the
// view gives it.
type fitting struct {
	column string // of the group
	wanted string // the type of the view
	text   string // the value as SQL, as it was read
	value  string // that in the type of the view, or NULL: a column of group.scan
	same   string // whether it is the same there; it need not hold for NULL
}

// sameOrFailed begins what DuckDB says where a value is not the same. Such a value ends
// the first attempt; the next one knows that there are some, counts them beforehand,
// and leaves their rows out. So a batch without one, which is nearly every batch, is
// read once.
const sameOrFailed = "dogear: a value does not fit in "

// isMisfit reports whether err came of a check.
func isMisfit(err error) bool {
	c, ok := complaintOf(err)
	return ok && strings.Contains(c.Message, sameOrFailed)
}

// mostChecked is how many columns are looked at. The time that DuckDB takes to plan
// such a statement grows with the square: 17 s for 4,000 columns.
const mostChecked = 1000

// kinds names the types of the columns of r as DuckDB does, by how a schema writes
// them; there are none where too many would have to be looked at. Where one is not
// known, making the view says so.
func (s *session) kinds(ctx context.Context, r *reading, columns []engine.Column) map[string]string {
	if len(columns) > mostChecked {
		r.notes = append(r.notes, fmt.Sprintf("it has %d columns; of more than %d, values are rounded to the types of their columns without being compared.", len(columns), mostChecked))
		return nil
	}
	kinds := map[string]string{}
	for _, c := range columns {
		if kinds[c.Type] != "" {
			continue
		}
		kinds[c.Type] = c.Type
		if found, err := s.describe(ctx, "SELECT CAST(NULL AS "+c.Type+")"); err == nil {
			kinds[c.Type] = found[0].Type
		}
	}
	return kinds
}

// asRead is columns of a format of text with the types as which they are read; those
// that formats names are read by the format of their dialect, which takes nothing else.
func asRead(columns []engine.Column, kinds map[string]string, byFormat ...string) []engine.Column {
	read := slices.Clone(columns)
	for i, c := range read {
		if kind, known := kinds[c.Type]; known && !slices.Contains(byFormat, kind) {
			read[i].Type = readAs(kind)
		}
	}
	return read
}

// check notes which columns of g, read as the types of read, have to be looked at.
func (g *group) check(read, view []engine.Column, kinds map[string]string, decimal string) {
	g.fittings = nil
	for i, c := range g.columns {
		to, known := find(view, c.Name)
		kind := kinds[to.Type]
		if !known || kind == "" {
			continue
		}
		text := quote(c.Name)
		if isNumber := wholeType.MatchString(kind) || decimalType.MatchString(kind) || kind == "DOUBLE" || kind == "FLOAT"; isNumber && decimal == "," {
			text = "replace(replace(" + text + ", '.', '?'), ',', '.')"
		}
		value := quote(fmt.Sprintf("dogear value %d", i))
		if same := sameIn(text, read[i].Type, kind, value); same != "" {
			g.fittings = append(g.fittings, fitting{c.Name, to.Type, text, value, same})
		}
	}
}

// scan is the scan of g with the values that are looked at in the types of the view, so
// that each is converted once, however often it is asked for.
func (g *group) scan() string {
	if len(g.fittings) == 0 {
		return g.from
	}
	var values strings.Builder
	for _, c := range g.fittings {
		fmt.Fprintf(&values, ", TRY_CAST(%s AS %s) AS %s", c.text, c.wanted, c.value)
	}
	return "(SELECT *" + values.String() + " FROM " + g.from + ")"
}

// checked is the value of a column of g for the view.
func (g *group) checked(column, kind string) string {
	for _, c := range g.fittings {
		switch {
		case c.column != column:
		case g.refusing:
			return c.value
		default:
			return fmt.Sprintf("CASE WHEN %s THEN %s WHEN %s IS NULL THEN NULL ELSE error(%s || %s) END", c.same, c.value, quote(column), literal(sameOrFailed), quote(fileColumn))
		}
	}
	return fmt.Sprintf("CAST(%s AS %s)", quote(column), kind)
}

// refuse leaves out of g the rows whose values are not the same.
func (g *group) refuse() {
	g.refusing = true
	for _, c := range g.fittings {
		if g.where != "" {
			g.where += " AND "
		}
		g.where += fmt.Sprintf("(%s IS NULL OR %s)", quote(c.column), c.same)
	}
}

// findMisfits lists the rows that refuse leaves out, by file and line. It reads the
// files once more.
func (s *session) findMisfits(ctx context.Context) error {
	for i := range s.reads {
		r := &s.reads[i]
		for _, g := range r.groups {
			if len(g.fittings) == 0 {
				continue
			}
			found, err := s.misfitsOf(ctx, r, g)
			if err != nil {
				return s.blame(ctx, r, fmt.Errorf("list the values that do not fit: %w", err))
			}
			s.misfits = append(s.misfits, found...)
		}
	}
	return nil
}

// valueKept is how many characters of a value are remembered.
const valueKept = 4096

// misfitsOf is findMisfits of one group. Of a row it names the first such value.
func (s *session) misfitsOf(ctx context.Context, r *reading, g *group) ([]reject, error) {
	which, value := "CASE", "CASE"
	for i, c := range g.fittings {
		not := fmt.Sprintf(" WHEN %s IS NOT NULL AND (%s) IS NOT TRUE THEN ", quote(c.column), c.same)
		which += fmt.Sprintf("%s%d", not, i)
		value += not + fmt.Sprintf("left(%s::VARCHAR, %d)", quote(c.column), valueKept)
	}
	query := fmt.Sprintf("SELECT f, c, v FROM (SELECT %s AS f, %s END AS c, %s END AS v FROM %s) WHERE c IS NOT NULL LIMIT %d",
		quote(fileColumn), which, value, g.scan(), s.maxRejects+rejectsKept)
	rows, err := s.c.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	byFile := map[string][]reject{}
	for rows.Next() {
		var path string
		var number int
		var value string
		if err := rows.Scan(&path, &number, &value); err != nil {
			return nil, fmt.Errorf("read a value that does not fit: %w", err)
		}
		c := g.fittings[number]
		byFile[path] = append(byFile[path], reject{input: r.in.Name, landed: r.in.landed, column: c.column, wanted: c.wanted, value: value, misfit: true})
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	var all []reject
	for _, f := range g.facts {
		found := byFile[f.path]
		for i := range found {
			found[i].file = f
		}
		s.place(ctx, r, g, f, found)
		all = append(all, found...)
	}
	return all, nil
}

// errMisfit asks for work to be done again, without the rows that do not fit.
var errMisfit = errors.New("a value does not fit the type of its column")
