package syntax

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/engine/duck"
)

// Catalog knows the columns of tables.
type Catalog interface {
	TableNamed(ctx context.Context, fullName string) (engine.Table, error)
}

// mostColumns bounds what is remembered of a source whose files all differ.
const mostColumns = 5000

// Read tells which columns a source had when it was read. From then on a column that
// is not among them, or among those of the source's schema, is taken for misspelt.
func (c *Checker) Read(src engine.Source, columns []engine.Column) {
	if src.CatalogTable != "" || len(columns) == 0 {
		return // the catalog knows them
	}
	c.seenMu.Lock()
	defer c.seenMu.Unlock()
	if c.seen == nil || len(c.seen) > mostKnown {
		c.seen = map[string][]engine.Column{}
	}
	// What other files of the source have stays known.
	c.seen[placeOf(src)] = together(columns, c.seen[placeOf(src)])
}

// placeOf tells apart what sources read, whatever else they say of it.
func placeOf(src engine.Source) string {
	return strings.Join([]string{string(src.Connection), strings.TrimRight(src.Path, "/"), src.Table}, "\x00")
}

// together are the columns of first, and those of then that it does not have.
func together(first, then []engine.Column) []engine.Column {
	all := slices.Clone(first)
	for _, column := range then {
		if len(all) < mostColumns && !slices.ContainsFunc(all, func(c engine.Column) bool { return strings.EqualFold(c.Name, column.Name) }) {
			all = append(all, column)
		}
	}
	return all
}

// columns are those that a source is known to have, and whether those are surely all.
func (c *Checker) columns(ctx context.Context, src engine.Source) (columns []engine.Column, sure bool) {
	if src.CatalogTable != "" {
		if c.Catalog == nil {
			return src.Schema, false
		}
		table, err := c.Catalog.TableNamed(ctx, src.CatalogTable)
		return together(src.Schema, together(table.Columns, table.Keys)), err == nil
	}
	c.seenMu.Lock()
	defer c.seenMu.Unlock()
	seen := c.seen[placeOf(src)]
	return together(src.Schema, seen), len(seen) > 0
}

// Known reports whether nothing more can be learnt of the names in a job by reading
// its sources: their columns are known, or it has none.
func (c *Checker) Known(ctx context.Context, job *engine.JobBody) bool {
	if job.Kind != engine.JobSQL || job.SQL == nil {
		return true
	}
	return !slices.ContainsFunc(job.SQL.Sources, func(src engine.Source) bool {
		_, sure := c.columns(ctx, src)
		return !sure && src.CatalogTable == ""
	})
}

// names adds to found, the faults of each job so far, which names SQL jobs use that
// are not there. A job that has a fault already is not looked at.
func (c *Checker) names(ctx context.Context, jobs []*engine.JobBody, found [][]engine.Fault) {
	var asked []duck.Bound
	var unknown []key
	at := make([]key, len(jobs))
	for i, job := range jobs {
		if len(found[i]) > 0 {
			continue
		}
		bound, ok := c.bound(ctx, job)
		if !ok {
			continue
		}
		at[i] = keyOfJob(bound)
		if _, known := c.lacking[at[i]]; !known && !slices.Contains(unknown, at[i]) {
			asked, unknown = append(asked, bound), append(unknown, at[i])
		}
		found[i] = keyFaults(job, bound)
	}
	c.lookUp(ctx, asked, unknown)
	for i := range jobs {
		found[i] = append(found[i], c.lacking[at[i]]...)
	}
}

// bound is a job over the columns of its sources; ok is false where those of one are
// not known, so that nothing can be said.
func (c *Checker) bound(ctx context.Context, job *engine.JobBody) (b duck.Bound, ok bool) {
	if job.Kind != engine.JobSQL || job.SQL == nil || len(job.SQL.Sources) == 0 {
		return b, false
	}
	b = duck.Bound{Sure: true, Steps: job.SQL.Steps, Sinks: job.SQL.Sinks, Properties: engine.PropertiesOf(job)}
	for _, src := range job.SQL.Sources {
		columns, sure := c.columns(ctx, src)
		if len(columns) == 0 {
			return b, false
		}
		b.Sources, b.Sure = append(b.Sources, duck.Relation{Name: src.Name, Columns: columns}), b.Sure && sure
	}
	return b, true
}

func keyOfJob(b duck.Bound) key {
	text, _ := json.Marshal(b) // texts and numbers always can be
	return sha256.Sum256(text)
}

// keyFaults are those of the key columns by which the sources of a job are read.
func keyFaults(job *engine.JobBody, b duck.Bound) (found []engine.Fault) {
	for i, src := range job.SQL.Sources {
		names := make([]string, len(b.Sources[i].Columns))
		for j, column := range b.Sources[i].Columns {
			names[j] = column.Name
		}
		at := "source." + strconv.Itoa(i) + "."
		lacks := func(field, name string) {
			has := slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
			if name != "" && !has && (b.Sure || len(engine.Near(name, names)) > 0) {
				found = append(found, engine.Fault{Field: at + field, Message: engine.Lacking(src.Name, name, names)})
			}
		}
		for _, name := range src.Keys {
			lacks("keys", name)
		}
		lacks("instead", src.Options.Table.Instead)
	}
	return found
}

// lookUp has jobs looked at by a worker and remembers what each lacks.
func (c *Checker) lookUp(ctx context.Context, jobs []duck.Bound, keys []key) {
	if len(jobs) == 0 {
		return
	}
	dir, done, err := c.scratch()
	var got duck.Result
	if err == nil {
		defer done()
		got, err = c.Worker.Do(ctx, duck.Request{Limits: duck.Limits{Threads: 1, Scratch: dir}, Bind: &duck.Bind{Jobs: jobs}})
	}
	if err != nil {
		c.Log.WarnContext(ctx, "the names in jobs could not be looked up", "jobs", len(jobs), "err", err)
		return
	}
	if c.lacking == nil || len(c.lacking) > mostKnown {
		c.lacking = map[key][]engine.Fault{}
	}
	for i, job := range jobs {
		c.lacking[keys[i]] = faultsOf(job, got.Lacking[i])
	}
}

// faultsOf are what the steps and sinks of a job lack, by their fields.
func faultsOf(job duck.Bound, lacking []*duck.Failure) []engine.Fault {
	var faults []engine.Fault
	for i, failure := range lacking {
		if failure == nil {
			continue
		}
		field := "step." + strconv.Itoa(i) + ".sql"
		if n := i - len(job.Steps); n >= 0 {
			field = "sink." + strconv.Itoa(n) + "." + fieldOf(job.Sinks[n], failure.Lacks)
		}
		faults = append(faults, engine.Fault{Field: field, Message: failure.Message})
	}
	return faults
}

// fieldOf is the field of a sink that names a column.
func fieldOf(sink engine.Sink, column string) string {
	switch {
	case slices.Contains(sink.PartitionBy, column):
		return "partition_by"
	case slices.Contains(sink.Keys, column):
		return "keys"
	}
	return "latest_by"
}
