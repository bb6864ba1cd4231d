package query_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/duck"
	"dogear/engine/place"
	"dogear/engine/query"
	"dogear/engine/source"
	"dogear/engine/table/tabletest"
)

// TestMain lets this binary be its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(duck.Main(context.Background()))
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// catalog is a list of tables.
type catalog []engine.Table

func (c catalog) Tables(context.Context) ([]engine.Table, error) { return c, nil }

func (c catalog) Table(_ context.Context, id engine.ID) (engine.Table, error) {
	return c.find(func(t engine.Table) bool { return t.ID == id })
}

func (c catalog) TableNamed(_ context.Context, name string) (engine.Table, error) {
	return c.find(func(t engine.Table) bool { return t.FullName() == name })
}

func (c catalog) find(is func(engine.Table) bool) (engine.Table, error) {
	if i := slices.IndexFunc(c, is); i >= 0 {
		return c[i], nil
	}
	return engine.Table{}, engine.Errorf(engine.NotFound, "There is no such table.")
}

// shop is a service over two tables: sales in folders named by nothing but a
// date, and customers in one CSV file.
func shop(t *testing.T) (*query.Service, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for key, text := range map[string]string{
		"sales/2026/03/a.csv":   "order_id,customer,amount\n9007199254740993,1,10.50\n2,2,1.00\n",
		"sales/2026/04/b.csv":   "order_id,customer,amount\n3,1,4.25\n",
		"customers/people.csv":  "id;name\n1;Ada\n2;Grace\n",
		"odd/[1] {new}*?.csv":   "a\n1\n",
		"odd/11 new.csv":        "a\n2\n",
		"od[d] folder/file.csv": "a\n3\n",
	} {
		path := filepath.Join(dir, "files", key)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	self, err := os.Executable()
	must(t, err)
	files := filepath.Join(dir, "files")
	yes := true
	text := func(names ...string) (columns []engine.Column) {
		for _, name := range names {
			columns = append(columns, engine.Column{Name: name, Type: "VARCHAR"})
		}
		return columns
	}
	return &query.Service{
		Catalog: catalog{
			{
				ID: "1", Database: "shop", Name: "sales", Location: filepath.Join(files, "sales"), Format: engine.CSV,
				Columns: []engine.Column{{Name: "order_id", Type: "BIGINT"}, {Name: "customer", Type: "BIGINT"}, {Name: "amount", Type: "DECIMAL(10,2)"}},
				Keys:    text("year", "month"),
			},
			{
				ID: "2", Database: "crm", Name: "our customers", Location: filepath.Join(files, "customers"), Format: engine.CSV,
				Dialect: engine.Dialect{Delimiter: ";", Header: &yes}, Columns: []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "name", Type: "VARCHAR"}},
			},
			{ID: "3", Database: "shop", Name: "gone", Location: filepath.Join(files, "gone"), Format: engine.CSV, Columns: text("a")},
		},
		Source: source.New(place.Roots{Base: files, Allowed: []string{files}}, bucket.New(nil)),
		Worker: duck.Worker{Command: []string{self, "worker"}}, Dir: filepath.Join(dir, "scratch"), Threads: 1,
	}, dir
}

