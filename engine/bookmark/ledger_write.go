package bookmark

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/bookmark/page"
)

// Written is a ledger after changes, and what they changed.
type Written struct {
	Root string
	Stats
	// Added count as read now and did not before; Removed the other way round.
	// Again were read before and have been read once more, by another run.
	Added, Again, Removed int64
}

// Write lays changes, sorted by key and unique, over the ledger at root. Pages
// that no change touches are shared.
func Write(ctx context.Context, pages Pages, root string, changes []engine.Entry) (Written, error) {
	if !slices.IsSortedFunc(changes, func(a, b engine.Entry) int { return strings.Compare(a.Key, b.Key) }) {
		return Written{}, fmt.Errorf("the changes to a ledger are not sorted by key")
	}
	old, err := refs(ctx, pages, root)
	if err != nil {
		return Written{}, err
	}
	w := newPageWriter(ctx, pages)
	var decoder page.Decoder
	for i, ref := range old {
		n := len(changes)
		if i+1 < len(old) {
			n, _ = slices.BinarySearchFunc(changes, old[i+1].First, func(e engine.Entry, key string) int { return strings.Compare(e.Key, key) })
		}
		mine := changes[:n]
		changes = changes[n:]
		if len(mine) == 0 {
			w.refs = append(w.refs, ref)
			continue
		}
		entries, err := load(ctx, pages, ref, &decoder)
		if err != nil {
			return Written{}, err
		}
		if err := w.write(w.overlay(entries, mine)); err != nil {
			return Written{}, err
		}
	}
	// An empty ledger has no page to lay them over.
	if err := w.write(w.overlay(nil, changes)); err != nil {
		return Written{}, err
	}
	return w.finish()
}

// overlay merges two sorted lists; where both have a key, over wins.
func (w *pageWriter) overlay(under, over []engine.Entry) []engine.Entry {
	merged := w.merged[:0]
	for len(under) > 0 && len(over) > 0 {
		switch c := strings.Compare(under[0].Key, over[0].Key); {
		case c < 0:
			merged, under = append(merged, under[0]), under[1:]
		case c > 0:
			w.count(nil, &over[0])
			merged, over = append(merged, over[0]), over[1:]
		default:
			w.count(&under[0], &over[0])
			merged, under, over = append(merged, over[0]), under[1:], over[1:]
		}
	}
	for i := range over {
		w.count(nil, &over[i])
	}
	w.merged = append(append(merged, under...), over...)
	return w.merged
}

// count notes what one change did.
func (w *pageWriter) count(was, is *engine.Entry) {
	before := was != nil && was.State == engine.EntryRead
	after := is.State == engine.EntryRead
	switch {
	case after && !before:
		w.done.Added++
	case before && !after:
		w.done.Removed++
	case before && was.Run != is.Run:
		w.done.Again++
	}
}

// flushPages is how many fresh pages are held before they are stored.
const flushPages = 64

// pageWriter cuts sorted entries into pages and stores them in chunks.
type pageWriter struct {
	ctx   context.Context
	pages Pages
	refs  []page.Ref
	fresh map[string][]byte
	// merged is the memory of overlay.
	merged []engine.Entry
	done   Written
}

func newPageWriter(ctx context.Context, pages Pages) *pageWriter {
	return &pageWriter{ctx: ctx, pages: pages, fresh: map[string][]byte{}}
}

// write packs entries into full pages; a last one of more than half a page
// stands alone, a smaller one is spread over the two last pages.
func (w *pageWriter) write(entries []engine.Entry) error {
	for len(entries) > 0 {
		n := min(page.Size, len(entries))
		if rest := len(entries) - n; rest > 0 && rest < page.Size/2 {
			n = len(entries) / 2
		}
		if err := w.put(entries[:n]); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}

func (w *pageWriter) put(entries []engine.Entry) error {
	body := page.Encode(entries)
	ref := page.Ref{ID: page.ID(body), First: entries[0].Key, Last: entries[len(entries)-1].Key, N: int64(len(entries))}
	for _, e := range entries {
		if e.State == engine.EntryRead {
			ref.Read++
			ref.Bytes += e.Size
		}
	}
	w.refs = append(w.refs, ref)
	w.fresh[ref.ID] = body
	if len(w.fresh) < flushPages {
		return nil
	}
	return w.flush()
}

func (w *pageWriter) flush() error {
	if err := w.pages.PutPages(w.ctx, w.fresh); err != nil {
		return fmt.Errorf("keep pages of a ledger: %w", err)
	}
	clear(w.fresh)
	return nil
}

func (w *pageWriter) finish() (Written, error) {
	for _, ref := range w.refs {
		w.done.Files += ref.Read
		w.done.Bytes += ref.Bytes
	}
	if len(w.refs) == 0 {
		return w.done, nil
	}
	body := page.EncodeRefs(w.refs)
	w.done.Root = page.ID(body)
	w.fresh[w.done.Root] = body
	return w.done, w.flush()
}
