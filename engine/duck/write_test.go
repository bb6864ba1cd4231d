package duck

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dogear/engine"
)

// write runs one step into one sink.
func (b *bench) write(stage string, sink engine.Sink, sql string, existing ...Existing) (Written, error) {
	b.t.Helper()
	sink.From = "s"
	got, err := b.run(Run{
		Steps: []engine.Step{{Name: "s", SQL: sql}}, Batch: 212, Tag: "k3x9",
		Outputs: []Output{{Sink: sink, Stage: b.stage(stage), Existing: existing}},
	})
	if err != nil {
		return Written{}, err
	}
	return got.Written[0], nil
}

func TestG1AStageThatIsNotEmptyIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	must(t, os.WriteFile(filepath.Join(b.stage("stage"), "other"), nil, 0o644))

	_, err := b.write("stage", engine.Sink{}, "SELECT 1 AS a")

	if err == nil {
		t.Error("got no error, want that the stage is not empty")
	}
	if _, err := os.Stat(filepath.Join(b.dir, "stage", "other")); err != nil {
		t.Errorf("the other file: got %v, want it untouched", err)
	}
}

func TestG3APathThatTwoPartitionsShareIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	_, err := b.write("stage", engine.Sink{PartitionBy: []string{"p"}},
		"SELECT * FROM (VALUES (1, NULL), (2, '__HIVE_DEFAULT_PARTITION__'), (3, 'x')) t(a, p)")

	if f := failure(t, err); f.Kind != FailData || !strings.Contains(f.Message, "rows would be lost") {
		t.Errorf("got %+v, want a refusal", f)
	}
}

func TestG4HugeNumbersAreNotRounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	got, err := b.write("stage", engine.Sink{}, "SELECT sum(9007199254740993::BIGINT) AS total, uuid() AS id, TIME '10:00' AS t, 18446744073709551615::UBIGINT AS u")
	must(t, err)

	if rows := b.rows("SELECT total, u FROM out", staged(filepath.Join(b.dir, "stage"), got)); rows != "9007199254740993|18446744073709551615" {
		t.Errorf("got %s, want every digit", rows)
	}
	if c := fmt.Sprint(got.Columns); c != "[{total DECIMAL(38,0)} {id VARCHAR} {t VARCHAR} {u DECIMAL(20,0)}]" {
		t.Errorf("columns: got %s", c)
	}
	_, err = b.write("stage-2", engine.Sink{}, "SELECT 170141183460469231731687303715884105727::HUGEINT AS total")
	if f := failure(t, err); f.Kind != FailData {
		t.Errorf("out of range: got %v, want a failure", err)
	}
}

func TestG5ManyPartitionsAreNotTornIntoManyFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	got, err := b.write("stage", engine.Sink{PartitionBy: []string{"p"}}, "SELECT range AS a, hash(range) % 800 AS p FROM range(400000)")
	must(t, err)

	if len(got.Files) > 1000 || got.Rows != 400_000 || len(touched(got.Files)) != 800 {
		t.Errorf("got %d files, %d rows, %d partitions; want about 800, 400000, 800", len(got.Files), got.Rows, len(touched(got.Files)))
	}
}

func TestG8SpillGoesToTheScratchFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	got := b.rows("SELECT value FROM duckdb_settings() WHERE name IN ('temp_directory', 'autoinstall_known_extensions', 'autoload_known_extensions', 'enable_external_access', 'lock_configuration') ORDER BY name")

	if want := "false\nfalse\nfalse\ntrue\n" + filepath.Join(b.dir, "scratch", "spill"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFilesAreNamedByBatchAndCountedByPartition(t *testing.T) {
	t.Parallel()
	for _, format := range []engine.Format{engine.Parquet, engine.CSV, engine.JSON} {
		b := newBench(t)

		got, err := b.write("stage", engine.Sink{Format: format, PartitionBy: []string{"y", "m"}},
			"SELECT * FROM (VALUES (1, 2026, 'a/b'), (2, 2026, 'a/b'), (3, 2025, 'c')) t(a, y, m)")
		must(t, err)

		slices.SortFunc(got.Files, func(a, b engine.OutFile) int { return strings.Compare(a.Path, b.Path) })
		if len(got.Files) != 2 || got.Files[1].Path != "y=2026/m=a%2Fb/part-000212-k3x9-0-0."+string(format) || got.Files[1].Rows != 2 || got.Files[1].Bytes == 0 || got.Rows != 3 {
			t.Errorf("%s: got %+v", format, got.Files)
		}
	}
}

func TestJSONIsWrittenAsLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	got, err := b.write("stage", engine.Sink{Format: engine.JSON}, "SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y' ORDER BY a")
	must(t, err)

	text, err := os.ReadFile(filepath.Join(b.dir, "stage", got.Files[0].Path))
	must(t, err)
	if string(text) != "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n" || got.Rows != 2 {
		t.Errorf("got %q with %d rows", text, got.Rows)
	}
}

