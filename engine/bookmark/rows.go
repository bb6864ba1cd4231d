package bookmark

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/engine/bookmark/page"
)

// RowsToRead are the prints of the rows that c takes, in the order of their
// keys.
func RowsToRead(ctx context.Context, pages Pages, c engine.Compared) iter.Seq2[engine.RowPrint, error] {
	return func(yield func(engine.RowPrint, error) bool) {
		for e, err := range Entries(ctx, pages, c.Took) {
			if err == nil && e.State != engine.EntryRead {
				continue
			}
			hash, bad := strconv.ParseUint(e.Hash, 16, 64)
			if err == nil && bad != nil {
				err = fmt.Errorf("the list of rows holds the hash %q, which is none", e.Hash)
			}
			if !yield(engine.RowPrint{Key: e.Key, Hash: hash}, err) || err != nil {
				return
			}
		}
	}
}

// rowsChunk is how many rows are held before they are laid over the list of
// before; a whole table may come this way.
const rowsChunk = 4 * page.Size

// AfterCompare is the range r of a plan as the ledger keeps it after run has
// read it: with the root of the rows that count as read from then on. Those are
// the rows of before with what part takes and what is gone laid over them, but
// for the rows that were left, which come in the order of their keys.
func AfterCompare(ctx context.Context, pages Pages, part engine.SourcePlan, r engine.KeyRange, run engine.ID, left iter.Seq2[engine.RowPrint, error]) (engine.KeyRange, error) {
	done := *r.Compared
	done.Base, done.Took, done.Rows = "", part.Compared.Took, part.Compared.Base
	next, stop := iter.Pull2(left)
	defer stop()
	skip, err, more := next()
	changes := make([]engine.Entry, 0, rowsChunk)
	flush := func() error {
		written, err := Write(ctx, pages, done.Rows, changes)
		done.Rows, changes = written.Root, changes[:0]
		return err
	}
	for e, failed := range Entries(ctx, pages, done.Took) {
		for failed == nil && err == nil && more && skip.Key < e.Key {
			skip, err, more = next()
		}
		if failed != nil || err != nil {
			return r, firstError(failed, err)
		}
		if more && skip.Key == e.Key {
			continue
		}
		e.Run, e.Note = run, ""
		if changes = append(changes, e); len(changes) == rowsChunk {
			if err := flush(); err != nil {
				return r, err
			}
		}
	}
	if err := firstError(err, flush()); err != nil {
		return r, err
	}
	r.Compared = &done
	return r, nil
}

// nothingLeft is where every row was read.
func nothingLeft(func(engine.RowPrint, error) bool) {}

// lookupRow answers "was this row read?" of a table that is compared: the row
// of that very key, or those whose key holds text.
func (s *Service) lookupRow(ctx context.Context, root, text string) ([]engine.Entry, error) {
	var found []engine.Entry
	say := func(e engine.Entry) {
		e = page.Keep(e)
		e.Key = engine.RowKeyWords(e.Key)
		found = append(found, e)
	}
	exact, err := Find(ctx, s.Store, root, strings.ReplaceAll(text, ", ", engine.KeyMark))
	if err != nil {
		return nil, err
	}
	if exact != nil {
		say(*exact)
		return found, nil
	}
	for e, err := range Entries(ctx, s.Store, root) {
		if err != nil {
			return nil, err
		}
		if strings.Contains(engine.RowKeyWords(e.Key), text) {
			if say(e); len(found) == maxFound {
				break
			}
		}
	}
	return found, nil
}
