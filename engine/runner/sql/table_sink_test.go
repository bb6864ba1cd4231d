package sql

import (
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/table/tabletest"
)

// into is a job that writes CSV files into the table sales.
func into(out engine.Sink) engine.SQLJob {
	out.From, out.Table, out.Connection = "clean", "sales", tabletest.Connection
	return engine.SQLJob{
		Sources: []engine.Source{{Name: "raw", Path: "in/**/*.csv", Format: engine.CSV}},
		Steps:   []engine.Step{{Name: "clean", SQL: "SELECT id, day, n FROM raw"}},
		Sinks:   []engine.Sink{out},
	}
}

// batches counts the tables that runs leave beside their targets.
func batches(t *testing.T, b tabletest.Base) string {
	t.Helper()
	tables, err := b.Databases.Tables(t.Context(), tabletest.Connection)
	must(t, err)
	var stages []string
	for _, found := range tables {
		if strings.Contains(found.Name, "dogear_stage") {
			stages = append(stages, found.Name)
		}
	}
	return strings.Join(stages, " ")
}

const makeSales = "CREATE TABLE sales (id INTEGER PRIMARY KEY, day VARCHAR(20), n INTEGER)"

func TestATableTakesRowsByEveryMode(t *testing.T) {
	t.Parallel()
	first := "id,day,n\n1,mon,10\n2,tue,20\n3,,30\n"
	tests := map[string]struct {
		sink         engine.Sink
		then, want   string
		second       string
		wholeSource  bool
		thenInserted int64
	}{
		"append":    {engine.Sink{}, "id,day,n\n4,tue,40\n", "1|mon|10 2|tue|20 3|NULL|30 4|tue|40 9|old|9", "1 inserted, 0 updated", false, 1},
		"merge":     {engine.Sink{Mode: engine.Merge, Keys: []string{"id"}}, "id,day,n\n2,wed,21\n4,tue,40\n", "1|mon|10 2|wed|21 3|NULL|30 4|tue|40 9|old|9", "1 inserted, 1 updated", false, 1},
		"latest":    {engine.Sink{Mode: engine.Merge, Keys: []string{"id"}, LatestBy: "n"}, "id,day,n\n1,wed,9\n2,wed,21\n2,thu,20\n", "1|mon|10 2|wed|21 3|NULL|30 9|old|9", "0 inserted, 1 updated", false, 0},
		"overwrite": {engine.Sink{Mode: engine.OverwritePartitions, PartitionBy: []string{"day"}}, "id,day,n\n5,,50\n6,tue,60\n", "1|mon|10 2|tue|20 3|NULL|30 5|NULL|50 6|tue|60 9|old|9", "5 inserted, 0 updated, 3 deleted", true, 0},
		"replace":   {engine.Sink{Mode: engine.Replace}, "id,day,n\n7,sun,70\n", "7|sun|70", "1 inserted, 0 updated, 3 deleted", false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
				b.Do(t, makeSales)
				if tt.sink.Mode != engine.Replace {
					b.Do(t, "INSERT INTO sales VALUES (9, 'old', 9)")
				}
				h := newTableHouse(t, b, into(tt.sink))
				if tt.wholeSource {
					h.job.SQL.Sources[0].Read = engine.ReadAll
				}
				h.put("in/a.csv", first)
				result := h.run(t.Context())
				if result.State != engine.Succeeded {
					t.Fatalf("first run: got %s: %s", result.State, result.Error)
				}
				h.put("in/b.csv", tt.then)
				result = h.run(t.Context())

				if got := b.Rows(t, "SELECT id, day, n FROM sales ORDER BY id"); got != tt.want {
					t.Errorf("target: got %s, want %s", got, tt.want)
				}
				if !h.said(tt.second) {
					t.Errorf("log: got %s\nwant %q", strings.Join(h.log, "\n"), tt.second)
				}
				if left := batches(t, b); left != "" {
					t.Errorf("left over: %s", left)
				}
				if got := b.Rows(t, "SELECT count(*) FROM dogear_batch"); got != "2" {
					t.Errorf("batches: got %s, want 2", got)
				}
				if result.Counts.RowsOut == 0 {
					t.Errorf("counts: got %+v", result.Counts)
				}
			})
		})
	}
}

func TestAReplaceDeletesNoRowsOfOthers(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, makeSales, "INSERT INTO sales VALUES (8, 'old', 8), (9, 'old', 9)")
		h := newTableHouse(t, b, into(engine.Sink{Mode: engine.Replace}))
		h.put("in/a.csv", "id,day,n\n1,mon,10\n")

		refused := h.run(t.Context())
		left := b.Rows(t, "SELECT id, day, n FROM sales ORDER BY id")
		b.Do(t, "DELETE FROM sales")
		done := h.run(t.Context())

		if refused.State == engine.Succeeded || !strings.Contains(refused.Error, "The table sales holds 2 rows that Dogear did not write, and replace would delete them all.") || left != "8|old|8 9|old|9" {
			t.Errorf("got %s %s and the rows %s, want it refused and the rows of others", refused.State, refused.Error, left)
		}
		if got := b.Rows(t, "SELECT id, day, n FROM sales"); done.State != engine.Succeeded || got != "1|mon|10" {
			t.Errorf("after they were deleted: got %s %s and the rows %s, want the new ones", done.State, done.Error, got)
		}
		if left := batches(t, b); left != "" {
			t.Errorf("left over: %s", left)
		}
	})
}

