package duck

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"dogear/engine"
)

// zipped is text as gzip writes it.
func zipped(t *testing.T, text string) string {
	t.Helper()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := w.Write([]byte(text))
	must(t, err)
	must(t, w.Close())
	return z.String()
}

// numbered are n lines that fit, as each is formatted with its number.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestWhatDoesNotFitIsNamedByFileAndPlace: whoever has to correct a file among
// hundreds needs to know which, where in it, and what is wrong there.
func TestWhatDoesNotFitIsNamedByFileAndPlace(t *testing.T) {
	t.Parallel()
	numbers := []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "n", Type: "BIGINT"}}
	texts := []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "n", Type: "VARCHAR"}}
	typed := func(kind string) []engine.Column {
		return []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "n", Type: kind}}
	}
	const long = 30_000 // rows that are beyond what is looked at before
	tests := map[string]struct {
		format engine.Format
		schema []engine.Column
		text   string // of the bad file
		says   string // after its key
		line   int
	}{
		"CSV: a text in a number":        {engine.CSV, numbers, "id,n\n2,two\n", ` line 2, column n: "two" does not fit the type BIGINT. Correct the file`, 2},
		"CSV: far from the beginning":    {engine.CSV, numbers, "id,n\n" + numbered(long, "%d,1\n") + "x,1\n", ` line 30002, column id: "x" does not fit`, long + 2},
		"CSV: types worked out":          {engine.CSV, nil, "id,n\n" + numbered(long, "%d,1\n") + "1,y\n", ` line 30002, column n: "y" does not fit`, long + 2},
		"CSV: lines that break in quote": {engine.CSV, texts, "n,id\n\"a\r\nb\",1\n\n\"a\nb\",two\n", ` line 5, column id: "two" does not fit`, 5},
		"CSV: compressed":                {engine.CSV, numbers, "gzip:id,n\n\"1\",1\n2,two\n", ` line 3, column n: "two"`, 3},
		"CSV: of two bytes a character":  {engine.CSV, numbers, "\xff\xfei\x00d\x00,\x00n\x00\n\x001\x00,\x00x\x00\n\x00", ` line 2, column n: "x"`, 2},
		"CSV: a value of 6 KB":           {engine.CSV, numbers, "id,n\n2," + strings.Repeat("much ", 1200) + "\n", `much much much …" does not fit the type BIGINT.`, 2},
		"CSV: no such day":               {engine.CSV, typed("DATE"), "id,n\n2,2026-13-01\n", ` line 2, column n: "2026-13-01" does not fit the type DATE.`, 2},
		"CSV: too many digits":           {engine.CSV, typed("DECIMAL(5,2)"), "id,n\n2,123456.1\n", `"123456.1" does not fit the type DECIMAL(5,2).`, 2},
		"CSV: too many values":           {engine.CSV, numbers, "id,n\n2,2,3\n", ` line 2: the row has another number of values (3) than the file has columns (2).`, 2},
		"CSV: too few values":            {engine.CSV, numbers, "id,n\n2\n", ` line 2, column n: the row has another number of values (1) than the file has columns (2).`, 2},
		"CSV: a quote within":            {engine.CSV, numbers, "id,n\n1,2\n2,\"2\"x\n", ` line 3, column n: a quote is not closed, or`, 3},
		"CSV: a quote without an end":    {engine.CSV, numbers, "id,n\n1,2\n2,\"2\n3,4\n", ` line 3, column n: a quote is not closed, or`, 3},
		"CSV: bytes that are no text":    {engine.CSV, texts, "id,n\n1,2\n2,\xff\xfe\n", ` cannot be read: it is not UTF-8 text: line 3 has the byte 0xFF. Name its encoding`, 3},
		"CSV: such bytes far down":       {engine.CSV, texts, "id,n\n" + numbered(long, "%d,1\n") + "2,\xff\n", ` line 30002, column n: a byte is not UTF-8 text.`, long + 2},
		"CSV: a value after the last":    {engine.CSV, numbers, "id,n\n" + numbered(long, "%d,1,\n") + "2,2,late\n", ` line 30002: after its last column stands "late".`, long + 2},
		"JSON: a text in a number":       {engine.JSON, numbers, `{"id":1,"n":1}` + "\n" + `{"id":2,"n":"two"}` + "\n", ` line 2, column n: "two" does not fit the type BIGINT. Correct the file`, 2},
		"JSON: an empty text":            {engine.JSON, numbers, `{"id":1,"n":null}` + "\n" + `{"id":2,"n":""}`, ` line 2, column n: "" does not fit the type BIGINT.`, 2},
		"JSON: types worked out":         {engine.JSON, nil, numbered(long, "{\"id\":%d,\"n\":1}\n") + `{"id":2,"n":"two"}`, ` line 30001, column n: "two" does not fit`, long + 1},
		"JSON: compressed":               {engine.JSON, numbers, "gzip:" + `{"id":1,"n":1}` + "\n" + `{"id":2,"n":"two"}`, ` line 2, column n: "two"`, 2},
		"JSON: within a structure":       {engine.JSON, typed("STRUCT(a BIGINT)"), `{"id":2,"n":{"a":"x"}}`, ` line 1, column n: {"a":"x"} does not fit the type STRUCT(a BIGINT).`, 1},
		"JSON: in an array":              {engine.JSON, numbers, `[{"id":1,"n":1},` + "\n" + `{"id":2,"n":"two"}]`, ` value 2, column n: "two" does not fit`, 2},
		"JSON: over many lines":          {engine.JSON, numbers, "{\n \"id\":1,\n \"n\":1\n}\n{\n\"id\":2,\n\"n\":\"two\"\n}", ` value 2, column n: "two" does not fit`, 2},
		"JSON: half a value":             {engine.JSON, numbers, `{"id":1,"n":1}` + "\n" + `{"id":2,"n":` + "\n" + `{"id":3,"n":1}`, ` line 2: this is not JSON: unexpected end of data.`, 2},
		"JSON: a number alone":           {engine.JSON, numbers, "1\n", ` line 1: Expected OBJECT, but got UBIGINT: 1. Correct`, 1},
		"JSON: bytes that are no text":   {engine.JSON, texts, `{"id":1,"n":"a"}` + "\n{\"id\":2,\"n\":\"\xff\"}", ` cannot be read: it is not UTF-8 text: line 2 has the byte 0xFF.`, 2},
	}
	good := map[engine.Format]string{engine.CSV: "id,n\n", engine.JSON: ""}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			text := tt.text
			if rest, ok := strings.CutPrefix(text, "gzip:"); ok {
				text = zipped(t, rest)
			}
			// A path that begins like the other's is not taken for it.
			in := Input{Name: "s", Format: tt.format, Schema: tt.schema, Files: []File{b.file("d=1/a", good[tt.format]), b.file("d=1/ab", text)}}
			in.Root = root(in.Files)
			run := Run{Inputs: []Input{in}, Outputs: []Output{{Sink: engine.Sink{From: "s"}, Stage: b.stage("stage")}}}

			_, err := b.run(run)
			run.Inputs[0].Hold, run.Outputs[0].Stage = true, b.stage("stage-2")
			held, holdErr := b.run(run)

			f := failure(t, err)
			if f.Kind != FailUnreadable || f.Input != "s" || f.File != "d=1/ab" || f.Line != tt.line || !strings.Contains(f.Message, tt.says) {
				t.Errorf("got %s of %s, line %d: %s\nwant line %d, and in it: %s", f.Kind, f.File, f.Line, f.Message, tt.line, tt.says)
			}
			if len(f.Message) > 600 {
				t.Errorf("the message has %d bytes", len(f.Message))
			}
			if holdErr == nil && (len(held.Held) != 1 || held.Held[0].Key != "d=1/ab") || holdErr != nil && tt.schema != nil {
				t.Errorf("held %+v, %v; want the bad file alone", held.Held, holdErr)
			}
		})
	}
}

