package duck

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dogear/engine"
)

// runBind asks DuckDB what the steps of jobs mean over the columns that their sources
// have. No file is there, so no row is read and nothing is run.
func runBind(ctx context.Context, limits Limits, b Bind, events *speaker) (result Result, err error) {
	s, err := open(ctx, limits, true, events)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, job := range b.Jobs {
		for _, name := range job.Properties {
			if err := s.setVariable(ctx, name, ""); err != nil {
				return Result{}, err
			}
		}
	}
	if err := s.seal(ctx, nil, nil); err != nil {
		return Result{}, err
	}
	for _, job := range b.Jobs {
		result.Lacking = append(result.Lacking, s.bind(ctx, job))
		for _, v := range slices.Backward(s.views) {
			if err := s.exec(ctx, "DROP VIEW "+v.from); err != nil {
				return Result{}, fmt.Errorf("clear what a job was looked at with: %w", err)
			}
		}
		s.views = nil
	}
	return result, nil
}

// pivots finds statements whose columns depend on the rows.
var pivots = regexp.MustCompile(`(?i)\bPIVOT`)

// bind returns what is missing for each step and then for each sink of a job; nil
// where nothing is. What comes after a step that lacks something is not looked at.
func (s *session) bind(ctx context.Context, job Bound) []*Failure {
	lacking := make([]*Failure, len(job.Steps)+len(job.Sinks))
	for _, source := range job.Sources {
		columns := make([]string, len(source.Columns))
		for i, c := range source.Columns {
			columns[i] = "CAST(NULL AS " + c.Type + ") AS " + quote(c.Name)
		}
		if s.exec(ctx, "CREATE TEMP VIEW "+quote(source.Name)+" AS SELECT "+strings.Join(columns, ", ")+" WHERE false") != nil {
			return lacking // a type that nobody knows; its form says so
		}
		s.views = append(s.views, named(source.Name))
	}
	for i, step := range job.Steps {
		if pivots.MatchString(step.SQL) {
			return lacking
		}
		if err := s.view(ctx, step.Name, step.Name, step.SQL); err != nil {
			lacking[i] = job.surely(err)
			return lacking
		}
	}
	for i, sink := range job.Sinks {
		if columns, err := s.describe(ctx, "SELECT * FROM "+quote(sink.From)); err == nil {
			lacking[len(job.Steps)+i] = job.surely(needs(sink, columns))
		}
	}
	return lacking
}

// surely is the failure of a run for want of a name; nil for anything else. Where a
// source may have more columns than are known, only what is like one of them is
// taken for misspelt.
func (b Bound) surely(err error) *Failure {
	f, ok := errors.AsType[*Failure](err)
	if !ok || f.Lacks == "" || !b.Sure && len(f.Near) == 0 {
		return nil
	}
	return f
}

// What DuckDB says where a column or a table is not there.
var (
	noColumn = regexp.MustCompile(`(?s)^(?:Referenced column|(?:Values list|Table) ".*" does not have a column named|Column) "(.*?)"(?: not found| does not exist| in \w+ list not found| was not found|\.?$)`)
	noTable  = regexp.MustCompile(`(?s)^Table with name (.*?) does not exist`)
)

// lacking says which name SQL uses that is not there, and which are; ok is false
// where err is about something else.
func (s *session) lacking(ctx context.Context, c complaint, sql string) (text, name string, near []string, ok bool) {
	if m := noTable.FindStringSubmatch(c.Message); m != nil {
		return s.lackingTable(Brief(m[1]))
	}
	m := noColumn.FindStringSubmatch(c.Message)
	if m == nil {
		return "", "", nil, false
	}
	name = Brief(m[1])
	text = "there is no column " + name + "."
	var has []string
	for _, v := range s.views {
		if !v.mentioned(sql) {
			continue
		}
		columns, err := s.describe(ctx, "SELECT * FROM "+v.from)
		if err != nil {
			continue // it says why where it is read
		}
		near = append(near, engine.Near(name, columnNames(columns))...)
		has = append(has, v.name+" has "+engine.Listed(columnNames(columns))+".")
	}
	slices.Sort(near)
	if near = slices.Compact(near); len(near) > 0 {
		text += " Did you mean " + strings.Join(near, " or ") + "?"
	}
	return strings.Join(append([]string{text}, has...), " "), name, near, true
}

// lackingTable is lacking for the name of a source or step. A statement over the
// catalog sees only the tables that it names, so there is nothing to offer for one.
func (s *session) lackingTable(name string) (text, lacks string, near []string, ok bool) {
	var all []string
	for _, v := range s.views {
		if v.catalog {
			return "", "", nil, false
		}
		all = append(all, v.name)
	}
	if len(all) == 0 {
		return "", "", nil, false
	}
	text = "there is no source or step " + name + "."
	if near = engine.Near(name, all); len(near) > 0 {
		text += " Did you mean " + strings.Join(near, " or ") + "?"
	}
	return text + " There are " + engine.Listed(all) + ".", name, near, true
}

// view is what SQL may select from.
type view struct {
	name    string // as people know it
	from    string // in SQL
	catalog bool   // it is a table of the catalog, in the schema of its database
}

func named(name string) view { return view{name: name, from: quote(name)} }

// mentioned reports whether SQL has the name of v, without its database, as a word.
func (v view) mentioned(sql string) bool {
	name := v.name[strings.LastIndexByte(v.name, '.')+1:]
	if !v.catalog {
		name = v.name
	}
	word := regexp.MustCompile(`(?i)(?:^|[^\pL\pN_])` + regexp.QuoteMeta(name) + `(?:$|[^\pL\pN_])`)
	return word.MatchString(sql)
}

func columnNames(columns []engine.Column) []string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.Name
	}
	return all
}
