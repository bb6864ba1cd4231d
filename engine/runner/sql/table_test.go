package sql

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/runner"
	"dogear/engine/table/tabletest"
)

// newTableHouse is a house whose first source, or every sink with a table, is
// in the database b.
func newTableHouse(t *testing.T, b tabletest.Base, job engine.SQLJob) *house {
	t.Helper()
	h := newHouse(t, job)
	h.runner.Tables, h.runner.Sink.Tables = b.Databases, b.Databases
	h.runner.Planner.(*bookmark.Planner).Surveyor = b.Databases
	t.Cleanup(func() {
		if b.Config.Password != "" && h.said(b.Config.Password) {
			t.Errorf("the log tells the password: %s", strings.Join(h.log, "\n"))
		}
	})
	return h
}

// orders is a job that copies the table orders into files.
func orders(keys ...string) engine.SQLJob {
	return engine.SQLJob{
		Sources: []engine.Source{{Name: "orders", Connection: tabletest.Connection, Table: "orders", Keys: keys}},
		Steps:   []engine.Step{{Name: "clean", SQL: "SELECT * FROM orders"}},
		Sinks:   []engine.Sink{{From: "clean", Path: "out"}},
	}
}

func TestATableIsReadByItsKeyAndLandsWhole(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, "CREATE TABLE orders (id INTEGER PRIMARY KEY, amount DECIMAL(10,2), note VARCHAR(100))",
			"INSERT INTO orders VALUES (1, 10.50, 'a'), (2, 20.25, NULL), (3, -0.01, 'ü 😀 '' \"')")
		h := newTableHouse(t, b, orders("id"))

		first := h.run(t.Context())
		b.Do(t, "INSERT INTO orders VALUES (7, 70, 'late')")
		second := h.run(t.Context())
		third := h.run(t.Context())

		if got := h.rows(h.out(), "SELECT id, amount, note FROM t ORDER BY id"); got != `1|10.50|a 2|20.25|NULL 3|-0.01|ü 😀 ' " 7|70.00|late` {
			t.Errorf("target: got %s", got)
		}
		if first.Counts.RowsIn != 3 || second.Counts.RowsIn != 1 || second.State != engine.Succeeded {
			t.Errorf("counts: got %+v and %+v", first.Counts, second)
		}
		if third.Batch != nil || third.State != engine.Succeeded || h.started != 2 {
			t.Errorf("nothing new: got %+v after %d workers, want a success without one", third, h.started)
		}
		at, err := bookmark.PositionOf(t.Context(), h.ledger, h.ledger.marks["orders"].Root)
		must(t, err)
		if at.Seen != 4 || at.Ranges != 2 || engine.KeyWords(at.Mark.High) != "7" || engine.KeyWords(at.Mark.Low) != "3" {
			t.Errorf("position: got %+v", at)
		}
	})
}

func TestEveryTypeOfPostgresLands(t *testing.T) {
	t.Parallel()
	b := tabletest.Postgres(t)
	b.Do(t, "CREATE TYPE mood AS ENUM ('sad', 'glad')", `CREATE TABLE orders (id bigint PRIMARY KEY, s smallint, i integer, b boolean, r real, d double precision,
n numeric(38,10), free numeric, t text, v varchar(5), c char(3), day date, ts timestamp, tz timestamptz, clock time, span interval,
raw bytea, u uuid, j jsonb, list integer[], m mood)`,
		`INSERT INTO orders VALUES (9223372036854775807, -32768, 2147483647, true, 0.1, 1e300, 1234567890123456789012345678.0123456789, 0.000000001,
'x', 'y', 'z', '1969-12-31', '1969-12-31 23:59:59.999999', '2026-03-29 03:30:00.5+02', '23:59:59.123456', '1 day 2 hours',
'\x00ff', '6b8a5b7e-0000-4000-8000-000000000001', '{"a": [1, null]}', '{1,NULL,3}', 'glad'),
(1, NULL, NULL, false, 'NaN', '-Infinity', NULL, NULL, '', NULL, NULL, 'infinity', '-infinity', 'infinity', NULL, NULL, '', NULL, NULL, '{}', NULL)`)
	h := newTableHouse(t, b, orders("id"))

	result := h.run(t.Context())

	if result.State != engine.Succeeded {
		t.Fatalf("got %s: %s", result.State, result.Error)
	}
	want := []string{
		`1|NULL|NULL|false|nan|-inf|NULL|NULL||NULL|NULL|infinity|-infinity|infinity|NULL|NULL||NULL|NULL|[]|NULL`,
		`9223372036854775807|-32768|2147483647|true|0.1|1e+300|1234567890123456789012345678.0123456789|0.000000001|` +
			`x|y|z|1969-12-31|1969-12-31 23:59:59.999999|2026-03-29 01:30:00.5+00|23:59:59.123456|1 day 02:00:00|` +
			`\x00\xFF|6b8a5b7e-0000-4000-8000-000000000001|{"a": [1, null]}|[1,null,3]|glad`,
	}
	if got := h.rows(h.out(), "SELECT * FROM t ORDER BY id"); got != strings.Join(want, " ") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, " "))
	}
}

