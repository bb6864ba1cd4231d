package query

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/engine/duck"
	"dogear/engine/table"
)

// SampleTable reads the first rows of a table.
func (s *Service) SampleTable(ctx context.Context, id engine.ID) (engine.Rows, error) {
	table, err := s.Catalog.Table(ctx, id)
	if err != nil {
		return engine.Rows{}, err
	}
	result, err := s.queued(ctx, func(ctx context.Context, dir string) (duck.Request, error) {
		input, err := s.table(ctx, table, filepath.Join(dir, "in"), sampleFiles)
		input.Limit = sampleRows
		return first(input), err
	})
	return result.rows(), err
}

// first asks for the first rows of one input.
func first(input duck.Input) duck.Request {
	input.Database, input.Name = "", "sample"
	return duck.Request{Query: &duck.Query{Inputs: []duck.Input{input}, SQL: "SELECT * FROM sample", MaxRows: sampleRows}}
}

// SampleFile reads the first rows of one file.
func (s *Service) SampleFile(ctx context.Context, connection engine.ID, path string, format engine.Format) (engine.Rows, error) {
	src := engine.Source{Connection: connection, Path: literalPath(path), Format: format}
	result, err := s.queued(ctx, func(ctx context.Context, dir string) (duck.Request, error) {
		input := duck.Input{Format: format, Limit: sampleRows}
		err := s.fill(ctx, src, &input, filepath.Join(dir, "in"), 1)
		if err == nil && len(input.Files) == 0 {
			err = engine.Errorf(engine.NotFound, "There is no file %s.", path)
		}
		return first(input), err
	})
	return result.rows(), err
}

