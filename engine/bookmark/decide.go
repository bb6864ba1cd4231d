package bookmark

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"dogear/engine"
)

// aim is the bookmark that a move is of. A promotion of a branch moves the one
// that runs read by.
func (s *Service) aim(ctx context.Context, id engine.ID, m *Move) (engine.Bookmark, error) {
	b, err := s.Store.Bookmark(ctx, id)
	if err != nil || m.Kind != engine.MovePromote {
		return b, err
	}
	m.From = b.ID
	return s.trunk(ctx, b)
}

// prepared is what a move needs and what is worked out before its transaction.
type prepared struct {
	ledger      *rewritten
	fingerprint string
	origin      string   // where the ledger comes from, for the history
	notices     []string // what a person should know of it
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
		p.ledger, p.origin = &ledger, "to the key "+strings.Join(m.ToKey, ", ")
		return p, err
	case engine.MoveImport:
		return s.imported(ctx, b, m, by)
	case engine.MoveBranch, engine.MovePromote:
		return s.copied(ctx, b, m)
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
	part, err := s.plan(ctx, job, b, Request{Roots: map[string]string{b.Ctx: b.Root}, Whole: kind == engine.MoveSetNow, Looks: true})
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
		return engine.Errorf(engine.NotFound, "No file that is still to be read fits %s. What counts as read, or is held already, needs no hold.", m.Pick.Words())
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
	by.Why = because(m.Pick.Words(), ready.origin, by.Why)
	if ready.ledger != nil {
		b.Newest, b.Fingerprint = ready.ledger.newest, cmp.Or(ready.fingerprint, b.Fingerprint)
		moved, line := next(b, m.Kind, ready.ledger.Root, ready.ledger.Stats, by)
		line.Added, line.Removed = ready.ledger.Added, ready.ledger.Removed
		return moved, line, nil
	}
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
		to, err := rewindTo(b, h, m)
		if err != nil {
			return b, engine.BookmarkMove{}, err
		}
		return Rewind(b, h, to, by)
	case engine.MoveAdopt:
		b.Fingerprint = ready.fingerprint
		return b, beside(b, engine.MoveAdopt, by), nil
	case engine.MoveReadAgain, engine.MoveHold, engine.MoveRelease, engine.MoveSetNow, engine.MoveAdvance, engine.MoveImport, engine.MoveBranch, engine.MovePromote:
	}
	return b, engine.BookmarkMove{}, engine.Errorf(engine.Invalid, "There is no move %q.", m.Kind)
}

// because is the reason that the history keeps: what a move is about, where it
// comes from, and what the person said.
func because(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
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
