package engine_test

import (
	"testing"

	"dogear/engine"
)

func TestWhatReadsAllHasNoBookmarkToSpeakOf(t *testing.T) {
	t.Parallel()
	sql := func(mode engine.BookmarkMode, reads ...engine.ReadMode) engine.JobBody {
		b := engine.JobBody{Bookmark: mode, SQL: &engine.SQLJob{}}
		for _, read := range reads {
			b.SQL.Sources = append(b.SQL.Sources, engine.Source{Read: read})
		}
		return b
	}
	for name, tt := range map[string]struct {
		body engine.JobBody
		want bool
	}{
		"all of its sources":          {sql(engine.BookmarkOn, engine.ReadAll, engine.ReadAll), true},
		"paused":                      {sql(engine.BookmarkPaused, engine.ReadAll), true},
		"one of them by its bookmark": {sql(engine.BookmarkOn, engine.ReadAll, ""), false},
		"off":                         {sql(engine.BookmarkOff, engine.ReadAll), false},
		"no source yet":               {sql(engine.BookmarkOn), false},
		"a script":                    {engine.JobBody{Bookmark: engine.BookmarkOff}, false},
	} {
		if got := tt.body.ReadsAll(); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}
