package bookmark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dogear/engine"
)

// root is the address that the keys of a source are relative to; of a table,
// its name.
func (p *Planner) root(src engine.Source) string {
	if src.Table != "" {
		return src.Table
	}
	return p.Lister.Root(src)
}

// Position is how far the ledger of a table source has come.
type Position struct {
	Mark   *engine.KeyRange // the newest range read by key; nil at the beginning
	Seen   int64            // rows in all of them
	Ranges int64
	last   int // number of the newest entry
}

// PositionOf reads the position from the ledger of a table. Its entries are
// the ranges read, numbered as they were read, so the last one is the newest:
// keys themselves are compared by the database alone.
func PositionOf(ctx context.Context, pages Pages, root string) (Position, error) {
	var at Position
	for e, err := range Entries(ctx, pages, root) {
		if err != nil {
			return at, err
		}
		number, _, _ := strings.Cut(e.Key, " ")
		n, err := strconv.Atoi(number)
		r, ok := e.KeyRange()
		if err != nil || !ok {
			return at, fmt.Errorf("the ledger of a table holds %q, which is no range of it", e.Key)
		}
		at.last = n
		if r.Nulls || e.State != engine.EntryRead && e.State != engine.EntryReopened {
			continue
		}
		// A range that is to be read again lies behind the mark all the same:
		// the run reads it beside what is new.
		at.Mark = &r
		at.Seen += r.Rows
		at.Ranges++
	}
	return at, nil
}

// table plans a source that is a table, by the way it is read.
func (p *Planner) table(ctx context.Context, q Request, part *engine.SourcePlan) error {
	if q.Pick != nil {
		return engine.Errorf(engine.Invalid, "The source %s is a table, of which no files can be chosen. Rewind its bookmark instead.", part.Source)
	}
	if part.Read == engine.ReadCompare {
		return p.compareTable(ctx, q, part)
	}
	return p.keyTable(ctx, q, part)
}

// keyTable plans a table from the newest key that was read.
func (p *Planner) keyTable(ctx context.Context, q Request, part *engine.SourcePlan) error {
	at, err := PositionOf(ctx, p.Ledger, part.LedgerRoot)
	if err != nil {
		return err
	}
	spec := part.Spec
	if q.Whole {
		spec.Options.Table.MaxRows, spec.Options.Table.Lag, spec.Options.Table.Closed = 0, 0, ""
	}
	found, err := p.Surveyor.Survey(ctx, engine.TableQuestion{Source: spec, Mark: at.Mark, Seen: at.Seen, Now: q.Now})
	if err != nil {
		return fmt.Errorf("look at source %s: %w", part.Source, err)
	}
	if at.Ranges > 0 {
		part.Counts[engine.ReasonAlreadyRead] = engine.Tally{Files: at.Ranges, Bytes: at.Seen * width(found.Columns), Rows: at.Seen}
	}
	s := surveyed{q: q, part: part, found: found, number: at.last}
	s.take()
	if err := s.reopened(ctx, p.Ledger); err != nil {
		return err
	}
	inOrder(part)
	bound := fmt.Sprintf("this source reads about %d rows at once", part.Spec.Options.Table.MaxRows)
	s.leave("over the limit", engine.ReasonOverBound, found.Over, "waits for the next run: "+bound, "wait for the next run: "+bound)
	s.leave("not settled", engine.ReasonTooYoung, found.Young, "is younger than this source waits", "are younger than this source waits")
	if part.Spec.Options.Table.NullKeys != "read" {
		what := "no value in the key"
		if found.Endless > 0 {
			what += ", or infinity or NaN"
		}
		s.leave("without a key", engine.ReasonUnreadable, found.Nulls, "has "+what+", so no bookmark covers it", "have "+what+", so no bookmark covers them")
	}
	return nil
}

// inOrder sorts what is taken by key, as whoever writes the ledger wants it.
func inOrder(part *engine.SourcePlan) {
	slices.SortFunc(part.Taken, func(a, b engine.Planned) int { return strings.Compare(a.Key, b.Key) })
}

// wholeTable plans a table that is read whole each time.
func (p *Planner) wholeTable(ctx context.Context, q Request, part *engine.SourcePlan) error {
	found, err := p.Surveyor.Survey(ctx, engine.TableQuestion{Source: part.Spec, Now: q.Now, Whole: true})
	if err != nil {
		return fmt.Errorf("look at source %s: %w", part.Source, err)
	}
	s := surveyed{q: q, part: part, found: found}
	s.take()
	return nil
}

// surveyed makes a plan of what a survey found.
type surveyed struct {
	q      Request
	part   *engine.SourcePlan
	found  engine.TableSurvey
	number int
}

