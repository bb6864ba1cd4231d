package duck

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"unicode/utf8"

	"dogear/engine"
)

// resultView is the view of a query's own SQL.
const resultView = "dogear result"

// showAnyway is how many rows of a file may be refused before a query fails:
// people look at files because something is wrong with them.
const showAnyway = 1_000_000

// How many bytes of a cell, and about how many of all rows, are answered: they
// are for people to look at, and stand in memory several times on their way.
const (
	maxCell = 1 << 20
	maxPage = 16 << 20
)

func runQuery(ctx context.Context, limits Limits, q Query, events *speaker) (Result, error) {
	result, err := queryOnce(ctx, limits, q, false, events)
	if errors.Is(err, errMisfit) {
		return queryOnce(ctx, limits, q, true, events)
	}
	return result, err
}

func queryOnce(ctx context.Context, limits Limits, q Query, refusing bool, events *speaker) (result Result, err error) {
	t := task{inputs: q.Inputs, steps: q.Steps, properties: q.Properties, maxRejects: showAnyway, refusing: refusing, ordered: true}
	if q.Export != "" {
		t.write = []string{filepath.Dir(q.Export)}
	}
	s, err := start(ctx, limits, t, events)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.view(ctx, resultView, "", q.SQL); err != nil {
		return Result{}, err
	}
	table := &Table{}
	if table.Columns, err = s.describe(ctx, "SELECT * FROM "+quote(resultView)); err != nil {
		return Result{}, err
	}
	if q.Export != "" {
		err = s.export(ctx, q, table)
	} else {
		err = s.fetch(ctx, q.MaxRows, table)
	}
	if isMisfit(err) {
		return Result{}, errMisfit
	}
	if err != nil {
		return Result{}, s.traced(ctx, err, "", append(q.Steps, engine.Step{Name: resultView, SQL: q.SQL}))
	}
	result = Result{Table: table, Relations: s.relations(), Held: s.held}
	result.Rejects, _, err = s.judge(ctx)
	return result, err
}

// fetch reads the first rows as text, one more than asked for to know whether
// there are more.
func (s *session) fetch(ctx context.Context, maxRows int, table *Table) error {
	stop := s.watch(ctx, "querying")
	defer stop()
	// One character more than a cell may have bytes tells that it was cut.
	query := fmt.Sprintf("SELECT left(COLUMNS(*)::VARCHAR, %d) FROM (SELECT * FROM %s LIMIT %d)", maxCell+1, quote(resultView), maxRows+1)
	rows, err := s.c.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	size, cut := 0, 0
	for rows.Next() {
		if len(table.Rows) == maxRows {
			table.More = true
			break
		}
		if size >= maxPage {
			table.More = true
			s.events.note(true, "only the first %d rows are shown: they hold %s", len(table.Rows), engine.Bytes(int64(size)))
			break
		}
		row := make([]*string, len(table.Columns))
		into := make([]any, len(row))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("read a row: %w", err)
		}
		for _, cell := range row {
			if cell == nil {
				continue
			}
			if len(*cell) > maxCell {
				*cell = clip(*cell)
				cut++
			}
			size += len(*cell)
		}
		table.Rows = append(table.Rows, row)
	}
	if cut > 0 {
		s.events.note(true, "%s longer than %s and shown cut", plural(int64(cut), "value is", "values are"), engine.Bytes(maxCell))
	}
	return rows.Err()
}

// clip cuts a text to maxCell bytes, between two characters.
func clip(text string) string {
	end := maxCell
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// export writes every row to one file.
func (s *session) export(ctx context.Context, q Query, table *Table) error {
	options, ok := map[engine.Format]string{
		engine.Parquet: "FORMAT parquet, COMPRESSION zstd",
		engine.CSV:     "FORMAT csv, HEADER",
		engine.JSON:    "FORMAT json",
	}[q.Format]
	if !ok {
		return failf(FailData, "The format %q is not known. Use csv, json or parquet.", q.Format)
	}
	query, _, err := portable(engine.Sink{From: resultView, Format: q.Format}, table.Columns)
	if err != nil {
		return err
	}
	stop := s.watch(ctx, "writing")
	defer stop()
	return s.c.QueryRowContext(ctx, fmt.Sprintf("COPY (%s) TO %s (%s)", query, literal(q.Export), options)).Scan(&table.Written)
}

func runDescribe(ctx context.Context, limits Limits, d Describe, events *speaker) (result Result, err error) {
	s, err := start(ctx, limits, task{inputs: d.Inputs, steps: d.Steps, properties: d.Properties}, events)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	result.Relations, result.Held = s.relations(), s.held
	views := make([]string, 0, len(d.Steps)+1)
	for _, step := range d.Steps {
		views = append(views, step.Name)
	}
	if d.SQL != "" {
		if err := s.view(ctx, resultView, "", d.SQL); err != nil {
			return Result{}, err
		}
		views = append(views, resultView)
	}
	for _, name := range views {
		columns, err := s.describe(ctx, "SELECT * FROM "+quote(name))
		if err != nil {
			return Result{}, err
		}
		if name == resultView {
			name = ""
		}
		result.Relations = append(result.Relations, Relation{Name: name, Columns: columns})
	}
	return result, nil
}
