package crawl_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/bucket"
	"dogear/engine/crawl"
	"dogear/engine/duck"
	"dogear/engine/flow"
	"dogear/engine/place"
	"dogear/engine/query"
	"dogear/engine/runner"
	"dogear/engine/source"
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

// ground is a crawler over real folders with a real store.
type ground struct {
	t       *testing.T
	dir     string
	store   *db.Store
	query   *query.Service
	service *crawl.Service
	crawler engine.Crawler
	log     []string
}

func newGround(t *testing.T) *ground {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	store := dbtest.SQLite(t)
	files := source.New(place.Roots{Base: dir, Allowed: []string{dir}}, bucket.New(nil))
	questions := &query.Service{
		Catalog: store, Source: files, Worker: duck.Worker{Command: []string{self, "worker"}}, Dir: filepath.Join(t.TempDir(), "query"), Threads: 1,
	}
	g := &ground{t: t, dir: dir, store: store, query: questions, service: &crawl.Service{
		Files: files, Describer: questions, Catalog: store, Now: time.Now,
		Planner: &bookmark.Planner{Ledger: store, Lister: files, Tables: store, Hasher: files},
	}}
	g.crawler.ID, g.crawler.Name = engine.NewID(time.Now()), "find tables"
	g.crawler.Database, g.crawler.Targets = "Lake", []engine.CrawlerTarget{{Path: "t"}}
	return g
}

