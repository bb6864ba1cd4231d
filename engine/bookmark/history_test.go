package bookmark_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// oracle says what must be read by keeping everything in plain maps: for each
// version of the bookmark, which content of which key counts as read.
type oracle struct {
	versions []map[string]string // by version: key -> etag that counts as read
	paused   bool
}

func (o *oracle) now() map[string]string { return o.versions[len(o.versions)-1] }

// due lists what a run must read: what is there and does not count as read.
func (o *oracle) due(objects map[string]engine.Object, limit int) []string {
	var all []engine.Object
	for key, object := range objects {
		if o.now()[key] != object.ETag {
			all = append(all, object)
		}
	}
	slices.SortFunc(all, func(a, b engine.Object) int {
		if a.ModNS != b.ModNS {
			return int(a.ModNS - b.ModNS)
		}
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	var keys []string
	for i, object := range all {
		if limit > 0 && i == limit {
			break
		}
		keys = append(keys, object.Key)
	}
	slices.Sort(keys)
	return keys
}

// advance makes the version after a run that read keys.
func (o *oracle) advance(objects map[string]engine.Object, keys []string) bool {
	next := maps.Clone(o.now())
	for _, key := range keys {
		next[key] = objects[key].ETag
	}
	moved := len(keys) > 0
	for key := range next {
		if _, there := objects[key]; !there {
			delete(next, key) // gone: should it come back, it is new
			moved = true
		}
	}
	if moved && !o.paused {
		o.versions = append(o.versions, next)
	}
	return moved && !o.paused
}

// TestRandomHistories compares what is read with the oracle over arrivals,
// changes, deletions, returns, failed runs, pauses, resets, rewinds and undos,
// with and without a bound; and every preview with what is then read.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "bound")
		w := newWorld(engine.Source{Name: "src", Path: "s3://lake/in/", Format: engine.CSV, Ctx: "src", Options: engine.SourceOptions{MaxFiles: limit}}, engine.Merge)
		o := &oracle{versions: []map[string]string{{}}}
		clock, content := noon, 0
		key := func() string { return fmt.Sprintf("in/%d", rapid.IntRange(0, 12).Draw(t, "key")) }
		tick := func() time.Time { clock = clock.Add(time.Minute); return clock }
		t.Repeat(map[string]func(*rapid.T){
			"write": func(*rapid.T) {
				content++
				w.put(key(), int64(content), fmt.Sprint("e", content), tick())
			},
			"touch": func(*rapid.T) {
				if object, ok := w.objects[key()]; ok {
					object.ModNS = tick().UnixNano()
					w.objects[object.Key] = object
				}
			},
			"delete": func(*rapid.T) { delete(w.objects, key()) },
			"run": func(t *rapid.T) {
				succeeds := rapid.Bool().Draw(t, "succeeds")
				want := o.due(w.objects, limit)
				preview, err := w.plan(t.Context(), tick())
				must(t, err)
				read, _, err := w.run(t, clock, succeeds)
				must(t, err)
				assertKeys(t, "read", read, want)
				assertKeys(t, "previewed", keysOf(preview.Taken), read)
				if succeeds {
					o.advance(w.objects, want)
				}
			},
			"move": func(t *rapid.T) { w.moveByHand(t, o, tick()) },
			"":     func(t *rapid.T) { w.assertLedger(t, o) },
		})
	})
}

// moveByHand makes one of the moves of a person in the world and the oracle.
func (w *world) moveByHand(t *rapid.T, o *oracle, now time.Time) {
	if w.mark == nil {
		return
	}
	by := bookmark.By{Who: "owner", At: now}
	var b engine.Bookmark
	var m engine.BookmarkMove
	var err error
	switch rapid.SampledFrom([]string{"pause", "resume", "reset", "rewind", "undo"}).Draw(t, "what") {
	case "pause":
		b, m, err = bookmark.Pause(*w.mark, by)
	case "resume":
		b, m, err = bookmark.Resume(*w.mark, by)
	case "reset":
		if b, m, err = bookmark.Reset(*w.mark, by); err == nil {
			o.versions = append(o.versions, map[string]string{})
		}
	case "rewind":
		to := rapid.IntRange(0, len(o.versions)-1).Draw(t, "to")
		if b, m, err = bookmark.Rewind(*w.mark, w.history, to, by); err == nil {
			o.versions = append(o.versions, maps.Clone(o.versions[to]))
		}
	case "undo":
		if b, m, err = bookmark.Undo(*w.mark, w.history, by); err == nil {
			o.versions = append(o.versions, maps.Clone(o.versions[len(o.versions)-2]))
		}
	}
	if err != nil {
		if engine.CodeOf(err) != engine.Conflict {
			t.Fatalf("a move failed: %v", err)
		}
		return
	}
	w.keep(b, m)
	o.paused = b.Paused
}

// assertLedger checks that what counts as read is what the oracle says, and
// that sums and differences of versions agree with it.
func (w *world) assertLedger(t *rapid.T, o *oracle) {
	if w.mark == nil {
		return
	}
	if w.mark.Version != len(o.versions)-1 {
		t.Fatalf("the bookmark is at v%d, want v%d", w.mark.Version, len(o.versions)-1)
	}
	read := map[string]string{}
	for e, err := range bookmark.Entries(t.Context(), w, w.mark.Root) {
		must(t, err)
		if e.State == engine.EntryRead {
			read[e.Key] = e.ETag
		}
	}
	if !maps.Equal(read, o.now()) {
		t.Fatalf("v%d counts %v as read, want %v", w.mark.Version, read, o.now())
	}
	if int(w.mark.Files) != len(read) {
		t.Fatalf("v%d says %d files, its ledger holds %d", w.mark.Version, w.mark.Files, len(read))
	}
}

func keysOf(planned []engine.Planned) []string {
	var keys []string
	for _, o := range planned {
		keys = append(keys, o.Key)
	}
	return keys
}

func assertKeys(t *rapid.T, what string, got, want []string) {
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("%s %v, want %v", what, got, want)
	}
}
