package draft_test

import (
	"testing"

	"dogear/engine"
	"dogear/engine/draft"
)

func TestAChangedJobSaysWhichOfItsFieldsChanged(t *testing.T) {
	t.Parallel()
	before := engine.JobBody{Kind: engine.JobSQL, Timeout: 60, SQL: &engine.SQLJob{
		Sources: []engine.Source{{Name: "sales", Path: "/in/*.csv"}},
		Steps:   []engine.Step{{Name: "out", SQL: "SELECT 1"}},
		Sinks:   []engine.Sink{{From: "out", Path: "/out", Keys: []string{"id"}}},
	}}
	after := before
	after.Timeout = 5
	after.SQL = &engine.SQLJob{
		Sources: []engine.Source{{Name: "sales", Path: "/in/*.json", Connection: "01C"}, {Name: "dates", Path: "/dates"}},
		Steps:   []engine.Step{{Name: "out", SQL: "SELECT 2"}},
		Sinks:   []engine.Sink{{From: "out", Path: "/out", Keys: []string{"id", "day"}}},
	}
	names := draft.Names{{Kind: engine.KindConnection, ID: "01C"}: "minio"}
	want := []draft.Field{
		{Name: "Source dates name", To: "dates"},
		{Name: "Source dates path", To: "/dates"},
		{Name: "Source sales connection", To: "minio"},
		{Name: "Source sales path", From: "/in/*.csv", To: "/in/*.json"},
		{Name: "Step out SQL", From: "SELECT 1", To: "SELECT 2"},
		{Name: "Target 1 keys", From: "id", To: "id, day"},
		{Name: "Timeout, min", From: "60", To: "5"},
	}

	got := draft.JobFields(before, after, names)

	if len(got) != len(want) {
		t.Fatalf("JobFields = %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("field %d = %+v, want %+v", i, got[i], want[i])
		}
	}
	if same := draft.JobFields(before, before, names); len(same) > 0 {
		t.Errorf("a job against itself = %+v, want nothing", same)
	}
}

// TestWhatAFormWritesOutIsNoChange: a form shows what holds where a file says nothing.
func TestWhatAFormWritesOutIsNoChange(t *testing.T) {
	t.Parallel()
	terse := engine.JobBody{Kind: engine.JobSQL, SQL: &engine.SQLJob{
		Sources: []engine.Source{{Name: "sales", Path: "/in/*.csv"}}, Sinks: []engine.Sink{{From: "sales", Path: "/out"}},
	}}
	full := engine.JobBody{
		Kind: engine.JobSQL, Timeout: engine.DefaultTimeout, MaxRuns: 1, MemoryMB: engine.DefaultMemoryMB, SpillMB: engine.DefaultSpillMB, RetryDelay: 1,
		SQL: &engine.SQLJob{
			Sources: []engine.Source{{Name: "sales", Path: "/in/*.csv", Format: engine.CSV, Read: engine.ReadNew, Policy: engine.Policy{Unreadable: "fail", Gone: "fail"}}},
			Sinks:   []engine.Sink{{From: "sales", Path: "/out", Format: engine.Parquet, Mode: engine.Append}},
		},
	}
	merged := full
	merged.SQL = &engine.SQLJob{Sources: full.SQL.Sources, Sinks: []engine.Sink{{From: "sales", Path: "/out", Mode: engine.Merge}}}
	script := func(grace engine.Seconds) engine.JobBody {
		return engine.JobBody{Kind: engine.JobPython, Script: &engine.ScriptJob{Body: "pass", Grace: grace}}
	}

	for name, got := range map[string][]draft.Field{
		"written out":  draft.JobFields(terse, full, nil),
		"left out":     draft.JobFields(full, terse, nil),
		"of a script":  draft.JobFields(script(0), script(engine.DefaultGrace), nil),
		"of a crawler": draft.CrawlerFields(engine.CrawlerBody{}, engine.CrawlerBody{Timeout: engine.DefaultTimeout}, nil),
	} {
		if len(got) > 0 {
			t.Errorf("%s: %+v, want no change", name, got)
		}
	}
	want := draft.Field{Name: "Target 1 mode", From: "append", To: "merge"}
	if got := draft.JobFields(terse, merged, nil); len(got) != 1 || got[0] != want {
		t.Errorf("a mode that was left out and is chosen: %+v, want %+v", got, want)
	}
	want.From, want.To = want.To, want.From
	if got := draft.JobFields(merged, terse, nil); len(got) != 1 || got[0] != want {
		t.Errorf("a mode that was chosen and is left out: %+v, want %+v", got, want)
	}
}
