package bookmark_test

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// rowWorld is a table and the ledger of one job that compares it.
type rowWorld struct {
	*world
	rows map[string]uint64 // the hash of each row
	days int
}

func newRowWorld(rows ...string) *rowWorld {
	w := &rowWorld{world: newWorld(engine.Source{Name: "src", Table: "t", Connection: "c", Ctx: "src", Read: engine.ReadCompare}, engine.Merge), rows: map[string]uint64{}}
	for _, key := range rows {
		w.rows[key] = 1
	}
	return w
}

func (w *rowWorld) Survey(context.Context, engine.TableQuestion) (engine.TableSurvey, error) {
	return engine.TableSurvey{Columns: []engine.Column{{Name: "id", Type: "VARCHAR"}, {Name: "n", Type: "BIGINT"}}, Keys: []string{"id"}}, nil
}

func (w *rowWorld) Rows(context.Context, engine.Source, []engine.Column, []string) iter.Seq2[engine.RowPrint, error] {
	return func(yield func(engine.RowPrint, error) bool) {
		for _, key := range slices.Sorted(maps.Keys(w.rows)) {
			if !yield(engine.RowPrint{Key: key, Hash: w.rows[key]}, nil) {
				return
			}
		}
	}
}

func (w *rowWorld) service() *bookmark.Service {
	s := w.world.service(noon.AddDate(0, 0, w.days))
	s.Planner.Surveyor = w
	return s
}

// move makes a day pass, and the move.
func (w *rowWorld) move(t *testing.T, m bookmark.Move) {
	t.Helper()
	w.days++
	_, err := w.service().Make(t.Context(), w.mark.ID, m, "owner")
	must(t, err)
}

// ran reads as a run does and returns the keys that were read.
func (w *rowWorld) ran(t *testing.T) string {
	t.Helper()
	w.days++
	now := noon.AddDate(0, 0, w.days)
	run := engine.NewID(now)
	plan, err := w.service().Planner.Plan(t.Context(), bookmark.Request{Job: w.job, Run: run, Now: now})
	must(t, err)
	part := plan.Sources[0]
	if plan.Empty() {
		return ""
	}
	var keys []string
	for row, err := range bookmark.RowsToRead(t.Context(), w, *part.Compared) {
		must(t, err)
		keys = append(keys, row.Key)
	}
	var taken []engine.Entry
	for _, o := range part.Taken {
		e := engine.Entry{Object: o.Object, Run: run, State: engine.EntryRead}
		if r, _ := o.KeyRange(); r.Compared.Rows == "" {
			done, err := bookmark.AfterCompare(t.Context(), w, part, r, run, func(func(engine.RowPrint, error) bool) {})
			must(t, err)
			e.Range = done.Text()
		}
		taken = append(taken, e)
	}
	mark := engine.Bookmark{ID: run, Ctx: part.Ctx, Fingerprint: part.Fingerprint}
	if w.mark != nil {
		mark = *w.mark
	}
	moved, line, err := bookmark.Advance(t.Context(), w, mark, bookmark.Settled(part, run, taken), int64(len(keys)), bookmark.By{Who: "owner", At: now, Run: run})
	must(t, err)
	w.keep(moved, line)
	return strings.Join(keys, " ")
}

func wantRead(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: read %q, want %q", what, got, want)
	}
}

// changed is a world whose second run read one changed and one new row, and saw
// that one had gone.
func changed(t *testing.T) *rowWorld {
	t.Helper()
	w := newRowWorld("a", "b", "c")
	wantRead(t, "first run", w.ran(t), "a b c")
	w.rows["b"], w.rows["d"] = 2, 1
	delete(w.rows, "a")
	wantRead(t, "second run", w.ran(t), "b d")
	wantRead(t, "third run", w.ran(t), "")
	return w
}

func TestEveryMoveOfAComparedTable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		move  bookmark.Move
		again int64  // rows that the preview says come again
		reads string // what the next run reads
	}{
		"undo":   {bookmark.Move{Kind: engine.MoveUndo}, 2, "b d"},
		"rewind": {bookmark.Move{Kind: engine.MoveRewind, To: 1}, 2, "b d"},
		"reset":  {bookmark.Move{Kind: engine.MoveReset}, 3, "b c d"},
		"again":  {bookmark.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Since: noon.AddDate(0, 0, 2)}}, 2, "b d"},
		"first":  {bookmark.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Until: noon.AddDate(0, 0, 2)}}, 2, "b c"},
		"all":    {bookmark.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Pattern: "**"}}, 3, "b c d"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := changed(t)
			pages := len(w.pages)

			preview, err := w.service().Preview(t.Context(), w.mark.ID, tt.move, "owner")
			must(t, err)
			w.move(t, tt.move)
			read := w.ran(t)

			wantRead(t, "after it", read, tt.reads)
			if preview.Again.Rows != tt.again || preview.Plan.Compared.Taken() != int64(len(strings.Fields(tt.reads))) {
				t.Errorf("preview: got %d rows again and %+v", preview.Again.Rows, preview.Plan.Compared)
			}
			if preview.Plan.Compared.Took != "" || len(w.pages) < pages {
				t.Errorf("a preview wrote the list %s", preview.Plan.Compared.Took)
			}
			wantRead(t, "the run after", w.ran(t), "")
			w.rows["c"] = 3
			wantRead(t, "a change after", w.ran(t), "c")
		})
	}
}

