package bookmark_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dogear/engine"
	"dogear/engine/bookmark"
)

const keys = 13 // of the source, in/0 to in/12

// The paths of the source: the second sees a part of what the first does.
var paths = []string{"s3://lake/in/", "s3://lake/in/1"}

// history is a world and its oracle.
type history struct {
	*world
	o       *oracle
	limit   int
	clock   time.Time
	content int
	deleted map[string]engine.Object
	saw     *sync.Map // what happened in any history
}

func (h *history) tick() time.Time { h.clock = h.clock.Add(time.Minute); return h.clock }

func (h *history) key(t *rapid.T, what string) string {
	return fmt.Sprintf("in/%d", rapid.IntRange(0, keys-1).Draw(t, what))
}

// visible is what the source shows.
func (h *history) visible() map[string]engine.Object {
	seen := map[string]engine.Object{}
	for key, object := range h.objects {
		if strings.HasPrefix("s3://lake/"+key, h.o.path) {
			seen[key] = object
		}
	}
	return seen
}

// TestRandomHistories compares what is read with the oracle over arrivals,
// changes, deletions, returns, renames of files, of the job, its source and its
// context, other paths of the source, failed runs, servers that die at every
// step of a batch, two runs at once, pauses and all moves of a person, with and
// without a bound; every preview with what is then read; and what stands in the
// target with what was read.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	var saw sync.Map
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "bound")
		h := &history{
			world: newWorld(engine.Source{Name: "src", Path: paths[0], Format: engine.CSV, Ctx: "src", Options: engine.SourceOptions{MaxFiles: limit}}, engine.Merge),
			o:     &oracle{versions: []version{beginning()}, path: paths[0], rows: map[string]int{}},
			limit: limit, clock: noon, deleted: map[string]engine.Object{}, saw: &saw,
		}
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				h.content++
				h.put(h.key(t, "key"), int64(h.content), fmt.Sprint("e", h.content), h.tick())
			},
			"touch": func(t *rapid.T) {
				if object, ok := h.objects[h.key(t, "key")]; ok {
					object.ModNS = h.tick().UnixNano()
					h.objects[object.Key] = object
				}
			},
			"delete": func(t *rapid.T) {
				key := h.key(t, "key")
				if object, ok := h.objects[key]; ok {
					h.deleted[key] = object
				}
				delete(h.objects, key)
			},
			"come back": func(t *rapid.T) {
				if object, ok := h.deleted[h.key(t, "key")]; ok {
					key := rapid.SampledFrom([]string{object.Key, h.key(t, "another")}).Draw(t, "as")
					h.put(key, object.Size, object.ETag, h.tick())
				}
			},
			"rename file": func(t *rapid.T) { h.renameFile(t) },
			"rename":      func(t *rapid.T) { h.rename(t) },
			"other path": func(t *rapid.T) {
				h.o.path = rapid.SampledFrom(paths).Draw(t, "path")
				h.job.SQL.Sources[0].Path = h.o.path
			},
			"run": func(t *rapid.T) {
				h.run(t, attempt{
					fails: rapid.IntRange(0, 2).Draw(t, "fails") == 0,
					dies:  rapid.SampledFrom(append([]string{"", "", "", ""}, steps...)).Draw(t, "dies"),
				}, rapid.IntRange(0, 5).Draw(t, "two at once") == 0)
			},
			"move": func(t *rapid.T) { h.moveByHand(t) },
			"":     func(t *rapid.T) { h.check(t) },
		})
	})
	if checks, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String()); err != nil || checks < 5000 {
		return // too few to come to everything
	}
	for _, what := range append([]string{"taken up", "two at once", "asked", "same content", "context renamed"}, steps...) {
		if _, ok := saw.Load(what); !ok && !t.Failed() {
			t.Errorf("no history came to %q", what)
		}
	}
}

// renameFile gives a file another key; to the bookmark one is gone and another
// is new.
func (h *history) renameFile(t *rapid.T) {
	from, to := h.key(t, "from"), h.key(t, "to")
	if object, ok := h.objects[from]; ok && from != to {
		delete(h.objects, from)
		h.put(to, object.Size, object.ETag, h.tick())
	}
}

// rename gives the job, its source or its context another name, as publishing
// the job does: what counts as read stays.
func (h *history) rename(t *rapid.T) {
	name := rapid.SampledFrom([]string{"orders", "sales", "deals"}).Draw(t, "name")
	switch rapid.SampledFrom([]string{"job", "source", "context"}).Draw(t, "of") {
	case "job":
		h.job.Name = name
	case "source":
		h.job.SQL.Sources[0].Name = name
	default:
		if h.left != nil {
			return // refused while a run is under way
		}
		after := *h.job.SQL
		after.Sources = slices.Clone(after.Sources)
		after.Sources[0].Ctx = name
		renamed := bookmark.Renamed(h.job.SQL, &after)
		h.job.SQL = &after
		if h.mark != nil && h.mark.Ctx != name {
			h.mark.Ctx = renamed[h.mark.Ctx]
			h.saw.Store("context renamed", true)
		}
	}
}

