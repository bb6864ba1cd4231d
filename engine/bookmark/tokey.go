package bookmark

import (
	"context"
	"regexp"
	"strings"
	"time"

	"dogear/engine"
)

// toKey makes the ledger of a table that counts its rows as read up to a key
// and with it: one range, as the table is now. The ranges of before stay in
// the versions of before.
func (s *Service) toKey(ctx context.Context, b engine.Bookmark, key []string, by By) (rewritten, error) {
	job, err := s.Store.Job(ctx, b.Job)
	if err != nil {
		return rewritten{}, err
	}
	src, err := sourceOf(&job, b.Ctx)
	if err != nil {
		return rewritten{}, err
	}
	if src.Table == "" {
		return rewritten{}, engine.Errorf(engine.Invalid, "The source %s has no keys: it reads files. Rewind to a version, a run or a time, or read chosen files again.", src.Name)
	}
	if src.Read == engine.ReadCompare {
		return rewritten{}, engine.Errorf(engine.Invalid, "The source %s is compared row by row, and no key of it is the newest. Rewind to a version, a run or a time.", src.Name)
	}
	at, err := PositionOf(ctx, s.Store, b.Root)
	if err != nil {
		return rewritten{}, err
	}
	if err := s.fits(ctx, src, at, key, by); err != nil {
		return rewritten{}, err
	}
	found, err := s.Planner.Surveyor.Survey(ctx, engine.TableQuestion{Source: *src, Mark: at.Mark, Now: by.At, UpTo: key})
	if err != nil {
		return rewritten{}, err
	}
	made := surveyed{q: Request{Now: by.At}, found: found}
	r := found.New[0]
	o := made.object("000001 "+r.Words(), r)
	written, err := Write(ctx, s.Store, Empty, []engine.Entry{{Object: o, State: engine.EntryRead, Note: "counts as read since " + by.Who + " rewound to this key"}})
	written.Removed = b.Files
	return rewritten{Written: written, chosen: 1, newest: o}, err
}

// fits refuses a key that is not of the types of its columns. A database that
// is lenient would compare it as something else: SQLite takes every number for
// less than any text.
func (s *Service) fits(ctx context.Context, src *engine.Source, at Position, key []string, by By) error {
	looked, err := s.Planner.Surveyor.Survey(ctx, engine.TableQuestion{Source: *src, Mark: at.Mark, Now: by.At})
	if err != nil {
		return err
	}
	names := src.Keys
	switch {
	case at.Mark != nil:
		names = at.Mark.Keys
	case len(names) == 0 && len(looked.New) > 0: // the primary key
		names = looked.New[0].Keys
	}
	if len(names) != len(key) {
		return nil // whoever looks up the key says how many columns there are
	}
	for i, name := range names {
		for _, c := range looked.Columns {
			if !strings.EqualFold(c.Name, name) {
				continue
			}
			if want := notOf(c.Type, key[i]); want != "" {
				return engine.Errorf(engine.Invalid, "%q is not %s, which the column %s of the key (%s) needs. %s", key[i], want, name, c.Type, stands(at))
			}
		}
	}
	return nil
}

func stands(at Position) string {
	if at.Mark == nil {
		return "Nothing counts as read yet."
	}
	return "The bookmark stands at " + engine.KeyWords(at.Mark.High) + "."
}

var (
	wholeNumber = regexp.MustCompile(`^[+-]?[0-9]+$`)
	number      = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
)

// notOf says what text would have to be for a column of type t, in DuckDB's
// words, where it is not; "" where it fits, and for types that take any text.
func notOf(t, text string) string {
	name, _, _ := strings.Cut(t, "(")
	switch strings.ToUpper(name) {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT":
		if !wholeNumber.MatchString(text) {
			return "a whole number"
		}
	case "DECIMAL", "DOUBLE", "FLOAT", "REAL":
		if !number.MatchString(text) {
			return "a number"
		}
	case "DATE":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return "a day such as 2026-11-29"
		}
	case "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S", "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE":
		if !moment(text) {
			return "a time such as 2026-11-29 12:00:00"
		}
	}
	return ""
}

// moment reports a time as databases print it and people write it.
func moment(text string) bool {
	text = strings.Replace(text, "T", " ", 1)
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07", "2006-01-02 15:04:05 Z07:00"} {
		if _, err := time.Parse(layout, text); err == nil { // with or without parts of a second
			return true
		}
	}
	return false
}
