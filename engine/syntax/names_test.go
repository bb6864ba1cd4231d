package syntax_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/syntax"
)

// catalog knows one table.
type catalog struct{}

func (catalog) TableNamed(_ context.Context, name string) (engine.Table, error) {
	if name != "shop.sale" {
		return engine.Table{}, engine.Errorf(engine.NotFound, "There is no table %s.", name)
	}
	return engine.Table{Columns: columns("id", "name"), Keys: columns("day")}, nil
}

func columns(names ...string) []engine.Column {
	all := make([]engine.Column, len(names))
	for i, name := range names {
		all[i] = engine.Column{Name: name, Type: "VARCHAR"}
	}
	return all
}

// over is a job of one step over one source.
func over(src engine.Source, statement string, sinks ...engine.Sink) *engine.JobBody {
	src.Name = "sale"
	return &engine.JobBody{Kind: engine.JobSQL, SQL: &engine.SQLJob{
		Sources: []engine.Source{src}, Steps: []engine.Step{{Name: "out", SQL: statement}}, Sinks: sinks,
	}}
}

func TestAMisspeltColumnIsNamedBeforeTheRun(t *testing.T) {
	t.Parallel()
	files := engine.Source{Path: "/in/**/*.csv"}
	frozen := engine.Source{Path: "/frozen/*.csv", Schema: columns("id", "name")}
	table := engine.Source{Connection: "c", Table: "sale", Keys: []string{"idd"}}
	tests := map[string]struct {
		job         *engine.JobBody
		field, says string // "" where nothing is wrong
	}{
		"read before":                        {over(files, "SELECT\n nmae FROM sale"), "step.0.sql", "The step out at line 2, column 2: there is no column nmae. Did you mean name? sale has id, name."},
		"read before, like no other":         {over(files, "SELECT region FROM sale"), "step.0.sql", "there is no column region. sale has id, name."},
		"read before, all there":             {over(files, "SELECT name FROM sale", engine.Sink{From: "out", Keys: []string{"name"}}), "", ""},
		"read by another name":               {over(engine.Source{Path: "/in/**/*.csv/", Format: engine.CSV}, "SELECT nmae FROM sale"), "step.0.sql", "name"},
		"never read":                         {over(engine.Source{Path: "/other/*.csv"}, "SELECT nmae FROM sale"), "", ""},
		"of a schema":                        {over(frozen, "SELECT nmae FROM sale"), "step.0.sql", "Did you mean name?"},
		"of a schema, perhaps of the path":   {over(frozen, "SELECT region FROM sale"), "", ""},
		"of the catalog":                     {over(engine.Source{CatalogTable: "shop.sale"}, "SELECT region, day FROM sale"), "step.0.sql", "there is no column region. sale has id, name, day."},
		"a table that the catalog lacks":     {over(engine.Source{CatalogTable: "shop.gone"}, "SELECT region FROM sale"), "", ""},
		"a key of a merge":                   {over(files, "SELECT id FROM sale", engine.Sink{From: "out", Mode: engine.Merge, Keys: []string{"ID", "name"}}), "sink.0.keys", "The sink of out uses the column name. out has no column name. It has id."},
		"a column of partitions":             {over(files, "SELECT id FROM sale", engine.Sink{From: "sale", PartitionBy: []string{"naem"}}), "sink.0.partition_by", "Did you mean name?"},
		"the latest":                         {over(files, "SELECT id FROM sale", engine.Sink{From: "sale", Keys: []string{"id"}, LatestBy: "at"}), "sink.0.latest_by", "sale has no column at."},
		"a key of a bookmark":                {over(table, "SELECT id FROM sale"), "source.0.keys", "sale has no column idd. Did you mean id? It has id, at."},
		"what cannot be parsed is said once": {over(files, "SELECT nmae FORM sale"), "step.0.sql", "syntax error"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, log := checker(t)
			c.Catalog = catalog{}
			c.Read(files, columns("id", "name"))
			c.Read(table, columns("id", "at"))

			got := c.Faults(t.Context(), []*engine.JobBody{script("print(1)"), tt.job})
			again := c.Faults(t.Context(), []*engine.JobBody{tt.job})

			if log.Len() > 0 || fmt.Sprint(got[1]) != fmt.Sprint(again[0]) {
				t.Errorf("first %v, then %v; log %s", got[1], again[0], log)
			}
			if tt.field == "" && len(got[1]) > 0 {
				t.Errorf("got %v, want nothing", got[1])
			}
			if tt.field != "" && (len(got[1]) != 1 || got[1][0].Field != tt.field || !strings.Contains(got[1][0].Message, tt.says)) {
				t.Errorf("got %v, want of %s: %s", got[1], tt.field, tt.says)
			}
		})
	}
}

// A column that a later read found is one: what is known grows, and an answer from
// before does not stand.
func TestWhatIsReadLaterIsKnownFromThenOn(t *testing.T) {
	t.Parallel()
	var c *syntax.Checker
	var log *bytes.Buffer
	c, log = checker(t)
	src := engine.Source{Path: "/in/*.csv"}
	job := []*engine.JobBody{over(src, "SELECT id, region FROM sale")}
	c.Read(src, columns("id"))

	before := c.Faults(t.Context(), job)
	if !c.Known(t.Context(), job[0]) || c.Known(t.Context(), over(engine.Source{Path: "/other/*.csv", Schema: columns("id")}, "SELECT id FROM sale")) {
		t.Error("known are the columns of a source that was read, not those of one with a schema alone")
	}
	c.Read(src, columns("region"))
	after := c.Faults(t.Context(), job)

	if len(before[0]) != 1 || len(after[0]) != 0 || log.Len() > 0 {
		t.Errorf("before %v, after %v, log %s; want region to be missing and then known", before[0], after[0], log)
	}
}