// run makes an attempt, or lets a new server take up the one that is open.
func (h *history) run(t *rapid.T, a attempt, two bool) {
	now := h.tick()
	if h.o.open == nil && h.o.asks() {
		if _, err := h.try(t, now, a); engine.CodeOf(err) != engine.Conflict {
			t.Fatalf("a run over another source: %v, want it to ask", err)
		}
		h.saw.Store("asked", true)
		return
	}
	fresh := h.o.open == nil
	if fresh {
		h.o.open = h.preview(t, now)
	}
	p := h.o.open
	if len(p.due) == 0 {
		h.o.open = nil
		did, err := h.try(t, now, a)
		must(t, err)
		assertKeys(t, "read", did.read, nil)
		return
	}
	if fresh && a.dies == planned {
		h.o.open = nil // nothing of it was stored
	}
	if two && fresh && a.dies != stored && a.dies != planned {
		a.rival = func() { h.rival(t, now) }
	}
	if !fresh {
		h.saw.Store("taken up", true)
	}
	did, err := h.try(t, now, a)
	died := h.follow(p, a)
	switch {
	case died:
		h.saw.Store(a.dies, true)
		if !errors.Is(err, errDied) {
			t.Fatalf("an attempt whose server dies when %s: %v", a.dies, err)
		}
	case p.committed:
		must(t, err)
		assertKeys(t, "read", did.read, p.read)
	case a.fails:
		must(t, err)
	case engine.CodeOf(err) != engine.Conflict:
		t.Fatalf("the second of two runs: %v, want it refused", err)
	}
}

// preview says what a run would read now, and the oracle that it is right.
func (h *history) preview(t *rapid.T, now time.Time) *open {
	p := &open{seen: h.visible(), due: h.o.due(h.visible(), h.limit), moves: !h.o.paused, at: len(h.o.versions) - 1, path: h.o.path}
	preview, err := h.plan(t.Context(), now)
	must(t, err)
	assertKeys(t, "previewed", keysOf(preview.Taken), p.due)
	h.assertSameContent(t, preview)
	return p
}

// rival is another run of the job that begins and ends while the first reads.
func (h *history) rival(t *rapid.T, now time.Time) {
	first := h.o.open
	h.o.open = nil
	h.run(t, attempt{}, false)
	h.o.open = first
	h.saw.Store("two at once", true)
}

// follow lets the oracle go through an attempt, and says whether its server
// died before it ended.
func (h *history) follow(p *open, a attempt) (died bool) {
	switch {
	case a.dies == planned && h.o.open == nil, a.dies == stored:
		return true
	case !p.committed:
		p.read = slices.DeleteFunc(slices.Clone(p.due), func(key string) bool {
			now, there := h.objects[key]
			return !there || now.ETag != p.seen[key].ETag
		})
		if a.dies == staged {
			return true
		}
		if a.fails {
			h.o.open = nil
			return false
		}
		if a.dies == written {
			return true
		}
		if p.committed = h.o.advance(p); !p.committed {
			h.o.open = nil
			return false
		}
		if a.dies == committed {
			return true
		}
	}
	switch {
	case a.dies == half && len(p.read) > 0, a.dies == published:
		return true
	}
	h.o.publish(p)
	return a.dies == finalized
}

// assertSameContent checks that of the new files exactly those are noted that
// hold what the ledger knows under another key (B06).
func (h *history) assertSameContent(t *rapid.T, part engine.SourcePlan) {
	known := map[string][]string{}
	for e, err := range bookmark.Entries(t.Context(), h, part.LedgerRoot) {
		must(t, err)
		if e.State == engine.EntryRead || e.State == engine.EntryGone {
			known[e.ETag] = append(known[e.ETag], e.Key)
		}
	}
	for _, o := range part.Taken {
		want := o.Reason == engine.ReasonNew && slices.ContainsFunc(known[o.ETag], func(key string) bool { return key != o.Key })
		if got := strings.HasPrefix(o.Note, "the same content as "); got != want {
			t.Fatalf("%s is noted %q, want a note of its content: %v", o.Key, o.Note, want)
		}
		if want {
			h.saw.Store("same content", true)
		}
	}
}

// check compares the ledger and the target with the oracle.
func (h *history) check(t *rapid.T) {
	h.assertLedger(t)
	if h.left != nil {
		return
	}
	if !maps.Equal(h.target, h.o.rows) {
		t.Fatalf("the target holds %v, want %v", h.target, h.o.rows)
	}
	if len(h.stages) > 0 {
		t.Fatalf("the stages %v were left over", h.stages)
	}
}

// assertLedger checks that what counts as read is what the oracle says, and
// that sums and differences of versions agree with it.
func (h *history) assertLedger(t *rapid.T) {
	if h.mark == nil {
		return
	}
	if h.mark.Version != len(h.o.versions)-1 {
		t.Fatalf("the bookmark is at v%d, want v%d", h.mark.Version, len(h.o.versions)-1)
	}
	read := map[string]string{}
	for e, err := range bookmark.Entries(t.Context(), h, h.mark.Root) {
		must(t, err)
		if e.State == engine.EntryRead {
			read[e.Key] = e.ETag
		}
	}
	if !maps.Equal(read, h.o.now().read) {
		t.Fatalf("v%d counts %v as read, want %v", h.mark.Version, read, h.o.now().read)
	}
	if int(h.mark.Files) != len(read) {
		t.Fatalf("v%d says %d files, its ledger holds %d", h.mark.Version, h.mark.Files, len(read))
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
	t.Helper()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("%s %v, want %v", what, got, want)
	}
}
