package engine_test

import (
	"slices"
	"testing"

	"dogear/engine"
)

func TestFaultsOfTables(t *testing.T) {
	t.Parallel()
	source := engine.Source{Name: "s", Connection: "c", Table: "orders", Keys: []string{"id"}}
	sink := engine.Sink{From: "s", Connection: "c", Table: "copy", Mode: engine.Merge, Keys: []string{"id"}}
	tests := map[string]struct {
		change func(*engine.Source, *engine.Sink)
		want   []string
	}{
		"nothing":                      {func(*engine.Source, *engine.Sink) {}, nil},
		"no connection":                {func(s *engine.Source, k *engine.Sink) { s.Connection, k.Connection = "", "" }, []string{"source.0.connection", "sink.0.connection"}},
		"a folder too":                 {func(s *engine.Source, k *engine.Sink) { s.Path, k.Path = "in", "out" }, []string{"source.0.path", "sink.0.path"}},
		"nowhere":                      {func(s *engine.Source, k *engine.Sink) { s.Table, k.Table = "", "" }, []string{"source.0.path", "sink.0.path"}},
		"a negative lag":               {func(s *engine.Source, _ *engine.Sink) { s.Options.Table.Lag = -1 }, []string{"source.0.lag"}},
		"an unknown policy":            {func(s *engine.Source, _ *engine.Sink) { s.Options.Table.NullKeys = "guess" }, []string{"source.0.null_keys"}},
		"a lag of a key that falls":    {func(s *engine.Source, _ *engine.Sink) { s.Options.Table.Descending, s.Options.Table.Lag = true, 5 }, []string{"source.0.lag"}},
		"an overlap that is merged":    {func(s *engine.Source, _ *engine.Sink) { s.Options.Table.Overlap = 5 }, nil},
		"an overlap that is appended":  {func(s *engine.Source, k *engine.Sink) { s.Options.Table.Overlap, k.Mode = 5, engine.Append }, []string{"source.0.overlap"}},
		"rows without a key, appended": {func(s *engine.Source, k *engine.Sink) { s.Options.Table.NullKeys, k.Mode = "read", "" }, []string{"source.0.null_keys"}},
		"a stand-in column": {func(s *engine.Source, _ *engine.Sink) {
			s.Options.Table.NullKeys, s.Options.Table.Instead = "coalesce", "made"
		}, nil},
		"a stand-in without a name":   {func(s *engine.Source, _ *engine.Sink) { s.Options.Table.NullKeys = "coalesce" }, []string{"source.0.instead"}},
		"a stand-in nobody asked for": {func(s *engine.Source, _ *engine.Sink) { s.Options.Table.Instead = "made" }, []string{"source.0.instead"}},
		"a stand-in of two columns": {func(s *engine.Source, _ *engine.Sink) {
			s.Options.Table.NullKeys, s.Options.Table.Instead, s.Keys = "coalesce", "made", []string{"a", "b"}
		}, []string{"source.0.instead"}},
		"compared, and merged":          {func(s *engine.Source, _ *engine.Sink) { s.Read = engine.ReadCompare }, nil},
		"compared, and appended":        {func(s *engine.Source, k *engine.Sink) { s.Read, k.Mode = engine.ReadCompare, "" }, []string{"source.0.read"}},
		"compared, with a lag":          {func(s *engine.Source, _ *engine.Sink) { s.Read, s.Options.Table.Lag = engine.ReadCompare, 5 }, []string{"source.0.lag"}},
		"compared, with rows of no key": {func(s *engine.Source, _ *engine.Sink) { s.Read, s.Options.Table.NullKeys = engine.ReadCompare, "read" }, []string{"source.0.null_keys"}},
		"files compared row by row":     {func(s *engine.Source, _ *engine.Sink) { s.Read, s.Table, s.Path = engine.ReadCompare, "", "in" }, []string{"source.0.read"}},
		"read whole, the overlap is moot": {func(s *engine.Source, k *engine.Sink) {
			s.Options.Table.Overlap, s.Read, k.Mode = 5, engine.ReadAll, ""
		}, nil},
		"a name of two lines":      {func(s *engine.Source, k *engine.Sink) { s.Name, k.From = "s\nt", "s\nt" }, []string{"source.0.name"}},
		"a name that is no text":   {func(s *engine.Source, k *engine.Sink) { s.Name, k.From = "s\xff", "s\xff" }, []string{"source.0.name"}},
		"a context with a control": {func(s *engine.Source, _ *engine.Sink) { s.Ctx = "a\x00b" }, []string{"source.0.ctx"}},
		"the folder of stages":     {func(_ *engine.Source, k *engine.Sink) { k.Table, k.Connection, k.Path = "", "", "out/.dogear/x" }, []string{"sink.0.path"}},
		"a table of the catalog":   {func(_ *engine.Source, k *engine.Sink) { k.CatalogTable = "a.b" }, []string{"sink.0.catalog_table"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, k := source, sink
			tt.change(&s, &k)
			body := engine.JobBody{Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, SQL: &engine.SQLJob{Sources: []engine.Source{s}, Sinks: []engine.Sink{k}}}
			var got []string
			for _, f := range body.Faults() {
				got = append(got, f.Field)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got faults at %v, want %v", got, tt.want)
			}
		})
	}
}
