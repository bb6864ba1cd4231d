package bookmark_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/bookmark/page"
)

func entry(key string, content int) engine.Entry {
	return engine.Entry{
		Object: engine.Object{Key: key, Size: int64(content), ETag: fmt.Sprint(content), ModNS: int64(content) * 1e9},
		State:  engine.EntryRead, Run: engine.NewID(time.UnixMilli(int64(content))),
	}
}

func TestPageHoldsWhatWasPacked(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfDistinct(rapid.String(), rapid.ID[string]).Draw(t, "keys")
		slices.Sort(keys)
		entries := make([]engine.Entry, len(keys))
		for i, key := range keys {
			entries[i] = engine.Entry{
				Object: engine.Object{
					Key: key, Size: rapid.Int64Min(0).Draw(t, "size"), ModNS: rapid.Int64().Draw(t, "mod"), ETag: rapid.String().Draw(t, "etag"),
					VersionID: rapid.String().Draw(t, "version"), Inode: rapid.Uint64().Draw(t, "inode"),
				},
				Run: engine.ID(rapid.String().Draw(t, "run")), State: engine.EntryState(rapid.Byte().Draw(t, "state")),
				Hash: rapid.String().Draw(t, "hash"), Note: rapid.String().Draw(t, "note"),
			}
		}

		got, err := page.Decode(page.Encode(entries))

		if err != nil || !slices.Equal(got, entries) {
			t.Fatalf("unpacked %v (%v), want %v", got, err, entries)
		}
	})
}

func FuzzDecodeNeverPanics(f *testing.F) {
	f.Add(page.Encode([]engine.Entry{entry("a", 1), entry("b", 2)}))
	f.Add(page.EncodeRefs([]page.Ref{{ID: page.ID(nil), First: "a", Last: "b", N: 2}}))
	f.Add([]byte{1})
	f.Fuzz(func(_ *testing.T, body []byte) {
		_, _ = page.Decode(body)
		_, _ = page.DecodeRefs(body)
	})
}

// TestLedgerIsAMap compares a ledger under random changes, large enough for
// several pages, with a plain map.
func TestLedgerIsAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(engine.Source{}, engine.Merge)
		root, plain := bookmark.Empty, map[string]engine.Entry{}
		for round := range rapid.IntRange(1, 4).Draw(t, "rounds") {
			stride := rapid.SampledFrom([]int{1, 3, 997}).Draw(t, "stride")
			n := rapid.SampledFrom([]int{0, 1, 50, 5000}).Draw(t, "changes")
			start := rapid.IntRange(0, 6000).Draw(t, "start")
			var changes []engine.Entry
			var want bookmark.Written
			for i := range n {
				e := entry(fmt.Sprintf("k/%07d", start+i*stride), round+1)
				e.Run = engine.ID(fmt.Sprint("run", round))
				if i%7 == 3 {
					e.State = engine.EntryHeld
				}
				changes = append(changes, e)
				switch was := plain[e.Key].State == engine.EntryRead; {
				case e.State != engine.EntryRead && was:
					want.Removed++
				case e.State == engine.EntryRead && was:
					want.Again++
				case e.State == engine.EntryRead:
					want.Added++
				}
				plain[e.Key] = e
			}
			for _, e := range plain {
				if e.State == engine.EntryRead {
					want.Files++
					want.Bytes += e.Size
				}
			}
			before := root
			written, err := bookmark.Write(t.Context(), w, root, changes)
			must(t, err)
			root, want.Root = written.Root, written.Root
			if written != want {
				t.Fatalf("Write = %+v, want %+v", written, want)
			}
			for d, err := range bookmark.Diff(t.Context(), w, before, root) {
				must(t, err)
				if d.To == nil || *d.To != plain[d.Key] {
					t.Fatalf("the difference at %s is %+v, want %+v", d.Key, d.To, plain[d.Key])
				}
				n--
			}
			if n < 0 {
				t.Fatalf("the difference names %d entries that were not changed", -n)
			}
		}
		seen := 0
		for e, err := range bookmark.Entries(t.Context(), w, root) {
			must(t, err)
			if plain[e.Key] != e {
				t.Fatalf("the ledger says %+v, want %+v", e, plain[e.Key])
			}
			seen++
		}
		if seen != len(plain) {
			t.Fatalf("the ledger holds %d entries, want %d", seen, len(plain))
		}
		probe := fmt.Sprintf("k/%07d", rapid.IntRange(0, 12000).Draw(t, "probe"))
		found, err := bookmark.Find(t.Context(), w, root, probe)
		must(t, err)
		if want, ok := plain[probe]; ok != (found != nil) || ok && *found != want {
			t.Fatalf("Find(%s) = %+v, want %+v %t", probe, found, want, ok)
		}
	})
}

// TestSmallChangeSharesPages: a version costs what it changes.
func TestSmallChangeSharesPages(t *testing.T) {
	t.Parallel()
	w := newWorld(engine.Source{}, engine.Merge)
	var all []engine.Entry
	for i := range 100_000 {
		all = append(all, entry(fmt.Sprintf("k/%07d", i), 1))
	}
	first, err := bookmark.Write(t.Context(), w, bookmark.Empty, all)
	must(t, err)
	before := len(w.pages)

	second, err := bookmark.Write(t.Context(), w, first.Root, []engine.Entry{entry("k/0050000", 2)})

	must(t, err)
	if added := len(w.pages) - before; added != 2 || second.Files != 100_000 {
		t.Errorf("one change added %d pages to %d files, want 2 (the page and the root) and 100000", added, second.Files)
	}
}
