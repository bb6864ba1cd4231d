package table_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/table/tabletest"
)

// setup is the SQL with which a field case begins. Those of the cases are
// retold here, because a test stands on its own.
const (
	setupB15 = `CREATE TABLE orders(id INTEGER PRIMARY KEY, status VARCHAR(10), updated_at TIMESTAMP NULL);
INSERT INTO orders VALUES (1,'new','2026-03-01 10:00:00'),(2,'new','2026-03-01 10:00:01'),(3,'new','2026-03-01 10:00:02')`
	setupB16 = `CREATE TABLE c(id INTEGER PRIMARY KEY, created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL);
INSERT INTO c VALUES (1,'2026-03-01 10:00:00','2026-03-01 11:00:00'),(2,'2026-03-01 10:05:00',NULL)`
	setupB17 = `CREATE TABLE n(id NUMERIC PRIMARY KEY, t VARCHAR(10));
INSERT INTO n VALUES (9998,'9998'),(9999,'9999')`
	setupB18 = `CREATE TABLE e(id INTEGER PRIMARY KEY, ts TIMESTAMP(6));
INSERT INTO e VALUES (1,'2026-03-01 10:00:00.123456'),(2,'2026-03-01 10:00:00.123999')`
	setupB19 = `CREATE TABLE z(id INTEGER PRIMARY KEY, local_ts LOCAL_TIME);
INSERT INTO z VALUES (1,'2026-03-29 01:30:00'),(2,'2026-03-29 03:30:00')`
	setupB23 = `CREATE TABLE d(id INTEGER PRIMARY KEY);
INSERT INTO d VALUES (10),(11),(12)`
	setupB24 = `CREATE TABLE dd(id INTEGER PRIMARY KEY, day DATE);
INSERT INTO dd VALUES (1,'2026-03-01'),(2,'2026-03-02')`
)

func TestB15UpdatesAndDeletesAreNotSeenByAKeyButAreCounted(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][]string{"id": nil, "updated_at": {"1"}} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
				b.Do(t, setupB15)
				r := newReader(t, b, "orders", key)
				r.source.Options.Table.Compare = true
				same(t, "first run", r.run(), "1", "2", "3")
				b.Do(t, "UPDATE orders SET status = 'paid', updated_at = '2026-03-02 09:00:00' WHERE id = 1", "DELETE FROM orders WHERE id = 2")

				same(t, "second run", r.run(), want...)

				missing := "1 row of orders that were read are no longer there"
				if key == "updated_at" {
					missing = "2 rows" // the deleted one, and the one that has moved on
				}
				if !r.noticed(missing) {
					t.Errorf("got the notices %q, want one with %q", r.found.Notices, missing)
				}
			})
		})
	}
}

func TestB16RowsWithoutAKeyAreCountedAndTheMarkStays(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, setupB16)
		r := newReader(t, b, "c", "updated_at")
		same(t, "first run", r.run(), "1")
		if r.found.Nulls != 1 || !r.noticed("1 row of c have no value in the key (updated_at)") {
			t.Errorf("first run: got %d rows without a key and %q", r.found.Nulls, r.found.Notices)
		}
		b.Do(t, "INSERT INTO c VALUES (3,'2026-03-02 10:00:00',NULL)")
		same(t, "second run", r.run())
		if r.found.Nulls != 2 || !strings.HasPrefix(r.mark(), "2026-03-01 11:00:00") {
			t.Errorf("second run: got %d rows without a key and the mark %s", r.found.Nulls, r.mark())
		}
		b.Do(t, "UPDATE c SET updated_at = '2026-03-03 00:00:00' WHERE id = 3")
		same(t, "third run", r.run(), "3")

		r.source.Options.Table.NullKeys = "read"
		same(t, "reading them each time", r.run(), "2")
		same(t, "and again", r.run(), "2")
		r.source.Options.Table.NullKeys = "fail"
		if _, err := r.survey(); err == nil || !strings.Contains(err.Error(), "1 row of c") {
			t.Errorf("failing on them: got %v", err)
		}
	})
}

