package bookmark_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// readWorld is a bucket of three files of three days, all of them read.
func readWorld(t *testing.T, mode engine.WriteMode) *world {
	t.Helper()
	w := newWorld(engine.Source{Name: "src", Path: "s3://lake/in/", Format: engine.CSV, Ctx: "src"}, mode)
	for day, key := range []string{"in/2026/11/01/a.csv", "in/2026/11/02/b.csv", "in/2026/11/03/c.csv"} {
		w.put(key, 10, "e", noon.AddDate(0, 0, day))
	}
	_, _, err := w.run(t, noon.AddDate(0, 0, 4), true)
	must(t, err)
	return w
}

func (w *world) make(t *testing.T, m bookmark.Move) (engine.Bookmark, error) {
	t.Helper()
	return w.service(noon.AddDate(0, 0, 5)).Make(t.Context(), w.mark.ID, m, "owner")
}

func TestPickedFilesAreReadAgain(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pick engine.Selection
		want string
	}{
		"by name":      {engine.Selection{Keys: []string{"in/2026/11/02/b.csv"}}, "in/2026/11/02/b.csv"},
		"at the root":  {engine.Selection{Pattern: "**/in/2026/11/01/a.csv"}, "in/2026/11/01/a.csv"},
		"by folder":    {engine.Selection{Pattern: "2026/11/01/*"}, "in/2026/11/01/a.csv"},
		"across":       {engine.Selection{Pattern: "in/**"}, "in/2026/11/01/a.csv in/2026/11/02/b.csv in/2026/11/03/c.csv"},
		"since a day":  {engine.Selection{Since: noon.AddDate(0, 0, 1)}, "in/2026/11/02/b.csv in/2026/11/03/c.csv"},
		"until a day":  {engine.Selection{Until: noon.AddDate(0, 0, 1)}, "in/2026/11/01/a.csv"},
		"both at once": {engine.Selection{Since: noon.AddDate(0, 0, 1), Pattern: "*/b.csv"}, "in/2026/11/02/b.csv"},
		"neither both": {engine.Selection{Since: noon.AddDate(0, 0, 2), Pattern: "*/b.csv"}, ""},
		"nothing":      {engine.Selection{}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := readWorld(t, engine.Merge)

			_, err := w.make(t, bookmark.Move{Kind: engine.MoveReadAgain, Pick: tt.pick})

			if (err != nil) != (tt.want == "") {
				t.Fatalf("Make = %v", err)
			}
			read, _, err := w.run(t, noon.AddDate(0, 0, 6), true)
			must(t, err)
			if got := strings.Join(read, " "); got != tt.want {
				t.Errorf("read %q again, want %q", got, tt.want)
			}
		})
	}
}

// TestTheAlarmIsThatOfTheTargetThatIsNotSafe: a job may write to several. It
// counts the rows that were written, which may be fewer than those that were read.
func TestTheAlarmIsThatOfTheTargetThatIsNotSafe(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pace func(bytes int64) bookmark.Pace
		also engine.WriteMode
		want string
	}{
		"by what was written": {func(bytes int64) bookmark.Pace { return bookmark.Pace{Bytes: 2 * bytes, Rows: 24_690} }, "", "log appends: about 12,345 rows would stand twice."},
		"one row":             {func(bytes int64) bookmark.Pace { return bookmark.Pace{Bytes: bytes, Rows: 1} }, "", "log appends: about 1 row would stand twice."},
		"never run":           {func(int64) bookmark.Pace { return bookmark.Pace{} }, "", "log appends: what is read again would stand twice."},
		"of two targets":      {func(bytes int64) bookmark.Pace { return bookmark.Pace{Bytes: bytes, Rows: 7000} }, engine.Merge, "log appends: up to 7,000 rows would stand twice."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := readWorld(t, engine.Merge)
			sinks := []engine.Sink{{From: "src", Path: "log", Mode: engine.Append}}
			if tt.also != "" {
				sinks = append(w.job.SQL.Sinks, sinks...)
			}
			w.job.SQL.Sinks = sinks
			service, reset := w.service(noon.AddDate(0, 0, 5)), bookmark.Move{Kind: engine.MoveReset}
			first, err := service.Preview(t.Context(), w.mark.ID, reset, "owner")
			must(t, err)
			w.pace = tt.pace(first.Again.Bytes)

			p, err := service.Preview(t.Context(), w.mark.ID, reset, "owner")

			must(t, err)
			if p.Safe || !strings.HasPrefix(p.Alarm, tt.want) {
				t.Errorf("got %t with %q, want %q", p.Safe, p.Alarm, tt.want)
			}
		})
	}
}

