package engine_test

import (
	"slices"
	"strings"
	"testing"

	"dogear/engine"
)

func TestB09TwoSourcesCannotShareABookmark(t *testing.T) {
	t.Parallel()
	source := func(name, ctx string, read engine.ReadMode) engine.Source {
		return engine.Source{Name: name, Path: name + "/*.csv", Ctx: ctx, Read: read}
	}
	tests := map[string]struct {
		sources []engine.Source
		refused string
	}{
		"one context for two":              {[]engine.Source{source("a", "in", ""), source("b", "in", "")}, "The source a reads by the bookmark in already."},
		"a name that is another's context": {[]engine.Source{source("a", "b", ""), source("b", "", "")}, "The source a reads by the bookmark b already."},
		"read whole, it has no bookmark":   {[]engine.Source{source("a", "in", ""), source("b", "in", engine.ReadAll)}, ""},
		"each its own":                     {[]engine.Source{source("a", "", ""), source("b", "", "")}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := engine.JobBody{Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, SQL: &engine.SQLJob{
				Sources: tt.sources, Sinks: []engine.Sink{{From: "a", Path: "out"}},
			}}

			faults := body.Faults()

			switch {
			case tt.refused == "" && len(faults) > 0:
				t.Errorf("refused by %v", faults)
			case tt.refused != "" && (len(faults) != 1 || faults[0].Field != "source.1.name" || !strings.HasPrefix(faults[0].Message, tt.refused)):
				t.Errorf("got %v, want %q at source.1.name", faults, tt.refused)
			}
		})
	}
}

// TestLimitsHaveLimits: lengths of time that would overflow, and slips of the
// keyboard.
func TestLimitsHaveLimits(t *testing.T) {
	t.Parallel()
	for field, set := range map[string]func(*engine.JobBody){
		"timeout":     func(b *engine.JobBody) { b.Timeout = 999_999_999_999 },
		"retry_delay": func(b *engine.JobBody) { b.RetryDelay = 9_223_372_037 },
		"memory_mb":   func(b *engine.JobBody) { b.MemoryMB = 99_999_999_999 },
		"retries":     func(b *engine.JobBody) { b.Retries = 100_000_000 },
		"max_runs":    func(b *engine.JobBody) { b.MaxRuns = -1 },
	} {
		body := engine.JobBody{Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, SQL: &engine.SQLJob{}}
		if hasFault(&body, field) {
			t.Fatalf("%s is at fault before it was set", field)
		}
		set(&body)
		if !hasFault(&body, field) {
			t.Errorf("%s: got no fault", field)
		}
	}
}

func hasFault(b *engine.JobBody, field string) bool {
	return slices.ContainsFunc(b.Faults(), func(f engine.Fault) bool { return f.Field == field })
}
