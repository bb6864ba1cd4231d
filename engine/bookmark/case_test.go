package bookmark_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// scenario is the form of the field cases under testdata.
type scenario struct {
	Source struct {
		Paths        []string
		BoundedFiles int
	}
	Steps  []step
	Expect map[string]json.RawMessage
}

type step struct {
	Op, ID, Key, ETag, Outcome string
	From, To                   any
	KeyPattern                 string `json:"key_pattern"`
	Size                       int64
	At, MTime                  time.Time
	Paths                      []string
	Insert                     *struct {
		Key   string
		MTime time.Time
	} `json:"insert_during_page"`
}

type expectation struct {
	Read      []string
	ReadCount *int `json:"read_count"`
	Changed   *int
	Same      *int `json:"same_content_as_read"`
	Notice    string
	Finding   string
	Band      *struct{ Read []string } `json:"band_3600s"`
}

// TestCases replays what people reported and asserts the set that is read.
func TestCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/B*.json")
	must(t, err)
	if len(files) < 8 {
		t.Fatalf("found %d cases, want at least 8", len(files))
	}
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			must(t, err)
			var s scenario
			must(t, json.Unmarshal(text, &s))
			replay(t, s)
		})
	}
}

func replay(t *testing.T, s scenario) {
	t.Helper()
	w := newWorld(engine.Source{
		Name: "src", Path: s.Source.Paths[0], Format: engine.CSV, Ctx: "src", Options: engine.SourceOptions{MaxFiles: s.Source.BoundedFiles},
	}, engine.Merge)
	runs := 0
	for _, step := range s.Steps {
		switch step.Op {
		case "put", "lister-precision":
			w.write(step)
		case "put-many":
			for i := int(step.From.(float64)); i <= int(step.To.(float64)); i++ {
				w.put(fmt.Sprintf(step.KeyPattern, i), step.Size, fmt.Sprint("e", i), step.At)
			}
		case "move":
			moved := w.objects[step.From.(string)]
			delete(w.objects, step.From.(string))
			w.put(step.To.(string), moved.Size, step.ETag, step.At)
		case "edit-source":
			w.job.SQL.Sources[0].Path = step.Paths[0]
		case "run":
			runs++
			w.check(t, step, s.Expect[step.ID])
		default:
			t.Fatalf("the step %q is not known", step.Op)
		}
	}
	if runs == 0 {
		t.Fatal("the case runs nothing")
	}
}

// write puts an object; a step that leaves out what it does not change keeps it.
func (w *world) write(s step) {
	old := w.objects[s.Key]
	if s.Size == 0 {
		s.Size = old.Size
	}
	if s.ETag == "" {
		s.ETag = old.ETag
	}
	if s.MTime.IsZero() {
		s.MTime = s.At
	}
	w.put(s.Key, s.Size, s.ETag, s.MTime)
}

func (w *world) check(t *testing.T, s step, raw json.RawMessage) {
	t.Helper()
	var want expectation
	if raw != nil {
		must(t, json.Unmarshal(raw, &want))
	}
	if s.Insert != nil {
		w.duringAt = 1000
		w.during = func() { w.put(s.Insert.Key, 10, "late", s.Insert.MTime) }
	}
	read, part, err := w.run(t, s.At, s.Outcome == "SUCCEEDED")
	if want.Finding == "SOURCE_CHANGED" {
		if engine.CodeOf(err) != engine.Conflict {
			t.Errorf("%s = %v, want it to stop and ask about the changed source", s.ID, err)
		}
		return
	}
	must(t, err)
	if want.Band != nil { // a ledger needs no band: what it never read is new
		want.Read = want.Band.Read
	}
	slices.Sort(want.Read)
	if raw != nil && want.ReadCount == nil && !slices.Equal(read, want.Read) {
		t.Errorf("%s read %v, want %v", s.ID, read, want.Read)
	}
	if want.ReadCount != nil && len(read) != *want.ReadCount {
		t.Errorf("%s read %d files, want %d", s.ID, len(read), *want.ReadCount)
	}
	if want.Changed != nil && part.Counts[engine.ReasonChanged].Files != int64(*want.Changed) {
		t.Errorf("%s found %d changed, want %d", s.ID, part.Counts[engine.ReasonChanged].Files, *want.Changed)
	}
	if same := noted(part, "the same content as "); want.Same != nil && (same != *want.Same || len(part.Notices) != 1) {
		t.Errorf("%s found %d with the content of what was read and notices %v, want %d and one", s.ID, same, part.Notices, *want.Same)
	}
	if want.Notice == "FUTURE_MTIME" && !slices.ContainsFunc(part.Notices, func(n string) bool { return strings.Contains(n, "dated in the future") }) {
		t.Errorf("%s notices %v, want one on the time in the future", s.ID, part.Notices)
	}
}

// noted counts what is taken with a note.
func noted(part engine.SourcePlan, note string) (n int) {
	for _, o := range part.Taken {
		if strings.HasPrefix(o.Note, note) {
			n++
		}
	}
	return n
}

