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

// version is what an oracle knows at one version of the bookmark.
type version struct {
	read     map[string]string // which content of which key counts as read
	reopened map[string]bool   // to be read again, by a person
	held     map[string]bool   // not to be read, by a person
}

func (v version) clone() version {
	return version{maps.Clone(v.read), maps.Clone(v.reopened), maps.Clone(v.held)}
}

func beginning() version {
	return version{map[string]string{}, map[string]bool{}, map[string]bool{}}
}

// drop forgets what is not in the source any more, and says whether it did.
// Should it come back, it is new.
func (v version) drop(objects map[string]engine.Object) (dropped bool) {
	absent := func(key string) bool {
		_, there := objects[key]
		dropped = dropped || !there
		return !there
	}
	maps.DeleteFunc(v.read, func(key, _ string) bool { return absent(key) })
	maps.DeleteFunc(v.reopened, func(key string, _ bool) bool { return absent(key) })
	maps.DeleteFunc(v.held, func(key string, _ bool) bool { return absent(key) })
	return dropped
}

// oracle says what must be read by keeping everything in plain maps.
type oracle struct {
	versions []version
	paused   bool
}

func (o *oracle) now() version { return o.versions[len(o.versions)-1] }

// due lists what a run must read: what is there, does not count as read and is
// not held.
func (o *oracle) due(objects map[string]engine.Object, limit int) []string {
	var all []engine.Object
	for key, object := range objects {
		if o.now().read[key] != object.ETag && !o.now().held[key] {
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
func (o *oracle) advance(objects map[string]engine.Object, keys []string) {
	next := o.now().clone()
	moved := next.drop(objects) || len(keys) > 0
	next.mark(objects, keys)
	if moved && !o.paused {
		o.versions = append(o.versions, next)
	}
}

func (v version) mark(objects map[string]engine.Object, keys []string) {
	for _, key := range keys {
		v.read[key] = objects[key].ETag
		delete(v.reopened, key)
	}
}

// TestRandomHistories compares what is read with the oracle over arrivals,
// changes, deletions, returns, failed runs, pauses, resets, rewinds and undos,
// with and without a bound; and every preview with what is then read.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "bound")
		w := newWorld(engine.Source{Name: "src", Path: "s3://lake/in/", Format: engine.CSV, Ctx: "src", Options: engine.SourceOptions{MaxFiles: limit}}, engine.Merge)
		o := &oracle{versions: []version{beginning()}}
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
	service := w.service(now)
	if w.mark == nil {
		if !rapid.Bool().Draw(t, "before the first run") {
			return
		}
		_, err := service.Open(t.Context(), w.job.ID, "src")
		must(t, err)
	}
	m := bookmark.Move{Kind: rapid.SampledFrom([]engine.MoveKind{
		engine.MovePause, engine.MoveResume, engine.MoveReset, engine.MoveRewind, engine.MoveUndo,
		engine.MoveReadAgain, engine.MoveHold, engine.MoveRelease, engine.MoveSetNow,
	}).Draw(t, "what")}
	next, moves := o.now().clone(), true
	fits := func(string) bool { return false }
	switch m.Kind {
	case engine.MoveReadAgain, engine.MoveHold, engine.MoveRelease:
		key := fmt.Sprintf("in/%d", rapid.IntRange(0, 12).Draw(t, "picked"))
		m.Pick.Keys = []string{key}
		fits = func(k string) bool { return k == key }
		if rapid.Bool().Draw(t, "by pattern") {
			m.Pick = engine.Selection{Pattern: "in/1*"}
			fits = func(k string) bool { return k[:4] == "in/1" }
		}
	default: // is about all of them
	}
	switch m.Kind {
	case engine.MovePause, engine.MoveResume:
		moves = false
	case engine.MoveReset:
		next = beginning()
	case engine.MoveRewind:
		m.To = rapid.IntRange(0, len(o.versions)-1).Draw(t, "to")
		next = o.versions[m.To].clone()
	case engine.MoveUndo:
		next = o.versions[max(0, len(o.versions)-2)].clone()
	case engine.MoveReadAgain:
		maps.DeleteFunc(next.read, func(key, _ string) bool {
			if fits(key) {
				next.reopened[key] = true
			}
			return fits(key)
		})
	case engine.MoveHold:
		for key := range w.objects {
			if _, read := next.read[key]; !read && fits(key) {
				next.held[key] = true
			}
		}
		for key := range next.reopened {
			if fits(key) {
				next.held[key] = true
				delete(next.reopened, key)
			}
		}
	case engine.MoveRelease:
		for key := range next.held {
			if fits(key) {
				next.reopened[key] = true
				delete(next.held, key)
			}
		}
	case engine.MoveSetNow:
		next.drop(w.objects)
		next.mark(w.objects, o.due(w.objects, 0))
	default:
		t.Fatalf("the oracle does not know the move %s", m.Kind)
	}
	preview, previewErr := service.Preview(t.Context(), w.mark.ID, m, "owner")
	moved, err := service.Make(t.Context(), w.mark.ID, m, "owner")
	if err != nil {
		if code := engine.CodeOf(err); code != engine.Conflict && code != engine.NotFound {
			t.Fatalf("%s failed: %v", m.Kind, err)
		}
		return // there was nothing to move; assertLedger sees that nothing did
	}
	o.paused = moved.Paused
	if !moves {
		return
	}
	must(t, previewErr)
	o.versions = append(o.versions, next)
	assertKeys(t, "previewed", keysOf(preview.Plan.Taken), o.due(w.objects, w.job.SQL.Sources[0].Options.MaxFiles))
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
	if !maps.Equal(read, o.now().read) {
		t.Fatalf("v%d counts %v as read, want %v", w.mark.Version, read, o.now().read)
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
