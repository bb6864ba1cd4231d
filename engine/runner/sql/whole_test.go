package sql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/place"
)

// TestWhatAJobWroteNeedsNotSettle: the next job of a run reads it at once, and a
// file that somebody else writes beside it, or over it, must lie still first.
func TestWhatAJobWroteNeedsNotSettle(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{PartitionBy: []string{"day"}, Format: engine.CSV}))
	known := &place.Whole{}
	h.runner.Sink.Whole, h.runner.Source.Whole = known, known
	h.put("in/a.csv", "id,day,n\n1,mon,10\n2,tue,20\n3,wed,30\n")
	if first := h.run(t.Context()); first.State != engine.Succeeded {
		t.Fatalf("the first job: got %s %s", first.State, first.Error)
	}
	written, err := filepath.Glob(filepath.Join(h.dir, "out", "day=*", "*.csv"))
	must(t, err)
	if len(written) != 3 {
		t.Fatalf("got the files %v, want three", written)
	}
	// Somebody writes on one, over another, and a new one with a name like ours.
	grown, err := os.OpenFile(written[0], os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = grown.WriteString("4,4")
	must(t, err)
	must(t, grown.Close())
	text, err := os.ReadFile(written[1])
	must(t, err)
	must(t, os.Remove(written[1]))
	must(t, os.WriteFile(written[1], text, 0o644))
	h.put("out/day=mon/"+strings.Replace(filepath.Base(written[2]), "part-000001", "part-000002", 1), "id,n\n9,9\n")
	settle := int64(time.Hour / time.Millisecond)
	h.job.SQL = &engine.SQLJob{
		Sources: []engine.Source{{Name: "raw", Path: "out/**/*.csv", Format: engine.CSV, Ctx: "next", Options: engine.SourceOptions{SettleMS: &settle}}},
		Sinks:   []engine.Sink{{From: "raw", Path: "next"}},
	}

	second := h.run(t.Context())

	if second.State != engine.Succeeded || second.Batch == nil {
		t.Fatalf("the second job: got %s %s, want rows", second.State, second.Error)
	}
	part := second.Batch.Plan.Sources[0]
	if len(part.Taken) != 1 || !strings.HasSuffix(written[2], part.Taken[0].Key) || part.Counts[engine.ReasonTooYoung].Files != 3 {
		t.Errorf("got %+v taken and %+v, want %s alone, and three that are too young", part.Taken, part.Counts, written[2])
	}
	if got := h.rows(engine.Source{Path: filepath.Join(h.dir, "next"), Format: engine.Parquet}, "SELECT id FROM t"); got != "3" {
		t.Errorf("got the ids %s, want 3", got)
	}
}