// TestB16AKeyThatIsNotFiniteNeverBecomesTheMark: nothing would ever be above it.
func TestB16AKeyThatIsNotFiniteNeverBecomesTheMark(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		typ, first, later string
		kind              engine.ConnectionType
		endless           []string
	}{
		"float of SQLite":         {"REAL", "1.5", "2.5", engine.ConnectionSQLite, []string{"9e999", "-9e999"}},
		"float of PostgreSQL":     {"double precision", "1.5", "2.5", engine.ConnectionPostgres, []string{"'Infinity'", "'-Infinity'", "'NaN'"}},
		"numeric of PostgreSQL":   {"numeric NOT NULL", "1.5", "2.5", engine.ConnectionPostgres, []string{"'NaN'"}},
		"timestamp of PostgreSQL": {"timestamptz", "'2026-03-01 10:00:00Z'", "'2026-03-02 10:00:00Z'", engine.ConnectionPostgres, []string{"'infinity'", "'-infinity'"}},
		"date of PostgreSQL":      {"date", "'2026-03-01'", "'2026-03-02'", engine.ConnectionPostgres, []string{"'infinity'"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
				if b.Config.Kind != tt.kind {
					t.Skip("it is of another database")
				}
				b.Do(t, "CREATE TABLE inf (id INTEGER PRIMARY KEY, k "+tt.typ+")", "INSERT INTO inf VALUES (1, "+tt.first+")")
				for i, value := range tt.endless {
					b.Do(t, fmt.Sprintf("INSERT INTO inf VALUES (%d, %s)", 10+i, value))
				}
				r := newReader(t, b, "inf", "k")
				r.source.Options.Table.Compare = true
				same(t, "first run", r.run(), "1")
				if want := int64(len(tt.endless)); r.found.Nulls != want || r.found.Endless != want || !r.noticed("of inf have no value in the key (k), or infinity or NaN and are not covered") {
					t.Errorf("got %d rows without a key, %d of them endless, and %q; want %d", r.found.Nulls, r.found.Endless, r.found.Notices, want)
				}
				b.Do(t, "INSERT INTO inf VALUES (2, "+tt.later+")")
				same(t, "a later key", r.run(), "2")
				if len(r.found.Notices) != 1 {
					t.Errorf("got the notices %q, want that of the key alone", r.found.Notices)
				}

				r.source.Options.Table.NullKeys = "read"
				if got := len(r.run()); got != len(tt.endless) {
					t.Errorf("reading them each time: got %d rows, want %d", got, len(tt.endless))
				}
				r.source.Options.Table.NullKeys = "fail"
				if _, err := r.survey(); err == nil || !strings.Contains(err.Error(), "or infinity or NaN, and this source fails on them") {
					t.Errorf("failing on them: got %v", err)
				}
			})
		})
	}
}

// TestB23ATableThatWasMadeAnewIsSaid: its keys are lower than the mark, and a
// source that reads nothing for ever looks like one that has nothing new.
func TestB23ATableThatWasMadeAnewIsSaid(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, setupB23)
		r := newReader(t, b, "d", "id")
		same(t, "first run", r.run(), "10", "11", "12")
		same(t, "with nothing new", r.run())
		if len(r.found.Notices) > 0 {
			t.Errorf("with nothing new: got %q", r.found.Notices)
		}
		b.Do(t, "DELETE FROM d", "INSERT INTO d VALUES (1), (2)")

		same(t, "made anew", r.run())

		if !r.noticed("The highest key of d is now 2, which is below the mark 12") {
			t.Errorf("made anew: got the notices %q", r.found.Notices)
		}
		b.Do(t, "INSERT INTO d VALUES (13)")
		same(t, "past the mark", r.run(), "13")
		if r.noticed("highest key") {
			t.Errorf("past the mark: got the notices %q", r.found.Notices)
		}
	})
}

