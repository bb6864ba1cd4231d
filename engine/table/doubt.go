package table

import (
	"context"
	"regexp"
	"strings"

	"dogear/engine"
)

// nulls counts the rows without a key, and takes them where the source reads
// them each time.
func (s *survey) nulls(ctx context.Context) error {
	without := valueless(s.d, s.keys)
	if !s.Compare { // a compare tells rows apart by any value, and asks for no order
		beyond := endless(s.d, s.keys)
		var err error
		if s.found.Endless, err = s.countAny(ctx, beyond); err != nil {
			return err
		}
		without = append(without, beyond...)
	}
	n, err := s.countAny(ctx, without)
	if err != nil || n == 0 {
		return err
	}
	s.found.Nulls = n
	r := engine.KeyRange{Keys: names(s.keys), Instead: s.Source.Options.Table.Instead, Nulls: true}
	key := strings.Join(r.Keys, ", ") + ")"
	if s.found.Endless > 0 {
		key += ", or infinity or NaN"
	}
	switch s.Source.Options.Table.NullKeys {
	case "fail":
		return engine.Errorf(engine.Invalid, "%s of %s have no value in the key (%s, and this source fails on them. Give them one, or choose to report or to read them.", rowsWord(n), s.name, key)
	case "read":
		r.Rows = n
		s.found.New = append(s.found.New, r)
		s.notice("%s of %s have no value in the key (%s; they are read each time.", rowsWord(n), s.name, key)
	default:
		s.notice("%s of %s have no value in the key (%s and are not covered by the bookmark.", rowsWord(n), s.name, key)
	}
	return nil
}

// countAny counts the rows for which one of the conditions holds.
func (s *survey) countAny(ctx context.Context, any []string) (int64, error) {
	if len(any) == 0 {
		return 0, nil
	}
	return s.count(ctx, &conditions{d: s.d, parts: []string{"(" + strings.Join(any, " OR ") + ")"}})
}

// doubt names what a key of this kind may miss.
func (s *survey) doubt(r engine.KeyRange) {
	first, text := s.keys[0], r.High[0].Text
	_, dynamic := s.d.(sqlite)
	switch {
	case first.class == textClass && numeric(text):
		s.notice("The key %s of %s is text and holds numbers: as text, 9999 comes after 10000, so rows may be missed. Give it a number type, or choose another key.", first.Name, s.name)
	case dynamic && first.class == timeClass && zonedText.MatchString(text):
		s.notice("The key %s of %s holds times with a zone (%s), which SQLite orders as text: a later time of another zone may come first, so rows may be missed. Write them all in UTC and one form, or choose another key.", first.Name, s.name, text)
	}
}

// zonedText is the end of a time that is written with its zone.
var zonedText = regexp.MustCompile(`\d(Z|[+-]\d\d:?\d\d)$`)

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
	if n == 0 {
		if err := s.behind(ctx); err != nil {
			return err
		}
	}
	if !o.Compare && !o.Descending {
		return nil
	}
	w := s.keyed()
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

// behind says that every key lies before the mark, whose own row is gone: so it
// is where a table was made anew and counts from one again.
func (s *survey) behind(ctx context.Context) error {
	next, err := s.keyAt(ctx, s.eligible(), true, 0)
	if err != nil || next != nil {
		return err
	}
	last, err := s.keyAt(ctx, s.keyed(), !s.Source.Options.Table.Descending, 0)
	if err != nil || last == nil {
		return err
	}
	which, where := "highest", "below"
	if s.Source.Options.Table.Descending {
		which, where = "lowest", "above"
	}
	s.notice("The %s key of %s is now %s, which is %s the mark %s: until keys pass the mark nothing is read. If the table was made or filled anew, reset or rewind the bookmark.",
		which, s.name, engine.KeyWords(last), where, engine.KeyWords(s.Mark.High))
	return nil
}