func TestPartitionsOfEveryFormatAreReadBackAsTheyWere(t *testing.T) {
	t.Parallel()
	const rows = `SELECT * FROM (VALUES
		(1, 'a/b', 2026, E'two\nlines, "quoted" \\ and é', 9007199254740993),
		(2, 'a/b', 2026, NULL, NULL),
		(3, NULL,  2025, ' ', -1),
		(4, 'it''s', 2025, 'x', 0)) t(id, p, y, text, n)`
	const want = "1|a/b|2026|two\nlines, \"quoted\" \\ and é|9007199254740993\n2|a/b|2026|NULL|NULL\n3|NULL|2025| |-1\n4|it's|2025|x|0"
	for _, format := range []engine.Format{engine.Parquet, engine.CSV, engine.JSON} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)

			got, err := b.write("stage", engine.Sink{Format: format, PartitionBy: []string{"y", "p"}}, rows)
			must(t, err)

			in := staged(filepath.Join(b.dir, "stage"), got)
			in.Format = format
			in.Schema = []engine.Column{{Name: "id", Type: "INTEGER"}, {Name: "text", Type: "VARCHAR"}, {Name: "n", Type: "BIGINT"}, {Name: "y", Type: "INTEGER"}, {Name: "p", Type: "VARCHAR"}}
			if text := b.rows("SELECT id, p, y, text, n FROM out ORDER BY id", in); text != want || got.Rows != 4 || len(got.Files) != 3 {
				t.Errorf("got %d rows in %d files, read back as\n%s\nwant\n%s", got.Rows, len(got.Files), text, want)
			}
		})
	}
}

func TestRowsInAreCountedOnceForTwoSinksAndSelfJoins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := csvInput("s", b.file("a.csv", "id,n\n1,1\n2,2\n3,3\n"), b.file("b.csv", "id,n\n4,4\n"), b.file("c.csv", "n,id\n4,5\n"))
	pq := Input{Name: "d", Format: engine.Parquet, Files: []File{b.parquet("d.parquet", "SELECT range AS id FROM range(7)")}}

	got, err := b.run(Run{
		Inputs: []Input{in, pq},
		Steps:  []engine.Step{{Name: "x", SQL: "SELECT a.id FROM s a JOIN s b USING (id) JOIN d USING (id) WHERE a.n > 1"}},
		Outputs: []Output{
			{Sink: engine.Sink{From: "x"}, Stage: b.stage("1")},
			{Sink: engine.Sink{From: "s", Format: engine.CSV}, Stage: b.stage("2")},
		},
	})
	must(t, err)

	if got.RowsIn != 12 {
		t.Errorf("got %d rows in, want 5 of CSV and 7 of Parquet", got.RowsIn)
	}
}

func TestAnUnknownColumnOfASinkIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	_, err := b.write("stage", engine.Sink{PartitionBy: []string{"year"}}, "SELECT 1 AS a, 2 AS b")

	if f := failure(t, err); !strings.Contains(f.Message, "uses the column year. s has no column year. It has a, b.") {
		t.Errorf("got %s", f.Message)
	}
}

// target is a folder that merges are published into by copying, as the sink would.
type target struct {
	b     *bench
	n     int
	files []Existing
}

// merge merges the rows of sql and publishes them.
func (m *target) merge(sink engine.Sink, sql string) (Written, error) {
	m.n++
	stage := fmt.Sprintf("merge-%d", m.n)
	sink.Mode = engine.Merge
	w, err := m.b.write(stage, sink, sql, m.files...)
	if err != nil {
		return w, err
	}
	m.files = slices.DeleteFunc(m.files, func(e Existing) bool { return slices.Contains(w.Touched, e.Partition) })
	for _, f := range w.Files {
		m.files = append(m.files, Existing{Path: filepath.Join(m.b.dir, stage, f.Path), Partition: f.Partition})
	}
	return w, nil
}

