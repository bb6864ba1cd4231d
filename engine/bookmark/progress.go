package bookmark

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"dogear/engine"
)

// Waiting plans what the next run would read as things stand.
func (s *Service) Waiting(ctx context.Context, id engine.ID) (engine.SourcePlan, error) {
	mark, err := s.Store.Bookmark(ctx, id)
	if err != nil {
		return engine.SourcePlan{}, err
	}
	job, err := s.Store.Job(ctx, mark.Job)
	if err != nil {
		return engine.SourcePlan{}, err
	}
	part, err := s.plan(ctx, job, mark, Request{Roots: map[string]string{mark.Ctx: mark.Root}})
	part.LedgerVersion = mark.Version // of a branch, where it is one
	return part, err
}

// Progress sums what is read and what waits by day of arrival.
func (s *Service) Progress(ctx context.Context, id engine.ID) ([]Day, engine.SourcePlan, error) {
	mark, err := s.Store.Bookmark(ctx, id)
	if err != nil {
		return nil, engine.SourcePlan{}, err
	}
	waiting, err := s.Waiting(ctx, id)
	if err != nil {
		return nil, waiting, err
	}
	days, err := Days(ctx, s.Store, mark.Root, waiting)
	return days, waiting, err
}

// maxFound bounds the answer to a look-up by part of a name.
const maxFound = 50

// Lookup answers "was this file read?": the entry of that very key, or those
// whose key holds text.
func (s *Service) Lookup(ctx context.Context, id engine.ID, text string) ([]engine.Entry, error) {
	mark, err := s.Store.Bookmark(ctx, id)
	if err != nil {
		return nil, err
	}
	exact, err := Find(ctx, s.Store, mark.Root, text)
	if err != nil || exact != nil {
		if exact != nil {
			return []engine.Entry{*exact}, err
		}
		return nil, err
	}
	if at, err := PositionOf(ctx, s.Store, mark.Root); err == nil && at.Mark != nil && at.Mark.Compared != nil {
		return s.lookupRow(ctx, at.Mark.Compared.Rows, text)
	}
	var found []engine.Entry
	for e, err := range Entries(ctx, s.Store, mark.Root) {
		if err != nil {
			return nil, err
		}
		if strings.Contains(e.Key, text) {
			if found = append(found, e); len(found) == maxFound {
				break
			}
		}
	}
	return found, nil
}

// Day is what one day of arrivals holds, for the picture of a bookmark's
// progress.
type Day struct {
	Date    time.Time
	Read    engine.Tally
	Waiting engine.Tally
	Changed engine.Tally
}

// Days sums a ledger and a plan made from it by the day on which each object
// was last written, oldest first.
func Days(ctx context.Context, pages Pages, root string, part engine.SourcePlan) ([]Day, error) {
	days := map[time.Time]*Day{}
	at := func(o engine.Object) *Day {
		date := o.Mod().Truncate(24 * time.Hour)
		if days[date] == nil {
			days[date] = &Day{Date: date}
		}
		return days[date]
	}
	add := func(t *engine.Tally, o engine.Object) { t.Files++; t.Bytes += o.Size }
	for e, err := range Entries(ctx, pages, root) {
		if err != nil {
			return nil, err
		}
		if e.State == engine.EntryRead {
			add(&at(e.Object).Read, e.Object)
		}
	}
	for _, o := range slices.Concat(part.Taken, part.Exceptions) {
		switch o.Reason {
		case engine.ReasonNew, engine.ReasonTooYoung, engine.ReasonOverBound:
			add(&at(o.Object).Waiting, o.Object)
		case engine.ReasonChanged:
			add(&at(o.Object).Changed, o.Object)
		case engine.ReasonHeld:
			if o.Prior != nil && o.Prior.State == engine.EntryRead {
				add(&at(o.Object).Changed, o.Object)
			}
		case engine.ReasonReopened:
			if o.Prior != nil && o.Prior.State == engine.EntryReopened { // else it counts as read, and its partition is rebuilt
				add(&at(o.Object).Waiting, o.Object)
			}
		case engine.ReasonTouched, engine.ReasonAlreadyRead, engine.ReasonOutside, engine.ReasonFiltered, engine.ReasonGone, engine.ReasonUnreadable:
		}
	}
	sorted := make([]Day, 0, len(days))
	for _, d := range days {
		sorted = append(sorted, *d)
	}
	slices.SortFunc(sorted, func(a, b Day) int { return cmp.Compare(a.Date.Unix(), b.Date.Unix()) })
	return sorted, nil
}
