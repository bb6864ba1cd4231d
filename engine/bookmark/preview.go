package bookmark

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"dogear/engine"
)

// Preview is what a move would do, said before it is made.
type Preview struct {
	Kind   engine.MoveKind
	Seen   int               // the version that it was worked out from
	To     int               // the version it would restore
	Root   string            // the ledger it would leave
	Chosen int64             // objects that are read again, held, released or adopted
	Plan   engine.SourcePlan // what the next run would then read
	Again  engine.Tally      // of that, what counts as read now
	// Repeated and Fresh are the first few files of the plan, of those that count as
	// read now and of the others. Of a table Taken names the rows.
	Repeated, Fresh []engine.Object
	// Skipped is what would count as read and does not now: objects, or rows of
	// a table.
	Skipped  int64
	Estimate time.Duration // of the next run; 0 where no run has been seen
	// Alarm says what the target does with rows that would come again; Safe is
	// set only where no row can stand twice.
	Alarm string
	Safe  bool
}

// Pace is how fast a job was in its last runs, from when they could start to
// their end. It is zero where none has read anything.
type Pace struct {
	Bytes    int64 // of input, in all of them
	Rows     int64 // that they wrote, into all their targets
	Spent    time.Duration
	Shortest time.Duration // of one run
}

// Time is how long a run that reads bytes is likely to take. A run does more
// than read, so that it is never shorter than the shortest that was seen.
func (p Pace) Time(bytes int64) time.Duration {
	if p.Bytes == 0 || bytes == 0 {
		return 0
	}
	return max(p.Shortest, time.Duration(float64(bytes)/float64(p.Bytes)*float64(p.Spent)))
}

// Writes is about how many rows a run writes that reads bytes; known is false
// where no run has been seen.
func (p Pace) Writes(bytes int64) (rows int64, known bool) {
	if p.Bytes == 0 {
		return 0, false
	}
	return int64(math.Round(float64(bytes) / float64(p.Bytes) * float64(p.Rows))), true
}

// Preview plans the next run as it would be after a move.
func (s *Service) Preview(ctx context.Context, id engine.ID, m Move, who string) (Preview, error) {
	p := Preview{Kind: m.Kind}
	mark, err := s.aim(ctx, id, &m)
	if err != nil {
		return p, err
	}
	p.Seen = mark.Version
	history, err := s.Store.BookmarkMoves(ctx, mark.ID)
	if err != nil {
		return p, err
	}
	by := By{Who: who, At: s.Now().UTC()}
	ready, err := s.ready(ctx, mark, m, by)
	if err != nil {
		return p, err
	}
	moved, line, err := decide(mark, history, m, ready, by)
	if err != nil {
		return p, err
	}
	p.To, p.Root, p.Skipped = line.To, moved.Root, line.Added
	if ready.ledger != nil {
		p.Chosen = ready.ledger.chosen
	} else if p.Skipped > 0 { // the line of a restored version counts only how many more
		difference, err := replacing(ctx, s.Store, mark.Root, moved.Root)
		if err != nil {
			return p, err
		}
		p.Skipped = difference.Added
	}
	job, err := s.Store.Job(ctx, mark.Job)
	if err != nil {
		return p, err
	}
	if p.Plan, err = s.plan(ctx, job, mark, Request{Roots: map[string]string{mark.Ctx: moved.Root}, Adopt: m.Kind == engine.MoveAdopt || m.Kind == engine.MoveReset}); err != nil {
		return p, err
	}
	if p.Plan.Spec.Table != "" {
		if p.Skipped, err = s.rowsSkipped(ctx, mark.Root, moved.Root); err != nil {
			return p, err
		}
	}
	p.Plan.Notices = slices.Concat(ready.notices, p.Plan.Notices)
	if err := s.again(ctx, mark, &p); err != nil {
		return p, err
	}
	pace, err := s.Store.Pace(ctx, job.ID)
	if err != nil {
		return p, err
	}
	p.Estimate = pace.Time(bytesOf(p.Plan.Taken))
	p.Alarm, p.Safe = alarm(job, p.Again, pace)
	return p, nil
}

