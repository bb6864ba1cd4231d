package duck

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/catalog/infer"
)

// rejectsKept is how many refused rows of one file are remembered beyond what
// the job accepts.
const rejectsKept = 1000

// prepareCSV groups files by header and dialect. One read_csv over files with
// different headers would fill columns by position and drop others silently.
func (s *session) prepareCSV(ctx context.Context, r *reading, found []facts) error {
	known, err := s.sharing(r.in, found)
	if err != nil {
		return err
	}
	r.target(union(known), known)
	for i := range known {
		known[i].nameByPosition(r.in.Schema)
	}
	for _, same := range alike(known) {
		for _, note := range same[0].shape.Notes {
			r.notes = append(r.notes, same[0].file.Key+": "+note)
		}
		for _, scan := range scans(same, threads(s.limits)) {
			g := r.add()
			g.facts = scan
			for _, c := range scan[0].shape.Columns {
				g.columns = append(g.columns, engine.Column{Name: c.Name, Type: c.Type()})
			}
			g.partition(r.in)
			g.putAside(r.in.Schema) // a scan of CSV calls its columns as it likes
		}
	}
	if len(known) > 0 {
		r.dialect = known[0].shape.Dialect
	}
	r.lost()
	kinds := s.kinds(ctx, r, r.columns)
	for _, g := range r.groups {
		g.readCSV(r.columns, kinds, s.maxRejects+rejectsKept)
	}
	return nil
}

// alike puts files with one signature together, in the order they come in.
func alike(files []facts) [][]facts {
	var all [][]facts
	at := map[string]int{}
	for _, f := range files {
		key := f.signature()
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], f)
	}
	return all
}

const (
	// bigFile is the size from which a file fills more than one buffer of
	// DuckDB's.
	bigFile = 32 << 20
	// maxScans keeps the statement quick to plan.
	maxScans = 64
)

// scans divides files that are alike among read_csv calls. Given more than two
// files a thread, DuckDB keeps every file it works on in memory to its end;
// given fewer it drops what was read. So big files are read a few at a time,
// and memory does not grow with them.
func scans(same []facts, threads int) [][]facts {
	few := 2 * threads
	if len(same) <= few {
		return [][]facts{same}
	}
	var all [][]facts
	var big, small []facts
	for _, f := range same {
		if f.size >= bigFile {
			big = append(big, f)
		} else {
			small = append(small, f)
		}
	}
	if len(small) > 0 {
		all = append(all, small)
	}
	few = max(few, (len(big)+maxScans-1)/maxScans)
	return slices.AppendSeq(all, slices.Chunk(big, few))
}

// sharing leaves out, or fails on, files whose header has no column of the
// schema: they are other data, or written in another dialect.
func (s *session) sharing(in Input, found []facts) ([]facts, error) {
	var known []facts
	for _, f := range found {
		if len(in.Schema) == 0 || !f.shape.Header() || slices.ContainsFunc(f.shape.Columns, func(c infer.Column) bool {
			_, has := find(in.Schema, c.Name)
			return has
		}) {
			known = append(known, f)
			continue
		}
		failure := unreadable(in, f.file, "its first line names none of the source's columns. It is other data, or it is written with another delimiter.")
		if !in.Hold {
			return nil, failure
		}
		s.hold(in.Name, failure.File, failure.Message)
	}
	return known, nil
}

// nameByPosition gives the columns of a file without a header the schema's names.
func (f *facts) nameByPosition(schema []engine.Column) {
	if f.shape.Header() {
		return
	}
	f.shape.Columns = slices.Clone(f.shape.Columns)
	for i := range f.shape.Columns {
		if i < len(schema) {
			f.shape.Columns[i].Name = schema[i].Name
		}
	}
}

// signature is equal for files that one scan can read.
func (f *facts) signature() string {
	var key strings.Builder
	d := f.shape.Dialect
	fmt.Fprintf(&key, "%q %q %q %q %q %t %d %s", d.Delimiter, d.Quote, d.Escape, d.Decimal, d.DateFormat, f.shape.Header(), f.shape.Trailing, f.compression)
	if f.converted { // the path of a copy does not show its partition
		fmt.Fprintf(&key, " %q", f.file.Key)
	}
	for _, c := range f.shape.Columns {
		fmt.Fprintf(&key, " %q", c.Name)
	}
	return key.String()
}

// afterLast is what is said of a file with a value after its last column.
const afterLast = "There is a value after the last column of "

// readCSV is the scan of a group. Rows that do not fit are put aside with
// their line, never dropped and never guessed at.
func (g *group) readCSV(view []engine.Column, kinds map[string]string, rejects int64) {
	shape := g.facts[0].shape
	d := shape.Dialect
	columns := slices.Clone(g.columns)
	for i, c := range columns {
		if to, known := find(view, c.Name); known {
			columns[i].Type = to.Type
		}
	}
	if d.DateFormat == "" {
		columns = asRead(columns, kinds)
	} else {
		columns = asRead(columns, kinds, "DATE")
	}
	g.check(columns, view, kinds, d.Decimal)
	if shape.Trailing == infer.TrailingBoth || shape.Trailing == infer.TrailingRows {
		columns = append(columns, engine.Column{Name: trailingColumn, Type: "VARCHAR"})
		g.where = fmt.Sprintf("(coalesce(%s, '') = '' OR error(%s || %s) IS NULL)", quote(trailingColumn), literal(afterLast), quote(fileColumn))
	}
	nulls := []string{""}
	if d.NullText != "" {
		nulls = append(nulls, d.NullText)
	}
	options := []string{
		"columns = " + typed(columns),
		"auto_detect = false",
		fmt.Sprintf("header = %t", shape.Header()),
		"delim = " + literal(cmp.Or(d.Delimiter, ",")),
		"quote = " + literal(cmp.Or(d.Quote, `"`)),
		"escape = " + literal(cmp.Or(d.Escape, d.Quote, `"`)),
		"nullstr = " + list(nulls),
		"compression = " + literal(g.facts[0].compression),
		"hive_partitioning = false",
		"store_rejects = true",
		fmt.Sprintf("rejects_limit = %d", rejects),
		"filename = " + literal(fileColumn),
	}
	if d.DateFormat != "" {
		options = append(options, "dateformat = "+literal(d.DateFormat))
	}
	if d.Decimal != "" {
		options = append(options, "decimal_separator = "+literal(d.Decimal))
	}
	g.from = "read_csv(getvariable(" + literal(g.variable) + "), " + strings.Join(options, ", ") + ")"
}