// What somebody asks for is read beside the limit, and a row that has changed
// meanwhile is counted once.
func TestAComparedTableIsReadAgainBesideItsLimit(t *testing.T) {
	t.Parallel()
	w := newRowWorld("a", "b", "c", "d")
	w.ran(t)
	w.job.SQL.Sources[0].Options.Table.MaxRows = 1
	w.move(t, bookmark.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Pattern: "**"}})
	w.rows["b"], w.rows["x"], w.rows["y"] = 2, 1, 1

	plan, err := w.service().Planner.Plan(t.Context(), bookmark.Request{Job: w.job, Now: noon})
	must(t, err)

	if c, sum := plan.Sources[0].Compared, plan.Taken(); c.Changed != 1 || c.New != 0 || c.Again != 3 || sum.Rows != 4 || plan.Sources[0].Counts[engine.ReasonOverBound].Rows != 2 {
		t.Errorf("got %+v and %+v", c, sum)
	}
	wantRead(t, "the first run", w.ran(t), "a b c d")
	wantRead(t, "the second", w.ran(t), "x")
	wantRead(t, "the third", w.ran(t), "y")
	wantRead(t, "the last", w.ran(t), "")
}

func TestAComparedTableIsSetToNow(t *testing.T) {
	t.Parallel()
	w := changed(t)
	w.rows["b"], w.rows["e"] = 5, 1
	delete(w.rows, "c")

	w.move(t, bookmark.Move{Kind: engine.MoveSetNow})

	wantRead(t, "after it", w.ran(t), "")
	w.rows["c"] = 1 // as it was before it went: it came back
	wantRead(t, "one that came back", w.ran(t), "c")
	w.move(t, bookmark.Move{Kind: engine.MoveRewind, To: 2})
	wantRead(t, "with it undone", w.ran(t), "b e")
}

func TestAComparedTableIsCarriedToAnotherServer(t *testing.T) {
	t.Parallel()
	w := changed(t)
	var file bytes.Buffer
	must(t, w.service().Export(t.Context(), w.mark.ID, &file))
	text := file.String()
	there := newRowWorld()
	maps.Copy(there.rows, w.rows)
	there.mark = &engine.Bookmark{ID: w.mark.ID, Ctx: "src", Fingerprint: w.mark.Fingerprint}
	there.days = w.days

	there.move(t, bookmark.Move{Kind: engine.MoveImport, File: &file})

	wantRead(t, "after it", there.ran(t), "")
	there.rows["c"] = 9
	wantRead(t, "a change", there.ran(t), "c")
	there.move(t, bookmark.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Pattern: "**"}})
	wantRead(t, "read again", there.ran(t), "b c d")
	_, err := bookmark.Sweep(t.Context(), &sweptWorld{there}, time.Time{}, noon.AddDate(1, 0, 0))
	must(t, err)

	// A file without its lists, or with one that is cut off, changes nothing.
	lines := strings.SplitAfter(text, "\n")
	for name, broken := range map[string]string{"no lists": lines[0] + strings.Join(lines[len(lines)-3:], ""), "cut off": strings.Join(lines[:3], "")} {
		before := *there.mark
		_, err := there.service().Make(t.Context(), there.mark.ID, bookmark.Move{Kind: engine.MoveImport, File: strings.NewReader(broken)}, "owner")
		if engine.CodeOf(err) != engine.Invalid || *there.mark != before {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestOneRowOfAComparedTableIsLookedUp(t *testing.T) {
	t.Parallel()
	w := changed(t)
	for text, want := range map[string]engine.EntryState{"a": engine.EntryGone, "b": engine.EntryRead, "x": 0} {
		found, err := w.service().Lookup(t.Context(), w.mark.ID, text)
		must(t, err)
		var got engine.EntryState
		if len(found) == 1 {
			got = found[0].State
		}
		if got != want {
			t.Errorf("%s: got %+v, want state %d", text, found, want)
		}
	}
}

func TestABookmarkByKeyIsNotComparedBlindly(t *testing.T) {
	t.Parallel()
	w := newRowWorld("a")
	w.ran(t)
	r := engine.KeyRange{Keys: []string{"id"}, High: []engine.KeyValue{{Text: "7", Type: "integer"}}}
	written, err := bookmark.Write(t.Context(), w, bookmark.Empty, []engine.Entry{{Object: engine.Object{Key: "000001 " + r.Words(), Range: r.Text()}, State: engine.EntryRead}})
	must(t, err)
	w.mark.Root = written.Root

	_, err = w.service().Planner.Plan(t.Context(), bookmark.Request{Job: w.job, Now: noon})

	if engine.CodeOf(err) != engine.Conflict || !strings.Contains(err.Error(), "was made by key and does not know its rows") {
		t.Errorf("got %v", err)
	}
}

func TestTheSweepKeepsTheRowsOfAComparedTable(t *testing.T) {
	t.Parallel()
	w := changed(t)
	shelf := &sweptWorld{rowWorld: w}

	swept, err := bookmark.Sweep(t.Context(), shelf, time.Time{}, noon.AddDate(1, 0, 0))

	must(t, err)
	wantRead(t, "after the sweep", w.ran(t), "")
	w.move(t, bookmark.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Pattern: "**"}})
	wantRead(t, "read again", w.ran(t), "b c d")
	if swept.Pages == 0 {
		t.Error("the sweep dropped nothing, not even the ledger before")
	}
}

// sweptWorld keeps only what its bookmark stands at.
type sweptWorld struct{ *rowWorld }

func (w *sweptWorld) LedgerRoots(context.Context, time.Time) ([]string, error) {
	return []string{w.mark.Root}, nil
}
func (w *sweptWorld) PruneMoves(context.Context, time.Time) (int64, error) { return 0, nil }

func (w *sweptWorld) OldPages(_ context.Context, _ time.Time, after string, limit int) ([]string, error) {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(w.pages)) {
		if id > after && len(ids) < limit {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (w *sweptWorld) DropPages(_ context.Context, ids []string, _ time.Time) error {
	for _, id := range ids {
		delete(w.pages, id)
	}
	return nil
}
