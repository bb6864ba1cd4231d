package bookmark

import (
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"dogear/engine"
	"dogear/engine/bookmark/page"
)

// compareTable plans a table of which every row is compared with what was read
// of it before. Neither the rows nor what is known of them is held in memory.
func (p *Planner) compareTable(ctx context.Context, q Request, part *engine.SourcePlan) error {
	at, err := PositionOf(ctx, p.Ledger, part.LedgerRoot)
	if err != nil {
		return err
	}
	found, err := p.Surveyor.Survey(ctx, engine.TableQuestion{Source: part.Spec, Mark: at.Mark, Now: q.Now, Compare: true})
	if err != nil {
		return fmt.Errorf("look at source %s: %w", part.Source, err)
	}
	if at.Mark != nil && at.Mark.Compared == nil {
		return engine.Errorf(engine.Conflict, "The bookmark of source %s was made by key and does not know its rows. Reset it: the next run then reads all of them, and compares from then on.", part.Source)
	}
	part.Schema, part.Notices, part.Complete = found.Columns, found.Notices, true
	part.Compared = &engine.Compared{Keys: found.Keys}
	if at.Mark != nil {
		part.Compared.Base = at.Mark.Compared.Rows
	}
	c := &comparison{part: part, counts: part.Compared, most: part.Spec.Options.Table.MaxRows, digest: xxhash.New()}
	if q.Whole {
		c.most = 0
	}
	if q.Run != "" || q.Whole { // somebody will read by it; a preview only counts
		c.took = newPageWriter(ctx, p.Ledger)
	}
	if err := c.ask(ctx, p.Ledger); err != nil {
		return err
	}
	if err := c.run(ctx, p.Ledger, p.Surveyor.Rows(ctx, part.Spec, found.Columns, found.Keys)); err != nil {
		return err
	}
	c.plan(surveyed{q: q, part: part, found: found, number: at.last})
	return nil
}

// comparison walks the rows of a table and the ledger of them side by side.
type comparison struct {
	part   *engine.SourcePlan
	counts *engine.Compared
	most   int64 // rows that are taken; 0 is no limit
	asked  []*askedRows
	took   *pageWriter // nil where nobody reads by the plan
	rows   []engine.Entry
	known  int64 // rows that were read and are the same
	over   int64
	named  map[engine.Reason][]string // keys of a few
	digest *xxhash.Digest
}

// askedRows are the rows of one earlier read that somebody wants once more.
type askedRows struct {
	entry  engine.Entry
	cursor *cursor
	next   *engine.Entry
	rows   int64
}

// ask finds the reads that are asked for again.
func (c *comparison) ask(ctx context.Context, pages Pages) error {
	for e, err := range Entries(ctx, pages, c.part.LedgerRoot) {
		if err != nil {
			return err
		}
		r, ok := e.KeyRange()
		if e.State != engine.EntryReopened || !ok || r.Compared == nil {
			continue
		}
		a := &askedRows{entry: page.Keep(e), cursor: newCursor(ctx, pages, r.Compared.Took)}
		a.next = a.cursor.next()
		c.asked = append(c.asked, a)
	}
	return nil
}

// again returns the first read that is asked for and had a row; nil for none.
// Rows must be asked about in their order.
func (c *comparison) again(key string) (first *askedRows, err error) {
	for _, a := range c.asked {
		for a.next != nil && a.next.Key < key {
			a.next = a.cursor.next()
		}
		if a.cursor.err != nil {
			return nil, a.cursor.err
		}
		if first == nil && a.next != nil && a.next.Key == key && a.next.State == engine.EntryRead && a.next.Note != string(engine.ReasonReopened) {
			first = a
		}
	}
	return first, nil
}

func (c *comparison) run(ctx context.Context, pages Pages, rows iter.Seq2[engine.RowPrint, error]) error {
	ledger := newCursor(ctx, pages, c.counts.Base)
	known := ledger.next()
	for row, err := range rows {
		if err != nil {
			return fmt.Errorf("compare source %s: %w", c.part.Source, err)
		}
		for known != nil && known.Key < row.Key {
			if err := c.gone(known); err != nil {
				return err
			}
			known = ledger.next()
		}
		if ledger.err != nil {
			return ledger.err
		}
		var prior *engine.Entry
		if known != nil && known.Key == row.Key {
			prior = known
		}
		if err := c.judge(row, prior); err != nil {
			return err
		}
		if prior != nil {
			known = ledger.next()
		}
	}
	for ; known != nil; known = ledger.next() {
		if err := c.gone(known); err != nil {
			return err
		}
	}
	if ledger.err != nil || c.took == nil {
		return ledger.err
	}
	return c.finish()
}

// judge takes a row or leaves it.
func (c *comparison) judge(row engine.RowPrint, prior *engine.Entry) error {
	again, err := c.again(row.Key)
	if err != nil {
		return err
	}
	hash := hashText(row.Hash)
	reason, count := engine.ReasonNew, &c.counts.New
	switch {
	case prior == nil || prior.State == engine.EntryGone:
	case prior.Hash != hash:
		reason, count = engine.ReasonChanged, &c.counts.Changed
	case again != nil:
		reason, count = engine.ReasonReopened, &again.rows
	default:
		c.known++
		return nil
	}
	// What a person asks for is read whatever the source's limit, because its
	// entry then counts as read again.
	if reason != engine.ReasonReopened && c.most > 0 && c.counts.New+c.counts.Changed >= c.most {
		c.over++
		return nil
	}
	*count++
	c.name(reason, row.Key)
	return c.take(engine.Entry{Object: engine.Object{Key: row.Key}, State: engine.EntryRead, Hash: hash, Note: string(reason)})
}

