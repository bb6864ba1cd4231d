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
	return s.Make(ctx, made.ID, Move{Kind: engine.MoveBranch, From: from.ID, Why: why}, who)
}

// trunk is the bookmark that runs read by and that b is a branch of.
func (s *Service) trunk(ctx context.Context, b engine.Bookmark) (engine.Bookmark, error) {
	if b.Branch == "" {
		return b, engine.Errorf(engine.Invalid, "Runs read by this bookmark already; only a branch can be promoted or dropped.")
	}
	trunk, err := s.Store.BookmarkOf(ctx, b.Job, b.Ctx)
	if err != nil {
		return b, err
	}
	if trunk == nil {
		return b, engine.Errorf(engine.NotFound, "The bookmark that %q is a branch of was deleted.", b.Branch)
	}
	return *trunk, nil
}

// copied is the ledger of the bookmark that m copies, for b.
func (s *Service) copied(ctx context.Context, b engine.Bookmark, m Move) (prepared, error) {
	from, err := s.Store.Bookmark(ctx, m.From)
	if err != nil {
		return prepared{}, err
	}
	ledger, err := replacing(ctx, s.Store, b.Root, from.Root)
	ledger.Stats, ledger.newest = Stats{Files: from.Files, Bytes: from.Bytes}, from.Newest
	ready := prepared{ledger: &ledger, fingerprint: from.Fingerprint}
	if m.Kind == engine.MovePromote {
		ready.origin = "from the branch " + from.Branch
	}
	return ready, err
}

// replacing is the ledger at root in place of the one at was: what counts as
// read by it and did not, and the other way round.
func replacing(ctx context.Context, pages Pages, was, root string) (rewritten, error) {
	w := rewritten{Written: Written{Root: root}}
	for d, err := range Diff(ctx, pages, was, root) {
		if err != nil {
			return w, err
		}
		before, after := d.From != nil && d.From.State == engine.EntryRead, d.To != nil && d.To.State == engine.EntryRead
		switch {
		case after && !before:
			w.Added++
		case before && !after:
			w.Removed++
		}
	}
	return w, nil
}

// Dropped is what a drop would do, said before it is done.
type Dropped struct {
	Branch engine.Bookmark   `json:"branch"`
	Moves  int               `json:"moves"` // of its own, which are gone then
	Trunk  engine.Bookmark   `json:"trunk"` // that runs go on reading by
	Plan   engine.SourcePlan `json:"plan"`  // of the next run, by the trunk
	// Trouble is why that cannot be told; a branch can be dropped all the same.
	Trouble string `json:"trouble,omitempty"`
	// Only is what counts as read by the branch alone, Lacks by the trunk alone.
	Only  int64 `json:"only"`
	Lacks int64 `json:"lacks"`
}

// PreviewDrop says what dropping a branch would do.
func (s *Service) PreviewDrop(ctx context.Context, id engine.ID) (Dropped, error) {
	var d Dropped
	var err error
	if d.Branch, err = s.Store.Bookmark(ctx, id); err != nil {
		return d, err
	}
	if d.Trunk, err = s.trunk(ctx, d.Branch); err != nil {
		return d, err
	}
	history, err := s.Store.BookmarkMoves(ctx, id)
	if err != nil {
		return d, err
	}
	difference, err := replacing(ctx, s.Store, d.Trunk.Root, d.Branch.Root)
	if err != nil {
		return d, err
	}
	d.Moves, d.Only, d.Lacks = len(history), difference.Added, difference.Removed
	if d.Plan, err = s.Waiting(ctx, d.Trunk.ID); err != nil && engine.CodeOf(err) != engine.Internal {
		d.Trouble, err = engine.MessageOf(err), nil
	}
	return d, err
}
