// Package query runs read-only SQL over the tables of the catalog, and looks
// into files and jobs on a sample, always in worker processes. It stands on
// source and duck.
package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/duck"
	"dogear/engine/place"
	"dogear/engine/source"
	"dogear/engine/table"
)

// Catalog knows the tables there are.
type Catalog interface {
	Tables(ctx context.Context) ([]engine.Table, error)
	Table(ctx context.Context, id engine.ID) (engine.Table, error)
	bookmark.Tables
}

// Service runs queries.
type Service struct {
	Catalog Catalog
	Source  *source.Source
	Tables  *table.Databases // may be nil where no job reads tables of databases
	Worker  duck.Worker
	// Dir gets a scratch folder for each query.
	Dir string
	// Timeout bounds one query; 0 is a minute.
	Timeout time.Duration
	Threads int // of a worker; 0 is all processors
	// Read is told which columns a source had when it was read; it may be nil.
	Read func(engine.Source, []engine.Column)

	turns turns
}

const (
	defaultTimeout = time.Minute
	memoryMB       = 1024
	sampleRows     = 50
	// sampleFiles is how many files of a source a sample looks into.
	sampleFiles = 2
	// listings is how often files are listed again because a job replaces
	// them at the same moment.
	listings = 2
)

// request builds what a worker is asked; dir is scratch.
type request func(ctx context.Context, dir string) (duck.Request, error)

// do runs a request in a worker with a time limit. A job that publishes at the
// same moment may take files away before they are read; then it is asked again
// over those that are there now.
func (s *Service) do(ctx context.Context, build request) (answer, error) {
	limit := s.Timeout
	if limit <= 0 {
		limit = defaultTimeout
	}
	late := engine.Errorf(engine.LimitHit, "The query took longer than %s and was ended. Ask for less: a partition, a LIMIT, fewer columns.", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return answer{}, fmt.Errorf("make a folder for queries: %w", err)
	}
	for try := 1; ; try++ {
		result, err := s.once(ctx, build)
		failure, ok := errors.AsType[*duck.Failure](err)
		lost := len(result.Held) > 0 || ok && failure.Kind == duck.FailUnreadable
		if !lost || try == listings || ctx.Err() != nil {
			return result, fault(err)
		}
	}
}

// answer is the result of a worker and what it warned of.
type answer struct {
	duck.Result
	notices []string
}

// maxNotices keeps a screen readable when ten thousand files are odd in one way.
const maxNotices = 20

// warn adds what a worker says. What a job holds, a query leaves out.
func (a *answer) warn(n duck.Notice) {
	if n.Warn && len(a.notices) < maxNotices {
		a.notices = append(a.notices, strings.Replace(n.Text, "held: ", "left out: ", 1))
	}
}

// whole is an error where rows of what was asked for are missing.
func (a *answer) whole() error {
	if len(a.Held) == 0 && a.Rejects == 0 {
		return nil
	}
	return engine.Errorf(engine.Invalid, "Some rows cannot be read, so the file would not be whole. Mend what is wrong, or leave it out of the statement: %s", strings.Join(a.notices, "; "))
}

// once runs a request in a worker with a folder of its own.
func (s *Service) once(ctx context.Context, build request) (answer, error) {
	dir, err := os.MkdirTemp(s.Dir, "q")
	if err != nil {
		return answer{}, fmt.Errorf("make a folder for a query: %w", err)
	}
	defer os.RemoveAll(dir)
	request, err := build(ctx, dir)
	if ctx.Err() != nil {
		return answer{}, context.Cause(ctx)
	}
	if err != nil {
		return answer{}, err
	}
	request.Limits = duck.Limits{Threads: s.Threads, MemoryMB: memoryMB, Scratch: filepath.Join(dir, "scratch")}
	var a answer
	worker := s.Worker
	worker.Notice = a.warn
	a.Result, err = worker.Do(ctx, request)
	return a, err
}

// fault puts the place of a wrong statement into the words of the engine.
func fault(err error) error {
	failure, ok := errors.AsType[*duck.Failure](err)
	if !ok || failure.Kind != duck.FailSQL {
		return err
	}
	return &engine.Error{
		Code: engine.Invalid, Message: failure.Message,
		Err: &engine.SQLFault{Step: failure.Step, Line: failure.Line, Column: failure.Column},
	}
}

func (a *answer) rows() engine.Rows {
	t := a.Table
	if t == nil {
		return engine.Rows{}
	}
	return engine.Rows{Columns: t.Columns, Cells: t.Rows, More: t.More, Notices: a.notices}
}

