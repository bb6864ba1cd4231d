package catalog

import (
	"fmt"
	"testing"

	"dogear/engine"
)

func TestATableIsNeverNarrowed(t *testing.T) {
	t.Parallel()
	old := []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "Gone", Type: "DATE"}}

	got := Widen(old, []engine.Column{{Name: "new", Type: "VARCHAR"}, {Name: "ID", Type: "VARCHAR"}})

	if text := fmt.Sprint(got); text != "[{id VARCHAR} {Gone DATE} {new VARCHAR}]" || old[0].Type != "BIGINT" {
		t.Errorf("got %s, want the new column at the end and id as text", text)
	}
}

func TestTheWiderTypeHoldsBoth(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"BIGINT", "BIGINT", "BIGINT"},
		{"INTEGER", "BIGINT", "BIGINT"},
		{"SMALLINT", "DOUBLE", "DOUBLE"},
		{"INTEGER", "DOUBLE", "DOUBLE"},
		{"BIGINT", "DOUBLE", "VARCHAR"}, // 9007199254740993 is no DOUBLE
		{"DATE", "TIMESTAMP", "TIMESTAMP"},
		{"DATE", "BIGINT", "VARCHAR"},
		{"BOOLEAN", "INTEGER", "VARCHAR"},
		{"DECIMAL(38,0)", "BIGINT", "DECIMAL(38,0)"},
		{"DECIMAL(10,2)", "DECIMAL(8,4)", "DECIMAL(12,4)"},
		{"BIGINT", "DECIMAL(10,2)", "DECIMAL(21,2)"},
		{"DECIMAL(38,0)", "DECIMAL(10,2)", "VARCHAR"},
		{"DECIMAL(10,2)", "DOUBLE", "VARCHAR"},
		{"STRUCT(a INTEGER)", "VARCHAR", "VARCHAR"},
	} {
		for _, pair := range [][2]string{{c[0], c[1]}, {c[1], c[0]}} {
			if got := wider(pair[0], pair[1]); got != c[2] {
				t.Errorf("%s and %s: got %s, want %s", pair[0], pair[1], got, c[2])
			}
		}
	}
}
