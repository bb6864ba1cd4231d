package engine_test

import (
	"strings"
	"testing"

	"dogear/engine"
)

func TestOverwritingPartitionsAsksWhereTheFilesOfASourceGo(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		source       engine.Source
		mode         engine.BookmarkMode
		field, wrong string
	}{
		"by bookmark, without a pattern": {engine.Source{Path: "in/*.csv"}, engine.BookmarkOn, "source.0.partition", "out is overwritten by partitions: a late file would leave its partition with that file alone."},
		"paused, without a pattern":      {engine.Source{Path: "in/*.csv"}, engine.BookmarkPaused, "source.0.partition", "out is overwritten"},
		"a table by its key":             {engine.Source{Table: "orders", Connection: "c"}, engine.BookmarkOn, "source.0.read", "out is overwritten by partitions: the new rows of a table alone"},
		"by bookmark, with a pattern":    {engine.Source{Path: "in/*.csv", Options: engine.SourceOptions{Partition: "{day}/*.csv"}}, engine.BookmarkOn, "", ""},
		"read whole":                     {engine.Source{Path: "in/*.csv", Read: engine.ReadAll}, engine.BookmarkOn, "", ""},
		"without a bookmark":             {engine.Source{Path: "in/*.csv"}, engine.BookmarkOff, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.source.Name = "raw"
			body := engine.JobBody{Kind: engine.JobSQL, Bookmark: tt.mode, SQL: &engine.SQLJob{
				Sources: []engine.Source{tt.source},
				Sinks:   []engine.Sink{{From: "raw", Path: "out", Mode: engine.OverwritePartitions, PartitionBy: []string{"day"}}},
			}}

			faults := body.Faults()

			switch {
			case tt.wrong == "" && len(faults) > 0:
				t.Errorf("refused by %v", faults)
			case tt.wrong != "" && (len(faults) != 1 || faults[0].Field != tt.field || !strings.HasPrefix(faults[0].Message, tt.wrong)):
				t.Errorf("got %v, want %q at %s", faults, tt.wrong, tt.field)
			}
		})
	}
}
