package bookmark_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func source(options engine.SourceOptions) engine.Source {
	return engine.Source{Name: "src", Path: "s3://lake/in/", Format: engine.CSV, Ctx: "src", Options: options}
}

func TestChangedObjectFollowsTheWriteMode(t *testing.T) {
	t.Parallel()
	tests := map[engine.WriteMode]struct {
		read   []string
		reason engine.Reason
	}{
		engine.Append:              {nil, engine.ReasonHeld},
		engine.Merge:               {[]string{"in/a"}, engine.ReasonChanged},
		engine.OverwritePartitions: {[]string{"in/a"}, engine.ReasonChanged},
	}
	for mode, tt := range tests {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := newWorld(source(engine.SourceOptions{}), mode)
			w.put("in/a", 10, "1", noon)
			_, _, err := w.run(t, noon.Add(time.Hour), true)
			must(t, err)
			w.put("in/a", 12, "2", noon.Add(2*time.Hour))

			read, part, err := w.run(t, noon.Add(3*time.Hour), true)

			must(t, err)
			if !slices.Equal(read, tt.read) || part.Counts[tt.reason].Files != 1 {
				t.Errorf("read %v with %v, want %v and one %s", read, part.Counts, tt.read, tt.reason)
			}
		})
	}
}

func TestBrokenListingMakesNothingGone(t *testing.T) {
	t.Parallel()
	w := newWorld(source(engine.SourceOptions{}), engine.Merge)
	for _, key := range []string{"in/a", "in/b", "in/c"} {
		w.put(key, 1, key, noon)
	}
	_, _, err := w.run(t, noon.Add(time.Hour), true)
	must(t, err)
	before := *w.mark
	w.breakAfter = 1

	_, _, broken := w.run(t, noon.Add(2*time.Hour), true)
	w.breakAfter = 0
	_, part, err := w.run(t, noon.Add(3*time.Hour), true)

	must(t, err)
	if broken == nil {
		t.Error("a listing that broke off made a plan")
	}
	if *w.mark != before || part.Counts[engine.ReasonGone].Files != 0 {
		t.Errorf("afterwards %d are gone and the bookmark is at v%d, want none and v%d", part.Counts[engine.ReasonGone].Files, w.mark.Version, before.Version)
	}
}

func TestGoneObjectIsNewWhenItComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(source(engine.SourceOptions{}), engine.Merge)
	w.put("in/a", 1, "1", noon)
	_, _, err := w.run(t, noon.Add(time.Hour), true)
	must(t, err)
	gone := w.objects["in/a"]
	delete(w.objects, "in/a")
	w.put("in/b", 1, "2", noon.Add(2*time.Hour)) // a run that reads nothing moves nothing
	_, part, err := w.run(t, noon.Add(2*time.Hour), true)
	must(t, err)
	w.objects["in/a"] = gone

	read, _, err := w.run(t, noon.Add(3*time.Hour), true)

	must(t, err)
	if part.Counts[engine.ReasonGone].Files != 1 || !slices.Equal(read, []string{"in/a"}) {
		t.Errorf("gone %d, then read %v, want 1 and the file again", part.Counts[engine.ReasonGone].Files, read)
	}
}

func TestYoungFileWaits(t *testing.T) {
	t.Parallel()
	settle := int64(3000)
	w := newWorld(source(engine.SourceOptions{SettleMS: &settle}), engine.Append)
	w.put("in/a", 1, "1", noon)

	early, part, err := w.run(t, noon.Add(2*time.Second), true)
	must(t, err)
	later, _, err := w.run(t, noon.Add(3*time.Second), true)

	must(t, err)
	if len(early) != 0 || part.Counts[engine.ReasonTooYoung].Files != 1 || !slices.Equal(later, []string{"in/a"}) {
		t.Errorf("read %v after 2 s and %v after 3 s, want nothing and then the file", early, later)
	}
}

func TestOneFileLargerThanTheBoundIsReadAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(source(engine.SourceOptions{MaxBytes: 100}), engine.Append)
	w.put("in/big", 5000, "1", noon)
	w.put("in/small", 10, "2", noon.Add(time.Minute))

	first, _, err := w.run(t, noon.Add(time.Hour), true)
	must(t, err)
	second, _, err := w.run(t, noon.Add(2*time.Hour), true)

	must(t, err)
	if !slices.Equal(first, []string{"in/big"}) || !slices.Equal(second, []string{"in/small"}) {
		t.Errorf("read %v and then %v, want the big one alone and then the small one", first, second)
	}
}

func TestLateFileReopensItsPartition(t *testing.T) {
	t.Parallel()
	w := newWorld(source(engine.SourceOptions{Partition: "{day}/*.csv"}), engine.OverwritePartitions)
	for _, key := range []string{"in/1/a.csv", "in/1/b.csv", "in/2/a.csv"} {
		w.put(key, 1, key, noon)
	}
	_, _, err := w.run(t, noon.Add(time.Hour), true)
	must(t, err)
	w.put("in/1/late.csv", 1, "late", noon.Add(2*time.Hour))

	read, part, err := w.run(t, noon.Add(3*time.Hour), true)

	must(t, err)
	if want := []string{"in/1/a.csv", "in/1/b.csv", "in/1/late.csv"}; !slices.Equal(read, want) {
		t.Errorf("read %v, want the whole partition %v", read, want)
	}
	if part.Counts[engine.ReasonReopened].Files != 2 || part.Counts[engine.ReasonAlreadyRead].Files != 1 {
		t.Errorf("counts = %v, want 2 reopened and 1 already read", part.Counts)
	}
}

// TestAPartitionIsNotRebuiltWithoutTheRowsOfFilesThatAreGone: they were
// archived after they were read, whether a run in between noticed it or not.
func TestAPartitionIsNotRebuiltWithoutTheRowsOfFilesThatAreGone(t *testing.T) {
	t.Parallel()
	for _, noticed := range []bool{false, true} {
		w := newWorld(source(engine.SourceOptions{Partition: "{day}/*.csv"}), engine.OverwritePartitions)
		for _, key := range []string{"in/1/a.csv", "in/1/b.csv", "in/2/a.csv"} {
			w.put(key, 1, key, noon)
		}
		_, _, err := w.run(t, noon.Add(time.Hour), true)
		must(t, err)
		delete(w.objects, "in/1/a.csv")
		delete(w.objects, "in/2/a.csv")
		if noticed {
			w.put("in/3/a.csv", 1, "3", noon.Add(2*time.Hour))
			_, _, err = w.run(t, noon.Add(3*time.Hour), true)
			must(t, err)
		}
		w.put("in/1/late.csv", 1, "late", noon.Add(4*time.Hour))

		read, _, refused := w.run(t, noon.Add(5*time.Hour), true)
		w.job.SQL.Sources[0].Policy.Gone = "drop"
		dropped, part, err := w.run(t, noon.Add(5*time.Hour), true)

		must(t, err)
		if len(read) > 0 || engine.CodeOf(refused) != engine.Conflict || !strings.Contains(refused.Error(), "day=1 would lose rows: in/1/a.csv was read before and is no longer in source src") {
			t.Errorf("noticed %t: read %v, %v; want nothing read and the partition and its file named", noticed, read, refused)
		}
		if !slices.Equal(dropped, []string{"in/1/b.csv", "in/1/late.csv"}) || len(part.Notices) != 1 || !strings.Contains(part.Notices[0], "in/1/a.csv") {
			t.Errorf("noticed %t: with gone: drop read %v with the notices %q, want the rest of the partition and one that names the file", noticed, dropped, part.Notices)
		}
	}
}

