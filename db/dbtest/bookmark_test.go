package dbtest_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/bookmark"
)

// setNow makes all of a source count as read.
var setNow = bookmark.Move{Kind: engine.MoveSetNow}

// shelf is a source that holds three files.
type shelf struct{}

func (shelf) List(context.Context, engine.Source) iter.Seq2[bookmark.Listed, error] {
	return func(yield func(bookmark.Listed, error) bool) {
		for _, key := range []string{"a.csv", "b.csv", "c.csv"} {
			o := engine.Object{Key: key, Size: 10, ModNS: dbtest.Noon.UnixNano(), ETag: "e"}
			if !yield(bookmark.Listed{Object: o}, nil) {
				return
			}
		}
	}
}

func (shelf) Root(src engine.Source) string { return src.Path }

// reader makes a job that reads the shelf, and what moves its bookmark.
func reader(t *testing.T, store *db.Store) (*bookmark.Service, engine.Bookmark) {
	t.Helper()
	body := engine.JobBody{Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, SQL: &engine.SQLJob{
		Sources: []engine.Source{{Name: "files", Path: "s3://shelf/", Format: engine.CSV}},
		Sinks:   []engine.Sink{{From: "files", Path: "out", Mode: engine.Merge, Keys: []string{"id"}}},
	}}
	id, err := store.CreateJob(t.Context(), "load", body, "owner", dbtest.Noon)
	must(t, err)
	_, err = store.PublishJob(t.Context(), id, "owner", dbtest.Noon)
	must(t, err)
	service := &bookmark.Service{
		Store: store, Planner: &bookmark.Planner{Ledger: store, Lister: shelf{}, Tables: store},
		Now: func() time.Time { return dbtest.Noon.Add(time.Hour) },
	}
	mark, err := service.Open(t.Context(), id, "files")
	must(t, err)
	return service, mark
}

func TestABookmarkIsOpenedOnce(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		service, mark := reader(t, store)

		again, err := service.Open(t.Context(), mark.Job, "files")

		must(t, err)
		if again.ID != mark.ID || again.Version != 0 || again.Root != bookmark.Empty {
			t.Errorf("opened %+v, want %s at its beginning", again, mark.ID)
		}
		if _, err := service.Open(t.Context(), mark.Job, "nothing"); engine.CodeOf(err) != engine.NotFound {
			t.Errorf("a context that no source has: %v, want it not found", err)
		}
	})
}

// TestARenamedContextKeepsItsLedger: what counts as read, its history, branches
// and readings go by the new name once the job is published with it.
func TestARenamedContextKeepsItsLedger(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		service, mark := reader(t, store)
		set, err := service.Make(t.Context(), mark.ID, setNow, "owner")
		must(t, err)
		_, err = service.Branch(t.Context(), mark.ID, "try", "", "owner")
		must(t, err)

		publishWith(t, store, mark.Job, func(src *engine.Source) { src.Ctx = "arrivals" })

		renamed, err := store.BookmarkOf(t.Context(), mark.Job, "arrivals")
		must(t, err)
		old, err := store.BookmarkOf(t.Context(), mark.Job, "files")
		must(t, err)
		if old != nil || renamed == nil || renamed.ID != mark.ID || renamed.Root != set.Root {
			t.Fatalf("after the rename there is %+v and %+v, want the ledger under its new name alone", old, renamed)
		}
		branches, err := store.Branches(t.Context(), mark.Job, "arrivals")
		must(t, err)
		if len(branches) != 1 {
			t.Errorf("%d branches follow the rename, want 1", len(branches))
		}
		waiting, err := service.Waiting(t.Context(), mark.ID)
		must(t, err)
		if len(waiting.Taken) != 0 {
			t.Errorf("%d files wait after the rename, want none", len(waiting.Taken))
		}

		publishWith(t, store, mark.Job, func(src *engine.Source) { src.Ctx, src.Path = "other", "s3://other/" })

		if other, err := store.BookmarkOf(t.Context(), mark.Job, "other"); err != nil || other != nil {
			t.Errorf("another source under another name has %+v (%v), want no bookmark", other, err)
		}
	})
}

// publishWith publishes a job with its source changed.
func publishWith(t *testing.T, store *db.Store, job engine.ID, change func(*engine.Source)) {
	t.Helper()
	draft, err := store.JobDraft(t.Context(), job)
	must(t, err)
	change(&draft.Body.SQL.Sources[0])
	_, err = store.SaveJobDraft(t.Context(), job, draft.Body, draft.Seq, "owner", dbtest.Noon)
	must(t, err)
	_, err = store.PublishJob(t.Context(), job, "owner", dbtest.Noon)
	must(t, err)
}