func TestAParquetFileThatDoesNotFitIsNamed(t *testing.T) {
	t.Parallel()
	schema := []engine.Column{{Name: "id", Type: "INTEGER"}, {Name: "n", Type: "BIGINT"}, {Name: "x", Type: "DOUBLE"}}
	tests := map[string]struct {
		sql  string
		harm func(data []byte)
		says string
	}{
		"a text in a number":                {sql: "SELECT 1 AS id, '1' AS n UNION ALL SELECT 2, 'two' ORDER BY ALL", says: ` row 2, column n: "two" does not fit the type BIGINT. Correct the file`},
		"a key that a fraction cannot hold": {sql: "SELECT 1 AS id, 1::DECIMAL(38,0) AS x UNION ALL SELECT 2, 9007199254740993 ORDER BY ALL", says: ` row 2, column x: "9007199254740993" does not fit the type DOUBLE.`},
		"too large a number":                {sql: "SELECT 1 AS id, 1 AS n UNION ALL SELECT 99999999999, 1 ORDER BY ALL", says: ` row 2, column id: "99999999999" does not fit the type INTEGER.`},
		"damaged rows": {sql: "SELECT range::INTEGER AS id, range * 7919 % 100003 AS n FROM range(10000)", harm: func(data []byte) {
			for i := 4; i < len(data)/2; i++ {
				data[i] ^= 0x5a
			}
		}, says: "cannot be read: "},
		"a damaged end": {sql: "SELECT 1 AS id, 1 AS n", harm: func(data []byte) {
			footer := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
			for i := len(data) - 8 - footer; i < len(data)-8; i++ {
				data[i] ^= 0x5a
			}
		}, says: "cannot be read: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			in := Input{Name: "s", Format: engine.Parquet, Schema: schema, Files: []File{
				b.parquet("good.parquet", "SELECT 1 AS id, 1 AS n"), b.parquet("bad.parquet", tt.sql),
			}}
			in.Root = root(in.Files)
			if tt.harm != nil {
				data, err := os.ReadFile(in.Files[1].Path)
				must(t, err)
				tt.harm(data)
				must(t, os.WriteFile(in.Files[1].Path, data, 0o644))
			}
			run := Run{Inputs: []Input{in}, Outputs: []Output{{Sink: engine.Sink{From: "s"}, Stage: b.stage("stage")}}}

			_, err := b.run(run)

			f := failure(t, err)
			if f.Kind != FailUnreadable || f.File != "bad.parquet" || !strings.HasPrefix(f.Message, "bad.parquet ") || !strings.Contains(f.Message, tt.says) {
				t.Errorf("got %s of %q: %s\nwant in it: %s", f.Kind, f.File, f.Message, tt.says)
			}
			if tt.harm != nil {
				return
			}
			run.Inputs[0].Hold, run.Outputs[0].Stage = true, b.stage("stage-2")
			held, err := b.run(run)
			must(t, err)
			if len(held.Held) != 1 || held.Held[0].Key != "bad.parquet" || held.Written[0].Rows != 1 {
				t.Errorf("held %+v with %d rows written, want the bad file and the row of the good one", held.Held, held.Written[0].Rows)
			}
		})
	}
}

