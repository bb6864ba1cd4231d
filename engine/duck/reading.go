package duck

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"dogear/engine"
	"dogear/engine/catalog"
	"dogear/engine/catalog/infer"
	"dogear/engine/place"
)

// reading is how one input becomes a view: files that are alike form a group,
// each group is read with explicit columns, and all are put together.
type reading struct {
	number  int // of the input
	in      Input
	columns []engine.Column
	dialect engine.Dialect
	groups  []*group
	notes   []string
	rows    int64 // known beforehand, from Parquet's footers; else -1
}

// group is files that one scan can read.
type group struct {
	columns  []engine.Column // as they stand in the files
	facts    []facts
	from     string            // the scan, with fileColumn as the name of its files
	where    string            // "" for none
	hive     map[string]string // expression of a partition key, by lower-case name
	variable string            // holds the paths
	fittings []fitting         // of columns, in their order
	refusing bool              // rows whose values do not pass them are left out
}

// Names that a scan adds and users cannot see.
const (
	fileColumn     = "dogear file"
	trailingColumn = "dogear trailing"
)

// add makes a new group of r.
func (r *reading) add() *group {
	g := &group{variable: fmt.Sprintf("dogear files %d %d", r.number, len(r.groups))}
	r.groups = append(r.groups, g)
	return g
}

// paths lists what the group's scan opens.
func (g *group) paths() []string {
	paths := make([]string, len(g.facts))
	for i, f := range g.facts {
		paths[i] = f.path
	}
	return paths
}

// prepare works out how in is read. It runs before the session is sealed,
// with no SQL but ours.
func (s *session) prepare(ctx context.Context, number int, in Input) (reading, error) {
	found, err := s.examineAll(ctx, number, in)
	if err != nil {
		return reading{}, err
	}
	found = slices.DeleteFunc(found, func(f facts) bool { return f.empty })
	r := reading{number: number, in: in, dialect: in.Dialect, rows: -1}
	switch in.Format {
	case engine.CSV:
		err = s.prepareCSV(ctx, &r, found)
	case engine.JSON:
		err = s.prepareJSON(ctx, &r, found)
	case engine.Parquet:
		err = s.prepareParquet(ctx, &r, found)
	default:
		err = failf(FailData, "The source %s has the format %q, which is not known. Use csv, json or parquet.", in.Name, in.Format)
	}
	if err != nil {
		return reading{}, err
	}
	for _, g := range r.groups {
		if err := s.setVariable(ctx, g.variable, exactly(g.paths()...)); err != nil {
			return reading{}, err
		}
		if s.refusing {
			g.refuse()
		}
	}
	if len(r.columns) == 0 {
		return reading{}, failf(FailData, "The source %s has no columns yet: it has no files to learn them from, and its schema is not written down.", in.Name)
	}
	for _, note := range r.notes {
		s.events.note(true, "%s: %s", in.Name, note)
	}
	return r, nil
}

// target settles the columns of the view: those of the schema, then those
// that only the files have, then partition keys that no file has.
func (r *reading) target(inFiles []engine.Column, found []facts) {
	r.columns = slices.Clone(r.in.Schema)
	if len(r.in.Schema) == 0 {
		r.columns = inFiles
	} else {
		for _, c := range inFiles {
			if _, known := find(r.columns, c.Name); !known {
				r.columns = append(r.columns, c)
				r.notes = append(r.notes, fmt.Sprintf("the column %s is new; it is read as %s.", c.Name, c.Type))
			}
		}
	}
	for _, f := range found {
		keys, _ := place.Values(f.file.Key)
		for _, key := range keys {
			if _, known := find(r.columns, key); !known {
				r.columns = append(r.columns, engine.Column{Name: key, Type: "VARCHAR"})
			}
		}
	}
}

// lost notes which columns of the schema no file of a group has.
func (r *reading) lost() {
	for _, c := range r.in.Schema {
		var files int64
		first := ""
		for _, g := range r.groups {
			if _, has := find(g.columns, c.Name); has || g.hive[strings.ToLower(c.Name)] != "" {
				continue
			}
			if files == 0 {
				first = g.facts[0].file.Key
			}
			files += int64(len(g.facts))
		}
		if files > 0 {
			r.notes = append(r.notes, fmt.Sprintf("the column %s is missing in %s, such as %s; it is NULL there.", c.Name, plural(files, "file", "files"), first))
		}
	}
}

