package bookmark

import (
	"context"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/bookmark/page"
)

// picker tells which objects a selection picks.
type picker struct {
	engine.Selection
	keys    map[string]bool
	pattern *Mapping
}

func newPicker(s engine.Selection) (*picker, error) {
	if s.Empty() {
		return nil, engine.Errorf(engine.Invalid, "Choose what is meant: files by name, a path pattern, or when they were written.")
	}
	p := &picker{Selection: s}
	if len(s.Keys) > 0 {
		p.keys = map[string]bool{}
		for _, key := range s.Keys {
			p.keys[key] = true
		}
	}
	if strings.ContainsAny(s.Pattern, "[]") {
		return nil, engine.Errorf(engine.Invalid, "The pattern %q has a bracket, which a pattern cannot hold: * stands for any text in a folder, ** crosses folders, ? is one character. Name files with brackets one by one.", s.Pattern)
	}
	if s.Pattern != "" {
		pattern, err := parsePattern(s.Pattern)
		if err != nil {
			return nil, err
		}
		p.pattern = &pattern
	}
	return p, nil
}

func (p *picker) picks(o engine.Object) bool {
	switch mod := o.Mod(); {
	case p.keys != nil && !p.keys[o.Key]:
		return false
	case !p.Since.IsZero() && mod.Before(p.Since):
		return false
	case !p.Until.IsZero() && !mod.Before(p.Until):
		return false
	}
	return p.pattern == nil || p.pattern.pattern.MatchString(o.Key)
}

// rewriteChunk is how many changed entries are held before they are laid over
// the ledger, so that memory does not grow with it.
const rewriteChunk = 16 * page.Size

// rewritten is a ledger that a person's move has changed.
type rewritten struct {
	Written
	chosen int64         // objects that the move is about
	newest engine.Object // of those that count as read afterwards
}

// rewrite lays over the ledger at root what change makes of its entries; it
// returns false for one that stays.
func rewrite(ctx context.Context, pages Pages, root string, change func(*engine.Entry) bool) (rewritten, error) {
	total := rewritten{Written: Written{Root: root}}
	var changes []engine.Entry
	flush := func() error {
		written, err := Write(ctx, pages, total.Root, changes)
		if err != nil {
			return err
		}
		written.Added, written.Removed, written.Again = written.Added+total.Added, written.Removed+total.Removed, written.Again+total.Again
		total.Written, changes = written, changes[:0]
		return nil
	}
	for e, err := range Entries(ctx, pages, root) {
		if err != nil {
			return total, err
		}
		changed := change(&e)
		if e.State == engine.EntryRead && (total.newest.Key == "" || e.ModNS >= total.newest.ModNS) {
			total.newest = e.Object
		}
		if !changed {
			continue
		}
		total.chosen++
		if changes = append(changes, page.Keep(e)); len(changes) == rewriteChunk {
			if err := flush(); err != nil {
				return total, err
			}
		}
	}
	total.newest = page.Keep(engine.Entry{Object: total.newest}).Object
	return total, flush()
}

// reopen makes what is picked count as not read, and counts it.
func reopen(ctx context.Context, pages Pages, root string, p *picker, by By) (rewritten, error) {
	return rewrite(ctx, pages, root, func(e *engine.Entry) bool {
		if e.State != engine.EntryRead && e.State != engine.EntrySkipped || !p.picks(e.Object) {
			return false
		}
		e.State, e.Note = engine.EntryReopened, "to be read again, asked for by "+by.Who
		return true
	})
}

// heldByPerson marks the entry of an object that somebody holds: it stays held
// whatever becomes of its content, until it is released.
const heldByPerson = "person"

