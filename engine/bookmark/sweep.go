package bookmark

import (
	"context"
	"time"
)

// Pruned stands for the ledger of a version that is no longer kept.
const Pruned = "-"

// Shelf is where ledgers lie, for the sweep.
type Shelf interface {
	Pages
	// LedgerRoots lists the roots of every ledger that must stay.
	LedgerRoots(ctx context.Context, since time.Time) ([]string, error)
	// PruneMoves takes their ledgers away from versions made before since, but
	// for the newest of each bookmark, and returns how many.
	PruneMoves(ctx context.Context, since time.Time) (int64, error)
	// OldPages lists pages last written before, in order of id after after.
	OldPages(ctx context.Context, before time.Time, after string, limit int) ([]string, error)
	// DropPages removes those of ids that were last written before.
	DropPages(ctx context.Context, ids []string, before time.Time) error
}

// Swept is what a sweep removed.
type Swept struct {
	Versions int64 // that can no longer be restored
	Pages    int64
}

// grace is how long a page stays that no version names: a run under way writes
// its pages ahead of the commit that names them.
const grace = 24 * time.Hour

// Sweep removes the ledgers of versions that were made before since, and pages
// that no version names. What counts as read now, and what counted at since,
// stays; of older versions only the lines of the history do.
func Sweep(ctx context.Context, s Shelf, since, now time.Time) (Swept, error) {
	var done Swept
	var err error
	if !since.IsZero() {
		if done.Versions, err = s.PruneMoves(ctx, since); err != nil {
			return done, err
		}
	}
	stays, err := named(ctx, s, since)
	if err != nil {
		return done, err
	}
	const chunk = 500
	before := now.Add(-grace)
	for after := ""; ; {
		ids, err := s.OldPages(ctx, before, after, chunk)
		if err != nil || len(ids) == 0 {
			return done, err
		}
		after = ids[len(ids)-1]
		var drop []string
		for _, id := range ids {
			if !stays[id] {
				drop = append(drop, id)
			}
		}
		if err := s.DropPages(ctx, drop, before); err != nil {
			return done, err
		}
		done.Pages += int64(len(drop))
	}
}

// named are the pages of the ledgers that stay.
func named(ctx context.Context, s Shelf, since time.Time) (map[string]bool, error) {
	roots, err := s.LedgerRoots(ctx, since)
	if err != nil {
		return nil, err
	}
	stays := map[string]bool{}
	for _, root := range roots {
		if err := stay(ctx, s, root, stays); err != nil {
			return nil, err
		}
	}
	return stays, nil
}

// stay names the pages of a ledger, and of the lists of rows that it speaks of.
func stay(ctx context.Context, s Shelf, root string, stays map[string]bool) error {
	if root == Empty || stays[root] {
		return nil
	}
	stays[root] = true
	pages, err := refs(ctx, s, root)
	if err != nil {
		return err
	}
	for _, page := range pages {
		stays[page.ID] = true
	}
	return lists(ctx, s, root, stays)
}

// lists names the pages of the lists of rows that the ledger of a table speaks
// of. The ledger of files, which may be large, is known by its first entry.
func lists(ctx context.Context, s Shelf, root string, stays map[string]bool) error {
	for e, err := range Entries(ctx, s, root) {
		if err != nil {
			return err
		}
		r, ok := e.KeyRange()
		if !ok {
			return nil
		}
		if r.Compared == nil {
			continue
		}
		for _, list := range []string{r.Compared.Took, r.Compared.Rows} {
			if err := stay(ctx, s, list, stays); err != nil {
				return err
			}
		}
	}
	return nil
}