func TestATargetThatIsNotThereIsMade(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		h := newTableHouse(t, b, into(engine.Sink{Mode: engine.Merge, Keys: []string{"id"}}))
		h.job.SQL.Steps[0].SQL = "SELECT id, day, n, true AS yes, 1.5::DECIMAL(10,2) AS price, TIMESTAMP '2026-03-01 10:00:00.5' AS at, TIMESTAMPTZ '2026-03-01 10:00:00+02' AS utc, DATE '2026-03-01' AS d, 0.1::DOUBLE AS f, [1, 2] AS list FROM raw"
		h.put("in/a.csv", "id,day,n\n1,\"a\tb\\n\nü\",\n")

		result := h.run(t.Context())

		want := map[engine.ConnectionType]string{
			engine.ConnectionPostgres: "1|a\tb\\n\nü|NULL|true|1.50|2026-03-01 10:00:00.5|2026-03-01 08:00:00|2026-03-01|0.1|[1,2]",
			engine.ConnectionMySQL:    "1|a\tb\\n\nü|NULL|1|1.50|2026-03-01 10:00:00.500000|2026-03-01 08:00:00.000000|2026-03-01|0.1|[1,2]",
			engine.ConnectionSQLite:   "1|a\tb\\n\nü|NULL|1|1.50|2026-03-01 10:00:00.5|2026-03-01 08:00:00|2026-03-01|0.1|[1,2]",
		}[b.Config.Kind]
		as := func(name string) string {
			switch b.Config.Kind {
			case engine.ConnectionPostgres:
				return name + "::text"
			case engine.ConnectionMySQL:
				return "CAST(" + name + " AS CHAR)"
			case engine.ConnectionSQLite, engine.ConnectionS3, engine.ConnectionSQLServer:
			}
			return "CAST(" + name + " AS TEXT)"
		}
		utc := as("utc")
		if b.Config.Kind == engine.ConnectionPostgres {
			utc = "(utc AT TIME ZONE 'UTC')::text"
		}
		if result.State != engine.Succeeded {
			t.Fatalf("got %s: %s", result.State, result.Error)
		}
		if got := b.Rows(t, "SELECT id, day, n, "+strings.Join([]string{as("yes"), as("price"), as("at"), utc, as("d"), as("f"), as("list")}, ", ")+" FROM sales"); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

func TestWhatATargetRefusesFailsTheJobBeforeAnythingCountsAsRead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ target, csv, want string }{
		"a missing column":              {"CREATE TABLE sales (id INTEGER, day VARCHAR(20))", "id,day,n\n1,mon,10\n", "The table sales has no column n, which the result has. Add it (ALTER TABLE"},
		"a row that is there":           {makeSales, "id,day,n\n9,mon,10\n", "refuses the rows for sales, and nothing was written to it"},
		"a value that is no number":     {"CREATE TABLE sales (id INTEGER PRIMARY KEY, day DECIMAL(5,2) CHECK (day < 100), n INTEGER)", "id,day,n\n1,12345,10\n", "refuses the rows for sales"},
		"a column that must have value": {"CREATE TABLE sales (id INTEGER PRIMARY KEY, day VARCHAR(20) NOT NULL, n INTEGER)", "id,day,n\n1,,10\n", "refuses the rows for sales"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
				b.Do(t, tt.target)
				old := "0"
				if tt.target == makeSales {
					b.Do(t, "INSERT INTO sales VALUES (9, 'old', 9)")
					old = "1"
				}
				h := newTableHouse(t, b, into(engine.Sink{}))
				h.put("in/a.csv", tt.csv)

				result := h.run(t.Context())

				if result.State != engine.Failed || !strings.Contains(result.Error, tt.want) {
					t.Errorf("got %s: %s, want %q", result.State, result.Error, tt.want)
				}
				if b.Config.Password != "" && strings.Contains(result.Error, b.Config.Password+":") {
					t.Errorf("the error tells the password: %s", result.Error)
				}
				if got := b.Rows(t, "SELECT count(*) FROM sales"); got != old {
					t.Errorf("target: got %s rows, want %s", got, old)
				}
				if left := batches(t, b); left != "" {
					t.Errorf("left over: %s", left)
				}
				if h.ledger.marks["raw"] != nil {
					t.Error("the bookmark moved")
				}
			})
		})
	}
}

