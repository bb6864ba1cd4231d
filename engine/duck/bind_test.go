package duck

import (
	"fmt"
	"strings"
	"testing"

	"dogear/engine"
)

// TestAMisspeltNameIsAnsweredWithThoseThatThereAre: the run says which it was and
// what it may have meant.
func TestAMisspeltNameIsAnsweredWithThoseThatThereAre(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sql  string
		says string
	}{
		"a column":                    {"SELECT nmae FROM sale", "The step out at line 1, column 8: there is no column nmae. Did you mean name? sale has id, name, amount."},
		"after letters of many bytes": {"SELECT 'ä🦊', nmae FROM sale", "The step out at line 1, column 14: there is no column nmae."},
		"one like no other":           {"SELECT region FROM sale", "there is no column region. sale has id, name, amount."},
		"a column of a table":         {"SELECT sale.nmae FROM sale", "there is no column nmae. Did you mean name? sale has"},
		"in a join":                   {"SELECT a.id FROM sale a JOIN early b USING (nam)", "there is no column nam. Did you mean name? sale has id, name, amount. early has id."},
		"in a list that is left out":  {"SELECT * EXCLUDE (amuont) FROM sale", "there is no column amuont. Did you mean amount?"},
		"of an earlier step":          {"SELECT ids FROM early", "there is no column ids. Did you mean id? early has id."},
		"one of 8 KB":                 {`SELECT "name` + strings.Repeat("x", 8000) + `" FROM sale`, "there is no column namexxx"},
		"a step of 8 KB":              {`SELECT * FROM "sale` + strings.Repeat("x", 8000) + `"`, "there is no source or step salexxx"},
		"a step":                      {"SELECT * FROM ealry", "The step out at line 1, column 15: there is no source or step ealry. Did you mean early? There are sale, early."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			sale := csvInput("sale", b.file("a.csv", "id,name,amount\n1,Ann,2\n"))
			steps := []engine.Step{{Name: "early", SQL: "SELECT id FROM sale"}, {Name: "out", SQL: tt.sql}}

			_, err := b.run(Run{Inputs: []Input{sale}, Steps: steps, Outputs: []Output{{Sink: engine.Sink{From: "out"}, Stage: b.stage("stage")}}})

			if f := failure(t, err); f.Kind != FailSQL || !strings.Contains(f.Message, tt.says) {
				t.Errorf("got %s: %s\nwant in it: %s", f.Kind, f.Message, tt.says)
			} else if len(f.Message) > 1200 {
				t.Errorf("the message has %d bytes: it should be read in one glance", len(f.Message))
			}
		})
	}
}

func TestAMisspeltColumnOfASinkIsAnsweredWithThoseThatThereAre(t *testing.T) {
	t.Parallel()
	sinks := map[string]engine.Sink{
		"a key":       {From: "s", Mode: engine.Merge, Keys: []string{"idd"}},
		"a partition": {From: "s", PartitionBy: []string{"idd"}},
		"the latest":  {From: "s", Mode: engine.Merge, Keys: []string{"n"}, LatestBy: "idd"},
	}
	for name, sink := range sinks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)

			_, err := b.run(Run{Inputs: []Input{csvInput("s", b.file("a.csv", "id,n\n1,2\n"))}, Outputs: []Output{{Sink: sink, Stage: b.stage("stage")}}})

			if f := failure(t, err); !strings.Contains(f.Message, "The sink of s uses the column idd. s has no column idd. Did you mean id? It has id, n.") {
				t.Errorf("got %s", f.Message)
			}
		})
	}
}

func TestNamesAreLookedUpBeforeAnythingIsRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sale := []Relation{{Name: "sale", Columns: []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "name", Type: "VARCHAR"}, {Name: "at", Type: "STRUCT(lat DOUBLE, lon DOUBLE)[]"}}}}
	step := func(sql string) []engine.Step { return []engine.Step{{Name: "out", SQL: sql}} }
	tests := []struct {
		name string
		job  Bound
		want string // of each step and sink, those that lack something by number
	}{
		{"all there", Bound{Sources: sale, Sure: true, Steps: step("SELECT id, at[1].lat FROM sale WHERE name = getvariable('Day')"), Properties: []string{"Day"}, Sinks: []engine.Sink{{From: "out", Keys: []string{"ID"}}}}, ""},
		{"a column", Bound{Sources: sale, Sure: true, Steps: step("SELECT nmae FROM sale")}, "0:nmae"},
		{"one like no other", Bound{Sources: sale, Sure: true, Steps: step("SELECT region FROM sale")}, "0:region"},
		{"one like no other, where there may be more", Bound{Sources: sale, Steps: step("SELECT region FROM sale")}, ""},
		{"one like another, where there may be more", Bound{Sources: sale, Steps: step("SELECT nmae FROM sale")}, "0:nmae"},
		{"what comes after it", Bound{Sources: sale, Sure: true, Steps: append(step("SELECT nmae FROM sale"), engine.Step{Name: "b", SQL: "SELECT x FROM out"})}, "0:nmae"},
		{"a key", Bound{Sources: sale, Sure: true, Steps: step("SELECT id FROM sale"), Sinks: []engine.Sink{{From: "sale", Keys: []string{"id"}}, {From: "out", Keys: []string{"name"}}}}, "2:name"},
		{"a source", Bound{Sources: sale, Sure: true, Steps: step("SELECT id FROM sales")}, "0:sales"},
		{"columns that are rows", Bound{Sources: sale, Sure: true, Steps: append(step("PIVOT sale ON name USING count(*)"), engine.Step{Name: "b", SQL: "SELECT Ann FROM out"})}, ""},
		{"another mistake", Bound{Sources: sale, Sure: true, Steps: step("SELECT no_such_function(id) FROM sale")}, ""},
		{"a file", Bound{Sources: sale, Sure: true, Steps: step("SELECT x FROM read_csv('/etc/passwd')")}, ""},
		{"a type that nobody knows", Bound{Sources: []Relation{{Name: "s", Columns: []engine.Column{{Name: "a", Type: "NOTHING"}}}}, Sure: true, Steps: step("SELECT b FROM s")}, ""},
	}
	var jobs []Bound
	for _, tt := range tests {
		jobs = append(jobs, tt.job) // together: one leaves nothing for the next
	}

	result, err := b.Do(t.Context(), Request{Limits: b.limits(), Bind: &Bind{Jobs: jobs}})
	must(t, err)

	for i, tt := range tests {
		var got []string
		for at, f := range result.Lacking[i] {
			if f != nil {
				got = append(got, fmt.Sprintf("%d:%s", at, f.Lacks))
			}
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, text, tt.want)
		}
	}
}
