package duck

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"dogear/engine"
)

// task is what all requests have in common.
type task struct {
	inputs     []Input
	steps      []engine.Step
	properties map[string]string
	maxRejects int64
	refusing   bool     // rows whose values do not fit are left out
	ordered    bool     // rows keep their order although no step asks for it
	write      []string // folders that may be written
	read       []string // files that may be read beside the inputs
}

// start opens a session in which every input and step is a view.
func start(ctx context.Context, limits Limits, t task, events *speaker) (*session, error) {
	s, err := open(ctx, limits, t.ordered || asksForOrder(t.steps), events)
	if err != nil {
		return nil, err
	}
	s.inputs, s.maxRejects, s.refusing = t.inputs, t.maxRejects, t.refusing
	if err := s.build(ctx, t); err != nil {
		_ = s.close() // why it could not be built matters more
		return nil, err
	}
	return s, nil
}

// asksForOrder reports whether some SQL may care for the order of rows. Where
// none does, DuckDB may write in parallel without keeping it.
func asksForOrder(steps []engine.Step) bool {
	for _, step := range steps {
		if strings.Contains(strings.ToUpper(step.SQL), "ORDER") || strings.Contains(strings.ToUpper(step.SQL), "LIMIT") {
			return true
		}
	}
	return false
}

func (s *session) build(ctx context.Context, t task) error {
	paths := t.read
	for i, in := range t.inputs {
		r, err := s.prepare(ctx, i, in)
		if err != nil {
			return err
		}
		s.reads = append(s.reads, r)
		for _, g := range r.groups {
			paths = append(paths, g.paths()...)
		}
	}
	for name, value := range t.properties {
		if err := s.setVariable(ctx, name, value); err != nil {
			return err
		}
	}
	if err := s.seal(ctx, paths, append(t.write, s.limits.Scratch)); err != nil {
		return err
	}
	for i := range s.reads {
		r := &s.reads[i]
		kind := "TEMP VIEW "
		if r.in.Database != "" {
			if err := s.exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+quote(r.in.Database)); err != nil {
				return err
			}
			kind = "VIEW "
		}
		statement := "CREATE " + kind + r.view().from + " AS " + r.sql()
		if err := s.exec(ctx, statement); err != nil {
			return s.blame(ctx, r, fmt.Errorf("make the view %s: %w", r.in.Name, err))
		}
		s.views = append(s.views, r.view())
	}
	if s.refusing {
		if err := s.findMisfits(ctx); err != nil {
			return err
		}
	}
	for _, step := range t.steps {
		if err := s.view(ctx, step.Name, step.Name, step.SQL); err != nil {
			return err
		}
	}
	return nil
}

// view is r as SQL selects from it.
func (r *reading) view() view {
	if r.in.Database == "" {
		return named(r.in.Name)
	}
	return view{name: r.in.Database + "." + r.in.Name, from: quote(r.in.Database) + "." + quote(r.in.Name), catalog: true}
}

// view makes SQL of a user a view. step names it in errors.
func (s *session) view(ctx context.Context, name, step, sql string) error {
	if err := s.isSelect(ctx, step, sql); err != nil {
		return err
	}
	prefix := viewOf(name)
	err := s.exec(ctx, prefix+strings.TrimRight(sql, "; \t\r\n")+"\n)")
	if err != nil {
		return s.inSQL(ctx, err, step, sql, len(prefix))
	}
	s.views = append(s.views, named(name))
	return nil
}

// viewOf is what stands before the SQL of a step when it is made a view.
func viewOf(name string) string { return "CREATE TEMP VIEW " + quote(name) + " AS (\n" }

// isSelect refuses SQL that is not one SELECT. It is here for a clear message:
// what SQL may do is limited by the sealed session, not by this.
func (s *session) isSelect(ctx context.Context, step, sql string) error {
	if strings.TrimSpace(sql) == "" {
		f := failf(FailSQL, "%s is empty. Write a SELECT.", placed(step, 0, 0))
		f.Step = step
		return f
	}
	if at := strings.IndexByte(sql, 0); at >= 0 {
		f := &Failure{Kind: FailSQL, Step: step} // DuckDB would take the SQL to end there
		f.Line, f.Column = lineAndColumn(sql, at)
		f.Message = placed(step, f.Line, f.Column) + ": a zero byte, which no SQL may hold. Delete it; an editor may not show it."
		return f
	}
	var text string
	if err := s.c.QueryRowContext(ctx, "SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", sql).Scan(&text); err != nil {
		return s.inSQL(ctx, err, step, sql, 0)
	}
	var parsed struct {
		Error      bool              `json:"error"`
		Message    string            `json:"error_message"`
		Type       string            `json:"error_type"`
		Position   string            `json:"position"`
		Statements []json.RawMessage `json:"statements"`
	}
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		return fmt.Errorf("read the parsed SQL: %w", err)
	}
	f := &Failure{Kind: FailSQL, Step: step}
	switch {
	case parsed.Error && parsed.Type == "parser":
		if at, err := strconv.Atoi(parsed.Position); err == nil && at >= 0 {
			f.Line, f.Column = lineAndColumn(sql, byteAt(sql, at))
		}
		f.Message = placed(step, f.Line, f.Column) + ": " + sentence(parsed.Message)
		return f
	case parsed.Error && strings.Contains(parsed.Message, "Only SELECT"):
		f.Message = placed(step, 0, 0) + " must be one SELECT; it changes or does something else."
		return f
	case !parsed.Error && len(parsed.Statements) != 1:
		f.Message = fmt.Sprintf("%s must be one SELECT; it holds %d statements.", placed(step, 0, 0), len(parsed.Statements))
		return f
	}
	return nil
}

// relations describes the inputs as they were read.
func (s *session) relations() []Relation {
	var all []Relation
	for _, r := range s.reads {
		all = append(all, Relation{Name: r.in.Name, Columns: r.columns, Dialect: r.dialect, Notes: r.notes})
	}
	return all
}

// scannedFile is a file as it is read, and what it is read for.
type scannedFile struct {
	reading *reading
	group   *group
	facts   facts
}

// files maps the paths that DuckDB reads to the files of every input.
func (s *session) files() map[string]scannedFile {
	known := map[string]scannedFile{}
	for i := range s.reads {
		for _, g := range s.reads[i].groups {
			for _, f := range g.facts {
				known[filepath.Clean(f.path)] = scannedFile{&s.reads[i], g, f}
			}
		}
	}
	return known
}
