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
