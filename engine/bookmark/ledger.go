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
