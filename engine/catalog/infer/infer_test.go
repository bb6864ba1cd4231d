package infer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dogear/engine"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shape infers a file of testdata.
func shape(t *testing.T, name string) Shape {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	s, err := CSV(Head{data, true}, engine.Dialect{})
	must(t, err)
	return s
}

// columns writes the columns of shapes as one line.
func columns(shapes ...Shape) string {
	var parts []string
	for _, c := range Union(shapes) {
		parts = append(parts, c.Name+" "+c.Type)
	}
	return strings.Join(parts, ", ")
}

func TestCasesOfDialectAndTypes(t *testing.T) {
	t.Parallel()
	tests := []struct{ file, delimiter, encoding, columns string }{
		{"C01/zip.csv", ",", UTF8, "zip VARCHAR, qty BIGINT, city VARCHAR"},
		{"C05/rates.csv", ";", Latin1, "ort VARCHAR, kurs DECIMAL(18,4), datum DATE"},
		{"C07/bom.csv", ",", UTF8, "id BIGINT, name VARCHAR"},
		{"C07/bom-quoted.csv", ",", UTF8, "id BIGINT, name VARCHAR"},
		{"C08/u16le.tsv", "\t", UTF16, "id BIGINT, name VARCHAR"},
		{"C08/u16be.tsv", "\t", UTF16, "id BIGINT, name VARCHAR"},
		{"C08/nomark.tsv", "\t", UTF16, "id BIGINT, name VARCHAR"},
		{"C09/ids.csv", ",", UTF8, "event_id VARCHAR, small BIGINT, ratio DOUBLE"},
		{"C22/semi.csv", ";", UTF8, "k VARCHAR, v BIGINT"},
		{"C22/pipe.txt", "|", UTF8, "k VARCHAR, v BIGINT"},
		{"C22/ctrl-a.txt", "\x01", UTF8, "k VARCHAR, v BIGINT"},
		{"C22/tab.tsv", "\t", UTF8, "k VARCHAR, v BIGINT"},
		{"C23/both.csv", "|", UTF8, "a BIGINT, b BIGINT"},
		{"C23/rows-only.csv", ",", UTF8, "a BIGINT, b BIGINT"},
		{"C23/header-only.csv", ",", UTF8, "a BIGINT, b BIGINT"},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			t.Parallel()

			got := shape(t, test.file)

			if got.Dialect.Delimiter != test.delimiter || got.Dialect.Encoding != test.encoding {
				t.Errorf("dialect: got %q in %s, want %q in %s", got.Dialect.Delimiter, got.Dialect.Encoding, test.delimiter, test.encoding)
			}
			if !got.Header() {
				t.Error("got no header, want one")
			}
			if cols := columns(got); cols != test.columns {
				t.Errorf("columns: got %s, want %s", cols, test.columns)
			}
		})
	}
}

func TestC05DatesWithDotsAreDayFirst(t *testing.T) {
	t.Parallel()

	got := shape(t, "C05/rates.csv").Dialect

	if got.Decimal != "," || got.DateFormat != "%d.%m.%Y" {
		t.Errorf("got decimal %q and dates %q, want a comma and %%d.%%m.%%Y", got.Decimal, got.DateFormat)
	}
}

func TestC09TheReasonForTextIsKept(t *testing.T) {
	t.Parallel()

	got := shape(t, "C09/ids.csv").Columns[0].Why

	if got != "a value has more than 18 digits" {
		t.Errorf("got %q", got)
	}
}

func TestC17FileOrderDoesNotMatterAndEmptyFilesSayNothing(t *testing.T) {
	t.Parallel()
	files := []string{"C17/t/1.csv", "C17/t/2.csv", "C17/t/3.csv"}
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	for _, order := range orders {
		var shapes []Shape
		for _, i := range order {
			shapes = append(shapes, shape(t, files[i]))
		}

		got := columns(shapes...)

		if want := "id BIGINT, shipped DATE"; got != want {
			t.Errorf("order %v: got %s, want %s", order, got, want)
		}
	}
	if got := columns(shape(t, files[0])); got != "id VARCHAR, shipped VARCHAR" {
		t.Errorf("only empty files: got %s, want text", got)
	}
}

func TestC19AVeryWideFileIsReadFarEnough(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	for row := range 4 {
		for i := range 16384 {
			if i > 0 {
				file.WriteByte(',')
			}
			if row == 0 {
				fmt.Fprintf(&file, "s%05d", i)
				continue
			}
			fmt.Fprint(&file, i*row)
		}
		file.WriteByte('\n')
	}

	head, err := Read(&file)
	must(t, err)
	got, err := CSV(head, engine.Dialect{})
	must(t, err)

	if len(got.Columns) != 16384 || !got.Header() || got.Columns[16383].Type() != "BIGINT" {
		t.Errorf("got %d columns, header %v", len(got.Columns), got.Header())
	}
}