func (s *surveyed) take() {
	s.part.Schema, s.part.Notices, s.part.Complete = s.found.Columns, s.found.Notices, true
	digest := sha256.New()
	for _, r := range s.found.New {
		s.number++
		o := s.object(fmt.Sprintf("%06d %s", s.number, r.Words()), r)
		fmt.Fprintln(digest, o.Range)
		s.part.Taken = append(s.part.Taken, engine.Planned{Object: o, Taken: true, Reason: engine.ReasonNew, Note: overlapNote(r)})
		count(s.part, engine.ReasonNew, o)
	}
	s.part.Digest = hex.EncodeToString(digest.Sum(nil)[:8])
}

// reopened takes the ranges that a person wants read again.
func (s *surveyed) reopened(ctx context.Context, pages Pages) error {
	for e, err := range Entries(ctx, pages, s.part.LedgerRoot) {
		if err != nil {
			return err
		}
		if e.State != engine.EntryReopened {
			continue
		}
		prior := keep(&e)
		s.part.Taken = append(s.part.Taken, engine.Planned{Object: prior.Object, Taken: true, Reason: engine.ReasonReopened, Note: prior.Note, Prior: prior})
		count(s.part, engine.ReasonReopened, prior.Object)
	}
	return nil
}

func overlapNote(r engine.KeyRange) string {
	if r.From == nil {
		return ""
	}
	return "begins again at " + engine.KeyWords(r.From) + ", by the overlap"
}

// leave notes rows that the plan does not take.
// It says so of one and of many.
func (s *surveyed) leave(what string, reason engine.Reason, rows int64, one, many string) {
	if rows == 0 {
		return
	}
	note := fmt.Sprintf("%d rows %s", rows, many)
	if rows == 1 {
		note = "1 row " + one
	}
	o := s.object("rows "+what, engine.KeyRange{Rows: rows})
	s.part.Exceptions = append(s.part.Exceptions, engine.Planned{Object: o, Reason: reason, Note: note})
	count(s.part, reason, o)
}

// object stands for a range in a plan and in the ledger. It is dated by when
// it was found, because that is when its rows arrived as far as is known.
func (s *surveyed) object(key string, r engine.KeyRange) engine.Object {
	return engine.Object{Key: key, Size: r.Rows * width(s.found.Columns), ModNS: s.q.Now.UnixNano(), Range: r.Text()}
}

// width is about how many bytes a row has. It is the same for every plan of a
// table, so that estimates made from it compare.
func width(columns []engine.Column) (sum int64) {
	for _, c := range columns {
		switch c.Type {
		case "VARCHAR", "BLOB":
			sum += 20
		default:
			sum += 8
		}
	}
	return sum
}

// tableAgain counts the rows of a table that a plan would read and that count
// as read now.
func (s *Service) tableAgain(ctx context.Context, mark engine.Bookmark, p *Preview) error {
	now, err := PositionOf(ctx, s.Store, mark.Root)
	if err != nil {
		return err
	}
	then, err := PositionOf(ctx, s.Store, p.Plan.LedgerRoot)
	if err != nil || len(p.Plan.Taken) == 0 {
		return err
	}
	if p.Again.Rows, err = s.readSince(ctx, then, now); err != nil {
		return err
	}
	for _, o := range p.Plan.Taken {
		if r, ok := o.KeyRange(); ok && o.Reason == engine.ReasonReopened {
			p.Again.Rows += r.Rows
		}
	}
	if p.Again.Rows == 0 {
		return nil
	}
	p.Again.Files = max(1, now.Ranges-then.Ranges)
	p.Again.Bytes = p.Again.Rows * width(p.Plan.Schema)
	return nil
}

// readSince counts the rows that count as read now and would not, or not as
// they are.
func (s *Service) readSince(ctx context.Context, then, now Position) (n int64, err error) {
	if now.Mark == nil || now.Mark.Compared == nil {
		return max(0, now.Seen-then.Seen), nil
	}
	from := Empty
	if then.Mark != nil && then.Mark.Compared != nil {
		from = then.Mark.Compared.Rows
	}
	for d, err := range Diff(ctx, s.Store, from, now.Mark.Compared.Rows) {
		if err != nil {
			return n, err
		}
		if d.To != nil && d.To.State == engine.EntryRead {
			n++
		}
	}
	return n, nil
}

// rowsSkipped counts the rows of a table that count as read by the ledger at
// root and do not by the one at was.
func (s *Service) rowsSkipped(ctx context.Context, was, root string) (int64, error) {
	now, err := PositionOf(ctx, s.Store, was)
	if err != nil {
		return 0, err
	}
	then, err := PositionOf(ctx, s.Store, root)
	if err != nil {
		return 0, err
	}
	return s.readSince(ctx, now, then)
}
