package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dogear/engine"
)

// Survey looks at a table source: what it holds beyond the mark, in one
// snapshot. It reads no row.
func (d *Databases) Survey(ctx context.Context, q engine.TableQuestion) (engine.TableSurvey, error) {
	db, err := d.Open(ctx, q.Source.Connection)
	if err != nil {
		return engine.TableSurvey{}, err
	}
	defer db.shut()
	found, err := db.Survey(ctx, q)
	if err != nil {
		err = db.config.explain(err, "could not say what is new in "+q.Source.Table)
	}
	return found, err
}

// Survey is that of Databases, on an open database.
func (db *DB) Survey(ctx context.Context, q engine.TableQuestion) (engine.TableSurvey, error) {
	tx, err := db.BeginTx(ctx, db.snapshot())
	if err != nil {
		return engine.TableSurvey{}, err
	}
	defer tx.Rollback() //nolint:errcheck // it has only read
	s := survey{TableQuestion: q, d: db.dialect, q: tx, name: ParseName(q.Source.Table)}
	err = s.look(ctx)
	return s.found, err
}

// survey is one look at a table.
type survey struct {
	engine.TableQuestion
	d       dialect
	q       querier
	name    Name
	columns []Column
	keys    []Column
	found   engine.TableSurvey
}

func (s *survey) notice(format string, args ...any) {
	s.found.Notices = append(s.found.Notices, fmt.Sprintf(format, args...))
}

