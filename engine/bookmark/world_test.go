package bookmark_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/flow"
)

// tester is what a test and a rapid check have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Context() context.Context
}

func must(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a bucket, a ledger over it and the runs of one job.
type world struct {
	mu      sync.Mutex
	objects map[string]engine.Object
	pages   map[string][]byte
	mark    *engine.Bookmark
	history []engine.BookmarkMove // newest first
	pace    bookmark.Pace
	inputs  []flow.Input // newest first
	job     engine.Job
	// left is the batch that a dead server left open; stages and target are
	// what lies there, the target by how often each content does.
	left   *left
	stages map[engine.ID][]engine.Entry
	target map[string]int
	// breakAfter ends listings with an error after so many keys; 0 is never.
	breakAfter int
	// during is called while a listing is under way, after so many keys.
	duringAt int
	during   func()
	// between is called between what a move makes ready and its transaction.
	between func()
}

func newWorld(src engine.Source, mode engine.WriteMode) *world {
	return &world{
		objects: map[string]engine.Object{}, pages: map[string][]byte{},
		stages: map[engine.ID][]engine.Entry{}, target: map[string]int{},
		job: engine.Job{
			Head: engine.Head{ID: engine.NewID(time.UnixMilli(0)), Name: "load"},
			JobBody: engine.JobBody{Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, SQL: &engine.SQLJob{
				Sources: []engine.Source{src}, Sinks: []engine.Sink{{From: "src", Path: "out", Mode: mode, Keys: []string{"id"}, LatestBy: "at"}},
			}},
		},
	}
}

func (w *world) put(key string, size int64, etag string, at time.Time) {
	w.objects[key] = engine.Object{Key: key, Size: size, ETag: etag, ModNS: at.UnixNano()}
}

// List shows the keys below the source's path in bytewise order.
func (w *world) List(_ context.Context, src engine.Source) iter.Seq2[bookmark.Listed, error] {
	prefix := strings.TrimPrefix(src.Path, "s3://lake/")
	return func(yield func(bookmark.Listed, error) bool) {
		for i, key := range slices.Sorted(maps.Keys(w.objects)) {
			if w.breakAfter > 0 && i == w.breakAfter {
				yield(bookmark.Listed{}, fmt.Errorf("the listing broke off"))
				return
			}
			if w.during != nil && i == w.duringAt {
				w.during()
				w.during = nil
			}
			if strings.HasPrefix(key, prefix) && !yield(bookmark.Listed{Object: w.objects[key]}, nil) {
				return
			}
		}
	}
}

func (w *world) Root(src engine.Source) string { return src.Path }

func (w *world) Page(_ context.Context, id string) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	body, ok := w.pages[id]
	if !ok {
		return nil, fmt.Errorf("page %s is missing: %w", id, bookmark.ErrNoPage)
	}
	return body, nil
}

func (w *world) PutPages(_ context.Context, pages map[string][]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, body := range pages {
		w.pages[id] = slices.Clone(body)
	}
	return nil
}

func (w *world) BookmarkOf(_ context.Context, _ engine.ID, name string) (*engine.Bookmark, error) {
	if w.mark == nil || w.mark.Ctx != name {
		return nil, nil
	}
	mark := *w.mark
	return &mark, nil
}

func (w *world) planner() *bookmark.Planner { return &bookmark.Planner{Ledger: w, Lister: w} }

func (w *world) plan(ctx context.Context, now time.Time) (engine.SourcePlan, error) {
	plan, err := w.planner().Plan(ctx, bookmark.Request{Job: w.job, Now: now})
	if err != nil {
		return engine.SourcePlan{}, err
	}
	return plan.Sources[0], nil
}

// run is an attempt without mishap. It returns the keys that were read, in
// order.
func (w *world) run(t tester, now time.Time, succeeds bool) (keys []string, part engine.SourcePlan, err error) {
	t.Helper()
	did, err := w.try(t, now, attempt{fails: !succeeds})
	if !succeeds && err == nil {
		did.read = keysOf(did.part.Taken)
	}
	return did.read, did.part, err
}

func (w *world) keep(b engine.Bookmark, m engine.BookmarkMove) {
	w.mark = &b
	w.history = append([]engine.BookmarkMove{m}, w.history...)
}

// The world is also the store of the moves.

func (w *world) Bookmark(context.Context, engine.ID) (engine.Bookmark, error) {
	if w.mark == nil {
		return engine.Bookmark{}, engine.Errorf(engine.NotFound, "There is no bookmark yet.")
	}
	return *w.mark, nil
}

func (w *world) BookmarksOf(context.Context, engine.ID) ([]engine.Bookmark, error) {
	if w.mark == nil {
		return nil, nil
	}
	return []engine.Bookmark{*w.mark}, nil
}

func (w *world) BookmarkMoves(context.Context, engine.ID) ([]engine.BookmarkMove, error) {
	return slices.Clone(w.history), nil
}

func (w *world) MakeBookmark(_ context.Context, b engine.Bookmark) (engine.Bookmark, error) {
	w.mark = &b
	return b, nil
}

func (w *world) MoveBookmark(_ context.Context, _ engine.ID, beside bool, decide func(engine.Bookmark, []engine.BookmarkMove) (engine.Bookmark, engine.BookmarkMove, error)) (engine.Bookmark, error) {
	if w.between != nil {
		w.between()
	}
	if w.left != nil && !beside {
		return *w.mark, engine.Errorf(engine.Conflict, "Run %s of this job is under way.", w.left.run)
	}
	b, m, err := decide(*w.mark, slices.Clone(w.history))
	if err == nil {
		w.keep(b, m)
	}
	return b, err
}

func (w *world) Job(context.Context, engine.ID) (engine.Job, error) { return w.job, nil }

func (w *world) Inputs(context.Context, engine.ID, string, int) ([]flow.Input, error) {
	return slices.Clone(w.inputs), nil
}

func (w *world) Pace(context.Context, engine.ID) (bookmark.Pace, error) { return w.pace, nil }

func (w *world) service(now time.Time) *bookmark.Service {
	return &bookmark.Service{Store: w, Planner: w.planner(), Now: func() time.Time { return now }}
}