// hold keeps what is picked and not read yet from being read: what is new in
// the listing of part, and what was to be read again. What is read stays so; a
// partition that is rebuilt would lose the rows of a file that was held.
func hold(ctx context.Context, pages Pages, root string, part engine.SourcePlan, p *picker, by By) (rewritten, error) {
	note := "held by " + by.Who
	if by.Why != "" {
		note += ": " + by.Why
	}
	mark := func(e *engine.Entry) {
		e.State, e.Hash, e.Note = engine.EntryHeld, heldByPerson, note
	}
	w, err := rewrite(ctx, pages, root, func(e *engine.Entry) bool {
		unread := e.State == engine.EntryReopened || e.State == engine.EntryHeld && e.Hash == HeldUnread
		if !unread || !p.picks(e.Object) {
			return false
		}
		mark(e)
		return true
	})
	if err != nil {
		return w, err
	}
	var fresh []engine.Entry
	for _, o := range slices.Concat(part.Taken, part.Exceptions) {
		unknown := o.Prior == nil || o.Prior.State == engine.EntryGone
		if unknown && o.Reason != engine.ReasonGone && p.picks(o.Object) {
			e := engine.Entry{Object: o.Object}
			mark(&e)
			fresh = append(fresh, e)
		}
	}
	slices.SortFunc(fresh, byKey)
	more, err := Write(ctx, pages, w.Root, fresh)
	more.Removed += w.Removed
	w.Written, w.chosen = more, w.chosen+int64(len(fresh))
	return w, err
}

// release lets what is picked and held be read by the next run: what a person
// held, what was unreadable, and what was changed in place and is held because
// the target appends.
func release(ctx context.Context, pages Pages, root string, part engine.SourcePlan, p *picker, by By) (rewritten, error) {
	waits := map[string]bool{} // held by the policy of the source, not in the ledger
	for _, o := range part.Exceptions {
		if o.Reason == engine.ReasonHeld && o.Prior != nil {
			waits[o.Key] = true
		}
	}
	return rewrite(ctx, pages, root, func(e *engine.Entry) bool {
		if e.State != engine.EntryHeld && !waits[e.Key] || !p.picks(e.Object) {
			return false
		}
		e.State, e.Hash, e.Note = engine.EntryReopened, "", "released by "+by.Who
		return true
	})
}

// setNow makes everything that part found in the source count as read; newest
// is the newest object that does already.
func setNow(ctx context.Context, pages Pages, root string, newest engine.Object, part engine.SourcePlan, by By) (rewritten, error) {
	var entries []engine.Entry
	for _, o := range slices.Concat(part.Taken, part.Exceptions) {
		e := engine.Entry{Object: o.Object, State: engine.EntryRead, Note: "counts as read since " + by.Who + " set the bookmark to now"}
		switch o.Reason {
		case engine.ReasonNew, engine.ReasonChanged, engine.ReasonReopened, engine.ReasonTooYoung, engine.ReasonOverBound, engine.ReasonTouched:
		case engine.ReasonHeld:
			if o.Prior != nil && o.Prior.State == engine.EntryHeld {
				continue // somebody, or its content, keeps it out
			}
		case engine.ReasonGone:
			if o.Prior == nil { // rows of a table, which their own list says are gone
				continue
			}
			e = *o.Prior
			e.State = engine.EntryGone
		case engine.ReasonAlreadyRead, engine.ReasonOutside, engine.ReasonFiltered, engine.ReasonUnreadable:
			continue
		}
		entries = append(entries, e)
		if e.State == engine.EntryRead && (newest.Key == "" || e.ModNS >= newest.ModNS) {
			newest = e.Object
		}
	}
	if err := withRows(ctx, pages, part, entries); err != nil {
		return rewritten{}, err
	}
	slices.SortFunc(entries, byKey)
	written, err := Write(ctx, pages, root, entries)
	return rewritten{Written: written, chosen: int64(len(entries)), newest: newest}, err
}

// withRows says in the entry of a compare which rows count as read after it.
func withRows(ctx context.Context, pages Pages, part engine.SourcePlan, entries []engine.Entry) error {
	for i := range entries {
		e := &entries[i]
		r, ok := e.KeyRange()
		if !ok || r.Compared == nil || r.Compared.Rows != "" || e.State != engine.EntryRead {
			continue
		}
		done, err := AfterCompare(ctx, pages, part, r, "", nothingLeft)
		if err != nil {
			return err
		}
		e.Range = done.Text()
	}
	return nil
}

func byKey(a, b engine.Entry) int { return strings.Compare(a.Key, b.Key) }