func (s *survey) look(ctx context.Context) error {
	var err error
	if s.columns, err = described(ctx, s.d, s.q, s.name); err != nil {
		return err
	}
	s.found.Columns = s.landed()
	if s.Whole {
		var n int64
		if !s.Uncounted {
			n, err = s.count(ctx, &conditions{d: s.d})
		}
		s.found.New = []engine.KeyRange{{Rows: n}}
		return err
	}
	steps := []func(context.Context) error{s.chooseKey, s.nulls, s.beyond, s.compare}
	if s.UpTo != nil {
		steps = []func(context.Context) error{s.chooseKey, s.upTo}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// described returns the columns of a table, or NotFound.
func described(ctx context.Context, d dialect, q querier, n Name) ([]Column, error) {
	columns, err := d.columns(ctx, q, n)
	if err == nil && len(columns) == 0 {
		err = engine.Errorf(engine.NotFound, "There is no table %s, or its user may not read it.", n)
	}
	return columns, err
}

// landed are the columns as they are read. Where the source has frozen them,
// its types stand, and a frozen column that is gone is said.
func (s *survey) landed() []engine.Column {
	if len(s.Source.Schema) == 0 {
		all := make([]engine.Column, len(s.columns))
		for i, c := range s.columns {
			all[i] = engine.Column{Name: c.Name, Type: s.d.landed(c).duck}
		}
		return all
	}
	for _, c := range s.Source.Schema {
		if _, ok := find(s.columns, c.Name); !ok {
			s.notice("The column %s of %s is gone; it is read as NULL.", c.Name, s.name)
		}
	}
	all := s.Source.Schema
	for _, c := range s.columns {
		known := false
		for _, frozen := range s.Source.Schema {
			known = known || strings.EqualFold(frozen.Name, c.Name)
		}
		if !known {
			s.notice("The column %s of %s is new; it is read too.", c.Name, s.name)
			all = append(slices.Clip(all), engine.Column{Name: c.Name, Type: s.d.landed(c).duck})
		}
	}
	return all
}

// chooseKey finds the columns of the key: those that the source names, or the
// primary key, if it rises without a gap (glue-semantics 4.6).
func (s *survey) chooseKey(ctx context.Context) error {
	names := s.Source.Keys
	if len(names) == 0 && s.Mark != nil {
		names = s.Mark.Keys // chosen at the first read; a gap that came later does not undo it
	}
	if len(names) == 0 {
		var err error
		if names, err = s.primaryKey(ctx); err != nil {
			return err
		}
	}
	var err error
	if s.keys, err = keyColumns(s.columns, names); err != nil {
		return err
	}
	return s.sameKey()
}

func (s *survey) primaryKey(ctx context.Context) ([]string, error) {
	refuse := func(why string) error {
		return engine.Errorf(engine.Invalid, "%s has no key of its own to read by: %s. Name the key columns of source %s, or let it read everything each time.", s.name, why, s.Source.Name)
	}
	var names []string
	for at := 1; ; at++ {
		was := len(names)
		for _, c := range s.columns {
			if c.Key == at {
				names = append(names, c.Name)
			}
		}
		if len(names) == was {
			break
		}
	}
	switch len(names) {
	case 0:
		return nil, refuse("it has no primary key")
	case 1:
	default:
		return nil, refuse("its primary key (" + strings.Join(names, ", ") + ") has several columns")
	}
	c, _ := find(s.columns, names[0])
	if c.class != integerClass {
		return nil, refuse("its primary key " + c.Name + " is not a whole number")
	}
	name := s.d.quote(c.Name)
	var rows, span sql.NullInt64
	err := s.q.QueryRowContext(ctx, fmt.Sprintf("SELECT count(*), max(%s) - min(%s) + 1 FROM %s", name, name, s.name.in(s.d))).Scan(&rows, &span)
	if err != nil {
		return nil, err
	}
	if span.Valid && rows.Int64 != span.Int64 {
		return nil, refuse(fmt.Sprintf("its primary key %s has gaps (%d rows in a span of %d), and a row that fills one later would be missed", c.Name, rows.Int64, span.Int64))
	}
	return names, nil
}

// sameKey refuses a mark that was made with other keys or types (B27).
func (s *survey) sameKey() error {
	if s.Mark == nil || s.Mark.High == nil {
		return nil
	}
	if len(s.Mark.High) != len(s.keys) {
		return engine.Errorf(engine.Conflict, "The bookmark of source %s was made with the key %s. Reset it, or name those keys again.", s.Source.Name, strings.Join(s.Mark.Keys, ", "))
	}
	for i, c := range s.keys {
		was := s.Mark.High[i]
		if _, dynamic := s.d.(sqlite); !dynamic && was.Type != c.Type {
			return engine.Errorf(engine.Conflict, "The key column %s was %s when the bookmark of source %s was made, and is %s now, so its mark %s cannot be compared. Rewind or reset the bookmark.",
				c.Name, was.Type, s.Source.Name, c.Type, was.Text)
		}
	}
	return nil
}

// count counts rows.
func (s *survey) count(ctx context.Context, w *conditions) (int64, error) {
	var n int64
	err := s.q.QueryRowContext(ctx, "SELECT count(*) FROM "+s.name.in(s.d)+w.text(), w.args...).Scan(&n)
	return n, err
}

// nulls counts the rows without a key, and takes them where the source reads
// them each time.
func (s *survey) nulls(ctx context.Context) error {
	var nullable []Column
	for _, c := range s.keys {
		if c.Nullable {
			nullable = append(nullable, c)
		}
	}
	if len(nullable) == 0 {
		return nil
	}
	r := engine.KeyRange{Keys: names(s.keys), Nulls: true}
	w := &conditions{d: s.d}
	w.add("(" + w.stretch(nullable, r) + ")")
	n, err := s.count(ctx, w)
	if err != nil || n == 0 {
		return err
	}
	s.found.Nulls = n
	key := strings.Join(r.Keys, ", ")
	switch s.Source.Options.Table.NullKeys {
	case "fail":
		return engine.Errorf(engine.Invalid, "%s of %s have no value in the key (%s), and this source fails on them. Give them one, or choose to report or to read them.", rowsWord(n), s.name, key)
	case "read":
		r.Rows = n
		s.found.New = append(s.found.New, r)
		s.notice("%s of %s have no value in the key (%s); they are read each time.", rowsWord(n), s.name, key)
	default:
		s.notice("%s of %s have no value in the key (%s) and are not covered by the bookmark.", rowsWord(n), s.name, key)
	}
	return nil
}

func names(columns []Column) []string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.Name
	}
	return all
}

