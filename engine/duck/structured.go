package duck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/catalog"
	"dogear/engine/place"
)

// prepareJSON groups files by layout and reads them with one set of columns.
func (s *session) prepareJSON(ctx context.Context, r *reading, found []facts) error {
	byKey := map[string]*group{}
	for _, f := range found {
		key := f.layout + " " + f.compression
		if f.converted {
			key += " " + f.file.Key
		}
		if byKey[key] == nil {
			byKey[key] = r.add()
		}
		byKey[key].facts = append(byKey[key].facts, f)
	}
	columns, err := s.jsonColumns(ctx, r)
	if err != nil {
		return err
	}
	kinds := s.kinds(ctx, r, slices.Concat(columns, r.in.Schema))
	read := asRead(columns, kinds)
	for _, g := range r.groups {
		g.columns = columns
		g.partition(r.in)
		options := []string{
			"format = " + literal(g.facts[0].layout),
			"compression = " + literal(gzipOrNone(g.facts[0].compression)),
			"hive_partitioning = false",
			"filename = " + literal(fileColumn),
			"columns = " + typed(read),
		}
		g.from = "read_json(getvariable(" + literal(g.variable) + "), " + strings.Join(options, ", ") + ")"
		g.rename(g.putAside(r.in.Schema))
	}
	r.target(columns, found)
	for _, g := range r.groups {
		g.check(read, r.columns, kinds, "")
	}
	return nil
}

// jsonColumns are the columns to read from the files: those of the schema but
// for keys that only the paths have, and those that only the files have.
func (s *session) jsonColumns(ctx context.Context, r *reading) ([]engine.Column, error) {
	if len(r.groups) == 0 {
		return r.in.Schema, nil
	}
	seen, err := s.describeJSON(ctx, r)
	if len(r.in.Schema) == 0 {
		return seen, err
	}
	if err != nil {
		seen = r.in.Schema // the read itself says which file is broken
	}
	aside := r.aside(seen)
	var columns []engine.Column
	for _, c := range r.in.Schema {
		_, has := find(seen, c.Name)
		if aside[strings.ToLower(c.Name)] != "" {
			continue // the path has it
		}
		for own, stands := range aside {
			if strings.EqualFold(stands, c.Name) {
				c.Name, has = own, true
			}
		}
		if (!has || err != nil) && r.inPath(c.Name) {
			continue
		}
		columns = append(columns, c)
		if !has {
			r.notes = append(r.notes, fmt.Sprintf("the column %s is missing in every file of this batch; it is NULL there.", c.Name))
		}
	}
	for _, c := range seen {
		if _, known := find(columns, c.Name); !known {
			columns = append(columns, c)
		}
	}
	return columns, nil
}

// aside are the columns of the files that stand in the schema under another
// name, because a key of the path has theirs: that name by their own in lower
// case (see putAside).
func (r *reading) aside(inFiles []engine.Column) map[string]string {
	has := func(name string) bool { _, ok := find(inFiles, name); return ok }
	aside := map[string]string{}
	for _, c := range inFiles {
		if stands, known := find(r.in.Schema, catalog.Aside(c.Name, has)); known && r.inPath(c.Name) {
			aside[strings.ToLower(c.Name)] = stands.Name
		}
	}
	return aside
}

// inPath reports whether a column is a partition key of the paths.
func (r *reading) inPath(column string) bool {
	for _, g := range r.groups {
		for _, f := range g.facts {
			keys, _ := place.Values(f.file.Key)
			if slices.ContainsFunc(slices.Concat(keys, r.in.Folders), func(k string) bool { return strings.EqualFold(k, column) }) {
				return true
			}
		}
	}
	return false
}

// gzipOrNone names a compression as read_json wants it.
func gzipOrNone(compression string) string {
	if compression == "none" {
		return "uncompressed"
	}
	return compression
}

// describeJSON works out the columns that all groups have together.
func (s *session) describeJSON(ctx context.Context, r *reading) ([]engine.Column, error) {
	var scans []string
	for i, g := range r.groups {
		name := fmt.Sprintf("dogear describe %d", i)
		if err := s.setVariable(ctx, name, exactly(g.paths()...)); err != nil {
			return nil, err
		}
		scans = append(scans, fmt.Sprintf(
			"SELECT * FROM read_json(getvariable(%s), format = %s, compression = %s, union_by_name = true, hive_partitioning = false, maximum_sample_files = %d)",
			literal(name), literal(g.facts[0].layout), literal(gzipOrNone(g.facts[0].compression)), len(g.facts)))
	}
	columns, err := s.describe(ctx, strings.Join(scans, " UNION ALL BY NAME "))
	return columns, s.blame(ctx, r, err)
}

// prepareParquet reads all files in one scan by name.
func (s *session) prepareParquet(ctx context.Context, r *reading, found []facts) error {
	r.rows = 0
	if len(found) == 0 {
		r.target(nil, nil)
		return nil
	}
	g := r.add()
	g.facts = found
	if err := s.setVariable(ctx, "dogear describe", exactly(g.paths()...)); err != nil {
		return err
	}
	const all = "read_parquet(getvariable('dogear describe'), union_by_name = true, hive_partitioning = false)"
	var err error
	if g.columns, err = s.describe(ctx, "SELECT * FROM "+all); err != nil {
		return s.alone(ctx, r, s.blame(ctx, r, err))
	}
	r.rows, err = s.count(ctx, "SELECT coalesce(sum(num_rows), 0)::BIGINT FROM parquet_file_metadata(getvariable('dogear describe'))")
	if err != nil {
		return s.alone(ctx, r, s.blame(ctx, r, err))
	}
	g.partition(r.in)
	g.from = "read_parquet(getvariable(" + literal(g.variable) + "), union_by_name = true, hive_partitioning = false, filename = " + literal(fileColumn) + ")"
	g.rename(g.putAside(r.in.Schema))
	r.target(g.columns, found)
	r.lost()
	g.check(g.columns, r.columns, s.kinds(ctx, r, r.columns), "")
	return nil
}
