package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dogear/engine"
	doer "dogear/engine/exec"
	"dogear/engine/runner"
	"dogear/engine/table"
	"dogear/engine/table/tabletest"
)

// copyForTest makes a job that writes what is new in the table orders to the
// table copied, and starts it for the next server. It appends what it reads by
// key, and merges what it finds by comparing every row.
func copyForTest(t *testing.T, data string, c table.Config, read engine.ReadMode) {
	t.Helper()
	store := openForTest(t, data)
	now := time.Now().UTC()
	made, err := store.SaveConnection(t.Context(), "", "shop", engine.ConnectionBody{
		Type: c.Kind, Host: c.Host, Port: c.Port, Database: c.Database, User: c.User, TLS: c.TLS,
	}, &c.Password, "test", now)
	must(t, err)
	sink := engine.Sink{From: "orders", Connection: made.ID, Table: "copied"}
	if read == engine.ReadCompare {
		sink.Mode, sink.Keys = engine.Merge, []string{"id"}
	}
	id, err := store.CreateJob(t.Context(), "copy", engine.JobBody{
		Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, MemoryMB: engine.MinMemoryMB,
		SQL: &engine.SQLJob{
			Sources: []engine.Source{{Name: "orders", Connection: made.ID, Table: "orders", Keys: []string{"id"}, Read: read}},
			Sinks:   []engine.Sink{sink},
		},
	}, "test", now)
	must(t, err)
	_, err = store.PublishJob(t.Context(), id, "test", now)
	must(t, err)
	start := doer.New(doer.Config{
		Store: store, Now: time.Now, Dir: t.TempDir(), Slots: 1, Log: slog.New(slog.DiscardHandler),
		Runners: map[engine.Kind]runner.Runner{engine.KindJob: idle{}},
	})
	ctx, cancel := context.WithCancel(t.Context())
	run := make(chan error, 1)
	go func() { run <- start.Run(ctx) }()
	_, err = start.StartJob(t.Context(), id, nil, nil, "test")
	must(t, err)
	cancel()
	must(t, <-run)
	must(t, store.Close())
}

// TestServerKilledWhileATableIsCopied kills the server before and after each
// of its commits in turn, while rows go on arriving, and wants every row of
// the plan exactly once.
func TestServerKilledWhileATableIsCopied(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) { killedCopying(t, b, engine.ReadNew) })
}

// TestServerKilledWhileATableIsCompared is the same of a table that is compared
// row by row: its plan lists rows, which a recovery reads by.
func TestServerKilledWhileATableIsCompared(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) { killedCopying(t, b, engine.ReadCompare) })
}

func killedCopying(t *testing.T, b tabletest.Base, read engine.ReadMode) {
	t.Helper()
	kills, whens := 0, []string{"before", "after"}
	if b.Config.Kind != engine.ConnectionPostgres || read == engine.ReadCompare {
		whens = whens[1:] // what a database does its own way comes after the commit
	}
	for _, when := range whens {
		for n := 1; ; n++ {
			data := filepath.Join(t.TempDir(), "data")
			must(t, os.MkdirAll(filepath.Join(data, "files"), 0o700))
			if b.Config.Kind == engine.ConnectionSQLite { // only what lies below files may be opened
				b = tabletest.SQLiteAt(t, filepath.Join(data, "files", "shop.db"))
			}
			b.Do(t, "DROP TABLE IF EXISTS orders", "DROP TABLE IF EXISTS copied", "CREATE TABLE orders (id INTEGER PRIMARY KEY)", "CREATE TABLE copied (id INTEGER)")
			for id := range 20 {
				b.Do(t, fmt.Sprintf("INSERT INTO orders VALUES (%d)", 1+id*2))
			}
			copyForTest(t, data, b.Config, read)

			killed := serveOn(t, data, fmt.Sprintf("%s %d", when, n))
			if killed {
				kills++
				b.Do(t, fmt.Sprintf("INSERT INTO orders VALUES (%d)", 1000+n))
				serveOn(t, data, "")
			}

			// Killed before its plan was stored, the run made a new one.
			most := 20
			if killed && b.Rows(t, "SELECT max(id) FROM copied") != "39" {
				most++
			}
			if got, want := b.Rows(t, "SELECT count(*), count(DISTINCT id) FROM copied"), fmt.Sprintf("%d|%d", most, most); got != want {
				t.Errorf("killed %s commit %d: got %s, want %s", when, n, got, want)
			}
			left, err := b.Databases.Tables(t.Context(), tabletest.Connection)
			must(t, err)
			if len(left) != 3 {
				t.Errorf("killed %s commit %d: got the tables %v, want orders, copied and the batches", when, n, left)
			}
			store := openForTest(t, data)
			runs, err := store.Runs(t.Context(), engine.RunFilter{})
			must(t, err)
			if len(runs) != 1 || runs[0].Outcome != engine.RunSucceeded {
				t.Errorf("killed %s commit %d: runs = %+v, want one that succeeded", when, n, runs)
			}
			must(t, store.Close())
			if !killed {
				break
			}
		}
	}
	if kills < 4*len(whens) {
		t.Errorf("the server was killed %d times, want it killed at each commit", kills)
	}
	t.Logf("%d kills", kills)
}
