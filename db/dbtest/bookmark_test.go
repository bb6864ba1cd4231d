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