func TestTwoRowsWithOneKeyFailAMergeAndNameIt(t *testing.T) {
	t.Parallel()
	b := tabletest.Postgres(t)
	b.Do(t, makeSales)
	h := newTableHouse(t, b, into(engine.Sink{Mode: engine.Merge, Keys: []string{"id"}}))
	h.put("in/a.csv", "id,day,n\n1,mon,10\n1,tue,20\n")

	result := h.run(t.Context())

	if result.State != engine.Failed || !strings.Contains(result.Error, "2 rows of clean have the key id = 1") {
		t.Errorf("got %s: %s", result.State, result.Error)
	}
}

func TestAnOverlapReadAgainIsMergedOnce(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, "CREATE TABLE events (id INTEGER PRIMARY KEY, updated_at TIMESTAMP NULL)", "CREATE TABLE copy_of (id INTEGER PRIMARY KEY, updated_at TIMESTAMP NULL)",
			"INSERT INTO events VALUES (1, '2026-03-01 10:00:00'), (2, '2026-03-01 10:00:05')")
		job := engine.SQLJob{
			Sources: []engine.Source{{Name: "events", Connection: tabletest.Connection, Table: "events", Keys: []string{"updated_at"}, Options: engine.SourceOptions{Table: engine.TableOptions{Overlap: 60}}}},
			Sinks:   []engine.Sink{{From: "events", Connection: tabletest.Connection, Table: "copy_of", Mode: engine.Merge, Keys: []string{"id"}, LatestBy: "updated_at"}},
		}
		h := newTableHouse(t, b, job)
		h.run(t.Context())
		// One comes late, below the mark; one is updated.
		b.Do(t, "INSERT INTO events VALUES (3, '2026-03-01 10:00:03')", "UPDATE events SET updated_at = '2026-03-01 10:00:09' WHERE id = 1")

		result := h.run(t.Context())
		if result.State != engine.Succeeded {
			t.Fatalf("got %s: %s", result.State, result.Error)
		}

		if got, want := b.Rows(t, "SELECT id, updated_at FROM copy_of ORDER BY id"), b.Rows(t, "SELECT id, updated_at FROM events ORDER BY id"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestB10OneOfThreeTargetsFailsAndNoBookmarkMoves(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		var job engine.SQLJob
		for _, name := range []string{"t1", "t2", "t3"} {
			b.Do(t, "CREATE TABLE "+name+" (id INTEGER PRIMARY KEY, n INTEGER)", "INSERT INTO "+name+" VALUES (1, 10), (2, NULL)",
				"CREATE TABLE copy_"+name+" (id INTEGER PRIMARY KEY, n INTEGER)")
			job.Sources = append(job.Sources, engine.Source{Name: name, Connection: tabletest.Connection, Table: name, Keys: []string{"id"}})
			job.Sinks = append(job.Sinks, engine.Sink{From: name, Connection: tabletest.Connection, Table: "copy_" + name})
		}
		b.Do(t, "DROP TABLE copy_t2", "CREATE TABLE copy_t2 (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)")
		h := newTableHouse(t, b, job)

		failed := h.run(t.Context())
		left := b.Rows(t, "SELECT (SELECT count(*) FROM copy_t1) + (SELECT count(*) FROM copy_t2) + (SELECT count(*) FROM copy_t3)")
		b.Do(t, "UPDATE t2 SET n = 20 WHERE id = 2")
		mended := h.run(t.Context())

		if failed.State != engine.Failed || !strings.Contains(failed.Error, "copy_t2") || left != "0" {
			t.Errorf("the failed run: got %s: %s, and %s rows written", failed.State, failed.Error, left)
		}
		if mended.State != engine.Succeeded {
			t.Fatalf("the next run: got %s: %s", mended.State, mended.Error)
		}
		for _, name := range []string{"t1", "t2", "t3"} {
			if got := b.Rows(t, "SELECT count(*) FROM copy_"+name); got != "2" {
				t.Errorf("copy_%s: got %s rows, want 2", name, got)
			}
		}
	})
}

func TestB27AnotherTableUnderTheSameNameIsAskedAbout(t *testing.T) {
	t.Parallel()
	b := tabletest.Postgres(t)
	b.Do(t, "CREATE TABLE orders (id INTEGER PRIMARY KEY)", "CREATE TABLE others (id INTEGER PRIMARY KEY)", "INSERT INTO orders VALUES (1)", "INSERT INTO others VALUES (1)")
	tests := map[string]func(*engine.Source){
		"another table":  func(s *engine.Source) { s.Table = "others" },
		"another key":    func(s *engine.Source) { s.Keys = []string{"n"} },
		"another order":  func(s *engine.Source) { s.Options.Table.Descending = true },
		"files":          func(s *engine.Source) { s.Table, s.Keys, s.Path = "", nil, "in/*.csv" },
		"another server": func(s *engine.Source) { s.Connection = "other" },
	}
	for name, change := range tests {
		h := newTableHouse(t, b, orders("id"))
		h.run(t.Context())
		change(&h.job.SQL.Sources[0])

		result := h.run(t.Context())

		if result.State != engine.Failed || !strings.Contains(result.Error, "is not the one its bookmark was made for") {
			t.Errorf("%s: got %s: %s", name, result.State, result.Error)
		}
	}
}