// TestAFileThatStopsAPartitionCanBeHeld: it is one of the ways out that the
// refusal names.
func TestAFileThatStopsAPartitionCanBeHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(source(engine.SourceOptions{Partition: "{day}/*.csv"}), engine.OverwritePartitions)
	w.put("in/1/a.csv", 1, "a", noon)
	_, _, err := w.run(t, noon.Add(time.Hour), true)
	must(t, err)
	delete(w.objects, "in/1/a.csv")
	w.put("in/1/late.csv", 1, "late", noon.Add(time.Hour))

	_, held := w.service(noon.Add(2*time.Hour)).Make(t.Context(), w.mark.ID, bookmark.Move{Kind: engine.MoveHold, Pick: engine.Selection{Pattern: "late.csv"}}, "ada")
	read, _, err := w.run(t, noon.Add(3*time.Hour), true)

	if held != nil || err != nil || len(read) > 0 {
		t.Errorf("held with %v, then read %v, %v; want nothing read and no error", held, read, err)
	}
}

func TestMappingReadsPaths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern, key string
		want         map[string]string
	}{
		{"{year}/{month}/*.csv", "2026/03/a.csv", map[string]string{"year": "2026", "month": "03"}},
		{"{year}/{month}/*.csv", "in/2026/03/a.csv", map[string]string{"year": "2026", "month": "03"}},
		{"sales_{day}.csv", "x/sales_2026-03-01.csv", map[string]string{"day": "2026-03-01"}},
		{"day={day}/**", "day=7/deep/er/a.csv", map[string]string{"day": "7"}},
		{"sales_{day}.csv", "other_1.csv", nil},
		{"**/{day}.csv", "7.csv", map[string]string{"day": "7"}},
		{"in/**/{day}.csv", "in/7.csv", map[string]string{"day": "7"}},
		{"in/**/{day}.csv", "in/deep/er/7.csv", map[string]string{"day": "7"}},
	}
	for _, tt := range tests {
		m, err := bookmark.ParseMapping(tt.pattern)
		must(t, err)

		got, ok := m.Values(tt.key)

		if ok != (tt.want != nil) {
			t.Errorf("%s on %s fits = %t, want %t", tt.pattern, tt.key, ok, tt.want != nil)
		}
		for name, value := range tt.want {
			if got[name] != value {
				t.Errorf("%s on %s: %s = %q, want %q", tt.pattern, tt.key, name, got[name], value)
			}
		}
	}
	for _, bad := range []string{"*.csv", "{a}/{a}", ""} {
		if _, err := bookmark.ParseMapping(bad); engine.CodeOf(err) != engine.Invalid {
			t.Errorf("ParseMapping(%q) = %v, want it refused", bad, err)
		}
	}
}

func TestTheRangeOfASourceLeavesTheRestUnread(t *testing.T) {
	t.Parallel()
	w := newWorld(engine.Source{
		Name: "src", Path: "s3://lake/in/", Format: engine.CSV, Ctx: "src",
		Options: engine.SourceOptions{From: noon.AddDate(0, 0, 1), To: noon.AddDate(0, 0, 3)},
	}, engine.Merge)
	for day := range 5 {
		w.put(fmt.Sprint("in/", day, ".csv"), 10, "e", noon.AddDate(0, 0, day))
	}
	read, part, err := w.run(t, noon.AddDate(0, 0, 9), true)
	must(t, err)
	if !slices.Equal(read, []string{"in/1.csv", "in/2.csv"}) || part.Counts[engine.ReasonOutside].Files != 3 {
		t.Errorf("read %v with %v, want the two days in the range and three outside", read, part.Counts)
	}

	w.job.SQL.Sources[0].Options.To = time.Time{}
	read, _, err = w.run(t, noon.AddDate(0, 0, 10), true)

	must(t, err)
	if !slices.Equal(read, []string{"in/3.csv", "in/4.csv"}) {
		t.Errorf("read %v with a wider range, want what was outside", read)
	}
}
