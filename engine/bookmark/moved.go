package bookmark

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"dogear/engine"
	"dogear/engine/bookmark/page"
)

// sameContent notes new objects that hold what was read before under another
// key: somebody moved, renamed or copied a file, and its rows will come again
// (B06). They are read all the same, as Glue does, but not in silence.
func (m *merge) sameContent(ctx context.Context) error {
	var fresh freshContents
	bySize := map[int64][]int{} // where there is no ETag
	for i, o := range m.part.Taken {
		switch {
		case o.Reason != engine.ReasonNew || o.Size == 0:
		case o.ETag != "":
			fresh.add(o.ETag, i)
		default:
			bySize[o.Size] = append(bySize[o.Size], i)
		}
	}
	same := map[int]string{} // the key that was read, by index of what is taken
	if err := m.sameETag(ctx, &fresh, same); err != nil {
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

// sameETag looks for the content of new objects in the ledger. It walks that
// once more, only where something is new, and unpacks of each page no more than
// is needed to pass it over: that is a small part of the plan, and holds as many
// pages at a time as there are processors.
func (m *merge) sameETag(ctx context.Context, fresh *freshContents, same map[int]string) error {
	if len(fresh.sums) == 0 {
		return nil
	}
	fresh.seal()
	all, err := refs(ctx, m.planner.Ledger, m.part.LedgerRoot)
	if err != nil {
		return err
	}
	// In the order of their ids, in which SQLite stores them, pages are read
	// faster than in that of their keys.
	slices.SortFunc(all, func(a, b page.Ref) int { return strings.Compare(a.ID, b.ID) })
	var mu sync.Mutex // of same
	walkers := min(runtime.GOMAXPROCS(0), maxWalkers)
	errs := make([]error, walkers)
	var walking sync.WaitGroup
	for w := range walkers {
		share := all[w*len(all)/walkers : (w+1)*len(all)/walkers]
		walking.Go(func() {
			errs[w] = m.eachLike(ctx, share, fresh, func(e *engine.Entry) {
				mu.Lock()
				defer mu.Unlock()
				m.compareContent(e, fresh, same)
			})
		})
	}
	walking.Wait()
	return errors.Join(errs...)
}

// maxWalkers bounds how many pages of a ledger are looked through at once.
const maxWalkers = 4

// eachLike yields the entries of those of the pages that may hold the content
// of a new object.
func (m *merge) eachLike(ctx context.Context, pages []page.Ref, fresh *freshContents, each func(*engine.Entry)) error {
	var decoder page.Decoder
	for _, ref := range pages {
		body, err := m.planner.Ledger.Page(ctx, ref.ID)
		if err != nil {
			return fmt.Errorf("read a page of a ledger: %w", err)
		}
		hit := false
		if err := decoder.Prints(body, func(sum uint64) { hit = hit || fresh.maybe(sum) }); err != nil {
			return err
		}
		if !hit {
			continue
		}
		entries, err := decoder.Decode(body)
		if err != nil {
			return err
		}
		for i := range entries {
			each(&entries[i])
		}
	}
	return nil
}

// compareContent notes the new objects that hold what e was read with.
func (m *merge) compareContent(e *engine.Entry, fresh *freshContents, same map[int]string) {
	if e.State != engine.EntryRead && e.State != engine.EntryGone {
		return
	}
	for i := range fresh.with(e.ETag) {
		o := &m.part.Taken[i]
		first := same[i] == "" || e.Key < same[i]
		if first && o.Key != e.Key && o.Size == e.Size && o.ETag == e.ETag {
			same[i] = strings.Clone(e.Key)
		}
	}
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