// Query runs a statement over the tables of the catalog and returns its first
// rows.
func (s *Service) Query(ctx context.Context, sql string, limit int) (engine.Rows, error) {
	result, err := s.queued(ctx, func(ctx context.Context, dir string) (duck.Request, error) {
		inputs, err := s.mentioned(ctx, sql, dir)
		return duck.Request{Query: &duck.Query{Inputs: inputs, SQL: sql, MaxRows: limit}}, err
	})
	return result.rows(), err
}

// Export writes all rows of a statement as a file of a format. Where some cannot
// be read it writes nothing.
func (s *Service) Export(ctx context.Context, sql string, format engine.Format, to io.Writer) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("make a folder for queries: %w", err)
	}
	out, err := os.MkdirTemp(s.Dir, "export")
	if err != nil {
		return fmt.Errorf("make a folder for an export: %w", err)
	}
	defer os.RemoveAll(out)
	path := filepath.Join(out, "rows."+string(format))
	got, err := s.queued(ctx, func(ctx context.Context, dir string) (duck.Request, error) {
		inputs, err := s.mentioned(ctx, sql, dir)
		return duck.Request{Query: &duck.Query{Inputs: inputs, SQL: sql, Export: path, Format: format}}, err
	})
	if err != nil {
		return err
	}
	if err := got.whole(); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open an export: %w", err)
	}
	defer file.Close()
	_, err = io.Copy(to, file)
	return err
}

// mentioned makes an input of every table that sql may mean: those whose name
// stands in it. A word too many costs a listing, never a wrong answer.
func (s *Service) mentioned(ctx context.Context, sql, dir string) ([]duck.Input, error) {
	tables, err := s.Catalog.Tables(ctx)
	if err != nil {
		return nil, err
	}
	sql = strings.ToLower(sql)
	words := word.FindAllString(sql, -1)
	stands := func(name string) bool {
		return slices.Contains(words, name) || !plainName.MatchString(name) && strings.Contains(sql, name)
	}
	var inputs []duck.Input
	for i, t := range tables {
		if !stands(t.Name) || !stands(t.Database) {
			continue
		}
		input, err := s.table(ctx, t, filepath.Join(dir, fmt.Sprintf("t%d", i)), 0)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

// A name that is one word is looked for among the words of a statement, any
// other in its text.
var (
	word      = regexp.MustCompile(`[\p{L}\p{N}_]+`)
	plainName = regexp.MustCompile(`^[\p{L}\p{N}_]+$`)
)

// table makes the input of a table; limit bounds its files, 0 is all of them.
func (s *Service) table(ctx context.Context, t engine.Table, dir string, limit int) (duck.Input, error) {
	src := engine.Source{Name: t.Name, Connection: t.Connection, Path: t.Location, Format: t.Format}
	input := duck.Input{
		Name: t.Name, Database: t.Database, Format: t.Format, Dialect: t.Dialect,
		Schema: append(slices.Clone(t.Columns), t.Keys...), Hold: true,
	}
	for _, key := range t.Keys {
		input.Folders = append(input.Folders, key.Name)
	}
	return input, s.fill(ctx, src, &input, dir, limit)
}

// fill gives an input its files, as they all are at one moment.
func (s *Service) fill(ctx context.Context, src engine.Source, input *duck.Input, dir string, limit int) error {
	if input.Format == "" {
		input.Format = engine.CSV
	}
	var got source.Fetched
	for range listings {
		objects, err := s.list(ctx, src, limit)
		if err != nil {
			return err
		}
		if len(objects) > 0 && len(input.Folders) > 0 && named(objects[0].Key) {
			input.Folders = nil // the folders name their keys themselves
		}
		if got, err = s.Source.Fetch(ctx, src, objects, dir); err != nil {
			return err
		}
		if len(got.Changed) == 0 {
			break
		}
	}
	if len(got.Changed) > 0 {
		return engine.Errorf(engine.Conflict, "The files of %s, such as %s, are being replaced right now. Ask again in a moment.", src.Path, got.Changed[0].Key)
	}
	input.Root = got.Root
	for _, f := range got.Files {
		input.Files = append(input.Files, duck.File{Key: f.Key, Path: f.Path})
	}
	return nil
}

// list lists up to limit objects of a source; 0 is all of them.
func (s *Service) list(ctx context.Context, src engine.Source, limit int) ([]engine.Object, error) {
	if limit == 0 {
		limit = math.MaxInt
	}
	return s.Source.Peek(ctx, src, limit)
}

func named(key string) bool {
	names, _ := place.Values(key)
	return len(names) > 0
}