func TestB06OnlyTheContentOfWhatWasReadIsNoticed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		key, etag string
		size      int64
		want      int
	}{
		"a copy beside it":            {"in/copy.csv", "e-a", 40, 1},
		"other content":               {"in/b.csv", "e-b", 40, 0},
		"the same hash, another size": {"in/b.csv", "e-a", 41, 0},
		"changed in place":            {"in/a.csv", "e-b", 40, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(engine.Source{Name: "src", Path: "s3://lake/in/", Format: engine.CSV, Ctx: "src"}, engine.Merge)
			w.put("in/a.csv", 40, "e-a", at)
			_, _, err := w.run(t, at.Add(time.Hour), true)
			must(t, err)
			w.put(tt.key, tt.size, tt.etag, at.Add(2*time.Hour))

			read, part, err := w.run(t, at.Add(3*time.Hour), true)
			must(t, err)

			if got := noted(part, "the same content as in/a.csv"); got != tt.want || len(part.Notices) != tt.want || len(read) != 1 {
				t.Errorf("read %v, %d noted, notices %v; want one read and %d noted", read, got, part.Notices, tt.want)
			}
		})
	}
}

// TestB06ACopyIsNoticedInALargeLedger: of files that are still there, however
// many of them.
func TestB06ACopyIsNoticedInALargeLedger(t *testing.T) {
	t.Parallel()
	w := newWorld(engine.Source{Name: "src", Path: "s3://lake/in/", Format: engine.CSV, Ctx: "src"}, engine.Merge)
	const many = 300_000
	for i := range many {
		w.put(fmt.Sprintf("in/%07d.csv", i), 40, fmt.Sprintf("%032x", i), noon)
	}
	_, _, err := w.run(t, noon.Add(time.Hour), true)
	must(t, err)
	w.put("in/copy.csv", 40, fmt.Sprintf("%032x", many/2), noon.Add(2*time.Hour))
	w.put("in/other.csv", 40, fmt.Sprintf("%032x", many), noon.Add(2*time.Hour))

	part, err := w.plan(t.Context(), noon.Add(3*time.Hour))

	must(t, err)
	want := "A new file has the same content as one that was read before: in/copy.csv as in/0150000.csv. Its rows come again."
	if len(part.Taken) != 2 || !slices.Equal(part.Notices, []string{want}) {
		t.Errorf("took %d files with notices %q, want 2 and %q", len(part.Taken), part.Notices, want)
	}
}

func TestB28BurstIsReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(engine.Source{Name: "src", Path: "s3://lake/in/", Format: engine.JSON, Ctx: "src", Options: engine.SourceOptions{MaxFiles: 15_000}}, engine.Merge)
	first := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	arrived := 0
	seen := map[string]int{}
	for _, minute := range []int{5, 8, 11, 40} {
		now := first.Add(time.Duration(minute) * time.Minute)
		for ; arrived < 40_000; arrived++ {
			at := first.Add(time.Duration(arrived) * 15 * time.Millisecond)
			if at.After(now) {
				break
			}
			w.put(fmt.Sprintf("in/burst/%06d.json", arrived), 10, fmt.Sprint(arrived), at)
		}
		read, _, err := w.run(t, now, true)
		must(t, err)
		for _, key := range read {
			seen[key]++
		}
	}
	doubled := 0
	for _, n := range seen {
		if n > 1 {
			doubled++
		}
	}
	if len(seen) != 40_000 || doubled != 0 {
		t.Errorf("read %d of 40000 files, %d of them twice", len(seen), doubled)
	}
}

// leavesOut is a listing in which the source leaves everything out.
type leavesOut struct{ *world }

func (l leavesOut) List(ctx context.Context, src engine.Source) iter.Seq2[bookmark.Listed, error] {
	return func(yield func(bookmark.Listed, error) bool) {
		for o, err := range l.world.List(ctx, src) {
			o.Filtered = "does not match *.json"
			if !yield(o, err) {
				return
			}
		}
	}
}

func TestB29FilesBelowAreNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(engine.Source{Name: "src", Path: "s3://lake/in/", Format: engine.CSV, Ctx: "src"}, engine.Merge)
	w.put("in/2026/03/01/a.json", 120, "a", noon)
	w.put("in/2026/03/02/b.json", 130, "b", noon)
	planner := bookmark.Planner{Ledger: w, Lister: leavesOut{w}}

	plan, err := planner.Plan(t.Context(), bookmark.Request{Job: w.job, Now: noon.Add(time.Hour)})

	must(t, err)
	part := plan.Sources[0]
	if len(part.Taken) != 0 || len(part.Notices) != 1 || !strings.Contains(part.Notices[0], "2 others lie there. The first is in/2026/03/01/a.json, which does not match *.json.") {
		t.Errorf("took %d files with notices %q, want none and a notice of the two below", len(part.Taken), part.Notices)
	}
	recursive, err := w.plan(t.Context(), noon.Add(time.Hour))
	must(t, err)
	if len(recursive.Taken) != 2 || len(recursive.Notices) != 0 {
		t.Errorf("took %d files with notices %q, want both and none", len(recursive.Taken), recursive.Notices)
	}
}
