package dbtest_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// change commits changes of the catalog as the end of an attempt does.
func change(t *testing.T, store *db.Store, changes ...engine.TableChange) {
	t.Helper()
	run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, By: "owner"}
	for _, w := range store.Commit(t.Context(), []flow.Step{{
		New: &run,
		Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
			return flow.Writes{Run: run, Tables: changes}, nil
		},
	}}) {
		must(t, w.Err)
	}
}

// sales is a table by month.
func sales(columns ...string) engine.Table {
	t := engine.Table{
		Database: "Shop", Name: "Sales", Location: "/data/sales", Format: engine.Parquet, OwnerJob: "job", By: "job", At: dbtest.Noon,
		Keys: []engine.Column{{Name: "month", Type: "VARCHAR"}},
	}
	for _, name := range columns {
		t.Columns = append(t.Columns, engine.Column{Name: name, Type: "BIGINT"})
	}
	return t
}

func part(month string, files, rows, bytes int64) engine.Partition {
	return engine.Partition{Values: []string{month}, Location: "/data/sales/month=" + month, Files: files, Rows: rows, Bytes: bytes, Run: "r", At: dbtest.Noon}
}

// shown is what a table and its partitions show.
func shown(t *testing.T, store *db.Store, name string) string {
	t.Helper()
	table, err := store.TableNamed(t.Context(), name)
	must(t, err)
	partitions, err := store.Partitions(t.Context(), table.ID, 0, 2000)
	must(t, err)
	lines := []string{fmt.Sprintf("v%d: %d partitions, %d rows, %d bytes", table.Version, table.Partitions, table.Rows, table.Bytes)}
	for _, p := range partitions {
		lines = append(lines, fmt.Sprintf("%s: %d files, %d rows, %d bytes", strings.Join(p.Values, "/"), p.Files, p.Rows, p.Bytes))
	}
	return strings.Join(lines, "\n")
}

func TestPartitionsAreAddedUpReplacedAndDropped(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		for _, c := range []struct {
			what   string
			change engine.TableChange
			want   string
		}{
			{
				"a first append",
				engine.TableChange{Table: sales("id"), Adds: true, Partitions: []engine.Partition{part("01", 2, 20, 200), part("02", 1, 10, 100)}},
				"v1: 2 partitions, 30 rows, 300 bytes\n01: 2 files, 20 rows, 200 bytes\n02: 1 files, 10 rows, 100 bytes",
			},
			{
				"a second append",
				engine.TableChange{Table: sales("id"), Adds: true, Partitions: []engine.Partition{part("02", 1, 5, 50), part("03", 1, 1, 10)}},
				"v1: 3 partitions, 36 rows, 360 bytes\n01: 2 files, 20 rows, 200 bytes\n02: 2 files, 15 rows, 150 bytes\n03: 1 files, 1 rows, 10 bytes",
			},
			{
				"a merge that moves the rows of one partition to another",
				engine.TableChange{Table: sales("id"), Partitions: []engine.Partition{part("01", 0, 0, 0), part("02", 1, 35, 300)}},
				"v1: 2 partitions, 36 rows, 310 bytes\n02: 1 files, 35 rows, 300 bytes\n03: 1 files, 1 rows, 10 bytes",
			},
			{
				"an append of nothing",
				engine.TableChange{Table: sales("id"), Adds: true},
				"v1: 2 partitions, 36 rows, 310 bytes\n02: 1 files, 35 rows, 300 bytes\n03: 1 files, 1 rows, 10 bytes",
			},
			{
				"the whole table",
				engine.TableChange{Table: sales("id"), Whole: true, Partitions: []engine.Partition{part("09", 1, 7, 70)}},
				"v1: 1 partitions, 7 rows, 70 bytes\n09: 1 files, 7 rows, 70 bytes",
			},
		} {
			change(t, store, c.change)

			if got := shown(t, store, "shop.sales"); got != c.want {
				t.Errorf("%s: got\n%s\nwant\n%s", c.what, got, c.want)
			}
		}
	})
}