func rowsWord(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// low is the mark, or nil.
func (s *survey) low() []engine.KeyValue {
	if s.Mark == nil {
		return nil
	}
	return s.Mark.High
}

// eligible are the conditions of every row beyond the mark.
func (s *survey) eligible() *conditions {
	w := &conditions{d: s.d}
	for _, c := range s.keys {
		if c.Nullable {
			w.add(s.d.quote(c.Name) + " IS NOT NULL")
		}
	}
	if low := s.low(); low != nil {
		w.compare(s.keys, s.Source.Options.Table.Descending, ">", low)
	}
	return w
}

// beyond finds the range of new rows: its high key first, so that whatever is
// committed later lies above it or is read with it.
func (s *survey) beyond(ctx context.Context) error {
	o := s.Source.Options.Table
	w := s.eligible()
	if err := s.settle(ctx, w); err != nil {
		return err
	}
	high, err := s.keyAt(ctx, w, !o.Descending, 0)
	if err != nil {
		return err
	}
	if s.found.Young, err = s.young(ctx, w); err != nil {
		return err
	}
	if high == nil && o.Overlap > 0 {
		high = s.low() // what lies in the overlap is read again each time: it may have changed
	}
	if high == nil {
		return nil
	}
	r := engine.KeyRange{Keys: names(s.keys), Desc: o.Descending, Low: s.low(), High: high}
	if r.Rows, err = s.count(ctx, w); err != nil {
		return err
	}
	if err := s.bound(ctx, w, &r); err != nil {
		return err
	}
	if err := s.overlap(ctx, &r); err != nil {
		return err
	}
	at := &conditions{d: s.d}
	at.compare(s.keys, false, "=", r.High)
	if r.AtHigh, err = s.count(ctx, at); err != nil {
		return err
	}
	s.doubt(r)
	s.found.New = append(s.found.New, r)
	return nil
}

// bound ends r where the run has read enough.
func (s *survey) bound(ctx context.Context, w *conditions, r *engine.KeyRange) error {
	most, total := s.Source.Options.Table.MaxRows, r.Rows
	if most == 0 || total <= most {
		return nil
	}
	var err error
	if r.High, err = s.keyAt(ctx, w, r.Desc, most-1); err != nil {
		return err
	}
	w.compare(s.keys, r.Desc, "<=", r.High)
	r.Rows, err = s.count(ctx, w)
	s.found.Over = total - r.Rows
	return err
}

// keyAt is the key at a place in the order of the key; nil where there are not
// so many rows.
func (s *survey) keyAt(ctx context.Context, w *conditions, falling bool, offset int64) ([]engine.KeyValue, error) {
	order := ""
	if falling {
		order = " DESC"
	}
	var selected, by []string
	for i, c := range s.keys {
		// A text under the column's own name would be what ORDER BY means.
		selected = append(selected, fmt.Sprintf("%s AS dogear_%d", s.d.printed(c), i), s.d.typeOf(c))
		by = append(by, s.d.quote(c.Name)+order)
	}
	query := "SELECT " + strings.Join(selected, ", ") + " FROM " + s.name.in(s.d) + w.text() + " ORDER BY " + strings.Join(by, ", ")
	key := make([]engine.KeyValue, len(s.keys))
	into := make([]any, 0, 2*len(key))
	for i := range key {
		into = append(into, &key[i].Text, &key[i].Type)
	}
	err := s.q.QueryRowContext(ctx, s.d.limit(query, offset), w.args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return key, err
}

// settle leaves out what is too young to be sure of: of a time by the clock,
// of a number by its distance to the highest.
func (s *survey) settle(ctx context.Context, w *conditions) error {
	o, first := s.Source.Options.Table, s.keys[0]
	moment := first.class == timeClass || first.class == dateClass
	switch {
	case o.Closed == "" && o.Lag == 0:
	case o.Closed != "" && !moment:
		return engine.Errorf(engine.Invalid, "Source %s reads closed periods only, but its key %s is not a time. Choose a lag in numbers, or another key.", s.Source.Name, first.Name)
	case moment:
		bound, op := s.Now.UTC(), " < "
		switch o.Closed {
		case "hour":
			bound = bound.Truncate(time.Hour)
		case "day":
			bound = bound.Truncate(24 * time.Hour)
		default:
			op = " <= "
		}
		unit := time.Second
		if first.class == dateClass {
			unit = 24 * time.Hour
		}
		if o.Lag > 0 {
			bound = bound.Add(-time.Duration(o.Lag) * unit)
		}
		w.add(s.d.quote(first.Name) + op + w.value(first, engine.KeyValue{Text: s.d.moment(first, bound), Type: "text"}))
	case first.class == integerClass || first.class == decimalClass:
		highest, err := s.keyAt(ctx, s.eligible(), true, 0)
		if err != nil || highest == nil {
			return err
		}
		text, err := s.less(ctx, first, highest[0], o.Lag)
		if err != nil {
			return err
		}
		w.add(s.d.quote(first.Name) + " <= " + w.value(first, engine.KeyValue{Text: text, Type: highest[0].Type}))
	default:
		return engine.Errorf(engine.Invalid, "Source %s has a settle lag, but its key %s is neither a time nor a number.", s.Source.Name, first.Name)
	}
	return nil
}

// less is a value less an amount, worked out by the database.
func (s *survey) less(ctx context.Context, c Column, v engine.KeyValue, amount int64) (string, error) {
	expr, arg := s.d.bound(c, v, s.d.param(1))
	var text string
	err := s.q.QueryRowContext(ctx, "SELECT "+s.d.minus(c, expr, amount), arg).Scan(&text)
	return text, err
}

// young counts what settle left out.
func (s *survey) young(ctx context.Context, settled *conditions) (int64, error) {
	all := s.eligible()
	if len(all.parts) == len(settled.parts) {
		return 0, nil
	}
	total, err := s.count(ctx, all)
	if err != nil {
		return 0, err
	}
	kept, err := s.count(ctx, settled)
	return total - kept, err
}

// upTo finds the range from the first row to a key that a person names.
func (s *survey) upTo(ctx context.Context) error {
	if len(s.UpTo) != len(s.keys) {
		return engine.Errorf(engine.Invalid, "The key of source %s has %d columns (%s); name a value for each.", s.Source.Name, len(s.keys), strings.Join(names(s.keys), ", "))
	}
	to := make([]engine.KeyValue, len(s.keys))
	for i, c := range s.keys {
		to[i] = engine.KeyValue{Text: s.UpTo[i], Type: s.d.typed(c, s.UpTo[i])}
	}
	s.Mark = nil
	w := s.eligible()
	w.compare(s.keys, s.Source.Options.Table.Descending, "<=", to)
	r := engine.KeyRange{Keys: names(s.keys), Desc: s.Source.Options.Table.Descending}
	var err error
	if r.High, err = s.keyAt(ctx, w, !r.Desc, 0); err != nil {
		return err
	}
	if r.High == nil {
		return engine.Errorf(engine.NotFound, "%s has no row up to the key %s. To begin at the first row, reset the bookmark.", s.name, engine.KeyWords(to))
	}
	if r.Rows, err = s.count(ctx, w); err != nil {
		return err
	}
	at := &conditions{d: s.d}
	at.compare(s.keys, false, "=", r.High)
	r.AtHigh, err = s.count(ctx, at)
	s.found.New = []engine.KeyRange{r}
	return err
}

// overlap begins r before the mark, where the source asks for it.
func (s *survey) overlap(ctx context.Context, r *engine.KeyRange) error {
	o, first := s.Source.Options.Table, s.keys[0]
	if o.Overlap == 0 || r.Low == nil {
		return nil
	}
	if first.class == textClass || first.class == otherClass {
		return engine.Errorf(engine.Invalid, "Source %s has an overlap, but its key %s is neither a time nor a number.", s.Source.Name, first.Name)
	}
	text, err := s.less(ctx, first, r.Low[0], o.Overlap)
	if err != nil {
		return err
	}
	// Of a compound key the overlap begins with the first row of its first
	// column, whatever the others hold.
	r.From = []engine.KeyValue{{Text: text, Type: r.Low[0].Type}}
	return nil
}

// doubt names what a key of this kind may miss.
func (s *survey) doubt(r engine.KeyRange) {
	if first := s.keys[0]; first.class == textClass && numeric(r.High[0].Text) {
		s.notice("The key %s of %s is text and holds numbers: as text, 9999 comes after 10000, so rows may be missed. Give it a number type, or choose another key.", first.Name, s.name)
	}
}

func numeric(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// compare looks back over the mark, where that is asked for or the key falls:
// rows that are missing now, and rows that came late.
func (s *survey) compare(ctx context.Context) error {
	o, mark := s.Source.Options.Table, s.Mark
	if mark == nil || mark.High == nil {
		return nil
	}
	at := &conditions{d: s.d}
	at.compare(s.keys, false, "=", mark.High)
	n, err := s.count(ctx, at)
	if err != nil {
		return err
	}
	if late := n - mark.AtHigh; late > 0 && o.Overlap == 0 {
		s.notice("%s of %s with the very key of the mark (%s) came after it was read, and a strict comparison does not see them. Give the source an overlap and let its target merge by key.", rowsWord(late), s.name, engine.KeyWords(mark.High))
	}
	if !o.Compare && !o.Descending {
		return nil
	}
	w := &conditions{d: s.d}
	w.compare(s.keys, o.Descending, "<=", mark.High)
	if n, err = s.count(ctx, w); err != nil {
		return err
	}
	switch {
	case n > s.Seen && o.Descending:
		s.notice("%s of %s lie above the keys that were read. This source reads falling keys, so they are never read. If new rows get higher keys, choose rising.", rowsWord(n-s.Seen), s.name)
	case n > s.Seen:
		s.notice("%s of %s at or before the mark were not read: they came late. Rewind the bookmark, or give the source a lag or an overlap.", rowsWord(n-s.Seen), s.name)
	case n < s.Seen:
		s.notice("%s of %s that were read are no longer there. A bookmark by key does not see deletes.", rowsWord(s.Seen-n), s.name)
	}
	return nil
}
