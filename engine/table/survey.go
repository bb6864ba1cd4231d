package table

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	switch {
	case s.Compare:
		steps = []func(context.Context) error{s.identity, s.nulls}
	case s.UpTo != nil:
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

// count counts rows.
func (s *survey) count(ctx context.Context, w *conditions) (int64, error) {
	var n int64
	err := s.q.QueryRowContext(ctx, "SELECT count(*) FROM "+s.name.in(s.d)+w.text(), w.args...).Scan(&n)
	return n, err
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