// rows reads the target with its partition column p.
func (m *target) rows(sql string) string {
	in := Input{Name: "out", Format: engine.Parquet, Root: "/"}
	for _, f := range m.files {
		in.Files = append(in.Files, File{Key: strings.TrimPrefix(f.Path, "/"), Path: f.Path})
	}
	return m.b.rows(sql, in)
}

func TestMergeReplacesRowsByKeyAcrossPartitions(t *testing.T) {
	t.Parallel()
	m := &target{b: newBench(t)}
	sink := engine.Sink{Keys: []string{"id"}, PartitionBy: []string{"p"}}
	_, err := m.merge(sink, "SELECT * FROM (VALUES (1, 'a', 'one'), (2, 'a', 'two'), (3, 'b', 'three'), (4, 'c', 'four')) t(id, p, v)")
	must(t, err)

	got, err := m.merge(sink, "SELECT * FROM (VALUES (1, 'b', 'moved'), (5, 'd', 'new')) t(id, p, v)")
	must(t, err)

	if rows, want := m.rows("SELECT id, p, v FROM out ORDER BY id"), "1|b|moved\n2|a|two\n3|b|three\n4|c|four\n5|d|new"; rows != want {
		t.Errorf("got\n%s\nwant\n%s", rows, want)
	}
	if want := []string{"p=a", "p=b", "p=d"}; !slices.Equal(got.Touched, want) || got.Updated != 1 || got.Inserted != 1 {
		t.Errorf("got touched %v, %d updated, %d inserted; want %v, 1, 1", got.Touched, got.Updated, got.Inserted, want)
	}
}

func TestMergeTouchesAPartitionThatLosesItsLastRow(t *testing.T) {
	t.Parallel()
	m := &target{b: newBench(t)}
	sink := engine.Sink{Keys: []string{"id"}, PartitionBy: []string{"p"}}
	_, err := m.merge(sink, "SELECT 1 AS id, 'a' AS p, 'one' AS v")
	must(t, err)

	got, err := m.merge(sink, "SELECT 1 AS id, 'b' AS p, 'moved' AS v")
	must(t, err)

	if rows := m.rows("SELECT id, p FROM out"); rows != "1|b" || !slices.Equal(got.Touched, []string{"p=a", "p=b"}) {
		t.Errorf("got %s and touched %v, want the row in b alone", rows, got.Touched)
	}
}

func TestMergeRefusesAmbiguousAndMissingKeys(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sink := engine.Sink{Mode: engine.Merge, Keys: []string{"id", "n"}}

	_, twice := b.write("1", sink, "SELECT 7 AS id, 'x' AS n, 1 AS v UNION ALL SELECT 7, 'x', 2")
	_, missing := b.write("2", sink, "SELECT 7 AS id, NULL::VARCHAR AS n, 1 AS v")

	if f := failure(t, twice); !strings.Contains(f.Message, "2 rows of s have the key id = 7, n = x") {
		t.Errorf("twice: got %s", f.Message)
	}
	if f := failure(t, missing); !strings.Contains(f.Message, "1 row of s have no value in the key (id, n)") {
		t.Errorf("missing: got %s", f.Message)
	}
}

func TestMergeKeepsTheLatestRowOfABatch(t *testing.T) {
	t.Parallel()
	m := &target{b: newBench(t)}

	_, err := m.merge(engine.Sink{Keys: []string{"id"}, LatestBy: "seen"}, "SELECT * FROM (VALUES (1, 10, 'old'), (1, 20, 'latest'), (1, NULL, 'never')) t(id, seen, v)")
	must(t, err)

	if rows := m.rows("SELECT id, seen, v FROM out"); rows != "1|20|latest" {
		t.Errorf("got %s, want the latest", rows)
	}
}

func TestMergeUnitesColumnsByName(t *testing.T) {
	t.Parallel()
	m := &target{b: newBench(t)}
	sink := engine.Sink{Keys: []string{"id"}}
	_, err := m.merge(sink, "SELECT 1 AS id, 'a' AS gone UNION ALL SELECT 2, 'b'")
	must(t, err)

	_, err = m.merge(sink, "SELECT 2 AS id, 'x' AS fresh")
	must(t, err)

	if rows := m.rows("SELECT id, gone, fresh FROM out ORDER BY id"); rows != "1|a|NULL\n2|NULL|x" {
		t.Errorf("got %s", rows)
	}
	if !m.b.said("the column fresh is new in the target") || !m.b.said("the target's column gone is missing") {
		t.Errorf("notices: got %q", m.b.notices)
	}
}