// lines writes rows as text.
func lines(rows engine.Rows) string {
	var out []string
	for _, row := range rows.Cells {
		var cells []string
		for _, cell := range row {
			if cell == nil {
				cells = append(cells, "NULL")
				continue
			}
			cells = append(cells, *cell)
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return strings.Join(out, "\n")
}

func TestQueryJoinsTablesByTheirFullNames(t *testing.T) {
	t.Parallel()
	s, dir := shop(t)

	got, err := s.Query(t.Context(), `SELECT year, month, order_id, name FROM Shop.Sales JOIN crm."our customers" ON customer = id ORDER BY order_id`, 2)
	must(t, err)

	if text := lines(got); text != "2026|03|2|Grace\n2026|04|3|Ada" || !got.More {
		t.Errorf("got\n%s\nmore %t, want the first two rows with the date of their folders, and more", text, got.More)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "scratch")); len(left) > 0 {
		t.Errorf("scratch: got %v left, want nothing", left)
	}
}

func TestTwentyDigitsAreNotRounded(t *testing.T) {
	t.Parallel()
	s, _ := shop(t)

	got, err := s.Query(t.Context(), "SELECT max(order_id) FROM shop.sales", 10)
	must(t, err)

	if text := lines(got); text != "9007199254740993" {
		t.Errorf("got %s", text)
	}
}

func TestWrongSQLSaysWhere(t *testing.T) {
	t.Parallel()
	s, _ := shop(t)
	for sql, want := range map[string]engine.SQLFault{
		"SELECT order_id,\n  nope FROM shop.sales": {Line: 2, Column: 3},
		"SELECT 1 +":                {Line: 1, Column: 11},
		"SELECT * FROM shop.absent": {Line: 1, Column: 15},
	} {
		_, err := s.Query(t.Context(), sql, 10)

		fault, ok := errors.AsType[*engine.SQLFault](err)
		if !ok || *fault != want || engine.CodeOf(err) != engine.Invalid {
			t.Errorf("%q: got %v with the place %+v, want %+v", sql, err, fault, want)
		}
	}
}

func TestAQueryOnlyReads(t *testing.T) {
	t.Parallel()
	s, dir := shop(t)
	secret := filepath.Join(dir, "secret.csv")
	must(t, os.WriteFile(secret, []byte("a\n1\n"), 0o600))
	for _, sql := range []string{
		"DROP TABLE shop.sales", "COPY (SELECT 1) TO '" + secret + "'", "SELECT * FROM '" + secret + "'",
		"SELECT * FROM read_text('/etc/passwd')", "SELECT 1; SELECT 2",
	} {
		got, err := s.Query(t.Context(), sql, 10)

		if code := engine.CodeOf(err); code != engine.Invalid && code != engine.Forbidden {
			t.Errorf("%s: got %s and %v, want a refusal", sql, lines(got), err)
		}
	}
	if text, _ := os.ReadFile(secret); string(text) != "a\n1\n" {
		t.Errorf("the file beside: got %q, want it untouched", text)
	}
}

func TestAQueryThatTakesTooLongIsEnded(t *testing.T) {
	t.Parallel()
	s, _ := shop(t)
	s.Timeout = time.Second
	start := time.Now()

	_, err := s.Query(t.Context(), "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b", 10)

	if engine.CodeOf(err) != engine.LimitHit || !strings.Contains(engine.MessageOf(err), "took longer than 1s") {
		t.Errorf("got %v, want that it took longer than its limit", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it ended after %s", took)
	}
}

func TestFilesReplacedJustThenAreReadAsTheyAreNow(t *testing.T) {
	t.Parallel()
	s, dir := shop(t)
	asked := 0
	s.Worker.Started = func(context.Context, int) error {
		if asked++; asked > 1 {
			return nil
		}
		month := filepath.Join(dir, "files", "sales/2026/03")
		must(t, os.Remove(filepath.Join(month, "a.csv")))
		return os.WriteFile(filepath.Join(month, "c.csv"), []byte("order_id,customer,amount\n7,1,1.00\n8,1,1.00\n9,1,1.00\n"), 0o600)
	}

	got, err := s.Query(t.Context(), "SELECT count(*), max(order_id) FROM shop.sales", 10)
	must(t, err)

	if text := lines(got); text != "4|9" || asked != 2 {
		t.Errorf("got %s after asking %d times, want the 4 rows that are there now", text, asked)
	}
}

func TestATableWhoseFolderIsGoneSaysSo(t *testing.T) {
	t.Parallel()
	s, _ := shop(t)

	_, err := s.Query(t.Context(), "SELECT * FROM shop.gone", 10)

	if err == nil || !strings.Contains(engine.MessageOf(err), "gone does not exist") {
		t.Errorf("got %v, want that the folder does not exist", err)
	}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	s, dir := shop(t)
	must(t, os.WriteFile(filepath.Join(dir, "files/sales/2026/03/cut.csv"), []byte{0x1f, 0x8b, 8, 0}, 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "files/sales/2026/04/odd.csv"), []byte("order_id,customer,amount\n4,one,1.00\n5,1,2.00\n"), 0o644))

	got, err := s.Query(t.Context(), "SELECT order_id, customer FROM shop.sales ORDER BY order_id", 10)
	must(t, err)

	if text := lines(got); text != "2|2\n3|1\n5|1\n9007199254740993|1" {
		t.Errorf("rows: got\n%s\nwant those that can be read", text)
	}
	notices := strings.Join(got.Notices, "\n")
	for _, want := range []string{"left out: 2026/03/cut.csv cannot be read", "row refused: 2026/04/odd.csv line 2, column customer"} {
		if !strings.Contains(notices, want) {
			t.Errorf("notices: got\n%s\nwant %q", notices, want)
		}
	}
	var file bytes.Buffer
	err = s.Export(t.Context(), "SELECT order_id FROM shop.sales", engine.CSV, &file)
	if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), "cut.csv") || file.Len() > 0 {
		t.Errorf("export: got %v and %d bytes, want a refusal that names the file", err, file.Len())
	}
}

