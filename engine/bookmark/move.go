package bookmark

import (
	"context"
	"slices"
	"strings"
	"time"

	"dogear/engine"
)

// By says who moves a bookmark, why and when.
type By struct {
	Who string
	Why string
	At  time.Time
	Run engine.ID // of an advance
}

// next makes the following version of b with root as its ledger.
func next(b engine.Bookmark, kind engine.MoveKind, root string, stats Stats, by By) (engine.Bookmark, engine.BookmarkMove) {
	b.Version++
	b.Root, b.Files, b.Bytes = root, stats.Files, stats.Bytes
	b.At, b.By, b.Run = by.At, by.Who, by.Run
	return b, engine.BookmarkMove{
		Bookmark: b.ID, Version: b.Version, Kind: kind, Root: root, Files: stats.Files, Bytes: stats.Bytes,
		Newest: b.Newest, Run: by.Run, By: by.Who, Why: by.Why, At: by.At,
	}
}

// Advance is the move a run makes: entries of the plan's objects are laid over
// the ledger of b, which must still be the one the plan was made from.
func Advance(ctx context.Context, pages Pages, b engine.Bookmark, entries []engine.Entry, rows int64, by By) (engine.Bookmark, engine.BookmarkMove, error) {
	var bytes int64
	newest := b.Newest
	for _, e := range entries {
		if e.State != engine.EntryRead || e.Run != by.Run {
			continue
		}
		bytes += e.Size
		if e.ModNS >= newest.ModNS {
			newest = e.Object
		}
	}
	written, err := Write(ctx, pages, b.Root, entries)
	if err != nil {
		return b, engine.BookmarkMove{}, err
	}
	b.Newest = newest
	moved, move := next(b, engine.MoveAdvance, written.Root, written.Stats, by)
	move.Added, move.Again, move.InBytes, move.Rows = written.Added, written.Again, bytes, rows
	return moved, move, nil
}

// Pause keeps b where it is while its job goes on reading what is new.
func Pause(b engine.Bookmark, by By) (engine.Bookmark, engine.BookmarkMove, error) {
	return setPaused(b, true, engine.MovePause, "The bookmark is paused already.", by)
}

// Resume lets b move again.
func Resume(b engine.Bookmark, by By) (engine.Bookmark, engine.BookmarkMove, error) {
	return setPaused(b, false, engine.MoveResume, "The bookmark is not paused.", by)
}

// setPaused stands in the history beside the version, and makes none.
func setPaused(b engine.Bookmark, paused bool, kind engine.MoveKind, refuse string, by By) (engine.Bookmark, engine.BookmarkMove, error) {
	if b.Paused == paused {
		return b, engine.BookmarkMove{}, engine.Errorf(engine.Conflict, "%s", refuse)
	}
	b.Paused = paused
	return b, beside(b, kind, by), nil
}

// beside is the line of a move that makes no version.
func beside(b engine.Bookmark, kind engine.MoveKind, by By) engine.BookmarkMove {
	return engine.BookmarkMove{
		Bookmark: b.ID, Version: b.Version, Kind: kind, Root: b.Root, Files: b.Files, Bytes: b.Bytes,
		Newest: b.Newest, By: by.Who, Why: by.Why, At: by.At,
	}
}

// Reset sends b back to the beginning: nothing counts as read. The versions
// before it stay.
func Reset(b engine.Bookmark, by By) (engine.Bookmark, engine.BookmarkMove, error) {
	if b.Files == 0 && b.Root == Empty {
		return b, engine.BookmarkMove{}, engine.Errorf(engine.Conflict, "The bookmark is at the beginning already; there is nothing to reset.")
	}
	removed := b.Files
	b.Newest = engine.Object{}
	moved, move := next(b, engine.MoveReset, Empty, Stats{}, by)
	move.Removed = removed
	return moved, move, nil
}

// Rewind restores what counted as read at an earlier version, as a new one.
func Rewind(b engine.Bookmark, history []engine.BookmarkMove, to int, by By) (engine.Bookmark, engine.BookmarkMove, error) {
	if to == b.Version {
		return b, engine.BookmarkMove{}, engine.Errorf(engine.Conflict, "The bookmark stands at v%d already.", to)
	}
	return restore(b, history, to, engine.MoveRewind, by)
}

// Undo takes back the newest move that made a version, an earlier undo too.
func Undo(b engine.Bookmark, history []engine.BookmarkMove, by By) (engine.Bookmark, engine.BookmarkMove, error) {
	if b.Version == 0 {
		return b, engine.BookmarkMove{}, engine.Errorf(engine.Conflict, "The bookmark has not moved yet; there is nothing to undo.")
	}
	return restore(b, history, b.Version-1, engine.MoveUndo, by)
}

func restore(b engine.Bookmark, history []engine.BookmarkMove, to int, kind engine.MoveKind, by By) (engine.Bookmark, engine.BookmarkMove, error) {
	var then engine.BookmarkMove // version 0 is the empty ledger before the first move
	if to != 0 {
		found := VersionOf(history, to)
		if found == nil {
			return b, engine.BookmarkMove{}, engine.Errorf(engine.NotFound, "This bookmark has no version %d; its newest is v%d.", to, b.Version)
		}
		then = *found
	}
	if then.Root == Pruned {
		return b, engine.BookmarkMove{}, engine.Errorf(engine.Invalid, "What counted as read at v%d is no longer kept: it is older than this server keeps ledgers for.", to)
	}
	removed := max(0, b.Files-then.Files)
	added := max(0, then.Files-b.Files)
	b.Newest = then.Newest
	moved, move := next(b, kind, then.Root, Stats{Files: then.Files, Bytes: then.Bytes}, by)
	move.To, move.Removed, move.Added = to, removed, added
	return moved, move, nil
}

// VersionOf returns the move that made a version, or nil.
func VersionOf(history []engine.BookmarkMove, version int) *engine.BookmarkMove {
	i := slices.IndexFunc(history, func(m engine.BookmarkMove) bool {
		return m.Version == version && !m.Kind.Beside()
	})
	if i < 0 {
		return nil
	}
	return &history[i]
}

// Settled are the entries that a finished plan leaves in the ledger: what was
// taken, as the runner saw it, and what the plan noticed beside it. An object that is gone
// is remembered as gone; one that was only touched gets its new time, so that
// it need not be read again to know that.
func Settled(part engine.SourcePlan, run engine.ID, taken []engine.Entry) []engine.Entry {
	entries := slices.Clone(taken)
	for _, o := range part.Exceptions {
		if o.Prior == nil {
			continue
		}
		switch o.Reason {
		case engine.ReasonGone:
			e := *o.Prior
			e.State, e.Run = engine.EntryGone, run
			entries = append(entries, e)
		case engine.ReasonTouched:
			e := *o.Prior
			e.Object = o.Object
			entries = append(entries, e)
		default: // says nothing about what was known
		}
	}
	slices.SortFunc(entries, func(a, b engine.Entry) int { return strings.Compare(a.Key, b.Key) })
	return entries
}