func TestC20ATypeThatChangesIsText(t *testing.T) {
	t.Parallel()

	got := columns(shape(t, "C20/t/d=1/a.csv"), shape(t, "C20/t/d=2/a.csv"))

	if want := "id BIGINT, code VARCHAR"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestC23TheDroppedColumnIsNoted(t *testing.T) {
	t.Parallel()
	want := map[string]Trailing{
		"C23/both.csv": TrailingBoth, "C23/rows-only.csv": TrailingRows,
		"C23/header-only.csv": TrailingHead, "C23/bad.csv": NoTrailing,
	}
	for file, trailing := range want {
		got := shape(t, file)

		if got.Trailing != trailing || trailing != NoTrailing && len(got.Notes) == 0 {
			t.Errorf("%s: got %v with notes %v, want %v", file, got.Trailing, got.Notes, trailing)
		}
	}
}

func TestTypesOfColumns(t *testing.T) {
	t.Parallel()
	tests := []struct{ values, want string }{
		{"1 2 3", "BIGINT"},
		{"1 2.5", "DOUBLE"},
		{"9007199254740993 2.5", "VARCHAR"},
		{"0 00", "VARCHAR"},
		{"0 -0.5", "DOUBLE"},
		{"00.5 1.5", "VARCHAR"},
		{"true FALSE", "BOOLEAN"},
		{"true 1", "VARCHAR"},
		{"2026-11-28 2026-11-29", "DATE"},
		{"2026-02-30", "VARCHAR"},
		{"2026-11-28 2026-11-28T10:00:00", "TIMESTAMP"},
		{"2026-11-28T10:00:00Z 2026-11-28T10:00:00+02:00", "TIMESTAMPTZ"},
		{"2026-11-28T10:00:00Z 2026-11-28T10:00:00", "VARCHAR"},
		{"01/02/2026 02/03/2026", "VARCHAR"},
		{"13/02/2026 02/03/2026", "DATE"},
		{"1e5 2", "DOUBLE"},
	}
	for _, test := range tests {
		file := "v,w\n"
		for v := range strings.FieldsSeq(test.values) {
			file += v + ",x\n"
		}
		s, err := CSV(Head{[]byte(file), true}, engine.Dialect{})
		must(t, err)

		got := s.Columns[0].Type()

		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.values, got, test.want)
		}
	}
}

func TestHeadersAreToldFromData(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file string
		want bool
	}{
		{"id,name\n1,a\n", true},
		{"id,name\n", true},
		{"1,a\n2,b\n", false},
		{"first,last\nAnn,Lee\nBo,Ray\n", true},
		{"a,x\nb,y\na,z\n", false},
		{"id\n1\n2\n", true},
		{"id,price_€,size*\n1,5,6\n", true},
		{"name?,total (€)\nAnn,x\nBo,y\n", true},
		{"id,total (€)\n1,2.5\n", true},
		{"id,2024,2025\n1,5,6\n", true},
		{"name,2024,2025\nAnn,5,6\nBo,7,8\n", true},
		{"name,2024-01,2024-02\nAnn,5,6\n", true},
		{"id,\"my \"\"x\"\"\"\n1,2\n", true},
		{"id,id,v\n1,2,3\n", true},
		{"id,,v\n1,2,3\n", true},
		{"mail (user@host),n\na@b.org,1\n", true},
		{"#,name\n1,Ann\n", true},
		// Data, whatever its first line looks like.
		{"Ann,2024\nBo,2025\n", false},
		{"Ann,17\nBo,18\n", false},
		{"NA,3\n1,4\n2,5\n", false},
		{"x,x\ny,z\n", false},
		{"a,,b\nc,d,e\n", false},
		{"ann@b.org,Berlin\nbo@b.org,Kiel\n", false},
		{"http://a.org,Ann, Lee\nhttp://b.org,Bo,Ray\n", false},
		{"2024,5\n2025,6\n", false},
		{"007,x\n1,y\n", false},
		{"12:30,a\n12:45,b\n", false},
		{",\n1,2\n", false},
	}
	for _, test := range tests {
		s, err := CSV(Head{[]byte(test.file), true}, engine.Dialect{})
		must(t, err)

		if s.Header() != test.want {
			t.Errorf("%q: got %v, want %v", test.file, s.Header(), test.want)
		}
	}
}

func TestOddNamesAreMendedAndNoted(t *testing.T) {
	t.Parallel()
	tests := []struct{ file, columns, note string }{
		{"id,id,v\n1,2,3\n", "id BIGINT, id_1 BIGINT, v BIGINT", "The name id stands twice in the header; the second is called id_1."},
		{"id,ID\n1,2\n", "id BIGINT, ID_1 BIGINT", "The name ID stands twice in the header; the second is called ID_1."},
		{"id,,v\n1,2,3\n", "id BIGINT, column1 BIGINT, v BIGINT", "Column 2 has no name in the header; it is called column1."},
		{"id,price_€,size*\n1,5,6\n", "id BIGINT, price_€ BIGINT, size* BIGINT", ""},
		{"id,2024,2025\n1,5,6\n", "id BIGINT, 2024 BIGINT, 2025 BIGINT", ""},
		{"id,\"my \"\"x\"\"\"\n1,2\n", "id BIGINT, my \"x\" BIGINT", ""},
	}
	for _, tt := range tests {
		s, err := CSV(Head{[]byte(tt.file), true}, engine.Dialect{})
		must(t, err)

		if got := columns(s); got != tt.columns {
			t.Errorf("%q: got %s, want %s", tt.file, got, tt.columns)
		}
		if got := strings.Join(s.Notes, " "); got != tt.note {
			t.Errorf("%q: got the notes %q, want %q", tt.file, got, tt.note)
		}
	}
}

func TestQuotesProtectDelimitersAndLineBreaks(t *testing.T) {
	t.Parallel()

	got := parse("a,b\n\"x, \"\"y\"\"\nz\",2\r\n3,\"\"", ',', '"', true)

	want := [][]string{{"a", "b"}, {"x, \"y\"\nz", "2"}, {"3", ""}}
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("record %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

func TestACutHeadLeavesOutItsLastRecord(t *testing.T) {
	t.Parallel()

	s, err := CSV(Head{[]byte("id,note\n1,a\n2,b\n3"), false}, engine.Dialect{})
	must(t, err)

	if s.Rows != 2 {
		t.Errorf("got %d rows, want 2", s.Rows)
	}
}
