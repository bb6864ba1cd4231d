package sql

import (
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/runner"
)

// straight is a job that writes its source as it is.
func straight(out engine.Sink) engine.SQLJob {
	job := sales(out)
	job.Steps = nil
	job.Sinks[0].From = job.Sources[0].Name
	return job
}

// succeeded ends a test at a run that did not succeed.
func succeeded(t *testing.T, result runner.Result) {
	t.Helper()
	if result.State != engine.Succeeded {
		t.Fatalf("got %s: %s", result.State, result.Error)
	}
}

// refusedFor checks that a run failed and said all of texts.
func refusedFor(t *testing.T, result runner.Result, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if result.State != engine.Failed || !strings.Contains(result.Error, want) {
			t.Errorf("got %s: %q, want it to fail and to say %q", result.State, result.Error, want)
		}
	}
}

func TestInferredColumnsFollowTheTarget(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		out  engine.Sink
		path string
	}{
		"append": {path: "out"},
		"merge":  {out: engine.Sink{Mode: engine.Merge, Keys: []string{"id"}}, path: "out"},
		"bucket": {out: engine.Sink{Connection: "c"}, path: "s3://lake/curated"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, straight(tt.out))
			h.job.SQL.Sinks[0].Path = tt.path
			target := engine.Source{Connection: tt.out.Connection, Path: tt.path + "/", Format: engine.Parquet}
			h.put("in/a.csv", "id,amount\nA1,10.5\n")
			succeeded(t, h.run(t.Context()))

			// These alone look like a BIGINT and a BIGINT.
			h.put("in/b.csv", "id,amount\n0,7\n")
			succeeded(t, h.run(t.Context()))

			if got := h.rows(target, "SELECT id, amount, typeof(id), typeof(amount) FROM t ORDER BY id"); got != "0|7.0|VARCHAR|DOUBLE A1|10.5|VARCHAR|DOUBLE" {
				t.Errorf("target: got %s", got)
			}
			// And these like a BIGINT and a VARCHAR.
			h.put("in/c.csv", "id,amount\n2,notanumber\n")
			refusedFor(t, h.run(t.Context()), "c.csv line 2", "amount", "notanumber", "DOUBLE")
			h.job.SQL.Sources[0].Policy.Unreadable = "hold"
			h.put("in/d.csv", "id,amount\n3,1.25\n")
			succeeded(t, h.run(t.Context()))
			if got := h.rows(target, "SELECT id, amount FROM t ORDER BY id"); got != "0|7.0 3|1.25 A1|10.5" {
				t.Errorf("target with c.csv held: got %s", got)
			}
		})
	}
}

func TestAColumnOfAnotherTypeIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		step, then    string // SQL of the first run and the next
		first, second string // files
		want          []string
		rows          string // of the target, where the next run succeeds
	}{
		"whole numbers of text": {
			first: "id,n\n1,10\n", second: "id,n\n2,x7\n",
			want: []string{"The column n of clean is VARCHAR in this run, and BIGINT in the files that out holds", `"x7"`, "b.csv brought it", "Nothing was published", "schema"},
		},
		"a fraction": {
			first: "id,n\n1,10\n", second: "id,n\n2,1.5\n",
			want: []string{"The column n of clean is DOUBLE in this run, and BIGINT", `"1.5"`, "b.csv brought it"},
		},
		"the SQL": {
			first: "id,n\n1,10\n", second: "id,n\n2,20\n", then: "SELECT id, 'x' || n AS n FROM raw",
			want: []string{"The column n of clean is VARCHAR in this run, and BIGINT", "Cast n to BIGINT in the SQL"},
		},
		"no way between them": {
			first: "id,n\n1,10\n", second: "id,n\n2,20\n", then: "SELECT id, [n] AS n FROM raw",
			want: []string{"The column n of clean is BIGINT[] in this run, and BIGINT"},
		},
		"fits": {
			step: "SELECT id, n FROM raw", then: "SELECT id, n::INTEGER AS n FROM raw",
			first: "id,n\n1,10\n", second: "id,n\n2,20\n", rows: "1|10|BIGINT 2|20|BIGINT",
		},
		"whole numbers into fractions": {
			step: "SELECT id, n / 4 AS n FROM raw", then: "SELECT id, n FROM raw",
			first: "id,n\n1,10\n", second: "id,n\n2,20\n", rows: "1|2.5|DOUBLE 2|20.0|DOUBLE",
		},
		"no value": {
			then:  "SELECT id, NULL::VARCHAR AS n FROM raw",
			first: "id,n\n1,10\n", second: "id,n\n2,20\n", rows: "1|10|BIGINT 2|NULL|BIGINT",
		},
		"lacking": {
			then:  "SELECT id FROM raw",
			first: "id,n\n1,10\n", second: "id,n\n2,20\n", rows: "1|10|BIGINT 2|NULL|BIGINT",
		},
	}
	for name, tt := range tests {
		for _, mode := range []engine.WriteMode{engine.Append, engine.Merge} {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				t.Parallel()
				job := sales(engine.Sink{Mode: mode, Keys: []string{"id"}})
				job.Steps[0].SQL = "SELECT id, n FROM raw"
				if tt.step != "" {
					job.Steps[0].SQL = tt.step
				}
				h := newHouse(t, job)
				h.put("in/a.csv", tt.first)
				succeeded(t, h.run(t.Context()))
				before := h.rows(h.out(), "SELECT * FROM t")
				h.put("in/b.csv", tt.second)
				if tt.then != "" {
					h.job.SQL.Steps[0].SQL = tt.then
				}

				result := h.run(t.Context())

				if tt.rows != "" {
					succeeded(t, result)
					if got := h.rows(h.out(), "SELECT id, n, typeof(n) FROM t ORDER BY id"); got != tt.rows {
						t.Errorf("target: got %s, want %s", got, tt.rows)
					}
					return
				}
				refusedFor(t, result, tt.want...)
				if got := h.rows(h.out(), "SELECT * FROM t"); got != before || len(result.Ledger) > 0 {
					t.Errorf("the target has %s and the ledger %+v, want %s and none", got, result.Ledger, before)
				}
			})
		}
	}
}

func TestPartitionsAreOverwrittenByAnotherTypeOnlyIfNoneOfTheFirstStays(t *testing.T) {
	t.Parallel()
	job := sales(engine.Sink{Mode: engine.OverwritePartitions, PartitionBy: []string{"day"}})
	job.Steps[0].SQL = "SELECT id, day, n FROM raw"
	job.Sources[0].Read = engine.ReadAll
	h := newHouse(t, job)
	h.put("in/a.csv", "id,day,n\n1,mon,10\n2,tue,20\n")
	succeeded(t, h.run(t.Context()))

	h.job.SQL.Steps[0].SQL = "SELECT id, day, 'x' || n AS n FROM raw WHERE day = 'mon'"
	refusedFor(t, h.run(t.Context()), "The column n of clean is VARCHAR in this run, and BIGINT")
	h.job.SQL.Steps[0].SQL = "SELECT id, day, 'x' || n AS n FROM raw"
	succeeded(t, h.run(t.Context()))

	if got := h.rows(h.out(), "SELECT id, n FROM t ORDER BY id"); got != "1|x10 2|x20" {
		t.Errorf("target: got %s", got)
	}
}
