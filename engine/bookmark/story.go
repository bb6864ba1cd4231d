package bookmark

import (
	"context"
	"errors"

	"dogear/engine"
)

// ErrNoPage is the cause where a page of a ledger is not kept any more.
var ErrNoPage = errors.New("no such page")

// Reading is one time that an object was read.
type Reading struct {
	Batch  engine.ID
	Object engine.Object // as it was then
}

// Story is what is known of one object.
type Story struct {
	Key string
	// Entry is what the ledger says now; nil where it does not know the object.
	Entry    *engine.Entry
	Readings []Reading // newest first
	// Cut says that there are batches that were not looked at, because they are
	// older than what is kept or too many.
	Cut bool
}

// maxReadings bounds how many batches a story looks into, the newest first.
const maxReadings = 1000

// Story answers who has read an object, whatever became of it since.
func (s *Service) Story(ctx context.Context, id engine.ID, key string) (Story, error) {
	story := Story{Key: key}
	mark, err := s.Store.Bookmark(ctx, id)
	if err != nil {
		return story, err
	}
	if story.Entry, err = Find(ctx, s.Store, mark.Root, key); err != nil {
		return story, err
	}
	inputs, err := s.Store.Inputs(ctx, mark.Job, mark.Ctx, maxReadings)
	if err != nil {
		return story, err
	}
	story.Cut = len(inputs) == maxReadings
	for _, in := range inputs {
		e, err := Find(ctx, s.Store, in.Root, key)
		if errors.Is(err, ErrNoPage) {
			story.Cut = true
			return story, nil // the older ones are gone as well
		}
		if err != nil {
			return story, err
		}
		if e != nil {
			story.Readings = append(story.Readings, Reading{Batch: in.Batch, Object: e.Object})
		}
	}
	return story, nil
}

// Comparison is a part of what differs from one version to another.
type Comparison struct {
	From, To    int
	Differences []Difference
	More        bool // others follow
}

// Compare lists what the ledger of version to says otherwise than that of
// version from: limit objects at most, from the key that follows after.
func (s *Service) Compare(ctx context.Context, id engine.ID, from, to int, after string, limit int) (Comparison, error) {
	c := Comparison{From: from, To: to}
	history, err := s.Store.BookmarkMoves(ctx, id)
	if err != nil {
		return c, err
	}
	a, err := rootOf(history, from)
	if err != nil {
		return c, err
	}
	b, err := rootOf(history, to)
	if err != nil {
		return c, err
	}
	for d, err := range Diff(ctx, s.Store, a, b) {
		if err != nil {
			return c, err
		}
		if d.Key <= after {
			continue
		}
		if len(c.Differences) == limit {
			c.More = true
			break
		}
		c.Differences = append(c.Differences, d)
	}
	return c, nil
}

// rootOf is the ledger of a version; version 0 is the empty one.
func rootOf(history []engine.BookmarkMove, version int) (string, error) {
	if version == 0 {
		return Empty, nil
	}
	m := VersionOf(history, version)
	if m == nil {
		return "", engine.Errorf(engine.NotFound, "This bookmark has no version %d.", version)
	}
	if m.Root == Pruned {
		return "", engine.Errorf(engine.Invalid, "What counted as read at v%d is no longer kept: it is older than this server keeps ledgers for.", version)
	}
	return m.Root, nil
}

// Ranges are the newest ranges that the ledger of a table holds, limit at most,
// in the order in which they were read.
func (s *Service) Ranges(ctx context.Context, id engine.ID, limit int) ([]engine.Entry, error) {
	mark, err := s.Store.Bookmark(ctx, id)
	if err != nil {
		return nil, err
	}
	var last []engine.Entry
	for e, err := range Entries(ctx, s.Store, mark.Root) {
		if err != nil {
			return nil, err
		}
		if last = append(last, e); len(last) == 2*limit {
			last = append(last[:0], last[limit:]...)
		}
	}
	return last[max(0, len(last)-limit):], nil
}