func TestThousandsOfPartitionsAreOneChange(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		var many []engine.Partition
		for i := range 1201 {
			many = append(many, part(fmt.Sprintf("%04d", i), 1, 2, 3))
		}
		change(t, store, engine.TableChange{Table: sales("id"), Adds: true, Partitions: many})

		change(t, store, engine.TableChange{Table: sales("id"), Adds: true, Partitions: many})

		if got := shown(t, store, "shop.sales"); !strings.HasPrefix(got, "v1: 1201 partitions, 4804 rows, 7206 bytes\n0000: 2 files") {
			t.Errorf("got %.100s", got)
		}
	})
}

func TestATableHasANewVersionOnlyWhereItsShapeChanges(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		later := sales("id")
		later.At, later.Run = dbtest.Noon.Add(time.Hour), "another"
		change(t, store, engine.TableChange{Table: sales("id"), Adds: true})
		change(t, store, engine.TableChange{Table: later, Adds: true})
		change(t, store, engine.TableChange{Table: sales("price"), Adds: true}) // id stays
		moved := sales("id", "price")
		moved.Location = "/data/moved"
		change(t, store, engine.TableChange{Table: moved, Adds: true})
		change(t, store, engine.TableChange{Table: sales("price"), Whole: true})

		table, err := store.TableNamed(t.Context(), "SHOP.sales")
		must(t, err)
		versions, err := store.TableVersions(t.Context(), table.ID)
		must(t, err)

		var got []string
		for _, v := range versions {
			var names []string
			for _, c := range v.Columns {
				names = append(names, c.Name)
			}
			got = append(got, fmt.Sprintf("v%d %s %s", v.Version, v.Location, strings.Join(names, ",")))
		}
		want := []string{"v4 /data/sales price", "v3 /data/moved id,price", "v2 /data/sales id,price", "v1 /data/sales id"}
		if !reflect.DeepEqual(got, want) || table.Version != 4 {
			t.Errorf("got %q and v%d, want %q", got, table.Version, want)
		}
	})
}

func TestATableWithoutPartitionsCountsNone(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		table := sales("id")
		table.Keys = nil
		whole := engine.Partition{Location: "/data/sales", Files: 1, Rows: 4, Bytes: 40, At: dbtest.Noon}
		change(t, store, engine.TableChange{Table: table, Adds: true, Partitions: []engine.Partition{whole}})

		change(t, store, engine.TableChange{Table: table, Adds: true, Partitions: []engine.Partition{whole}})

		if got, want := shown(t, store, "shop.sales"), "v1: 0 partitions, 8 rows, 80 bytes\n: 2 files, 8 rows, 80 bytes"; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestTablesAreFoundByNameAndByPlace(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		table := sales("id")
		table.Connection = "s3"
		change(t, store, engine.TableChange{Table: table})

		for _, location := range []string{"/data/sales", "/data/sales/"} {
			at, err := store.TableAt(t.Context(), "s3", strings.TrimSuffix(location, "/"))
			must(t, err)
			if at == nil || at.FullName() != "shop.sales" || at.OwnerJob != "job" {
				t.Errorf("at %s: got %+v, want shop.sales", location, at)
			}
		}
		other, err := store.TableAt(t.Context(), "", "/data/sales")
		must(t, err)
		below, err := store.TableAt(t.Context(), "s3", "/data/sales/month=01")
		must(t, err)
		if other != nil || below != nil {
			t.Errorf("on another connection: got %+v; below: got %+v; want none", other, below)
		}
		if _, err := store.TableNamed(t.Context(), "shop.absent"); engine.CodeOf(err) != engine.NotFound {
			t.Errorf("an absent table: got %v, want NotFound", err)
		}
		if _, err := store.TableNamed(t.Context(), "sales"); engine.CodeOf(err) != engine.Invalid {
			t.Errorf("half a name: got %v, want Invalid", err)
		}
	})
}