// put writes files; a text for a name that ends in .gz is compressed.
func (g *ground) put(files map[string]string) {
	g.t.Helper()
	for key, text := range files {
		path := filepath.Join(g.dir, key)
		must(g.t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(g.t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// Planned, Started, Staged, Progress and Log make the ground a host.
func (g *ground) Planned(_ context.Context, plan engine.Plan) (engine.Batch, error) {
	return engine.Batch{ID: engine.NewID(time.Now()), Plan: plan}, nil
}

func (g *ground) Started(context.Context, engine.Process) error { return nil }
func (g *ground) Mine(context.Context) bool                     { return true }

func (g *ground) Staged(context.Context, engine.ID, engine.Manifest) error { return nil }
func (g *ground) Progress(runner.Progress)                                 {}
func (g *ground) Log(level runner.Level, text string)                      { g.log = append(g.log, string(level)+" "+text) }

func (g *ground) said(text string) bool { return strings.Contains(strings.Join(g.log, "\n"), text) }

// crawl crawls and commits what came of it, as the end of an attempt does.
func (g *ground) crawl() runner.Result {
	g.t.Helper()
	g.log = nil
	ctx := g.t.Context()
	run := engine.Run{ID: engine.NewID(time.Now()), Kind: engine.RunCrawl, By: "owner"}
	result, err := g.service.Run(ctx, runner.Attempt{Run: run, Crawler: &g.crawler, Dir: g.t.TempDir()}, g)
	must(g.t, err)
	if result.State != engine.Succeeded {
		return result
	}
	var moves []flow.Move
	for _, change := range result.Ledger {
		mark, err := g.store.BookmarkOf(ctx, g.crawler.ID, change.Ctx)
		must(g.t, err)
		if mark == nil {
			mark = &engine.Bookmark{ID: engine.NewID(time.Now()), Job: g.crawler.ID, Ctx: change.Ctx}
		}
		mark.Fingerprint = change.Fingerprint
		from, root := mark.Version, mark.Root
		moved, line, err := bookmark.Advance(ctx, g.store, *mark, change.Entries, 0, bookmark.By{Who: "owner", At: time.Now(), Run: run.ID})
		must(g.t, err)
		moves = append(moves, flow.Move{Bookmark: moved, Move: line, From: from, FromRoot: root})
	}
	g.commit(run, flow.Writes{Tables: result.Tables, Bookmarks: moves})
	return result
}

func (g *ground) commit(run engine.Run, w flow.Writes) {
	g.t.Helper()
	for _, written := range g.store.Commit(g.t.Context(), []flow.Step{{
		New:    &run,
		Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) { w.Run = run; return w, nil },
	}}) {
		must(g.t, written.Err)
	}
}

// catalog writes what the catalog holds, a line a table.
func (g *ground) catalog() string {
	g.t.Helper()
	tables, err := g.store.Tables(g.t.Context())
	must(g.t, err)
	var lines []string
	for _, t := range tables {
		partitions, err := g.store.Partitions(g.t.Context(), t.ID, 0, 1000)
		must(g.t, err)
		var values []string
		for _, p := range partitions {
			values = append(values, strings.Join(p.Values, "/"))
			if want := filepath.Join(t.Location, strings.TrimPrefix(p.Location, t.Location)); p.Location != want {
				g.t.Errorf("the partition %s lies at %s, which is not below %s", values[len(values)-1], p.Location, t.Location)
			}
		}
		lines = append(lines, fmt.Sprintf("%s v%d %v %v %v", t.FullName(), t.Version, t.Columns, t.Keys, values))
	}
	return strings.Join(lines, "\n")
}

// rows asks the catalog's tables.
func (g *ground) rows(sql string) string {
	g.t.Helper()
	got, err := g.query.Query(g.t.Context(), sql, 100)
	must(g.t, err)
	var lines []string
	for _, row := range got.Cells {
		var cells []string
		for _, cell := range row {
			if cell == nil {
				cells = append(cells, "NULL")
				continue
			}
			cells = append(cells, *cell)
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return strings.Join(lines, " ")
}

func (g *ground) wantCatalog(want string) {
	g.t.Helper()
	if got := g.catalog(); got != want {
		g.t.Errorf("catalog: got\n%s\nwant\n%s\nlog\n%s", got, want, strings.Join(g.log, "\n"))
	}
}

func TestC12EmptyMarkersMakeNoTables(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.put(map[string]string{"t/sales/_$folder$": "", "t/sales/run.done": ""})
	for day := range 30 {
		g.put(map[string]string{fmt.Sprintf("t/sales/day=%02d/part-0.csv", day+1): "id,n\n1,2\n"})
	}

	result := g.crawl()

	if result.Counts.Tables != 1 || result.Counts.Partitions != 30 {
		t.Errorf("got %d tables and %d partitions, want 1 and 30:\n%s", result.Counts.Tables, result.Counts.Partitions, g.catalog())
	}
	if got := g.rows("SELECT count(*), max(day) FROM lake.sales"); got != "30|30" {
		t.Errorf("rows: got %s", got)
	}
}

func TestC12MoreTablesThanTheLimitWriteNothing(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.put(map[string]string{"t/sales/_$folder$": "", "t/sales/run.done": ""})
	for day := range 30 {
		g.put(map[string]string{fmt.Sprintf("t/sales/day %02d/part-0.csv", day+1): "id,n\n1,2\n"})
	}
	must(t, os.Remove(filepath.Join(g.dir, "t/sales/run.done"))) // beside the folders it makes them one table
	g.crawler.MaxTables = 5

	refused := g.crawl()

	want := "found 30 tables and may make at most 5, so nothing was written. In t it found 30, such as sales/day 01 (sales/day 01/part-0.csv)"
	if refused.State != engine.Failed || !strings.Contains(refused.Error, want) {
		t.Errorf("got %s: %s, want a refusal with %q", refused.State, refused.Error, want)
	}
	g.wantCatalog("")
	g.crawler.MaxTables = 30
	if allowed := g.crawl(); allowed.State != engine.Succeeded || allowed.Counts.Tables != 30 {
		t.Errorf("at the limit: got %s and %d tables, want success with 30", allowed.State, allowed.Counts.Tables)
	}
}

func TestC13AColumnWithTheNameOfAKeyStandsAside(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.put(map[string]string{
		"t/csv/dt=2026-03-01/a.csv": "id,DT\n1,2026-03-01\n2,2026-02-28\n", "t/csv/dt=2026-03-02/b.csv": "id,DT\n3,2026-03-02\n",
		"t/json/dt=2026-03-01/a.json": `{"id": 1, "dt": 7}`, "t/json/dt=2026-03-02/a.json": `{"id": 2}`,
	})
	var parquet bytes.Buffer
	must(t, g.query.Export(t.Context(), "SELECT 1 AS id, 'in the file' AS Dt", engine.Parquet, &parquet))
	g.put(map[string]string{"t/parquet/dt=2026-03-01/a.parquet": parquet.String()})

	g.crawl()
	if !g.said("warn csv: the files hold a column dt with the name of a partition key. dt is the value in the path, and the column of the files is called dt_1.") {
		t.Errorf("log: got\n%s\nwant the finding", strings.Join(g.log, "\n"))
	}
	g.put(map[string]string{"t/csv/dt=2026-03-03/c.csv": "id,dt\n4,2026-03-04\n"})
	g.crawl() // finds the same columns under the same names

	g.wantCatalog(strings.Join([]string{
		"lake.csv v1 [{id BIGINT} {dt_1 DATE}] [{dt VARCHAR}] [2026-03-01 2026-03-02 2026-03-03]",
		"lake.json v1 [{id BIGINT} {dt_1 BIGINT}] [{dt VARCHAR}] [2026-03-01 2026-03-02]",
		"lake.parquet v1 [{id INTEGER} {dt_1 VARCHAR}] [{dt VARCHAR}] [2026-03-01]",
	}, "\n"))
	for sql, want := range map[string]string{
		"SELECT id, dt, dt_1 FROM lake.csv ORDER BY id":           "1|2026-03-01|2026-03-01 2|2026-03-01|2026-02-28 3|2026-03-02|2026-03-02 4|2026-03-03|2026-03-04",
		"SELECT id, dt, dt_1 FROM lake.json ORDER BY id":          "1|2026-03-01|7 2|2026-03-02|NULL",
		"SELECT id, dt, dt_1 FROM lake.parquet":                   "1|2026-03-01|in the file",
		"SELECT count(*) FROM lake.csv WHERE dt <> dt_1::VARCHAR": "2",
	} {
		if got := g.rows(sql); got != want {
			t.Errorf("%s: got %s, want %s", sql, got, want)
		}
	}
}

func TestC14PaddingIsKeptAndNoticed(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.put(map[string]string{"t/month=6/a.csv": "n\n1\n", "t/month=06/a.csv": "n\n2\n", "t/month=006/a.csv": "n\n3\n"})

	g.crawl()

	g.wantCatalog("lake.t v1 [{n BIGINT}] [{month VARCHAR}] [006 06 6]")
	if got := g.rows("SELECT month, n FROM lake.t WHERE month::INTEGER = 6 ORDER BY month"); got != "006|3 06|2 6|1" || !g.said("The partition key month is written both as") {
		t.Errorf("got %s and the log\n%s", got, strings.Join(g.log, "\n"))
	}
}

func TestC15DatesAsBareFoldersKeepTheirNames(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.put(map[string]string{"t/2026/03/01/a.csv": "n\n1\n", "t/2026/03/02/a.csv": "n\n2\n", "t/2026/12/31/a.csv": "n\n3\n"})
	g.crawl()
	g.put(map[string]string{"t/2027/01/01/a.csv": "n\n4\n"})

	g.crawl()

	g.wantCatalog("lake.t v1 [{n BIGINT}] [{year VARCHAR} {month VARCHAR} {day VARCHAR}] [2026/03/01 2026/03/02 2026/12/31 2027/01/01]")
	if got := g.rows("SELECT n, day FROM lake.t WHERE year = '2026' AND month = '03' ORDER BY n"); got != "1|01 2|02" {
		t.Errorf("rows: got %s", got)
	}
}

func TestC16MarkersAndUnfinishedFilesAreNoData(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.put(map[string]string{
		"t/a.csv": "id,n\n1,2\n3,4\n", "t/_SUCCESS": "", "t/.a.csv.crc": "x", "t/_temporary/0/part-0.csv": "id,n\n9,9\n", "t/.DS_Store": "x", "t/empty.csv": "",
		"t/empty.csv.gz": gzipped(t, "", 1), "t/broken.csv.gz": gzipped(t, "id,n\n"+strings.Repeat("5,6\n", 3000), 0.6),
	})

	result := g.crawl()

	g.wantCatalog("lake.t v1 [{id BIGINT} {n BIGINT}] [] []")
	if result.Counts.Files != 3 || !g.said("broken.csv.gz cannot be read and is left out") {
		t.Errorf("got %d files and the log\n%s\nwant three looked into and the cut one named", result.Counts.Files, strings.Join(g.log, "\n"))
	}
	if got := g.rows("SELECT sum(id) FROM lake.t"); got != "4" {
		t.Errorf("rows: got the sum %s, want that of a.csv alone", got)
	}
}

// gzipped is a share of a compressed text.
func gzipped(t *testing.T, text string, share float64) string {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(text))
	must(t, err)
	must(t, w.Close())
	return packed.String()[:int(float64(packed.Len())*share)]
}

func TestC20ATypeThatChangedIsText(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.put(map[string]string{"t/d=1/a.csv": "id,code\n1,10\n2,20\n"})
	g.crawl()
	g.wantCatalog("lake.t v1 [{id BIGINT} {code BIGINT}] [{d VARCHAR}] [1]")
	g.put(map[string]string{"t/d=2/a.csv": "id,code\n3,A7\n"})

	g.crawl()

	g.wantCatalog("lake.t v2 [{id BIGINT} {code VARCHAR}] [{d VARCHAR}] [1 2]")
	if got := g.rows("SELECT id, code, d FROM lake.t ORDER BY id"); got != "1|10|1 2|20|1 3|A7|2" || !g.said("column code was BIGINT and is now VARCHAR") {
		t.Errorf("got %s and the log\n%s", got, strings.Join(g.log, "\n"))
	}
}

func TestASecondCrawlLooksAtWhatIsNewOnly(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.put(map[string]string{"t/d=1/a.csv": "id\n1\n", "t/d=2/a.csv": "id\n2\n"})
	first := g.crawl()
	nothing := g.crawl()
	g.put(map[string]string{"t/d=3/a.csv": "extra,id\nx,3\n"})

	added := g.crawl()

	if first.Counts.Files != 2 || nothing.Counts.Files != 0 || added.Counts.Files != 1 {
		t.Errorf("got %d, %d and %d files looked into, want 2, 0 and 1", first.Counts.Files, nothing.Counts.Files, added.Counts.Files)
	}
	g.wantCatalog("lake.t v2 [{id BIGINT} {extra VARCHAR}] [{d VARCHAR}] [1 2 3]")
	if got := g.rows("SELECT id, extra FROM lake.t ORDER BY id"); got != "1|NULL 2|NULL 3|x" || !g.said("lake.t: new columns extra") {
		t.Errorf("got %s and the log\n%s", got, strings.Join(g.log, "\n"))
	}
}

func TestFilesOfSeveralDialectsAreOneTable(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.put(map[string]string{"t/a.csv": "id,note\n1,a\n2,b\n"})
	g.crawl()
	g.put(map[string]string{"t/b.csv": "id;note\n3;c\n4;\"d;e\"\n"})
	g.crawl()
	noticed := g.said(`do not all separate values by ","`)
	g.put(map[string]string{"t/c.csv": "id;note\n5;f\n6;g\n"})
	g.crawl()

	got := g.rows("SELECT id, note FROM lake.t ORDER BY id")

	if got != "1|a 2|b 3|c 4|d;e 5|f 6|g" || !noticed {
		t.Errorf("got %s and noticed %t\n%s", got, noticed, g.catalog())
	}
}

func TestAPartitionThatIsGoneIsDropped(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.put(map[string]string{"t/d=1/a.csv": "id\n1\n", "t/d=2/a.csv": "id\n2\n"})
	g.crawl()
	must(t, os.RemoveAll(filepath.Join(g.dir, "t/d=1")))

	g.crawl()

	g.wantCatalog("lake.t v1 [{id BIGINT}] [{d VARCHAR}] [2]")
	if !g.said("1 gone") {
		t.Errorf("log: got\n%s\nwant what is gone", strings.Join(g.log, "\n"))
	}
}

func TestATableThatAJobOwnsIsOnlyCompared(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.put(map[string]string{"t/d=1/a.csv": "id,surprise\n1,x\n"})
	owned := engine.Table{
		Database: "curated", Name: "orders", Location: filepath.Join(g.dir, "t"), Format: engine.CSV, OwnerJob: "job", By: "job", At: time.Now(),
		Columns: []engine.Column{{Name: "id", Type: "BIGINT"}}, Keys: []engine.Column{{Name: "d", Type: "VARCHAR"}},
	}
	g.commit(engine.Run{ID: engine.NewID(time.Now()), Kind: engine.RunJob, By: "owner"}, flow.Writes{Tables: []engine.TableChange{{Table: owned}}})
	before := g.catalog()

	result := g.crawl()

	g.wantCatalog(before)
	if len(result.Tables) > 0 || !g.said("curated.orders is owned by a job; its files also hold surprise") {
		t.Errorf("got %+v and the log\n%s", result.Tables, strings.Join(g.log, "\n"))
	}
}

func TestATargetThatIsNotThereFailsAndChangesNothing(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.crawler.Targets = append(g.crawler.Targets, engine.CrawlerTarget{Path: "absent"})
	g.put(map[string]string{"t/d=1/a.csv": "id\n1\n"})

	result := g.crawl()

	if result.State != engine.Failed || !strings.Contains(result.Error, filepath.Join(g.dir, "absent")+" does not exist") {
		t.Errorf("got %s: %s, want a failure that names the folder", result.State, result.Error)
	}
	g.wantCatalog("")
}

func TestJSONAndParquetAreDescribed(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.put(map[string]string{"t/events/day=1/a.jsonl": "{\"id\": 9007199254740993, \"tags\": [\"x\"]}\n", "t/orders/a.csv": "id\n1\n"})
	var parquet bytes.Buffer
	g.crawl()
	must(t, g.query.Export(t.Context(), "SELECT id::DECIMAL(9,2) AS Price FROM lake.orders", engine.Parquet, &parquet))
	g.put(map[string]string{"t/prices/p=1/a.parquet": parquet.String()})

	g.crawl()

	want := []string{
		"lake.events v1 [{id BIGINT} {tags VARCHAR[]}] [{day VARCHAR}] [1]",
		"lake.orders v1 [{id BIGINT}] [] []",
		"lake.prices v1 [{price DECIMAL(9,2)}] [{p VARCHAR}] [1]",
	}
	if got := strings.Split(g.catalog(), "\n"); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := g.rows("SELECT id, tags, day FROM lake.events"); got != "9007199254740993|[x]|1" {
		t.Errorf("events: got %s", got)
	}
	if got := g.rows("SELECT price, p FROM lake.prices"); got != "1.00|1" {
		t.Errorf("prices: got %s", got)
	}
}
