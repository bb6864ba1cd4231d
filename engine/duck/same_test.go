package duck

import (
	"encoding/json"
	"strings"
	"testing"

	"dogear/engine"
)

// TestNoValueChangesInSilence: what DuckDB would round, cut or shift on its way into
// the type of a column is a row that does not fit, in every format.
func TestNoValueChangesInSilence(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind        string
		fit, misfit []string
	}{
		"whole numbers":    {"BIGINT", []string{"1", "-1", "1.0", "1.5e3", "9007199254740993", "1234567890123456.00", " 2 ", "+5", "007", "1.234567890123e12"}, []string{"1.5", "1.234567890123e11", "1e-1", "9007199254740.9935", "x"}},
		"small numbers":    {"INTEGER", []string{"2147483647"}, []string{"2147483648", "0.5"}},
		"scales":           {"DECIMAL(9,2)", []string{"1", "1.9", "1.990", "1234567.89", "1.00000000000e-1"}, []string{"1.999", "1.00000000001e-1", "1e-3", "0.0000000000000000000001"}},
		"fractions":        {"DOUBLE", []string{"0.1", "1e30", "9007199254740992", "inf", "0.30000000000000004"}, []string{"9007199254740993", "1e400", "notanumber"}},
		"small fractions":  {"FLOAT", []string{"0.1", "1e30", "16777216"}, []string{"16777217", "1e39"}},
		"days":             {"DATE", []string{"2026-01-02", "2026-01-02 00:00:00", "2026-1-2", "2026-01-02 ", "infinity"}, []string{"2026-01-02 03:04:05", "2026-01-02T03:04:05Z", "2026-1-2 3", "2026-1-2x", "2026-12-1x", "2026-01-02 00:00:00.0000001"}},
		"points in time":   {"TIMESTAMP", []string{"2026-01-02", "2026-01-02 03:04:05", "2026-01-02T03:04:05Z", "2026-01-02 03:04:05.123456000", "2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05.123456789Z"}, []string{"x", "2026-01-02 03:04+02", "2026-01-02T03:04:05+02:00", "2026-01-02 03:04:05-05:30", "2026-1-2 3:4:5+02:00", "2026-01-02 3:4:5-02", "126-1-2 3:4:5+02:00"}},
		"with a zone":      {"TIMESTAMPTZ", []string{"2026-01-02T03:04:05+02:00", "2026-01-02 03:04:05", "2026-01-02 03:04:05.1234567+02:00", "2026-1-2 3:04:05.1234567"}, []string{"x"}},
		"times":            {"TIME", []string{"03:04:05", "3:4:5", "03:04:05.123456", "03:04:05.123456789"}, []string{"03:04:05+02:00", "2026-01-02 03:04:05"}},
		"by another name":  {"int", []string{"1"}, []string{"1.5"}},
		"truths":           {"BOOLEAN", []string{"true", "false", "1"}, []string{"2", "0.5"}},
		"seconds":          {"TIMESTAMP_S", []string{"2026-01-02 03:04:05"}, []string{"2026-01-02 03:04:05.9"}},
		"nanoseconds":      {"TIMESTAMP_NS", []string{"2026-01-02 03:04:05.123456789"}, []string{"2026-01-02 03:04:05.1234567891", "2026-01-02 03:04:05+02"}},
		"lists of numbers": {"BIGINT[]", []string{"[1, 2]"}, []string{"[1.5]"}},
	}
	for name, tt := range tests {
		for format, text := range map[engine.Format]func(string) string{
			engine.CSV:     func(v string) string { return "id,n\n0,\n1,\"" + v + "\"\n" },
			engine.JSON:    func(v string) string { return `{"id":0,"n":null}` + "\n" + `{"id":1,"n":` + asJSON(v) + "}\n" },
			engine.Parquet: nil,
		} {
			t.Run(name+" of "+string(format), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				file := func(key, v string) File {
					if format == engine.Parquet {
						return b.parquet(key, "SELECT 0 AS id, NULL::VARCHAR AS n UNION ALL SELECT 1, '"+v+"' ORDER BY id")
					}
					return b.file(key, text(v))
				}
				in := Input{Name: "s", Format: format, Schema: []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "n", Type: tt.kind}}}
				for _, v := range tt.fit {
					in.Files = append(in.Files, file("fit "+strings.ReplaceAll(v, "/", "-"), v))
				}
				fits := len(in.Files)
				for _, v := range tt.misfit {
					in.Files = append(in.Files, file("misfit "+v, v))
				}
				in.Root = root(in.Files)
				run := Run{Inputs: []Input{in}, MaxRejects: int64(len(tt.misfit)), Outputs: []Output{{Sink: engine.Sink{From: "s"}, Stage: b.stage("stage")}}}

				refused, err := b.run(run)
				must(t, err)
				run.MaxRejects, run.Inputs[0].Hold, run.Outputs[0].Stage = 0, true, b.stage("stage-2")
				held, err := b.run(run)
				must(t, err)
				run.Inputs[0].Hold, run.Outputs[0].Stage = false, b.stage("stage-3")
				_, err = b.run(run)

				if want := int64(2*fits + len(tt.misfit)); refused.Rejects != int64(len(tt.misfit)) || refused.Written[0].Rows != want {
					t.Errorf("refused %d rows and wrote %d, want %d and %d", refused.Rejects, refused.Written[0].Rows, len(tt.misfit), want)
				}
				for _, h := range held.Held {
					if !strings.HasPrefix(h.Key, "misfit ") {
						t.Errorf("held %s", h.Note)
					}
				}
				if len(held.Held) != len(tt.misfit) || held.Written[0].Rows != int64(2*fits) {
					t.Errorf("held %d files and wrote %d rows, want %d and %d", len(held.Held), held.Written[0].Rows, len(tt.misfit), 2*fits)
				}
				if f := failure(t, err); f.Kind != FailUnreadable || !strings.HasPrefix(f.File, "misfit ") || !strings.Contains(f.Message, ", column n: ") || !strings.Contains(f.Message, "does not fit the type "+tt.kind) {
					t.Errorf("got %s of %q: %s", f.Kind, f.File, f.Message)
				}
			})
		}
	}
}

// asJSON is a value as JSON has it: as it is where it is JSON, else a text.
func asJSON(v string) string {
	if json.Valid([]byte(v)) {
		return v
	}
	return `"` + v + `"`
}

// A query shows the rows that fit, and says how many do not.
func TestAQueryLeavesOutRowsThatDoNotFit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := csvInput("s", b.file("a.csv", "id,n\n1,1\n2,1.5\n3,3\n"))
	in.Schema = []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "n", Type: "BIGINT"}}

	result, err := b.Do(t.Context(), Request{Limits: b.limits(), Query: &Query{Inputs: []Input{in}, SQL: "SELECT n FROM s", MaxRows: 10}})
	must(t, err)

	if len(result.Table.Rows) != 2 || result.Rejects != 1 {
		t.Errorf("got %d rows and %d refused, want 2 and 1", len(result.Table.Rows), result.Rejects)
	}
}