func TestExportWritesEveryRow(t *testing.T) {
	t.Parallel()
	s, dir := shop(t)
	var csv, parquet bytes.Buffer

	must(t, s.Export(t.Context(), "SELECT order_id, month FROM shop.sales ORDER BY 1", engine.CSV, &csv))
	must(t, s.Export(t.Context(), "SELECT order_id FROM shop.sales", engine.Parquet, &parquet))
	err := s.Export(t.Context(), "SELECT nope FROM shop.sales", engine.CSV, &csv)

	if csv.String() != "order_id,month\n2,03\n3,04\n9007199254740993,03\n" {
		t.Errorf("got %q", csv.String())
	}
	if !bytes.HasPrefix(parquet.Bytes(), []byte("PAR1")) {
		t.Errorf("got %d bytes that are not Parquet", parquet.Len())
	}
	if _, ok := errors.AsType[*engine.SQLFault](err); !ok {
		t.Errorf("wrong SQL: got %v, want its place", err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "scratch")); len(left) > 0 {
		t.Errorf("scratch: got %v left, want nothing", left)
	}
}

func TestASampleIsOfTheFileThatWasNamed(t *testing.T) {
	t.Parallel()
	s, dir := shop(t)
	for path, want := range map[string]string{
		"odd/[1] {new}*?.csv": "1", "odd/11 new.csv": "2", "od[d] folder/file.csv": "3",
		filepath.Join(dir, "files", "odd/[1] {new}*?.csv"): "1",
	} {
		got, err := s.SampleFile(t.Context(), "", path, engine.CSV)
		must(t, err)

		if text := lines(got); text != want {
			t.Errorf("%s: got %s, want %s", path, text, want)
		}
	}
	if _, err := s.SampleFile(t.Context(), "", "odd/absent.csv", engine.CSV); engine.CodeOf(err) != engine.NotFound {
		t.Errorf("a file that is not there: got %v, want NotFound", err)
	}
	if _, err := s.SampleFile(t.Context(), "", "/etc/hostname", engine.CSV); engine.CodeOf(err) != engine.Forbidden {
		t.Errorf("a file outside: got %v, want Forbidden", err)
	}
}

func TestASampleOfATableHasItsPartitions(t *testing.T) {
	t.Parallel()
	s, _ := shop(t)

	got, err := s.SampleTable(t.Context(), "1")
	must(t, err)

	if text := lines(got); text != "9007199254740993|1|10.50|2026|03\n2|2|1.00|2026|03\n3|1|4.25|2026|04" {
		t.Errorf("got\n%s", text)
	}
}

// joined is a job over a folder and a table of the catalog.
func joined() engine.JobBody {
	return engine.JobBody{
		Kind: engine.JobSQL,
		SQL: &engine.SQLJob{
			Sources: []engine.Source{
				{Name: "sales", Path: "sales/**/*.csv"},
				{Name: "people", CatalogTable: "crm.our customers"},
			},
			Steps: []engine.Step{
				{Name: "named", SQL: "SELECT name, amount FROM sales JOIN people ON customer = id"},
				{Name: "sums", SQL: "SELECT name, sum(amount) AS total FROM named\nWHERE getvariable('who') IS NULL OR name <> getvariable('who') GROUP BY name ORDER BY name"},
			},
		},
	}
}

func TestPreviewRunsStepsOnASample(t *testing.T) {
	t.Parallel()
	s, _ := shop(t)

	last, err := s.Preview(t.Context(), joined(), "")
	must(t, err)
	first, err := s.Preview(t.Context(), joined(), "named")
	must(t, err)
	broken := joined()
	broken.SQL.Steps[1].SQL = "SELECT name,\n nope FROM named"
	_, wrong := s.Preview(t.Context(), broken, "sums")

	if text := lines(last); text != "Ada|14.75\nGrace|1.0" {
		t.Errorf("the last step: got\n%s", text)
	}
	if len(first.Cells) != 3 || first.Columns[0].Name != "name" {
		t.Errorf("the first step: got %+v", first)
	}
	fault, ok := errors.AsType[*engine.SQLFault](wrong)
	if !ok || fault.Step != "sums" || fault.Line != 2 || fault.Column != 2 {
		t.Errorf("wrong SQL: got %v with the place %+v, want sums, line 2, column 2", wrong, fault)
	}
}

