package bookmark

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"dogear/engine"
	"dogear/engine/bookmark/page"
)

// Empty is the root of a ledger without entries.
const Empty = ""

// Stats says what a ledger counts as read.
type Stats struct {
	Files int64 // entries in state read
	Bytes int64
}

// refs returns the pages of a ledger in order of key.
func refs(ctx context.Context, pages Pages, root string) ([]page.Ref, error) {
	if root == Empty {
		return nil, nil
	}
	body, err := pages.Page(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("read the root of a ledger: %w", err)
	}
	return page.DecodeRefs(body)
}

// load unpacks a page; the entries are good until decoder's next page.
func load(ctx context.Context, pages Pages, ref page.Ref, decoder *page.Decoder) ([]engine.Entry, error) {
	body, err := pages.Page(ctx, ref.ID)
	if err != nil {
		return nil, fmt.Errorf("read a page of a ledger: %w", err)
	}
	return decoder.Decode(body)
}

// Entries yields the entries of a ledger in order of key, a page at a time.
func Entries(ctx context.Context, pages Pages, root string) iter.Seq2[engine.Entry, error] {
	return func(yield func(engine.Entry, error) bool) {
		c := newCursor(ctx, pages, root)
		for e := c.next(); e != nil; e = c.next() {
			if !yield(*e, nil) {
				return
			}
		}
		if c.err != nil {
			yield(engine.Entry{}, c.err)
		}
	}
}

// cursor walks a ledger in order of key and holds one page of it at a time, or
// two where it reads ahead.
type cursor struct {
	ctx      context.Context
	pages    Pages
	refs     []page.Ref // not read yet
	entries  []engine.Entry
	decoders [2]page.Decoder
	turn     int // the decoder of the page that was read last
	err      error
	// coming brings the page that was read ahead; nil where none is.
	coming chan loaded
}

// loaded is a page that was read ahead.
type loaded struct {
	entries []engine.Entry
	err     error
}

func newCursor(ctx context.Context, pages Pages, root string) *cursor {
	c := &cursor{ctx: ctx, pages: pages}
	c.refs, c.err = refs(ctx, pages, root)
	return c
}

// ahead makes c read the next page while this one is looked at: for a walk
// through a whole ledger, which then takes as long as the slower of the two.
func (c *cursor) ahead() *cursor {
	if c.err == nil && len(c.refs) > 0 {
		c.coming = make(chan loaded, 1) // holds a page that nobody wants any more
		c.fetch()
	}
	return c
}

// fetch begins to read the first page of refs with the decoder whose page has
// been looked at.
func (c *cursor) fetch() {
	c.turn = 1 - c.turn
	ref, decoder := c.refs[0], &c.decoders[c.turn]
	go func() {
		entries, err := load(c.ctx, c.pages, ref, decoder)
		c.coming <- loaded{entries, err}
	}()
}

// next returns the entry that follows, or nil at the end and after a failure.
// It is good until the next call: whoever keeps it, copies it with page.Keep.
func (c *cursor) next() *engine.Entry {
	for len(c.entries) == 0 {
		if c.err != nil || len(c.refs) == 0 {
			return nil
		}
		c.load()
	}
	e := &c.entries[0]
	c.entries = c.entries[1:]
	return e
}

func (c *cursor) load() {
	if c.coming == nil {
		c.entries, c.err = load(c.ctx, c.pages, c.refs[0], &c.decoders[0])
	} else {
		page := <-c.coming
		c.entries, c.err = page.entries, page.err
	}
	if c.err != nil {
		return
	}
	c.refs = c.refs[1:]
	if c.coming != nil && len(c.refs) > 0 {
		c.fetch()
	}
}

// find returns the entry of key, or nil. Keys must be asked for in their order;
// pages between them are not read.
func (c *cursor) find(key string) (*engine.Entry, error) {
	if len(c.entries) == 0 || c.entries[len(c.entries)-1].Key < key {
		c.entries = nil
		c.refs = c.refs[sort.Search(len(c.refs), func(i int) bool { return c.refs[i].Last >= key }):]
		if c.err == nil && len(c.refs) > 0 && c.refs[0].First <= key {
			c.load()
		}
	}
	i, ok := slices.BinarySearchFunc(c.entries, key, func(e engine.Entry, key string) int { return strings.Compare(e.Key, key) })
	c.entries = c.entries[i:]
	if !ok {
		return nil, c.err
	}
	return &c.entries[0], c.err
}

// Find returns what the ledger says of key, or nil.
func Find(ctx context.Context, pages Pages, root, key string) (*engine.Entry, error) {
	return newCursor(ctx, pages, root).find(key)
}

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

// Difference is what one version of a ledger counts as read and another does
// not.
type Difference struct {
	Key  string
	From *engine.Entry // nil: not there before
	To   *engine.Entry // nil: not there afterwards
}

// Diff yields what differs from the ledger at root a to the one at root b, in
// order of key. Pages that both share are not read.
func Diff(ctx context.Context, pages Pages, a, b string) iter.Seq2[Difference, error] {
	return func(yield func(Difference, error) bool) {
		fail := func(err error) { yield(Difference{}, err) }
		left, err := refs(ctx, pages, a)
		if err != nil {
			fail(err)
			return
		}
		right, err := refs(ctx, pages, b)
		if err != nil {
			fail(err)
			return
		}
		shared := map[string]bool{}
		for _, ref := range left {
			shared[ref.ID] = true
		}
		both := map[string]bool{}
		for _, ref := range right {
			both[ref.ID] = shared[ref.ID]
		}
		nextA, stopA := iter.Pull2(unshared(ctx, pages, left, both))
		defer stopA()
		nextB, stopB := iter.Pull2(unshared(ctx, pages, right, both))
		defer stopB()
		zip(nextA, nextB, yield)
	}
}

// unshared yields the entries of the pages that are not in both.
func unshared(ctx context.Context, pages Pages, all []page.Ref, both map[string]bool) iter.Seq2[engine.Entry, error] {
	return func(yield func(engine.Entry, error) bool) {
		var decoder page.Decoder
		for _, ref := range all {
			if both[ref.ID] {
				continue
			}
			entries, err := load(ctx, pages, ref, &decoder)
			if err != nil {
				yield(engine.Entry{}, err)
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

type pull func() (engine.Entry, error, bool)

// zip walks two sorted sequences side by side and yields where they differ.
func zip(nextA, nextB pull, yield func(Difference, error) bool) {
	a, errA, okA := nextA()
	b, errB, okB := nextB()
	for okA || okB {
		if errA != nil || errB != nil {
			yield(Difference{}, firstError(errA, errB))
			return
		}
		var d Difference
		switch {
		case !okB || okA && a.Key < b.Key:
			from := a
			d = Difference{Key: a.Key, From: &from}
			a, errA, okA = nextA()
		case !okA || b.Key < a.Key:
			to := b
			d = Difference{Key: b.Key, To: &to}
			b, errB, okB = nextB()
		default:
			from, to := a, b
			d = Difference{Key: a.Key, From: &from, To: &to}
			a, errA, okA = nextA()
			b, errB, okB = nextB()
		}
		if d.From != nil && d.To != nil && *d.From == *d.To {
			continue
		}
		if !yield(d, nil) {
			return
		}
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