func TestAValueThatDoesNotFitFailsTheReadAndNamesTheColumn(t *testing.T) {
	t.Parallel()
	b := tabletest.Postgres(t)
	b.Do(t, "CREATE TABLE orders (id integer PRIMARY KEY, free numeric)", "INSERT INTO orders VALUES (1, 1e35)")
	h := newTableHouse(t, b, orders("id"))

	refused := h.run(t.Context())
	h.job.SQL.Sources[0].Schema = []engine.Column{{Name: "id", Type: "INTEGER"}, {Name: "free", Type: "VARCHAR"}}
	read := h.run(t.Context())

	if refused.State != engine.Failed || !strings.Contains(refused.Error, `column free of the table orders: "1`+strings.Repeat("0", 35)+`" does not fit the type DECIMAL(38,9). Correct the row, or give the column the type VARCHAR`) {
		t.Errorf("got %s: %s", refused.State, refused.Error)
	}
	if got := h.rows(h.out(), "SELECT * FROM t"); read.State != engine.Succeeded || got != "1|1"+strings.Repeat("0", 35) {
		t.Errorf("as text: got %s, %s: %s", got, read.State, read.Error)
	}
}

func TestTwoTablesOfOneRunAreOneMoment(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, "CREATE TABLE orders (id INTEGER PRIMARY KEY)", "CREATE TABLE parts (id INTEGER PRIMARY KEY, order_id INTEGER)",
			"INSERT INTO orders VALUES (1)", "INSERT INTO parts VALUES (1, 1)")
		job := orders("id")
		job.Sources = append(job.Sources, engine.Source{Name: "parts", Connection: tabletest.Connection, Table: "parts", Read: engine.ReadAll})
		job.Steps[0].SQL = "SELECT o.id, count(l.id) AS n FROM orders o LEFT JOIN parts l ON l.order_id = o.id GROUP BY ALL"
		h := newTableHouse(t, b, job)
		// Between the plan and the read both grow: neither the row beyond the
		// planned key nor a part of the rest may be seen alone.
		h.onStart = func() {
			b.Do(t, "INSERT INTO orders VALUES (2)", "INSERT INTO parts VALUES (2, 2)")
		}

		h.run(t.Context())
		h.onStart = nil
		h.run(t.Context())

		if got := h.rows(h.out(), "SELECT id, n FROM t ORDER BY id"); got != "1|1 2|1" {
			t.Errorf("got %s", got)
		}
	})
}

func TestATableThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	b := tabletest.Postgres(t)
	b.Do(t, "CREATE TABLE orders (id integer PRIMARY KEY, n integer)", "INSERT INTO orders VALUES (1, 1), (2, 2)")
	h := newTableHouse(t, b, orders("id"))
	h.run(t.Context())
	tests := map[string]struct{ do, want string }{
		"a key column of another type": {"ALTER TABLE orders ALTER COLUMN id TYPE text", "The key column id was integer when the bookmark of source orders was made, and is text now, so its mark 2 cannot be compared"},
		"a key column dropped":         {"ALTER TABLE orders DROP COLUMN id", "The table has no column id."},
		"no table":                     {"DROP TABLE orders", "There is no table orders, or its user may not read it"},
	}
	for _, name := range []string{"a key column of another type", "a key column dropped", "no table"} {
		b.Do(t, tests[name].do)
		result := h.run(t.Context())
		if result.State != engine.Failed || !strings.Contains(result.Error, tests[name].want) {
			t.Errorf("%s: got %s: %s", name, result.State, result.Error)
		}
	}
	if left, err := filepath.Glob(filepath.Join(h.dir, "out", ".dogear", "*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

func TestAStopEndsARead(t *testing.T) {
	t.Parallel()
	b := tabletest.Postgres(t)
	b.Do(t, "CREATE TABLE orders (id integer PRIMARY KEY)", "INSERT INTO orders VALUES (1)")
	h := newTableHouse(t, b, orders("id"))
	ctx, stop := context.WithCancelCause(t.Context())
	lock, err := b.BeginTx(t.Context(), nil)
	must(t, err)
	h.onStart = func() {
		// The read waits for this lock, which nobody gives up before the stop.
		_, err := lock.ExecContext(t.Context(), "LOCK TABLE orders IN ACCESS EXCLUSIVE MODE")
		must(t, err)
		time.AfterFunc(300*time.Millisecond, func() { stop(runner.ErrStop) })
	}
	start := time.Now()

	result, err := h.try(ctx, nil)

	must(t, lock.Rollback())
	if err != nil || result.State != engine.Stopped {
		t.Errorf("got %+v, %v, want it stopped", result, err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s to end", took)
	}
}