// few is how many files a preview names.
const few = 5

// again counts what a plan would read that counts as read now, and names the first
// files.
func (s *Service) again(ctx context.Context, mark engine.Bookmark, p *Preview) error {
	if p.Plan.Spec.Table != "" {
		return s.tableAgain(ctx, mark, p)
	}
	ledger := newCursor(ctx, s.Store, mark.Root)
	for i := range p.Plan.Taken { // in order of key
		o := &p.Plan.Taken[i]
		e, err := ledger.find(o.Key)
		if err != nil {
			return err
		}
		list := &p.Fresh
		if e != nil && e.State == engine.EntryRead {
			p.Again.Files++
			p.Again.Bytes += o.Size
			list = &p.Repeated
			readBefore(&p.Plan, o)
		}
		if len(*list) < few {
			*list = append(*list, o.Object)
		}
	}
	return nil
}

// readBefore says of an object that only the ledger after the move does not know that it
// is read again.
func readBefore(part *engine.SourcePlan, o *engine.Planned) {
	if o.Reason != engine.ReasonNew {
		return
	}
	fresh := part.Counts[engine.ReasonNew]
	fresh.Files--
	fresh.Bytes -= o.Size
	part.Counts[engine.ReasonNew] = fresh
	if fresh.Files == 0 {
		delete(part.Counts, engine.ReasonNew)
	}
	o.Reason = engine.ReasonReopened
	count(part, engine.ReasonReopened, o.Object)
}

func bytesOf(taken []engine.Planned) (sum int64) {
	for _, o := range taken {
		sum += o.Size
	}
	return sum
}

// alarm says what the sinks of a job do with rows that come again. It is safe
// only under the rules of bookmarks.md, Safe writes.
func alarm(job engine.Job, again engine.Tally, pace Pace) (string, bool) {
	if again.Files == 0 {
		return "Nothing that was read comes again.", true
	}
	rows := rowsTwice(pace, again.Bytes, len(job.SQL.Sinks))
	said, safe := "This job writes nothing.", true
	for i, sink := range job.SQL.Sinks {
		text, harmless := alarmOf(sink, rows)
		if i == 0 || safe && !harmless { // the first that is not safe speaks for all
			said, safe = text, harmless
		}
	}
	return said, safe
}

// rowsTwice says how many rows of an append come again, by what a job has written
// of what it read. Of several targets only the sum is known.
func rowsTwice(pace Pace, bytes int64, sinks int) string {
	rows, known := pace.Writes(bytes)
	switch {
	case !known:
		return "what is read again"
	case sinks > 1:
		return "up to " + engine.Count(rows) + " rows"
	case rows == 1:
		return "about 1 row"
	}
	return "about " + engine.Count(rows) + " rows"
}

// alarmOf says what one sink does with the rows that come again.
func alarmOf(sink engine.Sink, rows string) (string, bool) {
	switch sink.Mode {
	case engine.OverwritePartitions:
		return fmt.Sprintf("%s is overwritten partition by partition: each partition that is touched is rebuilt whole.", sink.Place()), true
	case engine.Merge:
		merged := fmt.Sprintf("%s is merged on %s: no row stands twice.", sink.Place(), strings.Join(sink.Keys, ", "))
		if sink.LatestBy == "" {
			return merged + " Without a column that says which row is the latest, an older row that is read again replaces a newer one.", false
		}
		return merged, true
	case engine.Replace:
		return fmt.Sprintf("%s is replaced whole.", sink.Place()), true
	case engine.Append, "":
	}
	return fmt.Sprintf("%s appends: %s would stand twice. Choose merge by key or overwrite partitions for this target first.", sink.Place(), rows), false
}