// gone notes a row that was read and is no longer there. Should the table break
// off later, the whole plan fails and nothing is gone.
func (c *comparison) gone(e *engine.Entry) error {
	if e.State == engine.EntryGone {
		return nil
	}
	c.counts.Gone++
	c.name(engine.ReasonGone, e.Key)
	if c.took == nil {
		return nil
	}
	return c.take(engine.Entry{Object: engine.Object{Key: strings.Clone(e.Key)}, State: engine.EntryGone, Hash: strings.Clone(e.Hash), Note: string(engine.ReasonGone)})
}

// mostNamed is how many rows of one reason are named.
const mostNamed = 10

func (c *comparison) name(reason engine.Reason, key string) {
	if c.named == nil {
		c.named = map[engine.Reason][]string{}
	}
	if len(c.named[reason]) < mostNamed {
		c.named[reason] = append(c.named[reason], engine.RowKeyWords(strings.Clone(key)))
	}
}

// take puts a row on the list that is read by, a page at a time.
func (c *comparison) take(e engine.Entry) error {
	_, _ = c.digest.WriteString(e.Key + engine.KeyMark + e.Hash + e.Note) // it never fails
	if c.took == nil {
		return nil
	}
	if c.rows = append(c.rows, e); len(c.rows) < page.Size {
		return nil
	}
	err := c.took.put(c.rows)
	c.rows = c.rows[:0]
	return err
}

func (c *comparison) finish() error {
	if len(c.rows) > 0 {
		if err := c.took.put(c.rows); err != nil {
			return err
		}
	}
	written, err := c.took.finish()
	c.counts.Took = written.Root
	return err
}

// plan says what was found: the rows that are new and changed as one object,
// and each read that is asked for again as what it was.
func (c *comparison) plan(s surveyed) {
	part := s.part
	part.Digest = strconv.FormatUint(c.digest.Sum64(), 16)
	if c.known > 0 {
		part.Counts[engine.ReasonAlreadyRead] = engine.Tally{Files: 1, Bytes: c.known * width(part.Schema), Rows: c.known}
	}
	if n := c.counts.New + c.counts.Changed; n > 0 {
		r := engine.KeyRange{Keys: s.found.Keys, Rows: n, Compared: &engine.Compared{New: c.counts.New, Changed: c.counts.Changed, Gone: c.counts.Gone}}
		o := s.object(fmt.Sprintf("%06d %s", s.number+1, r.Words()), r)
		reason := engine.ReasonNew
		if c.counts.New == 0 {
			reason = engine.ReasonChanged
		}
		part.Taken = append(part.Taken, engine.Planned{Object: o, Taken: true, Reason: reason, Note: c.sample(engine.ReasonChanged, "changed", c.counts.Changed)})
		c.tally(engine.ReasonNew, c.counts.New)
		c.tally(engine.ReasonChanged, c.counts.Changed)
	}
	for _, a := range c.asked {
		c.counts.Again += a.rows
		r, _ := a.entry.KeyRange()
		r.Rows = a.rows
		o := a.entry.Object
		o.Range, o.Size = r.Text(), r.Rows*width(part.Schema)
		part.Taken = append(part.Taken, engine.Planned{Object: o, Taken: true, Reason: engine.ReasonReopened, Note: a.entry.Note, Prior: &a.entry})
		count(part, engine.ReasonReopened, o)
	}
	inOrder(part)
	names, bound := c.names(engine.ReasonGone, c.counts.Gone), fmt.Sprintf("this source reads %d rows at once", c.most)
	s.leave("gone", engine.ReasonGone, c.counts.Gone, "was read and is no longer there: "+names, "were read and are no longer there: "+names)
	s.leave("over the limit", engine.ReasonOverBound, c.over, "waits for the next run: "+bound, "wait for the next run: "+bound)
	s.leave("without a key", engine.ReasonUnreadable, s.found.Nulls, "has no value in the key, so it cannot be compared", "have no value in the key, so they cannot be compared")
}

func (c *comparison) tally(reason engine.Reason, rows int64) {
	if rows > 0 {
		c.part.Counts[reason] = engine.Tally{Files: 1, Bytes: rows * width(c.part.Schema), Rows: rows}
	}
}

// names lists a few of the rows of a reason.
func (c *comparison) names(reason engine.Reason, n int64) string {
	named := c.named[reason]
	text := strings.Join(named, "; ")
	if more := n - int64(len(named)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (c *comparison) sample(reason engine.Reason, word string, n int64) string {
	if n == 0 {
		return ""
	}
	return word + ": " + c.names(reason, n)
}

// hashText is a hash as the ledger keeps it.
func hashText(hash uint64) string {
	return hex.EncodeToString([]byte{
		byte(hash >> 56), byte(hash >> 48), byte(hash >> 40), byte(hash >> 32), byte(hash >> 24), byte(hash >> 16), byte(hash >> 8), byte(hash),
	})
}