func TestColumnsOfSourcesAndSteps(t *testing.T) {
	t.Parallel()
	s, _ := shop(t)

	got, err := s.Columns(t.Context(), joined())
	must(t, err)

	want := map[string][]engine.Column{
		"people": {{Name: "id", Type: "BIGINT"}, {Name: "name", Type: "VARCHAR"}},
		"sums":   {{Name: "name", Type: "VARCHAR"}, {Name: "total", Type: "DOUBLE"}},
	}
	for name, columns := range want {
		if !slices.Equal(got[name], columns) {
			t.Errorf("%s: got %v, want %v", name, got[name], columns)
		}
	}
	if len(got) != 4 || len(got["sales"]) != 3 {
		t.Errorf("got %v, want two sources and two steps", got)
	}
	var read []string
	s.Read = func(src engine.Source, columns []engine.Column) {
		read = append(read, fmt.Sprint(src.Name, len(columns)))
	}
	broken := joined()
	broken.SQL.Steps[1].SQL = "SELECT nmae FROM named"
	part, err := s.Columns(t.Context(), broken)
	must(t, err)
	if len(part) != 3 || len(part["named"]) != 2 || fmt.Sprint(read) != "[sales3 people2]" {
		t.Errorf("with a wrong step: got %v, and told %v; want all before it", part, read)
	}
	if _, err := s.Columns(t.Context(), engine.JobBody{}); engine.CodeOf(err) != engine.Invalid {
		t.Errorf("a job without sources: got %v, want Invalid", err)
	}
}

func TestPreviewOfATableOfADatabaseIsASampleOfIt(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, "CREATE TABLE orders (id INTEGER PRIMARY KEY, note VARCHAR(20))", "INSERT INTO orders VALUES (1, 'a'), (2, 'b')")
		service, _ := shop(t)
		service.Tables = b.Databases
		job := engine.JobBody{Kind: engine.JobSQL, SQL: &engine.SQLJob{
			Sources: []engine.Source{{Name: "orders", Connection: tabletest.Connection, Table: "orders"}},
			Steps:   []engine.Step{{Name: "odd", SQL: "SELECT id, upper(note) AS note FROM orders WHERE id = 1"}},
		}}

		rows, err := service.Preview(t.Context(), job, "odd")
		must(t, err)
		columns, err := service.Columns(t.Context(), job)
		must(t, err)

		if got := lines(rows); !strings.Contains(got, "1") || !strings.Contains(got, "A") || strings.Contains(got, "B") {
			t.Errorf("preview: got %s", got)
		}
		if len(columns["orders"]) != 2 || columns["odd"][1].Name != "note" {
			t.Errorf("columns: got %v", columns)
		}
	})
}

// TestAnAnswerHoldsOnlySoManyBytes: a cell is cut between two characters, and
// rows that hold too much end the page.
func TestAnAnswerHoldsOnlySoManyBytes(t *testing.T) {
	t.Parallel()
	s, _ := shop(t)

	cell, err := s.Query(t.Context(), "SELECT repeat('é', 3_000_000) AS long, 'b' AS short", 10)
	must(t, err)
	page, err := s.Query(t.Context(), "SELECT repeat('x', 1_000_000) FROM range(100)", 1000)
	must(t, err)

	long := *cell.Cells[0][0]
	if len(long) != 1<<20 || strings.TrimRight(long, "é") != "" || *cell.Cells[0][1] != "b" {
		t.Errorf("the long cell: got %d bytes, want 1 MiB of é", len(long))
	}
	if said := strings.Join(cell.Notices, "; "); !strings.Contains(said, "1 value is longer than") {
		t.Errorf("the long cell: got the notices %q", said)
	}
	if len(page.Cells) != 17 || !page.More || !strings.Contains(strings.Join(page.Notices, "; "), "only the first 17 rows are shown") {
		t.Errorf("the long page: got %d rows, more %v and %q, want 17 of 100", len(page.Cells), page.More, page.Notices)
	}
}
