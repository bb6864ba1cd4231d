package bookmark_test

import (
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// TestAFileTellsWhoReadIt: every run that read it, with the content it had
// then, also after a reset.
func TestAFileTellsWhoReadIt(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Merge)
	w.put("in/2026/11/01/a.csv", 77, "new", noon.AddDate(0, 0, 5))
	_, _, err := w.run(t, noon.AddDate(0, 0, 6), true)
	must(t, err)
	_, err = w.make(t, bookmark.Move{Kind: engine.MoveReset})
	must(t, err)

	story, err := w.service(noon).Story(t.Context(), w.mark.ID, "in/2026/11/01/a.csv")

	must(t, err)
	if len(story.Readings) != 2 || story.Readings[0].Object.Size != 77 || story.Readings[1].Object.Size == 77 || story.Entry != nil || story.Cut {
		t.Errorf("got %+v, want two readings, the newest of 77 bytes, and nothing in the ledger", story)
	}
	delete(w.pages, w.inputs[1].Root)
	story, err = w.service(noon).Story(t.Context(), w.mark.ID, "in/2026/11/01/a.csv")
	must(t, err)
	if len(story.Readings) != 1 || !story.Cut {
		t.Errorf("where the first is no longer kept: %+v, want one reading and that others are cut off", story)
	}
}

func TestVersionsAreCompared(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Merge) // v1 has read three files
	w.put("in/2026/11/01/a.csv", 77, "new", noon.AddDate(0, 0, 5))
	w.put("in/z.csv", 5, "z", noon.AddDate(0, 0, 5))
	_, _, err := w.run(t, noon.AddDate(0, 0, 6), true)
	must(t, err)
	compare := func(from, to int, after string, limit int) bookmark.Comparison {
		c, err := w.service(noon).Compare(t.Context(), w.mark.ID, from, to, after, limit)
		must(t, err)
		return c
	}

	got := compare(1, 2, "", 10)

	if len(got.Differences) != 2 || got.Differences[0].Key != "in/2026/11/01/a.csv" || got.Differences[1].From != nil || got.More {
		t.Errorf("v1 to v2: %+v, want a.csv read again and z.csv new", got)
	}
	if page := compare(1, 2, "", 1); len(page.Differences) != 1 || !page.More {
		t.Errorf("the first page: %+v, want one and more", page)
	}
	if page := compare(1, 2, "in/2026/11/01/a.csv", 1); len(page.Differences) != 1 || page.Differences[0].Key != "in/z.csv" || page.More {
		t.Errorf("the second page: %+v, want z.csv and no more", page)
	}
	if all := compare(0, 2, "", 10); len(all.Differences) != 4 {
		t.Errorf("from the beginning: %d differ, want all 4", len(all.Differences))
	}
	if _, err := w.service(noon).Compare(t.Context(), w.mark.ID, 1, 9, "", 1); engine.CodeOf(err) != engine.NotFound {
		t.Errorf("a version that is not there: %v, want it not found", err)
	}
	w.history[len(w.history)-1].Root = bookmark.Pruned
	if _, err := w.service(noon).Compare(t.Context(), w.mark.ID, 1, 2, "", 1); engine.CodeOf(err) != engine.Invalid {
		t.Errorf("a version that is no longer kept: %v, want it refused", err)
	}
}

// TestB27AChangedSourceIsReset: a reset begins anew with the source as it is.
func TestB27AChangedSourceIsReset(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Merge)
	w.job.SQL.Sources[0].Format = engine.Parquet

	would, err := w.service(noon.AddDate(0, 0, 6)).Preview(t.Context(), w.mark.ID, bookmark.Move{Kind: engine.MoveReset}, "owner")
	must(t, err)
	_, err = w.make(t, bookmark.Move{Kind: engine.MoveReset})
	must(t, err)

	read, _, err := w.run(t, noon.AddDate(0, 0, 6).Add(time.Hour), true)
	must(t, err)
	if len(read) != 3 || len(would.Plan.Taken) != 3 {
		t.Errorf("read %v after a preview of %d, want all 3 files", read, len(would.Plan.Taken))
	}
}