func TestMovesAreKeptInOrder(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		service, mark := reader(t, store)
		one := engine.Selection{Keys: []string{"b.csv"}}
		for _, step := range []struct {
			move    bookmark.Move
			version int
			files   int64
		}{
			{bookmark.Move{Kind: engine.MoveSetNow, Why: "loaded by hand"}, 1, 3},
			{bookmark.Move{Kind: engine.MoveReadAgain, Pick: one}, 2, 2},
			{bookmark.Move{Kind: engine.MoveHold, Pick: one}, 3, 2},
			{bookmark.Move{Kind: engine.MovePause}, 3, 2},
			{bookmark.Move{Kind: engine.MoveRelease, Pick: one}, 4, 2},
			{bookmark.Move{Kind: engine.MoveReset}, 5, 0},
			{bookmark.Move{Kind: engine.MoveUndo}, 6, 2},
			{bookmark.Move{Kind: engine.MoveRewind, To: 1}, 7, 3},
		} {
			moved, err := service.Make(t.Context(), mark.ID, step.move, "owner")
			must(t, err)
			if moved.Version != step.version || moved.Files != step.files {
				t.Errorf("%s: v%d with %d files, want v%d with %d", step.move.Kind, moved.Version, moved.Files, step.version, step.files)
			}
		}
		history, err := store.BookmarkMoves(t.Context(), mark.ID)
		must(t, err)
		if len(history) != 8 || history[0].Kind != engine.MoveRewind || history[7].Why != "loaded by hand" || history[0].Seq != 8 {
			t.Errorf("the history is %+v, want eight moves, the newest first", history)
		}
		kept, err := store.Bookmark(t.Context(), mark.ID)
		must(t, err)
		if kept.Version != 7 || !kept.Paused || kept.Newest.Key != "c.csv" {
			t.Errorf("the bookmark is %+v, want v7, paused, c.csv the newest", kept)
		}
	})
}

func TestABranchMovesOnItsOwnUntilItIsPromoted(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		service, mark := reader(t, store)
		_, err := service.Make(t.Context(), mark.ID, bookmark.Move{Kind: engine.MoveSetNow}, "owner")
		must(t, err)

		branch, err := service.Branch(t.Context(), mark.ID, "what if", "try", "owner")

		must(t, err)
		if branch.Files != 3 || branch.Branch != "what if" {
			t.Errorf("the branch is %+v, want a copy of three files", branch)
		}
		if _, err := service.Branch(t.Context(), mark.ID, "what if", "", "owner"); engine.CodeOf(err) != engine.Conflict {
			t.Errorf("a second branch of the name: %v, want a conflict", err)
		}
		_, err = service.Make(t.Context(), branch.ID, bookmark.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Keys: []string{"a.csv"}}}, "owner")
		must(t, err)
		trunk, err := store.BookmarkOf(t.Context(), mark.Job, "files")
		must(t, err)
		if trunk.ID != mark.ID || trunk.Files != 3 {
			t.Errorf("the bookmark is %+v, want it where it stood", trunk)
		}
		plan, err := service.Waiting(t.Context(), branch.ID)
		must(t, err)
		if len(plan.Taken) != 1 || plan.Taken[0].Key != "a.csv" {
			t.Errorf("the branch would read %v, want a.csv", plan.Taken)
		}

		moved, err := service.Make(t.Context(), branch.ID, bookmark.Move{Kind: engine.MovePromote, Why: "it is right"}, "owner")

		must(t, err)
		if moved.ID != mark.ID || moved.Files != 2 || moved.Version != 2 {
			t.Errorf("after the promotion the bookmark is %+v, want v2 with two files", moved)
		}
		all, err := store.BookmarksOf(t.Context(), mark.Job)
		must(t, err)
		branches, err := store.Branches(t.Context(), mark.Job, "files")
		must(t, err)
		if len(all) != 1 || len(branches) != 1 {
			t.Errorf("there are %d bookmarks and %d branches, want one of each", len(all), len(branches))
		}
		must(t, store.DropBranch(t.Context(), branch.ID))
		if err := store.DropBranch(t.Context(), mark.ID); engine.CodeOf(err) != engine.Invalid {
			t.Errorf("dropping the bookmark itself: %v, want it refused", err)
		}
		if _, err := store.Bookmark(t.Context(), branch.ID); engine.CodeOf(err) != engine.NotFound {
			t.Errorf("the dropped branch: %v, want it gone", err)
		}
	})
}

// TestASweepKeepsWhatCounts: versions before the limit can no longer be
// restored, the newest of them and all later ones can, and no page of theirs is
// lost.
func TestASweepKeepsWhatCounts(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		service, mark := reader(t, store)
		day := 0
		service.Now = func() time.Time { return dbtest.Noon.AddDate(0, 0, day) }
		for _, key := range []string{"", "a.csv", "b.csv", "c.csv"} {
			day++
			m := bookmark.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Keys: []string{key}}}
			if key == "" {
				m = bookmark.Move{Kind: engine.MoveSetNow}
			}
			_, err := service.Make(t.Context(), mark.ID, m, "owner")
			must(t, err)
		}
		since := dbtest.Noon.AddDate(0, 0, 3).Add(-time.Hour) // v1 and v2 are older

		young, err := bookmark.Sweep(t.Context(), store, since, time.Now())
		must(t, err)
		swept, err := bookmark.Sweep(t.Context(), store, since, time.Now().Add(48*time.Hour))
		must(t, err)

		if young != (bookmark.Swept{Versions: 1}) || swept != (bookmark.Swept{Pages: 2}) {
			t.Errorf("the sweeps removed %+v and %+v, want v1's two pages once they are old", young, swept)
		}
		_, err = service.Make(t.Context(), mark.ID, bookmark.Move{Kind: engine.MoveRewind, To: 1}, "owner")
		if engine.CodeOf(err) != engine.Invalid {
			t.Errorf("rewinding to a version that is gone: %v, want it refused", err)
		}
		for _, version := range []int{2, 3, 4} {
			p, err := service.Preview(t.Context(), mark.ID, bookmark.Move{Kind: engine.MoveRewind, To: version}, "owner")
			if version == 4 {
				if engine.CodeOf(err) != engine.Conflict {
					t.Errorf("rewinding to where it stands: %v, want a conflict", err)
				}
				continue
			}
			must(t, err)
			if len(p.Plan.Taken) != version-1 {
				t.Errorf("v%d would read %d files, want %d", version, len(p.Plan.Taken), version-1)
			}
		}
	})
}