// globMarks are what a glob gives a meaning to.
var globMarks = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]", "{", "[{]")

// literalPath is the pattern of one path, whatever characters it holds.
func literalPath(path string) string { return globMarks.Replace(path) }

// Preview runs a job up to and with a step on a sample of its sources and
// writes nothing.
func (s *Service) Preview(ctx context.Context, job engine.JobBody, step string) (engine.Rows, error) {
	sql, err := upTo(job, step)
	if err != nil {
		return engine.Rows{}, err
	}
	last := sql.Sources[0].Name
	if n := len(sql.Steps); n > 0 {
		last = sql.Steps[n-1].Name
	}
	result, err := s.queued(ctx, func(ctx context.Context, dir string) (duck.Request, error) {
		inputs, err := s.sources(ctx, sql.Sources, dir)
		return duck.Request{Query: &duck.Query{
			Inputs: inputs, Steps: sql.Steps, Properties: sampleProperties(&job), SQL: `SELECT * FROM "` + strings.ReplaceAll(last, `"`, `""`) + `"`, MaxRows: sampleRows,
		}}, err
	})
	return result.rows(), err
}

// Columns are what the sources and steps of a job hold, by name. Of its steps they
// are those before the first whose SQL is wrong.
func (s *Service) Columns(ctx context.Context, job engine.JobBody) (map[string][]engine.Column, error) {
	sql, err := upTo(job, "")
	if err != nil {
		return nil, err
	}
	columns, err := s.columns(ctx, sql, sampleProperties(&job))
	if wrong, ok := errors.AsType[*engine.SQLFault](err); ok {
		sql.Steps = sql.Steps[:max(0, slices.IndexFunc(sql.Steps, func(step engine.Step) bool { return step.Name == wrong.Step }))]
		columns, err = s.columns(ctx, sql, sampleProperties(&job))
	}
	if err != nil {
		return nil, err
	}
	for _, src := range sql.Sources {
		if s.Read != nil {
			s.Read(src, columns[src.Name])
		}
	}
	return columns, nil
}

func (s *Service) columns(ctx context.Context, sql engine.SQLJob, properties map[string]string) (map[string][]engine.Column, error) {
	result, err := s.do(ctx, func(ctx context.Context, dir string) (duck.Request, error) {
		inputs, err := s.sources(ctx, sql.Sources, dir)
		return duck.Request{Describe: &duck.Describe{Inputs: inputs, Steps: sql.Steps, Properties: properties}}, err
	})
	if err != nil {
		return nil, err
	}
	columns := map[string][]engine.Column{}
	for _, r := range result.Relations {
		columns[r.Name] = r.Columns
	}
	return columns, nil
}

// sampleProperties gives the properties a job reads a value to look at: what
// the job itself says, else nothing.
func sampleProperties(job *engine.JobBody) map[string]string {
	properties := map[string]string{}
	for _, name := range engine.PropertiesOf(job) {
		properties[name] = job.Arguments[name]
	}
	return properties
}

// upTo is the SQL of a job with its steps up to one, "" for all of them.
func upTo(job engine.JobBody, step string) (engine.SQLJob, error) {
	if job.SQL == nil || len(job.SQL.Sources) == 0 {
		return engine.SQLJob{}, engine.Errorf(engine.Invalid, "The job has no source yet. Add one, then look at its rows.")
	}
	sql := *job.SQL
	if step == "" {
		return sql, nil
	}
	for i, st := range sql.Steps {
		if st.Name == step {
			sql.Steps = sql.Steps[:i+1]
			return sql, nil
		}
	}
	return sql, engine.Errorf(engine.NotFound, "The job has no step %s.", step)
}

// sources makes a sample of every source of a job.
func (s *Service) sources(ctx context.Context, sources []engine.Source, dir string) ([]duck.Input, error) {
	inputs := make([]duck.Input, len(sources))
	for i, src := range sources {
		at := filepath.Join(dir, "s"+strconv.Itoa(i))
		if src.Table != "" {
			var err error
			if inputs[i], err = s.ofDatabase(ctx, src); err != nil {
				return nil, err
			}
			continue
		}
		if src.CatalogTable != "" {
			named, err := s.Catalog.TableNamed(ctx, src.CatalogTable)
			if err != nil {
				return nil, err
			}
			if inputs[i], err = s.table(ctx, named, at, sampleFiles); err != nil {
				return nil, err
			}
			inputs[i].Database, inputs[i].Name = "", src.Name
		} else {
			inputs[i] = duck.Input{Name: src.Name, Format: src.Format, Dialect: src.Options.CSV, Schema: src.Schema}
			if err := s.fill(ctx, src, &inputs[i], at, sampleFiles); err != nil {
				return nil, err
			}
		}
		inputs[i].Limit = 20 * sampleRows
	}
	return inputs, nil
}

// ofDatabase is a sample of a table of a database: as many rows as it gives
// first.
func (s *Service) ofDatabase(ctx context.Context, src engine.Source) (duck.Input, error) {
	config, err := s.Tables.Config(ctx, src.Connection)
	if err != nil {
		return duck.Input{}, err
	}
	found, err := s.Tables.Survey(ctx, engine.TableQuestion{Source: src, Whole: true, Uncounted: true})
	if err != nil {
		return duck.Input{}, err
	}
	return duck.Input{Name: src.Name, Table: &table.Select{
		Config: config, Table: src.Table, Columns: found.Columns, Ranges: found.New, Limit: 20 * sampleRows,
	}}, nil
}

// Describe reads the columns of JSON or Parquet files, for a crawler.
func (s *Service) Describe(ctx context.Context, src engine.Source, objects []engine.Object, dir string) ([]engine.Column, error) {
	result, err := s.do(ctx, func(ctx context.Context, _ string) (duck.Request, error) {
		got, err := s.Source.Fetch(ctx, src, objects, dir)
		if err != nil {
			return duck.Request{}, err
		}
		input := duck.Input{Name: "files", Format: src.Format, Root: got.Root, Hold: true}
		for _, f := range got.Files {
			// The name alone: the crawler knows the keys of the path by itself.
			input.Files = append(input.Files, duck.File{Key: path.Base(f.Key), Path: f.Path})
		}
		return duck.Request{Describe: &duck.Describe{Inputs: []duck.Input{input}}}, nil
	})
	if err != nil {
		return nil, err
	}
	columns := result.Relations[0].Columns
	for i := range columns {
		columns[i].Name = strings.ToLower(columns[i].Name)
	}
	return columns, nil
}
