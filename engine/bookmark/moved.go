package bookmark

import (
	"context"
	"strings"

	"dogear/engine"
)

// content is what two objects of a store have in common where they hold the
// same.
type content struct {
	size int64
	etag string
}

// sameContent notes new objects that hold what was read before under another
// key: somebody moved, renamed or copied a file, and its rows will come again
// (B06). They are read all the same, as Glue does, but not in silence.
func (m *merge) sameContent(ctx context.Context) error {
	worth, err := m.worth(ctx)
	if err != nil {
		return err
	}
	byContent := map[content][]int{}
	bySize := map[int64][]int{} // where there is no ETag
	for i, o := range m.part.Taken {
		switch {
		case o.Reason != engine.ReasonNew || o.Size == 0:
		case o.ETag != "":
			if at := (content{o.Size, o.ETag}); worth == nil || worth[at] {
				byContent[at] = append(byContent[at], i)
			}
		default:
			bySize[o.Size] = append(bySize[o.Size], i)
		}
	}
	same := map[int]string{} // the key that was read, by index of what is taken
	if err := m.sameETag(ctx, byContent, same); err != nil {
		return err
	}
	if err := m.sameFile(ctx, bySize, same); err != nil {
		return err
	}
	example := -1
	for i, key := range same {
		m.part.Taken[i].Note = "the same content as " + key + ", which was read before"
		if example < 0 || i < example {
			example = i
		}
	}
	if n := len(same); n == 1 {
		m.notice("A new file has the same content as one that was read before: %s as %s. Its rows come again.", m.part.Taken[example].Key, same[example])
	} else if n > 1 {
		m.notice("%d new files have the same content as files that were read before, such as %s as %s. Their rows come again.", n, m.part.Taken[example].Key, same[example])
	}
	return nil
}

// mostCompared is up to how large a ledger copies are looked for in all of it.
// Beyond that walking it once more would cost as much as the plan itself, and
// only what is gone is compared: files that were moved or renamed.
const mostCompared = 250_000

// worth are the contents that are compared in a ledger too large to be walked
// once more; nil is every content.
func (m *merge) worth(ctx context.Context) (map[content]bool, error) {
	ledger := newCursor(ctx, m.planner.Ledger, m.part.LedgerRoot)
	if ledger.entriesLeft() <= mostCompared {
		return nil, ledger.err
	}
	worth := map[content]bool{}
	for e := range m.gones {
		worth[content{e.Size, e.ETag}] = true
	}
	return worth, ledger.err
}

// gones yields what the ledger knew of the objects that are gone.
func (m *merge) gones(yield func(*engine.Entry) bool) {
	for i := range m.part.Exceptions {
		if o := &m.part.Exceptions[i]; o.Reason == engine.ReasonGone && o.Prior != nil && !yield(o.Prior) {
			return
		}
	}
}

// sameETag looks for the content of new objects in the ledger. It walks that
// once more, and only where something is new.
func (m *merge) sameETag(ctx context.Context, fresh map[content][]int, same map[int]string) error {
	if len(fresh) == 0 {
		return nil
	}
	compare := func(e *engine.Entry) {
		for _, i := range fresh[content{e.Size, e.ETag}] {
			if same[i] == "" && m.part.Taken[i].Key != e.Key {
				same[i] = strings.Clone(e.Key)
			}
		}
	}
	ledger := newCursor(ctx, m.planner.Ledger, m.part.LedgerRoot)
	if ledger.entriesLeft() > mostCompared {
		for e := range m.gones {
			compare(e)
		}
		return ledger.err
	}
	for e := ledger.next(); e != nil; e = ledger.next() {
		if e.State == engine.EntryRead || e.State == engine.EntryGone {
			compare(e)
		}
	}
	return ledger.err
}

// sameFile looks for new files of a folder among those that are gone from it:
// a renamed file keeps its inode and time, one that was moved from elsewhere
// its content. Others are not looked into, because that would read them all.
func (m *merge) sameFile(ctx context.Context, fresh map[int64][]int, same map[int]string) error {
	for _, gone := range m.part.Exceptions {
		if gone.Reason != engine.ReasonGone || gone.Prior == nil || gone.Prior.State != engine.EntryRead {
			continue
		}
		for _, i := range fresh[gone.Size] {
			if same[i] != "" {
				continue
			}
			equal, err := m.equal(ctx, m.part.Taken[i].Object, gone.Prior)
			if err != nil {
				return err
			}
			if equal {
				same[i] = gone.Key
				break
			}
		}
	}
	return nil
}

// equal reports whether a file holds what e was, which is gone.
func (m *merge) equal(ctx context.Context, o engine.Object, e *engine.Entry) (bool, error) {
	if o.Inode != 0 && o.Inode == e.Inode && o.ModNS == e.ModNS {
		return true, nil
	}
	if m.planner.Hasher == nil || e.Hash == "" || e.Hash == HeldUnread {
		return false, nil
	}
	hash, err := m.planner.Hasher.Hash(ctx, m.src, o)
	return err == nil && hash == e.Hash, err
}
