package sql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dogear/engine"
)

// TestATargetThatMeetsASourceIsRefusedAtPlan: what the texts of the paths do not
// show is found where they really lead, and nothing is written or deleted.
func TestATargetThatMeetsASourceIsRefusedAtPlan(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		target func(h *house) []string
		want   string
	}{
		"a relative and a whole path": {func(h *house) []string { return []string{filepath.Join(h.dir, "in")} }, "is the same place as in/**/*.csv, which the source raw"},
		"a symbolic link":             {func(*house) []string { return []string{"link/out"} }, "link/out lies in in/**/*.csv"},
		"the folder above":            {func(h *house) []string { return []string{h.dir} }, "holds in/**/*.csv"},
		"two spellings of a target":   {func(h *house) []string { return []string{"out", filepath.Join(h.dir, "out")} }, "is the same place as out, which another sink"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, sales(engine.Sink{Mode: engine.Replace}))
			h.put("in/a.csv", "id,day,n\n1,mon,10\n")
			must(t, os.Symlink(filepath.Join(h.dir, "in"), filepath.Join(h.dir, "link")))
			sink := h.job.SQL.Sinks[0]
			h.job.SQL.Sinks = nil
			for _, path := range tt.target(h) {
				sink.Path = path
				h.job.SQL.Sinks = append(h.job.SQL.Sinks, sink)
			}

			result := h.run(t.Context())

			if result.State != engine.Failed || !strings.Contains(result.Error, tt.want) {
				t.Errorf("got %s %q, want a refusal that says %q", result.State, result.Error, tt.want)
			}
			if _, err := os.Stat(filepath.Join(h.dir, "in", "a.csv")); err != nil || h.started != 0 {
				t.Errorf("the source's file: %v after %d workers, want it untouched by none", err, h.started)
			}
		})
	}
}

// TestAJobMayReadWhatAnotherWrote: only a job's own targets are closed to it.
func TestAJobMayReadWhatAnotherWrote(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{}))
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")
	first := h.run(t.Context())
	job := sales(engine.Sink{})
	job.Sources[0] = engine.Source{Name: "raw", Path: "out", Format: engine.Parquet, Ctx: "next", Options: job.Sources[0].Options}
	job.Sinks[0].Path = "next"
	h.job.SQL = &job

	second := h.run(t.Context())

	if first.State != engine.Succeeded || second.State != engine.Succeeded {
		t.Errorf("got %q and %q, want two successes", first.Error, second.Error)
	}
}

// TestFilesOfOthersInATargetAreLeftAndNamed: a replace takes away what the job
// wrote and nothing else.
func TestFilesOfOthersInATargetAreLeftAndNamed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{Mode: engine.Replace}))
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")
	h.put("out/notes.txt", "theirs")
	h.put("out/curated/x.parquet", "theirs")
	h.run(t.Context())
	h.put("in/b.csv", "id,day,n\n2,mon,10\n")

	second := h.run(t.Context())

	written, err := filepath.Glob(filepath.Join(h.dir, "out", "*.parquet"))
	must(t, err)
	if second.State != engine.Succeeded || len(written) != 1 {
		t.Errorf("got %s %s and the files %v, want one", second.State, second.Error, written)
	}
	for _, theirs := range []string{"out/notes.txt", "out/curated/x.parquet"} {
		if text, err := os.ReadFile(filepath.Join(h.dir, theirs)); string(text) != "theirs" {
			t.Errorf("%s: got %q and %v, want it as it was", theirs, text, err)
		}
	}
	if !h.said("2 files in out are left") {
		t.Errorf("log: got %s, want the files that were left", strings.Join(h.log, "\n"))
	}
}
