package crawl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"dogear/engine"
	"dogear/engine/catalog"
	"dogear/engine/catalog/infer"
	"dogear/engine/runner"
)

// change is what a crawl writes down of one table; nil where it found nothing
// to read.
func (c *crawling) change(ctx context.Context, src engine.Source, t found, location, name string) (*engine.TableChange, error) {
	columns, format, dialect, err := c.columns(ctx, src, t)
	if err != nil {
		return nil, err
	}
	c.putAside(columns, t.keys, name)
	table := engine.Table{
		Database: strings.ToLower(c.a.Crawler.Database), Name: name, Location: location, Connection: src.Connection,
		Format: format, Dialect: dialect, By: c.a.Crawler.Name, Run: c.a.Run.ID, At: c.Now().UTC(),
	}
	old, err := c.Catalog.TableNamed(ctx, table.FullName())
	switch {
	case err == nil:
		if old.Location != location {
			return nil, engine.Errorf(engine.Conflict, "The table %s lies at %s already. Use another table prefix for %s.", table.FullName(), old.Location, location)
		}
		table.Columns = catalog.Widen(old.Columns, columns)
		if len(columns) == 0 { // nothing new to look into
			table.Format, table.Dialect = old.Format, old.Dialect
		} else if old.Format == format {
			table.Dialect = common(old.Dialect, dialect)
		}
		c.news(old, table)
	case engine.CodeOf(err) == engine.NotFound:
		table.Columns = columns
		c.h.Log(runner.Info, fmt.Sprintf("%s is new: %d columns, %d partitions", table.FullName(), len(columns), len(t.partitions)))
	default:
		return nil, err
	}
	if table.Format == "" {
		return nil, nil
	}
	for _, key := range t.keys {
		// What an older version of the table had under this name was the
		// column of the files; that now stands aside.
		table.Columns = slices.DeleteFunc(table.Columns, func(col engine.Column) bool { return strings.EqualFold(col.Name, key) })
		table.Keys = append(table.Keys, engine.Column{Name: key, Type: "VARCHAR"})
	}
	return &engine.TableChange{Table: table, Partitions: c.partitions(t, location), Whole: true}, nil
}

// putAside renames the columns that have the name of a partition key.
func (c *crawling) putAside(columns []engine.Column, keys []string, table string) {
	has := func(name string) bool {
		return slices.ContainsFunc(columns, func(col engine.Column) bool { return strings.EqualFold(col.Name, name) })
	}
	for i, col := range columns {
		if !slices.ContainsFunc(keys, func(key string) bool { return strings.EqualFold(key, col.Name) }) {
			continue
		}
		columns[i].Name = catalog.Aside(col.Name, has)
		c.h.Log(runner.Warn, fmt.Sprintf("%s: the files hold a column %s with the name of a partition key. %s is the value in the path, and the column of the files is called %s.",
			table, col.Name, col.Name, columns[i].Name))
	}
}

func (c *crawling) partitions(t found, location string) []engine.Partition {
	all := make([]engine.Partition, len(t.partitions))
	for i, p := range t.partitions {
		at := strings.TrimPrefix(strings.TrimPrefix(p.at.path, t.root.path), "/")
		all[i] = engine.Partition{
			Values: p.values, Location: locate(location, at), Files: p.at.files, Bytes: p.at.bytes, Run: c.a.Run.ID, At: c.Now().UTC(),
		}
		if p.at == t.root { // everything below counts
			all[i].Files, all[i].Bytes = 0, 0
			t.root.walk(func(f *folder) { all[i].Files += f.files; all[i].Bytes += f.bytes })
		}
	}
	return all
}

// news says in the log what a crawl found new in a table.
func (c *crawling) news(old, now engine.Table) {
	if added := len(now.Columns) - len(old.Columns); added > 0 {
		var names []string
		for _, col := range now.Columns[len(old.Columns):] {
			names = append(names, col.Name)
		}
		c.h.Log(runner.Info, fmt.Sprintf("%s: new columns %s", now.FullName(), strings.Join(names, ", ")))
	}
	if old.Dialect.Delimiter != now.Dialect.Delimiter {
		c.h.Log(runner.Warn, fmt.Sprintf("%s: its files do not all separate values by %q; each is looked at when it is read", now.FullName(), old.Dialect.Delimiter))
	}
	for i, was := range old.Columns {
		if now.Columns[i].Type != was.Type {
			c.h.Log(runner.Warn, fmt.Sprintf("%s: column %s was %s and is now %s", now.FullName(), was.Name, was.Type, now.Columns[i].Type))
		}
	}
}

