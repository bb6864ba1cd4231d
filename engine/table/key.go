package table

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"dogear/engine"
)

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
	if s.keys, err = keyColumns(s.columns, names, s.Source.Options.Table.Instead); err != nil {
		return err
	}
	return s.sameKey()
}

// identity finds the columns that tell one row from another: those that the
// source names, or the primary key, whatever it is.
func (s *survey) identity(context.Context) error {
	names := s.Source.Keys
	if len(names) == 0 && s.Mark != nil {
		names = s.Mark.Keys
	}
	if len(names) == 0 {
		if names = primary(s.columns); len(names) == 0 {
			return engine.Errorf(engine.Invalid, "%s has no primary key, so its rows cannot be told apart. Name the key columns of source %s, or let it read everything each time.", s.name, s.Source.Name)
		}
	}
	var err error
	s.keys, err = keyColumns(s.columns, names, s.Source.Options.Table.Instead)
	s.found.Keys = names
	return err
}

// primary are the columns of the primary key, in its order.
func primary(columns []Column) []string {
	var names []string
	for at := 1; ; at++ {
		was := len(names)
		for _, c := range columns {
			if c.Key == at {
				names = append(names, c.Name)
			}
		}
		if len(names) == was {
			return names
		}
	}
}

func (s *survey) primaryKey(ctx context.Context) ([]string, error) {
	refuse := func(why string) error {
		return engine.Errorf(engine.Invalid, "%s has no key of its own to read by: %s. Name the key columns of source %s, or let it read everything each time.", s.name, why, s.Source.Name)
	}
	names := primary(s.columns)
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
	if s.Mark == nil || s.Mark.High == nil && s.Mark.Compared == nil {
		return nil
	}
	if s.Mark.Compared != nil {
		return engine.Errorf(engine.Conflict, "The bookmark of source %s was made by comparing every row, and knows no highest key. Reset it, or compare again.", s.Source.Name)
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