func TestMergeNeverPutsAnOlderRowOverALaterOne(t *testing.T) {
	t.Parallel()
	m := &target{b: newBench(t)}
	sink := engine.Sink{Keys: []string{"id"}, PartitionBy: []string{"p"}, LatestBy: "seen"}
	_, err := m.merge(sink, "SELECT * FROM (VALUES (1, 20, 'a', 'first'), (2, 20, 'a', 'first'), (3, 20, 'a', 'first'), (4, NULL, 'a', 'first'), (5, NULL, 'a', 'first')) t(id, seen, p, v)")
	must(t, err)

	got, err := m.merge(sink, "SELECT * FROM (VALUES (1, 10, 'b', 'older'), (2, 20, 'a', 'same'), (3, NULL, 'a', 'none'), (4, 1, 'a', 'later'), (5, NULL, 'a', 'none')) t(id, seen, p, v)")
	must(t, err)
	again, err := m.merge(sink, "SELECT 1 AS id, 5 AS seen, 'c' AS p, 'old' AS v")
	must(t, err)

	if rows, want := m.rows("SELECT id, p, seen, v FROM out ORDER BY id"), "1|a|20|first\n2|a|20|same\n3|a|20|first\n4|a|1|later\n5|a|NULL|none"; rows != want {
		t.Errorf("got\n%s\nwant\n%s", rows, want)
	}
	if got.Kept != 2 || got.Updated != 3 || got.Inserted != 0 || !slices.Equal(got.Touched, []string{"p=a"}) {
		t.Errorf("got %d kept, %d updated, %d inserted, touched %v; want 2, 3, 0 and p=a alone", got.Kept, got.Updated, got.Inserted, got.Touched)
	}
	if again.Kept != 1 || len(again.Touched) > 0 || len(again.Files) > 0 || len(again.Columns) != 4 {
		t.Errorf("nothing later: got %+v, want no file and every column", again)
	}
}

func TestMergeDescribesColumnsOfPartitionsItLeavesAlone(t *testing.T) {
	t.Parallel()
	m := &target{b: newBench(t)}
	sink := engine.Sink{Keys: []string{"id"}, PartitionBy: []string{"p"}}
	_, err := m.merge(sink, "SELECT 1 AS id, 'a' AS p, 7 AS gone")
	must(t, err)

	got, err := m.merge(sink, "SELECT 2 AS id, 'b' AS p, 'x' AS fresh")
	must(t, err)

	if c := fmt.Sprint(got.Columns); c != "[{id INTEGER} {gone INTEGER} {p VARCHAR} {fresh VARCHAR}]" {
		t.Errorf("got %s", c)
	}
}

// row is one row of a merge's batch; seen 0 is none.
type row struct {
	id   int
	p    string
	seen int
}

// remember lays a row over what an oracle of a merge holds: the later row
// stands, and of two that are alike the newer one.
func remember(oracle map[string]row, key string, r row) {
	if before, ok := oracle[key]; !ok || r.seen >= before.seen {
		oracle[key] = r
	}
}

func TestMergeEqualsAMapForAnyHistory(t *testing.T) {
	t.Parallel()
	batches := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) row {
		return row{rapid.IntRange(0, 5).Draw(t, "id"), rapid.SampledFrom([]string{"a", "b/c", "d e"}).Draw(t, "p"), rapid.IntRange(0, 9).Draw(t, "seen")}
	}), 1, 8, func(r row) string { return fmt.Sprint(r.id, r.seen) }), 1, 5)
	for seed := range 24 {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			keys := [][]string{{"id"}, {"id", "p"}}[seed%2]
			m := &target{b: newBench(t)}
			oracle := map[string]row{}
			for _, batch := range batches.Example(seed) {
				var values []string
				for _, r := range batch {
					key := strconv.Itoa(r.id)
					if len(keys) == 2 {
						key += r.p
					}
					remember(oracle, key, r)
					values = append(values, fmt.Sprintf("(%d, %s, nullif(%d, 0))", r.id, literal(r.p), r.seen))
				}
				_, err := m.merge(engine.Sink{Keys: keys, PartitionBy: []string{"p"}, LatestBy: "seen"},
					"SELECT * FROM (VALUES "+strings.Join(values, ", ")+") t(id, p, seen)")
				must(t, err)
			}

			got := strings.Split(m.rows("SELECT id, p, coalesce(seen, 0) FROM out"), "\n")

			var want []string
			for _, r := range oracle {
				want = append(want, fmt.Sprintf("%d|%s|%d", r.id, r.p, r.seen))
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
