package duck

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dogear/engine"
)

func TestC05EuropeanExportIsReadAsWhatItMeans(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	got := b.rows("SELECT ort, kurs, datum, length(datum::VARCHAR) FROM s ORDER BY ort DESC", csvInput("s", testdata(t, "C05/rates.csv")...))

	if want := "Zürich|1.2345|2025-12-31|10\nGenève|0.9876|2026-02-01|10"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestC07ByteOrderMarksAreRemovedFromEveryFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	got := b.rows("SELECT id, name FROM s ORDER BY id", csvInput("s", testdata(t, "C07/bom.csv", "C07/bom-quoted.csv")...))

	if want := "1|Ann\n2|Bo\n3|Cy\n4|Di"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestC08UTF16IsReadInBothByteOrdersAndWithoutAMark(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	got := b.rows("SELECT id, name FROM s ORDER BY ALL", csvInput("s", testdata(t, "C08/u16le.tsv", "C08/u16be.tsv", "C08/nomark.tsv")...))

	if want := "1|Åse\n1|Åse\n1|Åse\n2|Noé\n2|Noé\n2|Noé"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestC09LongNumbersKeepEveryDigit(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	got := b.rows("SELECT event_id, small, ratio FROM s ORDER BY 1", csvInput("s", testdata(t, "C09/ids.csv")...))

	if want := "12345678901234567890|9007199254740993|1e-07\n12345678901234567891|9007199254740995|0.0025"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestC13AColumnNamedLikeAPartitionKeyKeepsTheFilesValue(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	got := b.rows("SELECT id, dt FROM s ORDER BY id", csvInput("s", testdata(t, "C13/t/dt=2026-03-01/a.csv", "C13/t/dt=2026-03-02/b.csv")...))

	if want := "1|2026-03-01\n2|2026-02-28\n3|2026-03-02"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPartitionKeysOfThePathBecomeColumns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := csvInput("s", b.file("year=2026/place=a%2Fb/x.csv", "id\n1\n"), b.file("year=2025/place=__HIVE_DEFAULT_PARTITION__/y.csv", "id\n2\n"))

	got := b.rows("SELECT id, year, place FROM s ORDER BY id", in)

	if want := "1|2026|a/b\n2|2025|NULL"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestC16ACutGzipIsAnErrorAndAnEmptyOneIsNot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	good := testdata(t, "C16/t/a.csv", "C16/t/empty.csv.gz")

	if got := b.rows("SELECT count(*) FROM s", csvInput("s", good...)); got != "2" {
		t.Errorf("rows: got %s, want 2", got)
	}
	_, err := b.query("SELECT count(*) FROM s", csvInput("s", append(good, testdata(t, "C16/t/broken.csv.gz")...)...))

	f := failure(t, err)
	if f.Kind != FailUnreadable || f.File != "C16/t/broken.csv.gz" || !strings.Contains(f.Message, "cut off or damaged after") {
		t.Errorf("got %+v, want that broken.csv.gz is cut off", f)
	}
}

func TestAnUnreadableFileIsHeldWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		format engine.Format
		good   string
		bad    func(b *bench) File
	}{
		{"a cut gzip", engine.CSV, "id,n\n1,1\n", func(b *bench) File {
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			for i := range 5000 {
				fmt.Fprintf(w, "%d,%d\n", i, i*i)
			}
			must(b.t, w.Close())
			return b.file("bad.gz", z.String()[:z.Len()/2])
		}},
		{"a row of text in a number", engine.CSV, "id,n\n1,1\n", func(b *bench) File { return b.file("bad.csv", "id,n\n2,two\n") }},
		{"half a JSON value", engine.JSON, "{\"id\":1,\"n\":1}\n", func(b *bench) File { return b.file("bad.json", "{\"id\":2,\"n\":2}\n{\"id\":") }},
		{"half a Parquet file", engine.Parquet, "", func(b *bench) File { return b.file("bad.parquet", "PAR1 and then nothing") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			in := Input{Name: "s", Format: test.format, Schema: []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "n", Type: "BIGINT"}}}
			in.Files = []File{b.file("good", test.good), test.bad(b)}
			if test.format == engine.Parquet {
				in.Files[0] = b.parquet("good.parquet", "SELECT 1 AS id, 1 AS n")
			}
			in.Root = filepath.Join(b.dir, "in")
			run := Run{Inputs: []Input{in}, Outputs: []Output{{Sink: engine.Sink{From: "s"}, Stage: b.stage("stage")}}}

			_, failed := b.run(run)
			run.Inputs[0].Hold = true
			run.Outputs[0].Stage = b.stage("stage-2")
			got, err := b.run(run)
			must(t, err)

			if f := failure(t, failed); f.Kind != FailUnreadable || f.File != in.Files[1].Key {
				t.Errorf("without the policy: got %+v, want that %s cannot be read", f, in.Files[1].Key)
			}
			if len(got.Held) != 1 || got.Held[0].Key != in.Files[1].Key || got.Held[0].Note == "" {
				t.Errorf("held: got %+v, want %s with a note", got.Held, in.Files[1].Key)
			}
			if got.Written[0].Rows != 1 {
				t.Errorf("rows: got %d, want the one of the good file", got.Written[0].Rows)
			}
		})
	}
}

