package bookmark

import (
	"cmp"
	"context"
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
	Why  string
}

// Make makes a move and keeps it in the history. One that changes what counts
// as read is refused with Conflict while a run reads by the bookmark.
func (s *Service) Make(ctx context.Context, id engine.ID, m Move, who string) (engine.Bookmark, error) {
	by := By{Who: who, Why: strings.TrimSpace(m.Why), At: s.Now().UTC()}
	from, err := s.Store.Bookmark(ctx, id)
	if err != nil {
		return from, err
	}
	ready, err := s.ready(ctx, from, m, by)
	if err != nil {
		return from, err
	}
	moved, err := s.Store.MoveBookmark(ctx, id, m.Kind.Beside(), func(b engine.Bookmark, h []engine.BookmarkMove) (engine.Bookmark, engine.BookmarkMove, error) {
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

// prepared is what a move needs and what is worked out before its transaction.
type prepared struct {
	ledger      *rewritten
	fingerprint string
}

// ready works out a move's new ledger, its pages written ahead.
func (s *Service) ready(ctx context.Context, b engine.Bookmark, m Move, by By) (p prepared, err error) {
	switch m.Kind {
	case engine.MoveReadAgain, engine.MoveHold, engine.MoveRelease, engine.MoveSetNow:
	case engine.MoveAdopt:
		p.fingerprint, err = s.fingerprint(ctx, b)
		return p, err
	case engine.MoveReset: // begins anew with the source as it is
		if p.fingerprint, err = s.fingerprint(ctx, b); engine.CodeOf(err) == engine.Internal {
			return p, err
		}
		return p, nil
	case engine.MoveRewind:
		if m.ToKey == nil {
			return p, nil
		}
		ledger, err := s.toKey(ctx, b, m.ToKey, by)
		p.ledger = &ledger
		return p, err
	default: // chooses among what there is
		return p, nil
	}
	var pick *picker
	if m.Kind != engine.MoveSetNow {
		if pick, err = newPicker(m.Pick); err != nil {
			return p, err
		}
	}
	var part engine.SourcePlan
	if m.Kind != engine.MoveReadAgain {
		if part, err = s.found(ctx, b, m.Kind); err != nil {
			return p, err
		}
	}
	var ledger rewritten
	switch m.Kind {
	case engine.MoveReadAgain:
		ledger, err = reopen(ctx, s.Store, b.Root, pick, by)
	case engine.MoveHold:
		ledger, err = hold(ctx, s.Store, b.Root, part, pick, by)
	case engine.MoveRelease:
		ledger, err = release(ctx, s.Store, b.Root, part, pick, by)
	default:
		ledger, err = setNow(ctx, s.Store, b.Root, b.Newest, part, by)
	}
	if err == nil && ledger.chosen == 0 {
		err = nothing(m)
	}
	p.ledger = &ledger
	return p, err
}

// found plans what the source of b holds now.
func (s *Service) found(ctx context.Context, b engine.Bookmark, kind engine.MoveKind) (engine.SourcePlan, error) {
	job, err := s.Store.Job(ctx, b.Job)
	if err != nil {
		return engine.SourcePlan{}, err
	}
	part, err := s.plan(ctx, job, b, Request{Roots: map[string]string{b.Ctx: b.Root}, Whole: kind == engine.MoveSetNow})
	if err == nil && part.Spec.Table != "" && kind != engine.MoveSetNow {
		err = engine.Errorf(engine.Invalid, "The source %s is a table: its rows cannot be held one by one. Rewind the bookmark, or read ranges again.", part.Source)
	}
	return part, err
}

func nothing(m Move) error {
	switch m.Kind {
	case engine.MoveReadAgain:
		return engine.Errorf(engine.NotFound, "Nothing that counts as read fits %s.", m.Pick.Words())
	case engine.MoveHold:
		return engine.Errorf(engine.NotFound, "Nothing in the source or the ledger fits %s, or all of it is held already.", m.Pick.Words())
	case engine.MoveRelease:
		return engine.Errorf(engine.NotFound, "Nothing that is held fits %s.", m.Pick.Words())
	default:
		return engine.Errorf(engine.Conflict, "Everything in the source counts as read already, or is held.")
	}
}

// fingerprint is that of the source of b as its job has it now.
func (s *Service) fingerprint(ctx context.Context, b engine.Bookmark) (string, error) {
	job, err := s.Store.Job(ctx, b.Job)
	if err != nil {
		return "", err
	}
	src, err := sourceOf(&job, b.Ctx)
	if err != nil {
		return "", err
	}
	now := Fingerprint(*src)
	if now == b.Fingerprint {
		return "", engine.Errorf(engine.Conflict, "The source %s is the one that this bookmark was made for; there is nothing to decide.", src.Name)
	}
	return now, nil
}

// sourceOf is the source of a job that is read by the bookmark name.
func sourceOf(job *engine.Job, name string) (*engine.Source, error) {
	if job.SQL != nil {
		for i := range job.SQL.Sources {
			if job.SQL.Sources[i].Context() == name {
				return &job.SQL.Sources[i], nil
			}
		}
	}
	return nil, engine.Errorf(engine.NotFound, "Job %s no longer has a source with the context %s.", job.Name, name)
}

// decide is the move itself: it changes nothing but the bookmark.
func decide(b engine.Bookmark, h []engine.BookmarkMove, m Move, ready prepared, by By) (engine.Bookmark, engine.BookmarkMove, error) {
	switch m.Kind {
	case engine.MovePause:
		return Pause(b, by)
	case engine.MoveResume:
		return Resume(b, by)
	case engine.MoveReset:
		b.Fingerprint = cmp.Or(ready.fingerprint, b.Fingerprint)
		return Reset(b, by)
	case engine.MoveUndo:
		return Undo(b, h, by)
	case engine.MoveRewind:
		if ready.ledger != nil {
			b.Newest = ready.ledger.newest
			moved, line := next(b, m.Kind, ready.ledger.Root, ready.ledger.Stats, by)
			line.Removed = ready.ledger.Removed
			return moved, line, nil
		}
		to, err := rewindTo(b, h, m)
		if err != nil {
			return b, engine.BookmarkMove{}, err
		}
		return Rewind(b, h, to, by)
	case engine.MoveAdopt:
		b.Fingerprint = ready.fingerprint
		return b, beside(b, engine.MoveAdopt, by), nil
	case engine.MoveReadAgain, engine.MoveHold, engine.MoveRelease, engine.MoveSetNow:
		by.Why = strings.TrimSuffix(m.Pick.Words()+": "+by.Why, ": ")
		by.Why = strings.TrimPrefix(by.Why, ": ")
		b.Newest = ready.ledger.newest
		moved, line := next(b, m.Kind, ready.ledger.Root, ready.ledger.Stats, by)
		line.Added, line.Removed = ready.ledger.Added, ready.ledger.Removed
		return moved, line, nil
	case engine.MoveAdvance, engine.MoveImport, engine.MoveBranch, engine.MovePromote:
	}
	return b, engine.BookmarkMove{}, engine.Errorf(engine.Invalid, "There is no move %q.", m.Kind)
}

// rewindTo is the version that a rewind means.
func rewindTo(b engine.Bookmark, h []engine.BookmarkMove, m Move) (int, error) {
	switch {
	case m.ToRun != "":
		for _, line := range h {
			if line.Run == m.ToRun && line.Kind == engine.MoveAdvance {
				return line.Version, nil
			}
		}
		return 0, engine.Errorf(engine.NotFound, "Run %s did not move this bookmark.", m.ToRun)
	case !m.At.IsZero():
		for _, line := range h { // newest first
			if !line.Kind.Beside() && !line.At.After(m.At) {
				return line.Version, nil
			}
		}
		return 0, nil // before its first move nothing counted as read
	}
	return m.To, nil
}

// plan makes the plan of one context of a job, as q wants it.
func (s *Service) plan(ctx context.Context, job engine.Job, mark engine.Bookmark, q Request) (engine.SourcePlan, error) {
	src, err := sourceOf(&job, mark.Ctx)
	if err != nil {
		return engine.SourcePlan{}, err
	}
	sql := *job.SQL
	sql.Sources = []engine.Source{*src}
	job.SQL = &sql
	q.Job, q.Now = job, s.Now().UTC()
	plan, err := s.Planner.Plan(ctx, q)
	if err != nil {
		return engine.SourcePlan{}, err
	}
	return plan.Sources[0], nil
}