func TestB16AnotherColumnStandsInForAKeyWithoutAValue(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, setupB16)
		r := newReader(t, b, "c", "updated_at")
		r.source.Options.Table.NullKeys, r.source.Options.Table.Instead = "coalesce", "created_at"
		same(t, "first run", r.run(), "1", "2")
		b.Do(t, "INSERT INTO c VALUES (3,'2026-03-02 10:00:00',NULL), (4,NULL,NULL)")
		same(t, "one that was made", r.run(), "3")
		if r.found.Nulls != 1 || !r.noticed("1 row of c have no value in the key (updated_at)") {
			t.Errorf("without any value: got %d rows and %q", r.found.Nulls, r.found.Notices)
		}
		b.Do(t, "UPDATE c SET updated_at = '2026-03-02 11:00:00' WHERE id = 2")
		same(t, "one that was changed", r.run(), "2")
		if !strings.HasPrefix(r.mark(), "2026-03-02 11:00:00") {
			t.Errorf("mark: got %s", r.mark())
		}
		for instead, want := range map[string]string{"status": "The table has no column status. It has ", "id": "their types differ"} {
			r.source.Options.Table.Instead = instead
			if _, err := r.survey(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s stands in: got %v, want %q", instead, err, want)
			}
		}
	})
}

func TestB17NumbersAreComparedAsNumbers(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][]string{"id": {"10000", "10001"}, "t": nil} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
				b.Do(t, setupB17)
				r := newReader(t, b, "n", key)
				r.run()
				if warned := r.noticed("text and holds numbers"); warned != (key == "t") {
					t.Errorf("notices on %s: got %q", key, r.found.Notices)
				}
				b.Do(t, "INSERT INTO n VALUES (10000,'10000'),(10001,'10001')")

				same(t, "second run", r.run(), want...)
			})
		})
	}
}

func TestB18TheMarkKeepsEveryDigitAndLateRowsAtItAreSaid(t *testing.T) {
	t.Parallel()
	for name, overlap := range map[string]int64{"strict": 0, "overlap": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
				b.Do(t, setupB18)
				r := newReader(t, b, "e", "ts")
				r.source.Options.Table.Overlap = overlap
				same(t, "first run", r.run(), "1", "2")
				if r.mark() != "2026-03-01 10:00:00.123999" {
					t.Errorf("mark: got %s", r.mark())
				}
				b.Do(t, "INSERT INTO e VALUES (3,'2026-03-01 10:00:00.123999')")
				got := r.run()
				if overlap > 0 {
					same(t, "with an overlap, for a target that merges", got, "1", "2", "3")
					return
				}
				same(t, "strict", got)
				if !r.noticed("1 row of e with the very key of the mark") {
					t.Errorf("notices: got %q", r.found.Notices)
				}
			})
		})
	}
}

func TestB19ALocalTimeIsNeverConverted(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		local, zone := "TIMESTAMP", ""
		switch b.Config.Kind {
		case engine.ConnectionMySQL:
			local = "DATETIME"
		case engine.ConnectionPostgres:
			zone = "ALTER DATABASE " + b.Config.Database + " SET TimeZone = 'Asia/Kolkata'"
		case engine.ConnectionSQLite, engine.ConnectionS3, engine.ConnectionSQLServer:
		}
		b.Do(t, strings.ReplaceAll(setupB19, "LOCAL_TIME", local))
		r := newReader(t, b, "z", "local_ts")
		same(t, "in UTC", r.run(), "1", "2")
		if r.mark() != "2026-03-29 03:30:00" {
			t.Errorf("mark: got %s", r.mark())
		}
		b.Do(t, "INSERT INTO z VALUES (3,'2026-03-29 04:00:00')", zone)
		same(t, "in Kolkata", r.run(), "3")
		same(t, "once more", r.run())
	})
}