// parquet writes a file with the rows of a query.
func (b *bench) parquet(key, sql string) File {
	b.t.Helper()
	f := b.file(key, "")
	must(b.t, os.Remove(f.Path))
	_, err := b.Do(b.t.Context(), Request{Limits: b.limits(), Query: &Query{SQL: sql, Export: f.Path, Format: engine.Parquet}})
	must(b.t, err)
	return f
}

func TestC17EmptyFilesChangeNoType(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	json := Input{Name: "j", Format: engine.JSON, Files: testdata(t, "C17/j/1.json", "C17/j/2.json", "C17/j/3.json")}

	got, err := b.Do(t.Context(), Request{Limits: b.limits(), Describe: &Describe{Inputs: []Input{
		csvInput("t", testdata(t, "C17/t/1.csv", "C17/t/2.csv", "C17/t/3.csv")...), json,
	}}})
	must(t, err)

	if c := fmt.Sprint(got.Relations[0].Columns); c != "[{id BIGINT} {shipped DATE}]" {
		t.Errorf("CSV: got %s", c)
	}
	if c := fmt.Sprint(got.Relations[1].Columns); c != "[{id BIGINT} {geo STRUCT(lat DOUBLE, lon BIGINT, alt BIGINT)}]" {
		t.Errorf("JSON: got %s", c)
	}
	if rows := b.rows("SELECT count(*), count(shipped) FROM t", csvInput("t", testdata(t, "C17/t/1.csv", "C17/t/2.csv", "C17/t/3.csv")...)); rows != "3|1" {
		t.Errorf("rows: got %s, want 3 with 1 date", rows)
	}
}

func TestC19AVeryWideFileIsRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var text strings.Builder
	for row := range 4 {
		for i := range 16384 {
			if i > 0 {
				text.WriteByte(',')
			}
			if row == 0 {
				fmt.Fprintf(&text, "s%05d", i)
				continue
			}
			fmt.Fprint(&text, i*row)
		}
		text.WriteByte('\n')
	}

	got := b.rows("SELECT sum(s16383), count(*) FROM s", csvInput("s", b.file("wide.csv", text.String())))

	if want := fmt.Sprintf("%d|3", 16383*6); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestC20AColumnThatBecomesTextIsReadFromAllFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	files := testdata(t, "C20/t/d=1/a.csv", "C20/t/d=2/a.csv")

	got := b.rows("SELECT id, code, d FROM s ORDER BY id", csvInput("s", files...))

	if want := "1|10|1\n2|20|1\n3|A7|2"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	frozen := csvInput("s", files...)
	frozen.Schema = []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "code", Type: "BIGINT"}}
	_, err := b.run(Run{Inputs: []Input{frozen}, Outputs: []Output{{Sink: engine.Sink{From: "s"}, Stage: b.stage("stage")}}})
	f := failure(t, err)
	if f.File != "C20/t/d=2/a.csv" || f.Line != 2 || !strings.Contains(f.Message, "column code") {
		t.Errorf("frozen: got %+v, want d=2/a.csv, line 2, column code", f)
	}
}

func TestC22DelimitersAndQuotes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	want := map[string]string{
		"C22/semi.csv": "a;b|1\nc|2", "C22/pipe.txt": "a|1\nb|2", "C22/ctrl-a.txt": "a|1\nb|2", "C22/tab.tsv": "a|1\nb|2",
	}
	for file, rows := range want {
		if got := b.rows("SELECT k, v FROM s ORDER BY k", csvInput("s", testdata(t, file)...)); got != rows {
			t.Errorf("%s: got\n%s\nwant\n%s", file, got, rows)
		}
	}
	_, err := b.run(Run{
		Inputs:  []Input{csvInput("s", testdata(t, "C22/stray.csv")...)},
		Outputs: []Output{{Sink: engine.Sink{From: "s"}, Stage: b.stage("stage")}},
	})
	if f := failure(t, err); f.Line != 3 || f.File != "C22/stray.csv" {
		t.Errorf("stray quote: got %+v, want line 3", f)
	}
}

func TestC23TrailingDelimitersAreDroppedAndOverlongRowsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, file := range []string{"C23/both.csv", "C23/rows-only.csv", "C23/header-only.csv"} {
		if got := b.rows("SELECT * FROM s ORDER BY a", csvInput("s", testdata(t, file)...)); got != "1|2\n3|4" {
			t.Errorf("%s: got\n%s\nwant two rows of two columns", file, got)
		}
	}
	if !b.said("is left out") {
		t.Error("nothing said that a column was left out")
	}
	run := Run{
		Inputs:  []Input{csvInput("s", testdata(t, "C23/bad.csv")...)},
		Outputs: []Output{{Sink: engine.Sink{From: "s"}, Stage: b.stage("stage")}},
	}
	_, err := b.run(run)
	if f := failure(t, err); f.Line != 3 {
		t.Errorf("over-long row: got %+v, want line 3", f)
	}
	run.MaxRejects, run.Outputs[0].Stage = 1, b.stage("stage-2")
	got, err := b.run(run)
	must(t, err)
	if got.Rejects != 1 || got.Written[0].Rows != 1 || !b.said("C23/bad.csv line 3") {
		t.Errorf("over-long row accepted: got %d refused and %d written, want 1 and the row before it", got.Rejects, got.Written[0].Rows)
	}
}

