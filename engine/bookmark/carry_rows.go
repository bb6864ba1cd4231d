package bookmark

import (
	"context"
	"encoding/json"
	"fmt"

	"dogear/engine"
	"dogear/engine/bookmark/page"
)

// carriedLine is a line of an exported bookmark after its head: an entry of the
// ledger, or, before those, the beginning of a list of rows of a table that is
// compared, which as many lines follow as it has rows.
type carriedLine struct {
	engine.Entry

	List string `json:"list,omitempty"` // the root under which entries name it
	Rows int64  `json:"rows,omitempty"`
}

// exportLists writes the lists of rows that the ledger at root needs: what each
// read took, and what counts as read now.
func exportLists(ctx context.Context, pages Pages, root string, lines *json.Encoder) error {
	at, err := PositionOf(ctx, pages, root)
	if err != nil || at.Mark == nil || at.Mark.Compared == nil {
		return nil //nolint:nilerr // a ledger of files has no position, and no list
	}
	done := map[string]bool{Empty: true}
	write := func(list string) error {
		if done[list] {
			return nil
		}
		done[list] = true
		return exportList(ctx, pages, list, lines)
	}
	for e, err := range Entries(ctx, pages, root) {
		if err != nil {
			return err
		}
		if r, ok := e.KeyRange(); ok && r.Compared != nil {
			if err := write(r.Compared.Took); err != nil {
				return err
			}
		}
	}
	return write(at.Mark.Compared.Rows)
}

func exportList(ctx context.Context, pages Pages, list string, lines *json.Encoder) error {
	all, err := refs(ctx, pages, list)
	if err != nil {
		return err
	}
	head := struct {
		List string `json:"list"`
		Rows int64  `json:"rows"`
	}{List: list}
	for _, ref := range all {
		head.Rows += ref.N
	}
	if err := lines.Encode(head); err != nil {
		return fmt.Errorf("export a list of rows: %w", err)
	}
	for e, err := range Entries(ctx, pages, list) {
		if err != nil {
			return err
		}
		if err := lines.Encode(e); err != nil {
			return fmt.Errorf("export a list of rows: %w", err)
		}
	}
	return nil
}

// carriedLists are the lists of rows of an export, as they are read.
type carriedLists struct {
	roots  map[string]string // what each is named by here, by its name in the file
	newest string            // the name in the file of the last one: what counts as read
	left   int64             // rows of the one under way
	last   string            // key of the row before
	rows   []engine.Entry
	out    *pageWriter
}

// takes reports whether a line is one of a list, and takes it. It returns what
// is wrong with it, for people.
func (l *carriedLists) takes(ctx context.Context, pages Pages, line carriedLine) (taken bool, wrong string, err error) {
	switch {
	case line.List != "" && l.left > 0:
		return true, "a list of rows begins before the one before it has ended", nil
	case line.List != "":
		if l.roots == nil {
			l.roots = map[string]string{}
		}
		l.newest, l.left, l.last, l.out = line.List, line.Rows, "", newPageWriter(ctx, pages)
	case l.left > 0:
		if line.Key <= l.last {
			return true, fmt.Sprintf("its key %q does not come after %q", line.Key, l.last), nil
		}
		l.left, l.last = l.left-1, line.Key
		l.rows = append(l.rows, line.Entry)
	default:
		return false, "", nil
	}
	return true, "", l.flush()
}

// flush writes the rows that fill a page, and ends a list that is whole.
func (l *carriedLists) flush() error {
	if len(l.rows) == page.Size || l.left == 0 && len(l.rows) > 0 {
		if err := l.out.put(l.rows); err != nil {
			return err
		}
		l.rows = l.rows[:0]
	}
	if l.left > 0 {
		return nil
	}
	written, err := l.out.finish()
	l.roots[l.newest] = written.Root
	return err
}

// rename makes an entry name the lists as they are kept here; it returns what
// is wrong with it, for people. What counted as read after an earlier read is
// known in the versions of before alone, which are not carried: the newest list
// stands for it, so that no entry names one that is not there.
func (l *carriedLists) rename(e *engine.Entry) (wrong string) {
	r, ok := e.KeyRange()
	if !ok || r.Compared == nil {
		return ""
	}
	took, there := l.roots[r.Compared.Took]
	if !there && r.Compared.Took != Empty || l.newest == "" {
		return "it was read by comparing rows, and the list of those rows is not in the file"
	}
	compared := *r.Compared
	compared.Took, compared.Rows = took, l.roots[l.newest]
	r.Compared = &compared
	e.Range = r.Text()
	return ""
}
