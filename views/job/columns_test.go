package job

import (
	"slices"
	"strings"
	"testing"

	"dogear/engine"
)

func TestColumnsAreWrittenOneALine(t *testing.T) {
	t.Parallel()
	text := "id BIGINT\r\n\n \"unit \"\"price\"\"\"  DECIMAL(18, 2),\nat timestamp with time zone\ntags VARCHAR[]\nplace STRUCT(x DOUBLE, y DOUBLE)\n`rate` double precision\nsteps DECIMAL (9, 2)[3][]\n"
	want := []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: `unit "price"`, Type: "DECIMAL(18, 2)"}, {Name: "at", Type: "timestamp with time zone"}, {Name: "tags", Type: "VARCHAR[]"}, {Name: "place", Type: "STRUCT(x DOUBLE, y DOUBLE)"}, {Name: "rate", Type: "double precision"}, {Name: "steps", Type: "DECIMAL (9, 2)[3][]"}}
	odd := []engine.Column{{Name: "\u00a0id", Type: "BIGINT"}, {Name: "\u2028id", Type: "BIGINT"}, {Name: "id,", Type: "BIGINT"}, {Name: "`id`", Type: "BIGINT"}, {Name: "\"", Type: "BIGINT"}, {Name: "😀", Type: "BIGINT"}}

	got, err := ReadColumns(text)
	again, errAgain := ReadColumns(ColumnsText(want))

	if err != nil || errAgain != nil || !slices.Equal(got, want) || !slices.Equal(again, want) {
		t.Errorf("ReadColumns = %v (%v), of what was written %v (%v), want %v", got, err, again, errAgain, want)
	}
	if got, err := ReadColumns(ColumnsText(odd)); err != nil || !slices.Equal(got, odd) {
		t.Errorf("of odd names comes %q (%v), want %q", got, err, odd)
	}
}

func TestAWrongColumnIsNamedByItsLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"id BIGINT\namount":                   "at line 2: amount has no type. Write the name, then the type, such as amount VARCHAR.",
		"id BIGINT\n\nID VARCHAR":             "at line 3: ID is a column of line 1 already.",
		"id BIGINT\nname VARCHR":              "at line 2: there is no type VARCHR. Did you mean VARCHAR?",
		"\"unit price DOUBLE":                 "at line 1: the quote of the name is not closed.",
		"\"\" DOUBLE":                         "at line 1: a column needs a name.",
		"id BIGINT; DROP":                     "at line 1: there is no type BIGINT; DROP.",
		"id BIGINT\ntags array<string>":       "at line 2: the type array<string> is written string[] here.",
		"place struct<a:int>":                 "at line 1: the type struct<a:int> is written STRUCT(a int) here.",
		"m map<string,array<decimal(9,2)>>":   "is written MAP(string, decimal(9,2)[]) here.",
		"s struct<`a`:int, b:struct<c:date>>": "is written STRUCT(a int, b STRUCT(c date)) here.",
		"a array<string":                      "at line 1: there is no type array<string.",
		"`id BIGINT":                          "at line 1: the quote of the name is not closed.",
		"id BIGINT NOT NULL,":                 "at line 1: BIGINT NOT NULL is more than a type",
		"id BIGINT -- the key":                "at line 1: BIGINT -- the key is more than a type",
		"at STRUCT(a BIGINT":                  "at line 1: STRUCT(a BIGINT is more than a type, or not all of one.",
		"id BIGINT\nname whatever":            "at line 2: there is no type whatever. Types are such as VARCHAR",
	} {
		got, err := ReadColumns(text)
		if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), want) || got != nil {
			t.Errorf("ReadColumns(%q) = %v, %v; want %q", text, got, err, want)
		}
	}
}
