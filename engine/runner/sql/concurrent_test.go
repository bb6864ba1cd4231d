package sql

import (
	"fmt"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/table/tabletest"
)

// following is a way to read a table that others write meanwhile: how its
// target is kept, and what the n-th commit of a writer is.
type following struct {
	keys       []string
	descending bool
	sink       engine.Sink
	compare    bool
	// inside are commits between plan and read: with keys in what was planned,
	// beyond it, and of rows that were planned.
	inside []string
	commit func(n int) []string
}

// at is a time n microseconds after another.
func at(n int) string { return fmt.Sprintf("'2026-03-01 10:00:00.%06d'", n) }

// followings: of a key each commit is beyond all before it, as the mark needs
// (what is committed late with an older key is the known hole, which a lag or
// an overlap closes).
func followings() map[string]following {
	appended := engine.Sink{From: "events", Connection: tabletest.Connection, Table: "copy_of"}
	merged := engine.Sink{From: "events", Connection: tabletest.Connection, Table: "copy_of", Mode: engine.Merge, Keys: []string{"id"}}
	update := func(n int) []string {
		return []string{
			fmt.Sprintf("INSERT INTO events VALUES (%d, %s, 0)", 1000+n, at(3*n+1000)),
			fmt.Sprintf("UPDATE events SET n = n + 1, updated_at = %s WHERE id IN (%d, %d)", at(3*n+1001), 1000+n/2, 1+n%3),
		}
	}
	return map[string]following{
		"a rising key": {
			keys: []string{"id"}, sink: appended,
			inside: []string{"INSERT INTO events VALUES (25, NULL, 0)", "INSERT INTO events VALUES (90, NULL, 0)"},
			commit: func(n int) []string {
				return []string{fmt.Sprintf("INSERT INTO events VALUES (%d, NULL, 0)", 1000+2*n), fmt.Sprintf("INSERT INTO events VALUES (%d, NULL, 0)", 1001+2*n)}
			},
		},
		"a falling key": {
			keys: []string{"id"}, descending: true, sink: appended,
			inside: []string{"INSERT INTO events VALUES (25, NULL, 0)", "INSERT INTO events VALUES (5, NULL, 0)"},
			commit: func(n int) []string { return []string{fmt.Sprintf("INSERT INTO events VALUES (%d, NULL, 0)", -n)} },
		},
		"a compound key": {
			keys: []string{"updated_at", "id"}, sink: appended,
			inside: []string{"INSERT INTO events VALUES (25, " + at(15) + ", 0)", "INSERT INTO events VALUES (26, " + at(30) + ", 0)", "INSERT INTO events VALUES (90, " + at(30) + ", 0)"},
			commit: func(n int) []string {
				return []string{fmt.Sprintf("INSERT INTO events VALUES (%d, %s, 0)", 1000+n, at(1000+n/3))} // three of one time
			},
		},
		"updated_at": {
			keys: []string{"updated_at"}, sink: merged,
			inside: []string{"INSERT INTO events VALUES (25, " + at(15) + ", 0)", "UPDATE events SET n = 7, updated_at = " + at(40) + " WHERE id = 10", "UPDATE events SET n = 8, updated_at = " + at(41) + " WHERE id = 30"},
			commit: update,
		},
		"a full compare": {
			keys: []string{"id"}, compare: true, sink: merged,
			inside: []string{"INSERT INTO events VALUES (25, NULL, 0)", "UPDATE events SET n = 7 WHERE id = 10", "UPDATE events SET updated_at = NULL WHERE id = 30"},
			commit: update,
		},
	}
}

// followed runs a test of each way on each database.
func followed(t *testing.T, run func(t *testing.T, b tabletest.Base, h *house, f following)) {
	for name, f := range followings() {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
				moment := "TIMESTAMP"
				if b.Config.Kind == engine.ConnectionMySQL {
					moment = "DATETIME(6)"
				}
				columns := " (id INTEGER, updated_at " + moment + " NULL, n INTEGER)"
				b.Do(t, "CREATE TABLE events"+strings.Replace(columns, "INTEGER", "INTEGER PRIMARY KEY", 1), "CREATE TABLE copy_of"+columns)
				for i := range 3 {
					b.Do(t, fmt.Sprintf("INSERT INTO events VALUES (%d, %s, 0)", 10*(i+1), at(10*(i+1))))
				}
				source := engine.Source{Name: "events", Connection: tabletest.Connection, Table: "events", Keys: f.keys}
				source.Options.Table.Descending = f.descending
				if f.compare {
					source.Read = engine.ReadCompare
				}
				h := newTableHouse(t, b, engine.SQLJob{Sources: []engine.Source{source}, Sinks: []engine.Sink{f.sink}})
				h.runner.Pages = h.ledger
				run(t, b, h, f)
			})
		})
	}
}

// equal demands that the target holds each row of the table once, as it is.
func equal(t *testing.T, b tabletest.Base, h *house) {
	t.Helper()
	ran(t, h) // what came since the last run
	all := "SELECT id, updated_at, n FROM %s ORDER BY id, updated_at, n"
	if got, want := b.Rows(t, fmt.Sprintf(all, "copy_of")), b.Rows(t, fmt.Sprintf(all, "events")); got != want {
		t.Errorf("the target holds %d bytes of rows, want %d: %.2000s", len(got), len(want), got)
	}
}

func TestWhatIsCommittedBetweenPlanAndReadIsReadOnce(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b tabletest.Base, h *house, f following) {
		h.onStart = func() { b.Do(t, f.inside...) }

		ran(t, h)

		h.onStart = nil
		equal(t, b, h)
	})
}

func TestATableThatIsWrittenAllTheTimeIsReadOnce(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b tabletest.Base, h *house, f following) {
		met := 3 // runs that the writer goes on through
		if testing.Short() {
			met = 2
		}
		wrote, stop := make(chan error, 1), make(chan struct{})
		go func() { wrote <- f.write(t, b, stop) }()
		for range met {
			ran(t, h)
		}
		close(stop)
		must(t, <-wrote)

		equal(t, b, h)
		if got := b.Rows(t, "SELECT count(*) FROM events"); len(got) < 2 {
			t.Errorf("the writer wrote only %s rows", got)
		}
	})
}

// mostCommits bounds a writer that is much faster than the runs it meets.
const mostCommits = 1500

// write makes commits one after the other, each in a transaction of its own,
// until it is told to stop.
func (f following) write(t *testing.T, b tabletest.Base, stop <-chan struct{}) error {
	for n := range mostCommits {
		select {
		case <-stop:
			return nil
		default:
		}
		tx, err := b.BeginTx(t.Context(), nil)
		if err != nil {
			return err
		}
		for _, statement := range f.commit(n) {
			if _, err := tx.ExecContext(t.Context(), statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}