func TestAPartitionValueOfAnotherTypeIsNamedByItsPath(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := csvInput("s", b.file("day=2026-01-01/a.csv", "id\n1\n"), b.file("day=soon/a.csv", "id\n1\n"))
	in.Schema = []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "day", Type: "DATE"}}

	_, err := b.run(Run{Inputs: []Input{in}, Outputs: []Output{{Sink: engine.Sink{From: "s"}, Stage: b.stage("stage")}}})

	if f := failure(t, err); f.File != "day=soon/a.csv" || !strings.Contains(f.Message, `the value of day in its path: "soon" does not fit the type DATE.`) {
		t.Errorf("got %+v, want that the path of day=soon does not fit", f)
	}
}

// TestAValueThatSQLCannotConvertIsFound: the SQL is right for most rows, and the
// message of a conversion alone does not say which it is wrong for.
func TestAValueThatSQLCannotConvertIsFound(t *testing.T) {
	t.Parallel()
	const (
		sale = "id,amount,password\n"
		bad  = "1,2,x\n3,4,\"x\ny\"\n5,many,hunter2\n"
	)
	tests := map[string]struct {
		steps []engine.Step
		says  []string
		lacks string
	}{
		"a cast": {
			steps: []engine.Step{{Name: "out", SQL: "SELECT id,\n  CAST(amount AS INTEGER) AS amount\nFROM s"}},
			says:  []string{"The step out at line 2, column 3: ", "'many'", "It stands in d=2/b.csv line 5, column amount.", "TRY_CAST"},
		},
		"a cast in the second of two steps": {
			steps: []engine.Step{{Name: "first", SQL: "SELECT id, amount FROM s"}, {Name: "out", SQL: "SELECT amount::INTEGER AS n FROM first"}},
			says:  []string{"The step out at line 1, column 14: ", "It stands in d=2/b.csv line 5, column amount."},
		},
		"a date by its format": {
			steps: []engine.Step{{Name: "out", SQL: "SELECT strptime(amount, '%Y') AS y FROM s WHERE id > 3"}},
			says:  []string{"out: Could not parse string", "It stands in d=2/b.csv line 5, column amount.", "try_strptime"},
		},
		"a value that is not in the files": {
			steps: []engine.Step{{Name: "out", SQL: "SELECT CAST(amount || '!' AS INTEGER) AS n FROM s WHERE id = 5"}},
			says:  []string{"The step out at line 1, column 8: ", "'many!'"}, lacks: "stands in",
		},
		"a secret": {
			steps: []engine.Step{{Name: "out", SQL: "SELECT CAST(password AS INTEGER) AS n FROM s WHERE id = 5"}},
			says:  []string{"A value cannot be converted.", "It stands in d=2/b.csv line 5, column password."}, lacks: "hunter2",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			in := csvInput("s", b.file("d=1/a.csv", sale+"1,2,x\n"), b.file("d=2/b.csv", sale+bad))

			_, err := b.run(Run{Inputs: []Input{in}, Steps: tt.steps, Outputs: []Output{{Sink: engine.Sink{From: "out"}, Stage: b.stage("stage")}}})

			f := failure(t, err)
			for _, want := range tt.says {
				if f.Kind != FailData || !strings.Contains(f.Message, want) {
					t.Errorf("got %s: %s\nwant in it: %s", f.Kind, f.Message, want)
				}
			}
			if tt.lacks != "" && strings.Contains(f.Message, tt.lacks) {
				t.Errorf("got %s\nwant it without %q", f.Message, tt.lacks)
			}
		})
	}
}

func TestAValueOfAColumnThatMayBeSecretIsNotRepeated(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		format engine.Format
		column engine.Column
		text   string
	}{
		"CSV":             {engine.CSV, engine.Column{Name: "api_key", Type: "BIGINT"}, "api_key\nhunter2\n"},
		"JSON":            {engine.JSON, engine.Column{Name: "Password", Type: "BIGINT"}, `{"Password":"hunter2"}`},
		"JSON, in a part": {engine.JSON, engine.Column{Name: "user", Type: "STRUCT(id BIGINT)"}, `{"user":{"id":"x","token":"hunter2"}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			in := Input{Name: "s", Format: tt.format, Schema: []engine.Column{tt.column}, Files: []File{b.file("a", tt.text)}}
			in.Root = root(in.Files)

			_, err := b.run(Run{Inputs: []Input{in}, Outputs: []Output{{Sink: engine.Sink{From: "s"}, Stage: b.stage("stage")}}})

			if f := failure(t, err); !strings.Contains(f.Message, "column "+tt.column.Name+": a value that is not shown here does not fit") || strings.Contains(f.Message, "hunter2") {
				t.Errorf("got %s, want the place without the value", f.Message)
			}
		})
	}
}
