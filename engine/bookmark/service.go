package bookmark

import (
	"context"
	"io"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/flow"
)

// Store is what the moves need of the database.
type Store interface {
	Ledger
	Bookmark(ctx context.Context, id engine.ID) (engine.Bookmark, error)
	BookmarksOf(ctx context.Context, job engine.ID) ([]engine.Bookmark, error)
	// MakeBookmark makes a bookmark at its beginning, or returns the one that
	// its context has already.
	MakeBookmark(ctx context.Context, b engine.Bookmark) (engine.Bookmark, error)
	// BookmarkMoves is the whole history of a bookmark, newest first.
	BookmarkMoves(ctx context.Context, id engine.ID) ([]engine.BookmarkMove, error)
	// MoveBookmark calls decide with the bookmark and its history inside one
	// transaction and writes what it returns. It is refused with Conflict
	// while a run of the bookmark's job is under way, unless beside is set.
	MoveBookmark(ctx context.Context, id engine.ID, beside bool,
		decide func(engine.Bookmark, []engine.BookmarkMove) (engine.Bookmark, engine.BookmarkMove, error)) (engine.Bookmark, error)
	Job(ctx context.Context, id engine.ID) (engine.Job, error)
	// Inputs lists what was ever read in a context of a job, newest batch first.
	Inputs(ctx context.Context, job engine.ID, name string, limit int) ([]flow.Input, error)
	// Pace is how fast the last successful runs of a job were.
	Pace(ctx context.Context, job engine.ID) (Pace, error)
}

// Service makes the moves a person can make.
type Service struct {
	Store   Store
	Planner *Planner
	Now     func() time.Time
	// Changed is told of every move, so that open pages follow. It may be nil.
	Changed func(engine.Bookmark)
}

// Move is a move that a person asks for.
type Move struct {
	Kind engine.MoveKind
	// To is the version that a rewind restores. ToRun is, instead, the one that
	// a run made; At the one that stood at that time.
	To    int
	ToRun engine.ID
	At    time.Time
	// ToKey is, instead, the key of a table up to which rows count as read: the
	// text of each of its columns.
	ToKey []string
	// Pick says which objects are read again, held or released.
	Pick engine.Selection
	// From is the bookmark that a branch is made of. A promotion is asked of the
	// branch itself and finds it.
	From engine.ID
	// File is what an import takes over: an export, or with Glue what AWS Glue
	// says of a job's bookmark. It is read once. Expect, where it is set, is the
	// ledger that a preview made of it; a file that says another is refused.
	File   io.Reader
	Glue   bool
	Expect string
	// Seen is the version that a preview was worked out from; at another one the
	// move is refused, because it would do something else. Nil: at any.
	Seen *int
	Why  string
}

// stale refuses a move of b whose preview was worked out from another version.
func (m Move) stale(b engine.Bookmark) error {
	if m.Seen == nil || *m.Seen == b.Version {
		return nil
	}
	return engine.Errorf(engine.Conflict, "The bookmark has moved from v%d to v%d since you saw what this would do. Look at it again.", *m.Seen, b.Version)
}

// Make makes a move and keeps it in the history. One that changes what counts
// as read is refused with Conflict while a run reads by the bookmark. It returns
// the bookmark that moved: of a promotion, the one that runs read by.
func (s *Service) Make(ctx context.Context, id engine.ID, m Move, who string) (engine.Bookmark, error) {
	by := By{Who: who, Why: strings.TrimSpace(m.Why), At: s.Now().UTC()}
	from, err := s.aim(ctx, id, &m)
	if err == nil {
		err = m.stale(from)
	}
	if err != nil {
		return from, err
	}
	ready, err := s.ready(ctx, from, m, by)
	if err != nil {
		return from, err
	}
	moved, err := s.Store.MoveBookmark(ctx, from.ID, m.Kind.Beside(), func(b engine.Bookmark, h []engine.BookmarkMove) (engine.Bookmark, engine.BookmarkMove, error) {
		if err := m.stale(b); err != nil {
			return b, engine.BookmarkMove{}, err
		}
		if ready.ledger != nil && (b.Version != from.Version || b.Root != from.Root) {
			return b, engine.BookmarkMove{}, engine.Errorf(engine.Conflict, "The bookmark has moved to v%d while this was made ready. Look at it and try again.", b.Version)
		}
		return decide(b, h, m, ready, by)
	})
	if err == nil && s.Changed != nil {
		s.Changed(moved)
	}
	return moved, err
}

// Open returns the bookmark of a context of a job, making one that stands at
// the beginning where no run has moved it yet: it can be set before the first.
func (s *Service) Open(ctx context.Context, job engine.ID, name string) (engine.Bookmark, error) {
	mark, err := s.Store.BookmarkOf(ctx, job, name)
	if err != nil {
		return engine.Bookmark{}, err
	}
	if mark != nil {
		return *mark, nil
	}
	made, err := s.Store.Job(ctx, job)
	if err != nil {
		return engine.Bookmark{}, err
	}
	src, err := sourceOf(&made, name)
	if err != nil {
		return engine.Bookmark{}, err
	}
	if src.Read == engine.ReadAll {
		return engine.Bookmark{}, engine.Errorf(engine.Invalid, "The source %s is read whole each time and has no bookmark.", src.Name)
	}
	now := s.Now().UTC()
	return s.Store.MakeBookmark(ctx, engine.Bookmark{ID: engine.NewID(now), Job: job, Ctx: name, Fingerprint: Fingerprint(*src), At: now})
}

// ResetJob resets every bookmark of a job.
func (s *Service) ResetJob(ctx context.Context, job engine.ID, why, who string) ([]engine.Bookmark, error) {
	marks, err := s.Store.BookmarksOf(ctx, job)
	if err != nil {
		return nil, err
	}
	var moved []engine.Bookmark
	for _, mark := range marks {
		if mark.Root == Empty {
			continue
		}
		b, err := s.Make(ctx, mark.ID, Move{Kind: engine.MoveReset, Why: why}, who)
		if err != nil {
			return moved, err
		}
		moved = append(moved, b)
	}
	if len(moved) == 0 {
		return nil, engine.Errorf(engine.Conflict, "Every bookmark of this job is at the beginning already; there is nothing to reset.")
	}
	return moved, nil
}
