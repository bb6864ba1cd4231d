package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"dogear/engine"
)

// low is the mark, or nil.
func (s *survey) low() []engine.KeyValue {
	if s.Mark == nil {
		return nil
	}
	return s.Mark.High
}

// keyed are the conditions of every row that has a key to read by.
func (s *survey) keyed() *conditions {
	return &conditions{d: s.d, parts: keyed(s.d, s.keys)}
}

// eligible are the conditions of every row beyond the mark.
func (s *survey) eligible() *conditions {
	w := s.keyed()
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
	r := engine.KeyRange{Keys: names(s.keys), Instead: s.Source.Options.Table.Instead, Desc: o.Descending, Low: s.low(), High: high}
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
		by = append(by, c.in(s.d)+order)
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
	r := engine.KeyRange{Keys: names(s.keys), Instead: s.Source.Options.Table.Instead, Desc: s.Source.Options.Table.Descending}
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
