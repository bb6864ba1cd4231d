package duck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dogear/engine"
)

// targetColumns are the columns of the file like of a target; nil where there is
// none. One that cannot be read tells nothing, and what is written beside it makes
// nothing worse.
func (w *writer) targetColumns(ctx context.Context, like Existing) []engine.Column {
	if like.Path == "" {
		return nil
	}
	columns, err := w.describe(ctx, "SELECT * FROM read_parquet("+list(exactly(like.Path))+", hive_partitioning = false)")
	if err != nil {
		w.events.note(true, "%s of the target cannot be read, so the types of its columns are not compared", like.Key)
		return nil
	}
	return columns
}

// conform gives the columns of a result the types that the files of the target have,
// so that no column changes its type there in silence (docs/adr/0050). A column is
// cast where each of its values is the same in the target's type; otherwise conform
// returns a Failure that names it, beside what there is without it.
func (w *writer) conform(ctx context.Context, number int, sink engine.Sink, query string, columns, old []engine.Column) (string, []engine.Column, error) {
	differs := func(c engine.Column) (engine.Column, bool) {
		before, has := find(old, c.Name)
		return before, has && before.Type != c.Type && !isOneOf(sink.PartitionBy, c.Name)
	}
	if slices.ContainsFunc(columns, func(c engine.Column) bool { _, yes := differs(c); return yes }) && w.uses[sink.From] < 2 {
		// The values are looked at, and then written: they are computed once.
		var err error
		if query, err = w.land(ctx, number, query); err != nil {
			return "", nil, err
		}
		// What lies in a file has the types that the target's files show.
		if columns, err = w.describe(ctx, query); err != nil {
			return "", nil, fmt.Errorf("describe the result: %w", err)
		}
	}
	fitted, expressions := slices.Clone(columns), make([]string, len(columns))
	var refused error
	for i, c := range columns {
		expressions[i] = quote(c.Name)
		before, yes := differs(c)
		if !yes {
			continue
		}
		value, fits, err := w.fits(ctx, query, c, before.Type)
		if err != nil {
			return "", nil, err
		}
		if !fits {
			if refused == nil {
				refused = w.otherType(sink, c, before.Type, value)
			}
			continue
		}
		expressions[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", quote(c.Name), before.Type, quote(c.Name))
		fitted[i].Type = before.Type
		w.events.note(false, "%s: the column %s is %s in the result and written as %s, which the target has", sink.From, c.Name, c.Type, before.Type)
	}
	if sink.Mode != engine.Merge && len(old) > 0 { // a merge sees its rows beside the target's
		fitted, expressions = w.complete(sink, old, fitted, expressions)
	}
	if slices.Equal(fitted, columns) {
		return query, columns, refused
	}
	return "SELECT " + strings.Join(expressions, ", ") + " FROM (" + query + ")", fitted, refused
}

// complete adds the columns of the target that a result lacks, and says what is new.
func (w *writer) complete(sink engine.Sink, old, columns []engine.Column, expressions []string) ([]engine.Column, []string) {
	for _, c := range columns {
		if _, has := find(old, c.Name); !has && !isOneOf(sink.PartitionBy, c.Name) {
			w.events.note(true, "the column %s is new in the target; rows that were there have NULL", c.Name)
		}
	}
	for _, c := range old {
		if _, has := find(columns, c.Name); has || isOneOf(sink.PartitionBy, c.Name) {
			continue
		}
		w.events.note(true, "the target's column %s is missing in this batch; its rows have NULL", c.Name)
		columns = append(columns, c)
		expressions = append(expressions, fmt.Sprintf("CAST(NULL AS %s) AS %s", c.Type, quote(c.Name)))
	}
	return columns, expressions
}

// fits reports whether every value of a column of query is the same in another type,
// and comes back from it as it was; else value is one that is not.
func (w *writer) fits(ctx context.Context, query string, c engine.Column, other string) (value string, fits bool, err error) {
	back := fmt.Sprintf("TRY_CAST(TRY_CAST(%s AS %s) AS %s)", quote(c.Name), other, c.Type)
	found, err := w.texts(ctx, fmt.Sprintf("SELECT coalesce(left(%s::VARCHAR, 100), '') FROM (%s) WHERE %s IS DISTINCT FROM %s LIMIT 1", quote(c.Name), query, back, quote(c.Name)))
	if said, ok := complaintOf(err); ok && (said.Type == "Binder" || said.Type == "Conversion" || said.Type == "Not implemented") {
		return "", false, nil // there is no way from the one type to the other
	}
	if err != nil {
		return "", false, fmt.Errorf("compare a column with the target's: %w", err)
	}
	return strings.Join(found, ""), len(found) == 0, nil
}

// otherType says that a column of a result does not fit the target's.
func (w *writer) otherType(sink engine.Sink, c engine.Column, has, value string) *Failure {
	text := fmt.Sprintf("The column %s of %s is %s in this run, and %s in the files that %s holds.", c.Name, sink.From, c.Type, has, sink.Place())
	if value != "" {
		text += fmt.Sprintf(" %q is no %s that is the same.", Brief(value), has)
	}
	text += " Nothing was published, and nothing counts as read."
	if source, file := w.broughtBy(c); source != "" {
		text += fmt.Sprintf(" The type was inferred, and %s brought it. Correct the file, let %s hold files that cannot be read and fix its columns by a schema in the workflow's YAML, or cast %s in the SQL.", file, source, c.Name)
	} else {
		text += fmt.Sprintf(" Cast %s to %s in the SQL, or write to another folder.", c.Name, has)
	}
	return &Failure{Kind: FailData, Message: text}
}

// broughtBy finds the source and the file because of which a column of that name was
// inferred to have its type; both are "" where that is not why.
func (w *writer) broughtBy(c engine.Column) (source, file string) {
	for _, r := range w.reads {
		if !r.in.Inferred || r.in.Format != engine.CSV {
			continue
		}
		for _, g := range r.groups {
			for _, f := range g.facts {
				for _, own := range f.shape.Columns {
					if strings.EqualFold(own.Name, c.Name) && own.Type() == c.Type {
						return r.in.Name, f.file.Key
					}
				}
			}
		}
	}
	return "", ""
}

// isOneOf reports whether name is one of names, without regard to case.
func isOneOf(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
