package sql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// TestAFileThatWasHeldUnreadIsReadOnceItIsMended: it was never read, so reading
// it doubles nothing, and its content is not looked at while it is held, which
// may not be allowed.
func TestAFileThatWasHeldUnreadIsReadOnceItIsMended(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{}))
	h.job.SQL.Sources[0].Schema = []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "day", Type: "VARCHAR"}, {Name: "n", Type: "BIGINT"}}
	h.job.SQL.Sources[0].Policy.Unreadable = "hold"
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")
	h.put("in/b.csv", "id,day,n\n2,mon,20,oops\n")
	first := h.run(t.Context())
	h.put("in/b.csv", "id,day,n\n2,mon,2000000\n") // as many bytes

	second := h.run(t.Context())

	if entry := first.Ledger[0].Entries[1]; entry.State != engine.EntryHeld || entry.Hash != bookmark.HeldUnread {
		t.Errorf("ledger: got %+v, want it held without its content", entry)
	}
	if got := h.rows(h.out(), "SELECT id, n FROM t ORDER BY id"); got != "1|10 2|2000000" {
		t.Errorf("after it was mended: got %s %s and the rows %s", second.State, second.Error, got)
	}
}

// TestAFileThatVanishesIsLeftOut like one that changed: the rest is read.
func TestAFileThatVanishesIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"", "hold"} {
		h := newHouse(t, sales(engine.Sink{}))
		h.job.SQL.Sources[0].Schema = []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "day", Type: "VARCHAR"}, {Name: "n", Type: "BIGINT"}}
		h.job.SQL.Sources[0].Policy.Unreadable = policy
		h.put("in/a.csv", "id,day,n\n1,mon,10\n")
		h.put("in/b.csv", "id,day,n\n2,mon,20\n")
		h.onStart = func() { _ = os.Remove(filepath.Join(h.dir, "in", "b.csv")) }

		result := h.run(t.Context())

		if result.State != engine.Succeeded || result.Counts.Files != 1 || !h.said("b.csv of raw changed since the plan") {
			t.Fatalf("policy %q: got %s %s, want a.csv alone; the log is\n%s", policy, result.State, result.Error, strings.Join(h.log, "\n"))
		}
		if got := h.rows(h.out(), "SELECT id FROM t"); got != "1" || len(result.Ledger[0].Entries) != 1 {
			t.Errorf("policy %q: got the rows %s and the ledger %+v, want a.csv", policy, got, result.Ledger)
		}
		if left := result.Batch.Manifest.Left; len(left) != 1 || left[0].Key != "b.csv" || left[0].Held {
			t.Errorf("policy %q: the manifest leaves %+v, want b.csv, which is not held", policy, left)
		}
	}
}

func TestNothingIsLeftWhereAllFilesVanish(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{}))
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")
	h.onStart = func() { _ = os.Remove(filepath.Join(h.dir, "in", "a.csv")) }

	result := h.run(t.Context())

	if result.State != engine.Succeeded || result.Batch != nil || !result.Counts.AllChanged || result.Counts.NothingNew || !h.said("nothing to do: everything changed") {
		t.Errorf("got %s %s with %+v, want nothing to do, as all files changed", result.State, result.Error, result.Counts)
	}
	if left, _ := filepath.Glob(filepath.Join(h.dir, "out", ".dogear", "*")); len(left) > 0 {
		t.Errorf("stages left: %v", left)
	}
}

// TestAPartitionIsNotWrittenWithoutAFileThatVanishes: its rows lie in the
// partition that is written anew.
func TestAPartitionIsNotWrittenWithoutAFileThatVanishes(t *testing.T) {
	t.Parallel()
	job := sales(engine.Sink{PartitionBy: []string{"day"}, Mode: engine.OverwritePartitions})
	job.Sources[0].Options.Partition = "{day}_*.csv"
	h := newHouse(t, job)
	h.job.SQL.Sources[0].Schema = []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "day", Type: "VARCHAR"}, {Name: "n", Type: "BIGINT"}}
	h.put("in/mon_a.csv", "id,day,n\n1,mon,10\n")
	first := h.run(t.Context())
	h.put("in/mon_b.csv", "id,day,n\n2,mon,20\n")
	h.onStart = func() { _ = os.Remove(filepath.Join(h.dir, "in", "mon_a.csv")) }

	second := h.run(t.Context())

	if first.State != engine.Succeeded || second.State == engine.Succeeded || !strings.Contains(second.Error, "mon_a.csv of raw changed or went since the plan") {
		t.Errorf("got %s %s and then %s %s, want the second refused", first.State, first.Error, second.State, second.Error)
	}
	if got := h.rows(h.out(), "SELECT id FROM t"); got != "1" {
		t.Errorf("the target holds the rows %s, want the first", got)
	}
}