// The same moments, written in other zones and with more or fewer digits.
func TestB19MomentsOfOtherZonesAndPrecisionsAreInOneOrder(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		insert := func(id int, at, zone string) {
			t.Helper()
			switch b.Config.Kind {
			case engine.ConnectionMySQL: // it has no zone in a value, but one of the session
				b.Do(t, "SET time_zone = '"+zone+"'", fmt.Sprintf("INSERT INTO z VALUES (%d, '%s')", id, at), "SET time_zone = '+00:00'")
			default:
				b.Do(t, fmt.Sprintf("INSERT INTO z VALUES (%d, '%s%s')", id, at, zone))
			}
		}
		switch b.Config.Kind {
		case engine.ConnectionMySQL:
			b.Do(t, "CREATE TABLE z (id INTEGER PRIMARY KEY, at TIMESTAMP(6) NULL)")
		default:
			b.Do(t, "CREATE TABLE z (id INTEGER PRIMARY KEY, at TIMESTAMP WITH TIME ZONE)")
		}
		r := newReader(t, b, "z", "at")
		insert(1, "2026-03-01 12:00:00.5", "+02:00")      // 10:00:00.5 in UTC
		insert(2, "2026-03-01 15:30:00.500001", "+05:30") // a microsecond later
		same(t, "first run", r.run(), "1", "2")
		if b.Config.Kind == engine.ConnectionSQLite {
			if !r.noticed("which SQLite orders as text") {
				t.Errorf("notices: got %q", r.found.Notices)
			}
			return
		}
		if !strings.HasPrefix(r.mark(), "2026-03-01 10:00:00.500001") {
			t.Errorf("mark: got %s, want it in UTC with every digit", r.mark())
		}
		insert(3, "2026-03-01 09:00:01", "-01:00")        // 10:00:01: later, though it looks earlier
		insert(4, "2026-03-01 15:30:00.5", "+05:30")      // 10:00:00.5: not later, though it looks so
		insert(5, "2026-03-01 05:00:00.500002", "-05:00") // another microsecond
		same(t, "second run", r.run(), "3", "5")
	})
}

func TestB23AFallingKeySaysWhatLiesAboveIt(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, setupB23)
		r := newReader(t, b, "d", "id")
		r.source.Options.Table.Descending = true
		same(t, "first run", r.run(), "10", "11", "12")
		if r.mark() != "10" {
			t.Errorf("mark: got %s, want the lowest", r.mark())
		}
		b.Do(t, "INSERT INTO d VALUES (13),(14),(9)")
		same(t, "second run", r.run(), "9")
		if !r.noticed("2 rows of d lie above") {
			t.Errorf("notices: got %q", r.found.Notices)
		}
	})
}

func TestB24ADateKeyIsReadStrictlyClosedOrAgain(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		closed        string
		overlap       int64
		first, second []string
	}{
		"strict":       {first: []string{"1", "2"}},
		"closed":       {closed: "day", first: []string{"1"}, second: []string{"2", "3"}},
		"replace open": {overlap: 1, first: []string{"1", "2"}, second: []string{"1", "2", "3"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
				b.Do(t, setupB24)
				r := newReader(t, b, "dd", "day")
				r.source.Options.Table.Closed, r.source.Options.Table.Overlap = tt.closed, tt.overlap
				same(t, "first run", r.run(), tt.first...)
				b.Do(t, "INSERT INTO dd VALUES (3,'2026-03-02')")
				r.now = noon.AddDate(0, 0, 1)
				same(t, "second run", r.run(), tt.second...)
			})
		})
	}
}

func TestASQLiteFileOutsideTheRootsIsRefused(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		if b.Config.Kind != "sqlite" {
			t.Skip("only SQLite is a file")
		}
		outside := filepath.Join(t.TempDir(), "secret.db")
		tabletest.Must(t, os.WriteFile(outside, nil, 0o600))
		link := b.Config.Database + ".link"
		tabletest.Must(t, os.Symlink(outside, link))
		for _, path := range []string{outside, link} {
			if _, err := tabletest.Reach(b, path).Config(t.Context(), tabletest.Connection); err == nil || !strings.Contains(err.Error(), "forbidden") {
				t.Errorf("%s: got %v, want a refusal", path, err)
			}
		}
	})
}
