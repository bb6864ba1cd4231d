package dbtest_test

import (
	"slices"
	"strings"
	"testing"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/flow"
)

// starts writes a run of a job whose node is running.
func starts(t *testing.T, store *db.Store, job engine.ID) engine.NodeRun {
	t.Helper()
	run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, Object: job, Name: "load", Started: dbtest.Noon, By: "owner"}
	node := engine.NodeRun{Run: run.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: job}, Start: 1, Attempt: 1, Name: "load", State: engine.Running, Started: dbtest.Noon}
	commits(t, store, flow.Step{Run: run.ID, New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		return flow.Writes{Run: run, Nodes: []engine.NodeRun{node}}, nil
	}})
	return node
}

func commits(t *testing.T, store *db.Store, step flow.Step) {
	t.Helper()
	for _, w := range store.Commit(t.Context(), []flow.Step{step}) {
		must(t, w.Err)
	}
}

// reads is the move that a run makes which has read keys from mark on.
func reads(t *testing.T, store *db.Store, mark engine.Bookmark, run engine.ID, keys ...string) flow.Move {
	t.Helper()
	var entries []engine.Entry
	for _, key := range slices.Sorted(slices.Values(keys)) {
		entries = append(entries, engine.Entry{Object: engine.Object{Key: key, Size: 10, ETag: "e"}, Run: run, State: engine.EntryRead})
	}
	moved, line, err := bookmark.Advance(t.Context(), store, mark, entries, 1, bookmark.By{Who: "owner", At: dbtest.Noon, Run: run})
	must(t, err)
	return flow.Move{Bookmark: moved, Move: line, From: mark.Version, FromRoot: mark.Root}
}

// TestTwoRunsOfOneJobAtOnce: the second to commit is refused, is told by whom
// the bookmark was moved, and nothing of it is written.
func TestTwoRunsOfOneJobAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		_, mark := reader(t, store)
		one, two := starts(t, store, mark.Job), starts(t, store, mark.Job)
		first, second := reads(t, store, mark, one.Run, "a.csv"), reads(t, store, mark, two.Run, "a.csv", "b.csv")
		end := func(n engine.NodeRun, m flow.Move) error {
			step := flow.Step{Run: n.Run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
				n.State, n.Ended = engine.Succeeded, dbtest.Noon
				return flow.Writes{Run: run, Nodes: []engine.NodeRun{n}, Bookmarks: []flow.Move{m}}, nil
			}}
			return store.Commit(t.Context(), []flow.Step{step})[0].Err
		}

		must(t, end(one, first))
		err := end(two, second)

		if engine.CodeOf(err) != engine.Conflict || !strings.Contains(err.Error(), "is now at v1, moved by run "+string(one.Run)) {
			t.Errorf("the second: %v, want it refused for the first", err)
		}
		now, err := store.Bookmark(t.Context(), mark.ID)
		must(t, err)
		history, err := store.BookmarkMoves(t.Context(), mark.ID)
		must(t, err)
		if now.Version != 1 || now.Files != 1 || len(history) != 1 {
			t.Errorf("the bookmark is at v%d with %d files after %d moves, want v1 with 1 after 1", now.Version, now.Files, len(history))
		}
	})
}

// TestAMoveDuringARun: what changes what counts as read is refused, and so is
// another name for the context; a pause is not, and no run fails by it.
func TestAMoveDuringARun(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		service, mark := reader(t, store)
		mark, err := service.Make(t.Context(), mark.ID, setNow, "owner")
		must(t, err)
		node := starts(t, store, mark.Job)
		move := reads(t, store, mark, node.Run, "d.csv")

		for _, kind := range []engine.MoveKind{engine.MoveReset, engine.MoveUndo, engine.MoveRewind} {
			_, err := service.Make(t.Context(), mark.ID, bookmark.Move{Kind: kind}, "owner")
			if engine.CodeOf(err) != engine.Conflict || !strings.Contains(err.Error(), "Run "+string(node.Run)+" of this job is under way") {
				t.Errorf("%s during a run: %v, want it refused for the run", kind, err)
			}
		}
		draft, err := store.JobDraft(t.Context(), mark.Job)
		must(t, err)
		draft.Body.SQL.Sources[0].Ctx = "arrivals"
		_, err = store.SaveJobDraft(t.Context(), mark.Job, draft.Body, draft.Seq, "owner", dbtest.Noon)
		must(t, err)
		if _, err := store.PublishJob(t.Context(), mark.Job, "owner", dbtest.Noon); engine.CodeOf(err) != engine.Conflict {
			t.Errorf("another name for the context during a run: %v, want it refused", err)
		}
		paused, err := service.Make(t.Context(), mark.ID, bookmark.Move{Kind: engine.MovePause}, "owner")
		must(t, err)
		commits(t, store, flow.Step{Run: node.Run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
			node.State, node.Ended = engine.Succeeded, dbtest.Noon
			return flow.Writes{Run: run, Nodes: []engine.NodeRun{node}, Bookmarks: []flow.Move{move}}, nil
		}})

		now, err := store.Bookmark(t.Context(), mark.ID)
		must(t, err)
		if !paused.Paused || !now.Paused || now.Version != 2 || now.Files != 4 {
			t.Errorf("the bookmark is at v%d with %d files, paused %v; want v2 with 4, paused", now.Version, now.Files, now.Paused)
		}
		if _, err := service.Make(t.Context(), mark.ID, bookmark.Move{Kind: engine.MoveReset}, "owner"); err != nil {
			t.Errorf("a reset after the run: %v", err)
		}
	})
}
