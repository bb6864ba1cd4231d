package db

import (
	"path/filepath"
	"strings"
	"testing"

	"dogear/db/secret"
)

// TestWhatIsOpenIsFoundWithoutHistory keeps SQLite from looking through what
// has ended: a server with a million node runs behind it starts as fast as one
// with none.
func TestWhatIsOpenIsFoundWithoutHistory(t *testing.T) {
	store := empty(t)
	for name, query := range map[string]string{
		"what is under way": selectNode + store.orphans(),
		"what is open":      selectNode + " WHERE " + store.openNodes(),
		"what waits":        selectNode + store.readyNodes(),
		"runs of a job":     `SELECT count(*) FROM node_run WHERE ref = ? AND ` + store.underWay(),
	} {
		got := planOf(t, store, query)
		if !strings.Contains(got, "USING COVERING INDEX run_open") || !strings.Contains(got, "run_id=?") || strings.Contains(got, "SCAN node_run") {
			t.Errorf("%s: the plan is %q, want one that asks for the nodes of the open runs alone", name, got)
		}
	}
}

// TestTheWatchdogLooksAtTheNodesOfTheRunsItChooses: and through no others.
func TestTheWatchdogLooksAtTheNodesOfTheRunsItChooses(t *testing.T) {
	store := empty(t)

	got := planOf(t, store, store.openOfEnded())

	if strings.Contains(got, "SCAN n") || !strings.Contains(got, "SEARCH n USING") || strings.Contains(got, "SCAN run;") {
		t.Errorf("the plan is %q, want one that asks for the nodes of chosen runs alone", got)
	}
}

// TestTheHistoryOfAJobLooksAtNoOtherNodes than its own.
func TestTheHistoryOfAJobLooksAtNoOtherNodes(t *testing.T) {
	store := empty(t)

	got := planOf(t, store, strings.NewReplacer("LIMIT ?", "LIMIT 5").Replace(selectHistory))

	if !strings.Contains(got, "SEARCH node_run USING PRIMARY KEY (run_id=? AND ref=?)") || !strings.Contains(got, "SEARCH part USING PRIMARY KEY (ref=?)") {
		t.Errorf("the plan is %q, want one that asks for the nodes of the job in chosen runs alone", got)
	}
}

// empty opens a store in a new file.
func empty(t *testing.T) *Store {
	t.Helper()
	keys, err := secret.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	store, err := Open(t.Context(), filepath.Join(t.TempDir(), "dogear.db"), keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// planOf is how SQLite would answer a query with at most two arguments.
func planOf(t *testing.T, store *Store, query string) string {
	t.Helper()
	args := []any{"1", "[]"}
	rows, err := store.read.DB.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args[:strings.Count(query, "?")]...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var text string
		if err := rows.Scan(&id, &parent, &unused, &text); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "; ")
}