func TestABracketInAPatternIsSaidToBeWrong(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"[", "2026/11/0[1]/*"} {
		_, err := readWorld(t, engine.Merge).make(t, bookmark.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Pattern: pattern}})

		if engine.CodeOf(err) != engine.Invalid || !strings.Contains(err.Error(), "has a bracket, which a pattern cannot hold") {
			t.Errorf("%q: got %v, want it refused by its bracket", pattern, err)
		}
	}
}

// TestWhatIsToBeReadAgainWaitsOnItsDay: the picture of the progress keeps the
// days that a person sent back.
func TestWhatIsToBeReadAgainWaitsOnItsDay(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Merge)
	_, err := w.make(t, bookmark.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Since: noon.AddDate(0, 0, 1)}})
	must(t, err)

	days, _, err := w.service(noon.AddDate(0, 0, 6)).Progress(t.Context(), w.mark.ID)

	must(t, err)
	var got []string
	for _, d := range days {
		got = append(got, fmt.Sprintf("%s: %d read, %d waiting", d.Date.Format(time.DateOnly), d.Read.Files, d.Waiting.Files))
	}
	want := []string{"2026-03-01: 1 read, 0 waiting", "2026-03-02: 0 read, 1 waiting", "2026-03-03: 0 read, 1 waiting"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestHeldForAppendIsReleased: a file that changed in place waits where the
// target appends, until a person lets it be read.
func TestHeldForAppendIsReleased(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Append)
	w.put("in/2026/11/02/b.csv", 11, "other", noon.AddDate(0, 0, 5))
	read, part, err := w.run(t, noon.AddDate(0, 0, 6), true)
	must(t, err)
	if len(read) != 0 || part.Counts[engine.ReasonHeld].Files != 1 {
		t.Fatalf("read %v with %v, want the changed file held", read, part.Counts)
	}

	_, err = w.make(t, bookmark.Move{Kind: engine.MoveRelease, Pick: engine.Selection{Keys: []string{"in/2026/11/02/b.csv"}}})

	must(t, err)
	read, part, err = w.run(t, noon.AddDate(0, 0, 7), true)
	must(t, err)
	if len(read) != 1 || part.Taken[0].Reason != engine.ReasonReopened || part.Taken[0].Note != "released by owner" {
		t.Errorf("read %v as %+v, want the released file", read, part.Taken)
	}
}

// Two people look at one bookmark. What the second agreed to was worked out
// from a version that the first has left: an undo would take back another move.
func TestAMoveThatWasPreviewedAtAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Append)
	undo := bookmark.Move{Kind: engine.MoveUndo}
	_, err := w.make(t, bookmark.Move{Kind: engine.MoveReset})
	must(t, err)
	preview, err := w.service(noon).Preview(t.Context(), w.mark.ID, undo, "ann")
	must(t, err)
	_, err = w.make(t, bookmark.Move{Kind: engine.MoveRewind, To: 1})
	must(t, err)
	before := w.mark

	undo.Seen = &preview.Seen
	_, err = w.make(t, undo)

	if engine.CodeOf(err) != engine.Conflict || w.mark != before {
		t.Errorf("got %v and %+v, want it refused and %+v", err, w.mark, before)
	}
	preview, err = w.service(noon).Preview(t.Context(), w.mark.ID, undo, "ann")
	must(t, err)
	undo.Seen = &preview.Seen
	moved, err := w.make(t, undo)
	must(t, err)
	if moved.Root != bookmark.Empty {
		t.Errorf("after another look: got %+v, want the rewind taken back", moved)
	}
}

func TestAMoveIsRefusedWhereTheLedgerMovedMeanwhile(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Merge)
	w.put("in/2026/11/09/d.csv", 10, "e", noon.AddDate(0, 0, 8))
	w.between = func() {
		w.between = nil
		_, _, err := w.run(t, noon.AddDate(0, 0, 9), true)
		must(t, err)
	}

	_, err := w.make(t, bookmark.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Pattern: "**"}})

	if engine.CodeOf(err) != engine.Conflict || !strings.Contains(err.Error(), "moved to v2") {
		t.Errorf("Make = %v, want it refused for the version meanwhile", err)
	}
	if w.mark.Version != 2 || w.mark.Files != 4 {
		t.Errorf("the bookmark is at v%d with %d files, want v2 with 4", w.mark.Version, w.mark.Files)
	}
}

