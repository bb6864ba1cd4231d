package bookmark

import (
	"context"

	"dogear/engine"
)

// Branch copies a bookmark under a name of its own. The copy moves, and its
// next run is planned, without touching what runs read by, until it is promoted
// or dropped.
func (s *Service) Branch(ctx context.Context, id engine.ID, name, why, who string) (engine.Bookmark, error) {
	if err := engine.CheckName("branch", name); err != nil {
		return engine.Bookmark{}, err
	}
	from, err := s.Store.Bookmark(ctx, id)
	if err != nil {
		return from, err
	}
	now := s.Now().UTC()
	copied := from
	copied.ID, copied.Branch, copied.At, copied.By, copied.Run, copied.Paused = engine.NewID(now), name, now, who, "", false
	copied.Version, copied.Root, copied.Files, copied.Bytes, copied.Newest = 0, Empty, 0, 0, engine.Object{}
	made, err := s.Store.MakeBookmark(ctx, copied)
	if err != nil {
		return made, err
	}
	if made.ID != copied.ID {
		return made, engine.Errorf(engine.Conflict, "There is already a branch named %q. Choose another name, or drop it.", name)
	}
	return s.copyTo(ctx, made.ID, from, engine.MoveBranch, By{Who: who, Why: why, At: now})
}

// Promote makes what a branch counts as read count for the runs of its job.
func (s *Service) Promote(ctx context.Context, id engine.ID, why, who string) (engine.Bookmark, error) {
	branch, err := s.Store.Bookmark(ctx, id)
	if err != nil {
		return branch, err
	}
	if branch.Branch == "" {
		return branch, engine.Errorf(engine.Invalid, "Runs read by this bookmark already; only a branch can be promoted.")
	}
	trunk, err := s.Store.BookmarkOf(ctx, branch.Job, branch.Ctx)
	if err != nil {
		return branch, err
	}
	if trunk == nil {
		return branch, engine.Errorf(engine.NotFound, "The bookmark that %q is a branch of was deleted.", branch.Branch)
	}
	return s.copyTo(ctx, trunk.ID, branch, engine.MovePromote, By{Who: who, Why: why, At: s.Now().UTC()})
}

// copyTo makes the next version of a bookmark count as read what from does.
func (s *Service) copyTo(ctx context.Context, id engine.ID, from engine.Bookmark, kind engine.MoveKind, by By) (engine.Bookmark, error) {
	moved, err := s.Store.MoveBookmark(ctx, id, false, func(b engine.Bookmark, _ []engine.BookmarkMove) (engine.Bookmark, engine.BookmarkMove, error) {
		added, removed := max(0, from.Files-b.Files), max(0, b.Files-from.Files)
		b.Newest, b.Fingerprint = from.Newest, from.Fingerprint
		next, line := next(b, kind, from.Root, Stats{Files: from.Files, Bytes: from.Bytes}, by)
		line.Added, line.Removed = added, removed
		return next, line, nil
	})
	if err == nil && s.Changed != nil {
		s.Changed(moved)
	}
	return moved, err
}