func TestC25JSONLinesArraysAndDocumentsAreReadTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := Input{Name: "s", Format: engine.JSON, Files: testdata(t, "C25/lines.json", "C25/array.json", "C25/pretty.json")}

	got := b.rows("SELECT id, tags, price FROM s ORDER BY id", in)

	want := "1|[a, b]|10\n2|[]|{\"amount\":9.5,\"cur\":\"EUR\"}\n3|[c]|7\n4|NULL|8\n5|[d]|1"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestG2FilesWithOtherColumnsLoseNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := csvInput("s", b.file("a.csv", "id,name\n1,Ann\n"), b.file("b.csv", "name,id,extra\nBo,2,x\n"))
	in.Schema = []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "name", Type: "VARCHAR"}, {Name: "gone", Type: "DATE"}}

	got := b.rows("SELECT id, name, gone, extra FROM s ORDER BY id", in)

	if want := "1|Ann|NULL|NULL\n2|Bo|NULL|x"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !b.said("the column extra is new") || !b.said("the column gone is missing in 2 files") {
		t.Errorf("notices: got %q", b.notices)
	}
}

// DuckDB would take these names for patterns: the rows of the others would come
// twice, and those of the file itself not at all.
func TestANameThatLooksLikeAPatternIsOnlyAName(t *testing.T) {
	t.Parallel()
	keys := []string{"x", "[x]", "*", "a?", "ab", "[!a]", "[[]", "d/x", "?/x", "a [1]/x"}
	for _, format := range []engine.Format{engine.CSV, engine.JSON, engine.Parquet} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			in := Input{Name: "s", Format: format}
			var want []string
			for i, key := range keys {
				switch format {
				case engine.CSV:
					in.Files = append(in.Files, b.file(key, fmt.Sprintf("id,name\n%d,n\n", i)))
				case engine.JSON:
					in.Files = append(in.Files, b.file(key, fmt.Sprintf(`{"id":%d,"name":"n"}`, i)))
				case engine.Parquet:
					in.Files = append(in.Files, b.parquet(key, fmt.Sprintf("SELECT %d AS id, 'n' AS name", i)))
				}
				want = append(want, fmt.Sprintf("%d|n", i))
			}
			in.Root = root(in.Files)

			got := b.rows("SELECT id, name FROM s ORDER BY id", in)

			if want := strings.Join(want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestAFileOfOtherDataIsNotReadAsNulls(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := csvInput("s", b.file("a.csv", "id,name\n1,Ann\n"), b.file("b.csv", "foo,bar\nx,y\n"))
	in.Schema = []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "name", Type: "VARCHAR"}}

	_, err := b.query("SELECT * FROM s", in)

	if f := failure(t, err); f.File != "b.csv" || !strings.Contains(f.Message, "names none of the source's columns") {
		t.Errorf("got %+v, want that b.csv is other data", f)
	}
}

func TestQuotedLineBreaksCompressionAndCRLF(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := w.Write([]byte("id,note\r\n2,\"two\r\nlines\"\r\n3,three\r\n"))
	must(t, err)
	must(t, w.Close())
	in := csvInput("s", b.file("a.csv", "id,note\n1,\"one\nline, \"\"quoted\"\"\"\n"), b.file("b.csv.gz", z.String()))

	got := b.rows(`SELECT id, replace(replace(note, chr(13), '\r'), chr(10), '\n') FROM s ORDER BY id`, in)

	if want := `1|one\nline, "quoted"` + "\n" + `2|two\r\nlines` + "\n3|three"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAnEmptyInputKeepsItsFrozenColumns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := Input{Name: "s", Format: engine.CSV, Schema: []engine.Column{{Name: "id", Type: "BIGINT"}}}

	if got := b.rows("SELECT count(*), max(id) FROM s", in); got != "0|NULL" {
		t.Errorf("got %s, want no rows", got)
	}
	in.Schema = nil
	if _, err := b.query("SELECT * FROM s", in); failure(t, err).Kind != FailData {
		t.Errorf("without a schema: got %v, want a clear failure", err)
	}
}

func TestJSONBesidesItsSchemaIsReadAndNoticed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := Input{Name: "s", Format: engine.JSON, Files: []File{b.file("day=7/a.json", `{"id": 1, "extra": "x"}`)}}
	in.Root, in.Schema = root(in.Files), []engine.Column{{Name: "id", Type: "VARCHAR"}, {Name: "gone", Type: "DATE"}, {Name: "day", Type: "BIGINT"}}

	got := b.rows("SELECT * FROM s", in)

	if got != "1|NULL|7|x" || !b.said("the column extra is new") || !b.said("the column gone is missing") {
		t.Errorf("got %s and notices %q", got, b.notices)
	}
}