// partition finds the values of partition keys in the paths of a group.
func (g *group) partition(in Input) {
	g.hive = map[string]string{}
	for _, f := range g.facts {
		keys, values := place.Values(f.file.Key)
		for i, key := range keys {
			low := strings.ToLower(key)
			switch {
			case f.converted && values[i] == nil:
				g.hive[low] = "NULL"
			case f.converted:
				g.hive[low] = literal(*values[i])
			default:
				g.hive[low] = partitionValue(in.Root, key)
			}
		}
		g.folders(in, f)
	}
}

// putAside gives the columns of g that are called like partition keys of its
// paths the names under which the schema has them, and returns those as SQL
// renames them. Where the schema does not, as in a job's own source, the column
// of the files is what is read.
func (g *group) putAside(schema []engine.Column) (renamed []string) {
	has := func(name string) bool { _, ok := find(g.columns, name); return ok }
	g.columns = slices.Clone(g.columns)
	for i, c := range g.columns {
		if g.hive[strings.ToLower(c.Name)] == "" {
			continue
		}
		if aside, known := find(schema, catalog.Aside(c.Name, has)); known {
			g.columns[i].Name = aside.Name
			renamed = append(renamed, quote(c.Name)+" AS "+quote(aside.Name))
		}
	}
	return renamed
}

// rename makes the scan of g give columns under other names.
func (g *group) rename(renamed []string) {
	if len(renamed) > 0 {
		g.from = "(SELECT * RENAME (" + strings.Join(renamed, ", ") + ") FROM " + g.from + ")"
	}
}

// folders takes the values of partitions whose folders do not name their key.
func (g *group) folders(in Input, f facts) {
	parts := strings.Split(f.file.Key, "/")
	for i, key := range in.Folders {
		if i >= len(parts)-1 {
			return
		}
		g.hive[strings.ToLower(key)] = fmt.Sprintf("split_part(%s, '/', %d)", belowRoot(in.Root), i+2)
		if f.converted {
			g.hive[strings.ToLower(key)] = literal(parts[i])
		}
	}
}

// belowRoot is the path of a file below the root of its input, with a leading
// slash.
func belowRoot(root string) string {
	return fmt.Sprintf("substr(%s, %d)", quote(fileColumn), utf8.RuneCountInString(strings.TrimSuffix(root, "/"))+1)
}

// partitionValue takes the value of a partition key out of a file's path. The
// path is one value for many rows, so this costs next to nothing.
func partitionValue(root, key string) string {
	below := belowRoot(root)
	pattern := "/" + regexp.QuoteMeta(key) + "=([^/]*)/"
	value := fmt.Sprintf("regexp_extract(%s, %s, 1)", below, literal(pattern))
	return fmt.Sprintf("CASE WHEN NOT regexp_matches(%s, %s) OR %s = '__HIVE_DEFAULT_PARTITION__' THEN NULL ELSE url_decode(%s) END",
		below, literal(pattern), value, value)
}

// sql is the SELECT that reads the whole input.
func (r *reading) sql() string {
	var parts []string
	for _, g := range r.groups {
		parts = append(parts, g.sql(r.columns))
	}
	if len(parts) == 0 {
		parts = []string{(&group{from: "(SELECT 1)", where: "false"}).sql(r.columns)}
	}
	all := strings.Join(parts, "\nUNION ALL\n")
	if r.in.Limit > 0 {
		all = fmt.Sprintf("SELECT * FROM (%s) LIMIT %d", all, r.in.Limit)
	}
	return all
}

// sql reads a group as the columns of its input. What the files do not have
// comes from the path, or is NULL.
func (g *group) sql(columns []engine.Column) string {
	expressions := make([]string, len(columns))
	for i, c := range columns {
		value := fmt.Sprintf("CAST(NULL AS %s)", c.Type)
		if own, ok := find(g.columns, c.Name); ok {
			value = g.checked(own.Name, c.Type)
		} else if hive, ok := g.hive[strings.ToLower(c.Name)]; ok {
			value = fmt.Sprintf("CAST(%s AS %s)", hive, c.Type)
		}
		expressions[i] = value + " AS " + quote(c.Name)
	}
	sql := "SELECT " + strings.Join(expressions, ", ") + " FROM " + g.scan()
	if g.where != "" {
		sql += " WHERE " + g.where
	}
	return sql
}

// typed names columns and their types for a scan.
func typed(columns []engine.Column) string {
	fields := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = literal(c.Name) + ": " + literal(c.Type)
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// union is the columns of all shapes.
func union(found []facts) []engine.Column {
	shapes := make([]infer.Shape, len(found))
	for i, f := range found {
		shapes[i] = f.shape
	}
	return infer.Union(shapes)
}