func TestRewindToARunOrATime(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Merge)
	first := w.history[0]
	w.put("in/2026/11/09/d.csv", 10, "e", noon.AddDate(0, 0, 8))
	_, _, err := w.run(t, noon.AddDate(0, 0, 9), true)
	must(t, err)
	for name, m := range map[string]bookmark.Move{
		"to a run":  {ToRun: first.Run},
		"to a time": {At: first.At.Add(time.Hour)},
	} {
		m.Kind = engine.MoveRewind
		p, err := w.service(noon.AddDate(0, 0, 10)).Preview(t.Context(), w.mark.ID, m, "owner")
		must(t, err)
		if len(p.Plan.Taken) != 1 || p.To != first.Version {
			t.Errorf("%s: v%d and %d files, want v%d and the last file", name, p.To, len(p.Plan.Taken), first.Version)
		}
	}
	p, err := w.service(noon.AddDate(0, 0, 10)).Preview(t.Context(), w.mark.ID, bookmark.Move{Kind: engine.MoveRewind, At: first.At.Add(-time.Hour)}, "owner")
	must(t, err)
	if len(p.Plan.Taken) != 4 {
		t.Errorf("before the first run: %d files, want all 4", len(p.Plan.Taken))
	}
	_, err = w.make(t, bookmark.Move{Kind: engine.MoveRewind, ToRun: "nobody"})
	if engine.CodeOf(err) != engine.NotFound {
		t.Errorf("a run that did not move it: %v, want it not found", err)
	}
}

// TestB27AChangedSourceIsAskedAbout: the run fails before it reads, and a
// person says that it is the same thing.
func TestB27AChangedSourceIsAskedAbout(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Merge)
	w.job.SQL.Sources[0].Format = engine.Parquet
	if _, _, err := w.run(t, noon.AddDate(0, 0, 6), true); engine.CodeOf(err) != engine.Conflict {
		t.Fatalf("a run over a changed source: %v, want it refused", err)
	}

	moved, err := w.make(t, bookmark.Move{Kind: engine.MoveAdopt})

	must(t, err)
	if moved.Version != 1 || w.history[0].Kind != engine.MoveAdopt {
		t.Errorf("the bookmark is at v%d after %s, want v1, adopted", moved.Version, w.history[0].Kind)
	}
	read, _, err := w.run(t, noon.AddDate(0, 0, 7), true)
	must(t, err)
	if len(read) != 0 {
		t.Errorf("read %v, want nothing new", read)
	}
	if _, err := w.make(t, bookmark.Move{Kind: engine.MoveAdopt}); engine.CodeOf(err) != engine.Conflict {
		t.Errorf("adopting once more: %v, want nothing to decide", err)
	}
}

func TestExportIsImportedWhole(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Merge)
	var out bytes.Buffer
	must(t, w.service(noon).Export(t.Context(), w.mark.ID, &out))
	text := out.String()
	other := newWorld(w.job.SQL.Sources[0], engine.Merge)
	other.objects = w.objects
	_, err := other.service(noon).Open(t.Context(), other.job.ID, "src")
	must(t, err)
	take := func(text string) (engine.Bookmark, error) {
		m := bookmark.Move{Kind: engine.MoveImport, File: strings.NewReader(text), Why: "a new server"}
		return other.service(noon).Make(t.Context(), other.mark.ID, m, "owner")
	}

	moved, err := take(text)

	must(t, err)
	if moved.Root != w.mark.Root || moved.Files != 3 || moved.Newest != w.mark.Newest {
		t.Errorf("imported %+v, want the ledger of %+v", moved, w.mark)
	}
	if why := other.history[0].Why; why != "from src of load, v1: a new server" {
		t.Errorf("the history says %q", why)
	}
	read, _, err := other.run(t, noon.AddDate(0, 0, 9), true)
	must(t, err)
	if len(read) != 0 {
		t.Errorf("read %v after the import, want nothing", read)
	}
	lines := strings.SplitAfter(text, "\n")
	for name, broken := range map[string]string{
		"nothing":        "",
		"another file":   "id,amount\n1,2\n",
		"cut off":        strings.Join(lines[:3], ""),
		"cut in a line":  text[:len(text)-30],
		"out of order":   lines[0] + lines[2] + lines[1] + lines[3],
		"twice the same": lines[0] + lines[1] + lines[1] + lines[2],
		"unknown state":  strings.Replace(text, `"state":1`, `"state":9`, 1),
		"negative size":  strings.Replace(text, `"size":`, `"size":-`, 1),
		"endless line":   lines[0] + `{"key":"` + strings.Repeat("x", 2<<20) + `"}` + "\n",
	} {
		if _, err := take(broken); engine.CodeOf(err) != engine.Invalid || other.mark.Version != 1 {
			t.Errorf("%s: %v at v%d, want it refused and nothing moved", name, err, other.mark.Version)
		}
	}
}