// columns works out the columns of the files of t that are new or changed. No
// columns means that there is nothing new.
func (c *crawling) columns(ctx context.Context, src engine.Source, t found) ([]engine.Column, engine.Format, engine.Dialect, error) {
	var sample []engine.Object
	t.root.walk(func(f *folder) {
		if len(t.keys) > 0 && f == t.root {
			return
		}
		sample = append(sample, f.sample...)
	})
	if len(sample) == 0 {
		return nil, "", engine.Dialect{}, nil
	}
	byFormat := map[engine.Format][]engine.Object{}
	for _, o := range sample {
		format, err := c.format(ctx, src, o)
		if err != nil {
			return nil, "", engine.Dialect{}, err
		}
		byFormat[format] = append(byFormat[format], o)
	}
	format := most(byFormat)
	if len(byFormat) > 1 {
		c.h.Log(runner.Warn, fmt.Sprintf("%s holds files of several formats; only those in %s are looked into.", label(t.root), format))
	}
	if format == engine.CSV {
		columns, dialect, err := c.csv(ctx, src, byFormat[format])
		return columns, format, dialect, err
	}
	src.Format = format
	columns, err := c.Describer.Describe(ctx, src, byFormat[format], filepath.Join(c.a.Dir, "describe"))
	return columns, format, engine.Dialect{}, err
}

func most(byFormat map[engine.Format][]engine.Object) (format engine.Format) {
	for f, objects := range byFormat {
		if len(objects) > len(byFormat[format]) || len(objects) == len(byFormat[format]) && f < format {
			format = f
		}
	}
	return format
}

// format knows a file by its name, or by how it begins.
func (c *crawling) format(ctx context.Context, src engine.Source, o engine.Object) (engine.Format, error) {
	name := strings.ToLower(o.Key)
	for _, suffix := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, suffix)
	}
	switch filepath.Ext(name) {
	case ".csv", ".tsv", ".txt", ".psv":
		return engine.CSV, nil
	case ".json", ".jsonl", ".ndjson":
		return engine.JSON, nil
	case ".parquet", ".pq":
		return engine.Parquet, nil
	}
	head, err := c.Files.Head(ctx, src, o, headBytes)
	if err != nil {
		return "", err
	}
	text := bytes.TrimSpace(head)
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")):
		return engine.Parquet, nil
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return engine.JSON, nil
	}
	return engine.CSV, nil
}

// headBytes is how much of a file is fetched to look at it.
const headBytes = 256 << 10

// csv looks at the beginning of each file and unites what it sees.
func (c *crawling) csv(ctx context.Context, src engine.Source, objects []engine.Object) ([]engine.Column, engine.Dialect, error) {
	var shapes []infer.Shape
	var dialect engine.Dialect
	for _, o := range objects {
		raw, err := c.Files.Head(ctx, src, o, headBytes)
		if err != nil {
			return nil, dialect, err
		}
		shape, err := look(o, raw)
		if err != nil {
			c.h.Log(runner.Warn, fmt.Sprintf("%s cannot be read and is left out: %s", o.Key, err))
			continue
		}
		if len(shape.Columns) == 0 {
			continue
		}
		if len(shapes) == 0 {
			dialect = shape.Dialect
		}
		dialect = common(dialect, shape.Dialect)
		shapes = append(shapes, shape)
	}
	return lower(infer.Union(shapes)), dialect, nil
}

// look infers the shape of a file from its first bytes.
func look(o engine.Object, raw []byte) (infer.Shape, error) {
	var r io.Reader = bytes.NewReader(raw)
	switch {
	case strings.HasSuffix(strings.ToLower(o.Key), ".gz"):
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return infer.Shape{}, err
		}
		r = unzipped
	case strings.HasSuffix(strings.ToLower(o.Key), ".zst"):
		unzipped, err := zstd.NewReader(r)
		if err != nil {
			return infer.Shape{}, err
		}
		defer unzipped.Close()
		r = unzipped
	}
	// A file longer than what was fetched ends in the middle, of a frame too.
	if int64(len(raw)) < o.Size {
		r = cut{r}
	}
	head, err := infer.Read(r)
	if err != nil {
		return infer.Shape{}, err
	}
	if int64(len(raw)) < o.Size {
		head.Whole = false
	}
	return infer.CSV(head, engine.Dialect{})
}

// cut reads until the end of what is there, wherever that is.
type cut struct{ io.Reader }

func (c cut) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// lower folds the names of columns, as the catalog keeps them.
func lower(columns []engine.Column) []engine.Column {
	for i := range columns {
		columns[i].Name = strings.ToLower(columns[i].Name)
	}
	return columns
}
