package table

import (
	"cmp"
	"context"
	"database/sql"
	"strings"
	"time"

	"dogear/engine"
)

// dialect is what one database does its own way. Everything else in this
// package is the same for all.
type dialect interface {
	name() string
	open(c Config) (*sql.DB, error)
	versionQuery() string
	quote(name string) string
	// param is the mark of parameter n, from 1.
	param(n int) string
	// snapshot are the options of a transaction that sees one moment.
	snapshot() *sql.TxOptions
	// limit adds to an ordered query that only row offset+1 is wanted.
	limit(query string, offset int64) string
	// top adds to any query that at most n rows are wanted.
	top(query string, n int64) string

	// tablesQuery lists schema, table and whether it is a view.
	tablesQuery() string
	// columns describes a table, in its order; none where it does not exist.
	columns(ctx context.Context, q querier, n Name) ([]Column, error)

	// printed is the text of a key column as the database prints it, and typeOf
	// the name of its type.
	printed(c Column) string
	typeOf(c Column) string
	// typed is the type of a value of a column that a person has written.
	typed(c Column, text string) string
	// bound compares with a value that was printed before: SQL around a
	// parameter, and the argument.
	bound(c Column, v engine.KeyValue, param string) (string, any)
	// tuples reports that (a, b) > (x, y) is understood and uses an index.
	tuples() bool
	// minus is an expression less an amount in the unit of c.
	minus(c Column, expr string, amount int64) string
	// moment writes a time as the database prints it in a column.
	moment(c Column, t time.Time) string
	// endless is the condition that a column holds no finite value, which lies
	// beyond every other: infinity, or NaN where that is ordered. "" is never.
	endless(c Column) string
	// bytewise orders texts by their bytes, whatever the collation.
	bytewise(expr string) string

	// landed says how a column is read: the expression, how it travels, and
	// the DuckDB type it becomes.
	landed(c Column) landing

	writing
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func dialectOf(kind engine.ConnectionType) (dialect, error) {
	switch kind {
	case engine.ConnectionPostgres:
		return postgres{}, nil
	case engine.ConnectionMySQL:
		return mysqlDialect{}, nil
	case engine.ConnectionSQLite:
		return sqlite{}, nil
	case engine.ConnectionSQLServer:
		return sqlserver{}, nil
	case engine.ConnectionS3:
	}
	return nil, engine.Errorf(engine.Invalid, "There is no database of the kind %q.", kind)
}

// class is what a column is good for as a key.
type class int

const (
	otherClass class = iota
	integerClass
	decimalClass
	floatClass
	dateClass
	timeClass // a moment, with or without a zone
	textClass
)

// Column is a column of a table.
type Column struct {
	Name     string
	Type     string // in the database's words, as it declares it
	Nullable bool
	Key      int // place in the primary key, from 1; 0 is none
	class    class
	zoned    bool // a moment with a zone
	// instead is the column whose value stands in where this one has none.
	instead string
}

// in writes the value of c for SQL.
func (c Column) in(d dialect) string {
	if c.instead == "" {
		return d.quote(c.Name)
	}
	return "COALESCE(" + d.quote(c.Name) + ", " + d.quote(c.instead) + ")"
}

// find returns the column of that name: the very one, or the only one that is
// alike but for upper and lower case.
func find(columns []Column, name string) (Column, bool) {
	var alike []Column
	for _, c := range columns {
		if c.Name == name {
			return c, true
		}
		if strings.EqualFold(c.Name, name) {
			alike = append(alike, c)
		}
	}
	if len(alike) == 1 {
		return alike[0], true
	}
	return Column{}, false
}

// travel is how values of a column come out of the database.
type travel int

const (
	asText travel = iota
	asBytes
	asInteger
	asFloat
	asMicros // since 1970
	asDays   // since 1970
)

// landing is how a column is read.
type landing struct {
	expr string // for SQL; "" is the column itself
	how  travel
	duck string // the DuckDB type of its values
}

// conditions is a WHERE clause with its arguments.
type conditions struct {
	d     dialect
	parts []string
	args  []any
}

func (w *conditions) add(part string) { w.parts = append(w.parts, part) }

// value binds one value of a key.
func (w *conditions) value(c Column, v engine.KeyValue) string {
	text, arg := w.d.bound(c, v, w.d.param(len(w.args)+1))
	w.args = append(w.args, arg)
	return text
}

func (w *conditions) text() string {
	if len(w.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.parts, " AND ")
}

// flip turns comparisons round where the key falls.
func flip(op string, desc bool) string {
	if !desc {
		return op
	}
	return strings.NewReplacer(">", "<", "<", ">").Replace(op)
}

// compare adds "key op at", column by column from the left. op is one of
// > >= < <= and =, as for a key that rises.
func (w *conditions) compare(keys []Column, desc bool, op string, at []engine.KeyValue) {
	w.add(w.comparison(keys, desc, op, at))
}

func (w *conditions) comparison(keys []Column, desc bool, op string, at []engine.KeyValue) string {
	names := make([]string, len(keys))
	for i, c := range keys {
		names[i] = c.in(w.d)
	}
	if op == "=" || len(keys) == 1 || w.d.tuples() {
		values := make([]string, len(keys))
		for i, c := range keys {
			values[i] = w.value(c, at[i])
		}
		if len(keys) == 1 {
			return names[0] + " " + flip(op, desc) + " " + values[0]
		}
		if op == "=" {
			for i := range names {
				names[i] += " = " + values[i]
			}
			return strings.Join(names, " AND ")
		}
		return "(" + strings.Join(names, ", ") + ") " + flip(op, desc) + " (" + strings.Join(values, ", ") + ")"
	}
	// Where tuples are not understood, or use no index: the first column alone
	// bounds the scan, and the rest is spelled out.
	strict := strings.TrimSuffix(op, "=")
	lead := names[0] + " " + flip(strict+"=", desc) + " " + w.value(keys[0], at[0])
	var cases []string
	for i := range keys {
		var all []string
		for j := range i {
			all = append(all, names[j]+" = "+w.value(keys[j], at[j]))
		}
		last := strict
		if i == len(keys)-1 {
			last = op
		}
		all = append(all, names[i]+" "+flip(last, desc)+" "+w.value(keys[i], at[i]))
		cases = append(cases, strings.Join(all, " AND "))
	}
	return lead + " AND (" + strings.Join(cases, " OR ") + ")"
}

// within adds that a row lies in one of ranges.
func (w *conditions) within(columns []Column, ranges []engine.KeyRange) error {
	if len(ranges) == 0 {
		w.add("1 = 0") // nothing is to be read, which must not become everything
	}
	var all []string
	for _, r := range ranges {
		keys, err := keyColumns(columns, r.Keys, r.Instead)
		if err != nil {
			return err
		}
		if part := w.stretch(keys, r); part != "" {
			all = append(all, "("+part+")")
		}
	}
	if len(all) > 0 && len(all) == len(ranges) {
		w.add("(" + strings.Join(all, " OR ") + ")")
	}
	return nil
}

// stretch is the condition of one range; "" is the whole table.
func (w *conditions) stretch(keys []Column, r engine.KeyRange) string {
	var parts []string
	switch {
	case len(keys) == 0:
		return ""
	case r.Nulls:
		return cmp.Or(keyless(w.d, keys), "1 = 0") // every row has a key by now
	case r.From != nil:
		parts = append(parts, w.comparison(keys[:len(r.From)], r.Desc, ">=", r.From))
	case r.Low != nil:
		parts = append(parts, w.comparison(keys, r.Desc, ">", r.Low))
	}
	parts = append(parts, w.comparison(keys, r.Desc, "<=", r.High))
	// A row without a later part of its key is still less than the mark.
	return strings.Join(append(parts, keyed(w.d, keys)...), " AND ")
}

// keyed are the conditions that a row has a key to read by: a value in each
// column, and a finite one. As a mark, infinity would end the reading for ever.
func keyed(d dialect, keys []Column) (parts []string) {
	for _, c := range keys {
		if c.Nullable {
			parts = append(parts, c.in(d)+" IS NOT NULL")
		}
		if endless := d.endless(c); endless != "" {
			parts = append(parts, "NOT ("+endless+")")
		}
	}
	return parts
}

// keyless is the condition that a row has no key to read by.
func keyless(d dialect, keys []Column) string {
	return strings.Join(append(valueless(d, keys), endless(d, keys)...), " OR ")
}

// valueless are the conditions of which one holds where a key lacks a value.
func valueless(d dialect, keys []Column) (parts []string) {
	for _, c := range keys {
		if c.Nullable {
			parts = append(parts, c.in(d)+" IS NULL")
		}
	}
	return parts
}

// endless are those of which one holds where a key has a value that is not finite.
func endless(d dialect, keys []Column) (parts []string) {
	for _, c := range keys {
		if part := d.endless(c); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// keyColumns finds the columns of a key, and the one that stands in where they
// have no value.
func keyColumns(columns []Column, wanted []string, instead string) ([]Column, error) {
	keys := make([]Column, 0, len(wanted))
	for _, name := range wanted {
		c, ok := find(columns, name)
		if !ok {
			return nil, engine.Errorf(engine.Invalid, "%s Name another key in the source; its bookmark then asks what to do.", engine.Lacking("The table", name, names(columns)))
		}
		if instead != "" {
			var err error
			if c, err = c.or(columns, instead); err != nil {
				return nil, err
			}
		}
		keys = append(keys, c)
	}
	return keys, nil
}

// or is c with another column in its stead where it has no value.
func (c Column) or(columns []Column, instead string) (Column, error) {
	other, ok := find(columns, instead)
	switch {
	case !ok:
		return c, engine.Errorf(engine.Invalid, "%s It was to stand in for the key %s; name another in the source.", engine.Lacking("The table", instead, names(columns)), c.Name)
	case !strings.EqualFold(other.Type, c.Type):
		return c, engine.Errorf(engine.Invalid, "The column %s (%s) cannot stand in for the key %s (%s): their types differ. Name another in the source.", other.Name, other.Type, c.Name, c.Type)
	}
	c.instead, c.Nullable = other.Name, c.Nullable && other.Nullable
	return c, nil
}

// doubled writes a name between quotes, those inside it twice.
func doubled(name, open, shut string) string {
	return open + strings.ReplaceAll(name, shut, shut+shut) + shut
}

// momentText is a time in UTC as databases print it.
func momentText(c Column, t time.Time) string {
	switch {
	case c.class == dateClass:
		return t.UTC().Format(time.DateOnly)
	case c.zoned:
		return t.UTC().Format("2006-01-02 15:04:05.999999+00")
	}
	return t.UTC().Format("2006-01-02 15:04:05.999999")
}
