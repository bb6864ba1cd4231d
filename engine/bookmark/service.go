package bookmark

import (
	"context"
	"fmt"
	"strings"
	"time"

	"dogear/engine"
)

// Store is what the moves need of the database.
type Store interface {
	Ledger
	Bookmark(ctx context.Context, id engine.ID) (engine.Bookmark, error)
	// BookmarkMoves is the whole history of a bookmark, newest first.
	BookmarkMoves(ctx context.Context, id engine.ID) ([]engine.BookmarkMove, error)
	// MoveBookmark calls decide with the bookmark and its history inside one
	// transaction and writes what it returns. It is refused with Conflict
	// while a run of the bookmark's job is under way, unless beside is set.
	MoveBookmark(ctx context.Context, id engine.ID, beside bool,
		decide func(engine.Bookmark, []engine.BookmarkMove) (engine.Bookmark, engine.BookmarkMove, error)) (engine.Bookmark, error)
	Job(ctx context.Context, id engine.ID) (engine.Job, error)
	// Pace is how many bytes of input a second the last successful runs of a
	// job went through; 0 where none is known.
	Pace(ctx context.Context, job engine.ID) (float64, error)
}

// Service makes the moves a person can make.
type Service struct {
	Store   Store
	Planner *Planner
	Now     func() time.Time
	// Changed is told of every move, so that open pages follow. It may be nil.
	Changed func(engine.Bookmark)
}

func (s *Service) move(ctx context.Context, id engine.ID, beside bool, who, why string,
	decide func(engine.Bookmark, []engine.BookmarkMove, By) (engine.Bookmark, engine.BookmarkMove, error),
) (engine.Bookmark, error) {
	by := By{Who: who, Why: strings.TrimSpace(why), At: s.Now().UTC()}
	moved, err := s.Store.MoveBookmark(ctx, id, beside, func(b engine.Bookmark, h []engine.BookmarkMove) (engine.Bookmark, engine.BookmarkMove, error) {
		return decide(b, h, by)
	})
	if err == nil && s.Changed != nil {
		s.Changed(moved)
	}
	return moved, err
}

// Pause keeps a bookmark where it is; runs go on reading what is new to it.
func (s *Service) Pause(ctx context.Context, id engine.ID, who, why string) (engine.Bookmark, error) {
	return s.move(ctx, id, true, who, why, func(b engine.Bookmark, _ []engine.BookmarkMove, by By) (engine.Bookmark, engine.BookmarkMove, error) {
		return Pause(b, by)
	})
}

// Resume lets a paused bookmark move again.
func (s *Service) Resume(ctx context.Context, id engine.ID, who, why string) (engine.Bookmark, error) {
	return s.move(ctx, id, true, who, why, func(b engine.Bookmark, _ []engine.BookmarkMove, by By) (engine.Bookmark, engine.BookmarkMove, error) {
		return Resume(b, by)
	})
}

// Reset makes nothing count as read.
func (s *Service) Reset(ctx context.Context, id engine.ID, who, why string) (engine.Bookmark, error) {
	return s.move(ctx, id, false, who, why, func(b engine.Bookmark, _ []engine.BookmarkMove, by By) (engine.Bookmark, engine.BookmarkMove, error) {
		return Reset(b, by)
	})
}

// Rewind restores an earlier version.
func (s *Service) Rewind(ctx context.Context, id engine.ID, to int, who, why string) (engine.Bookmark, error) {
	return s.move(ctx, id, false, who, why, func(b engine.Bookmark, h []engine.BookmarkMove, by By) (engine.Bookmark, engine.BookmarkMove, error) {
		return Rewind(b, h, to, by)
	})
}

// Undo takes back the newest move.
func (s *Service) Undo(ctx context.Context, id engine.ID, who, why string) (engine.Bookmark, error) {
	return s.move(ctx, id, false, who, why, func(b engine.Bookmark, h []engine.BookmarkMove, by By) (engine.Bookmark, engine.BookmarkMove, error) {
		return Undo(b, h, by)
	})
}

// Preview is what a move would do, said before it is made.
type Preview struct {
	Kind     engine.MoveKind
	To       int               // the version it would restore
	Plan     engine.SourcePlan // what the next run would then read
	Again    engine.Tally      // of that, what counts as read now
	Estimate time.Duration     // of the next run; 0 where no run has been seen
	// Alarm says what the target does with rows that would come again; Safe is
	// set only where no row can stand twice.
	Alarm string
	Safe  bool
}

// Preview plans the next run as it would be after a move.
func (s *Service) Preview(ctx context.Context, id engine.ID, kind engine.MoveKind, to int) (Preview, error) {
	p := Preview{Kind: kind, To: to}
	mark, err := s.Store.Bookmark(ctx, id)
	if err != nil {
		return p, err
	}
	history, err := s.Store.BookmarkMoves(ctx, id)
	if err != nil {
		return p, err
	}
	moved, err := preview(mark, history, kind, to)
	if err != nil {
		return p, err
	}
	p.To = to
	if kind == engine.MoveUndo {
		p.To = mark.Version - 1
	}
	job, err := s.Store.Job(ctx, mark.Job)
	if err != nil {
		return p, err
	}
	if p.Plan, err = s.plan(ctx, job, mark, moved.Root); err != nil {
		return p, err
	}
	if err := s.again(ctx, mark, &p); err != nil {
		return p, err
	}
	pace, err := s.Store.Pace(ctx, job.ID)
	if err != nil {
		return p, err
	}
	if pace > 0 {
		p.Estimate = time.Duration(float64(bytesOf(p.Plan.Taken)) / pace * float64(time.Second))
	}
	p.Alarm, p.Safe = alarm(job, p.Again, rowsPerByte(history))
	return p, nil
}

func preview(b engine.Bookmark, h []engine.BookmarkMove, kind engine.MoveKind, to int) (engine.Bookmark, error) {
	var err error
	switch kind {
	case engine.MoveReset:
		b, _, err = Reset(b, By{})
	case engine.MoveUndo:
		b, _, err = Undo(b, h, By{})
	case engine.MoveRewind:
		b, _, err = Rewind(b, h, to, By{})
	case engine.MoveAdvance, engine.MovePause, engine.MoveResume:
	}
	return b, err
}

// plan makes the plan of one context of a job from the ledger at root.
func (s *Service) plan(ctx context.Context, job engine.Job, mark engine.Bookmark, root string) (engine.SourcePlan, error) {
	one := job
	sql := *job.SQL
	sql.Sources = nil
	for _, src := range job.SQL.Sources {
		if ContextOf(src) == mark.Ctx {
			sql.Sources = append(sql.Sources, src)
		}
	}
	one.SQL = &sql
	if len(sql.Sources) == 0 {
		return engine.SourcePlan{}, engine.Errorf(engine.NotFound, "Job %s no longer has a source with the context %s.", job.Name, mark.Ctx)
	}
	plan, err := s.Planner.Plan(ctx, Request{Job: one, Now: s.Now().UTC(), Roots: map[string]string{mark.Ctx: root}})
	if err != nil {
		return engine.SourcePlan{}, err
	}
	return plan.Sources[0], nil
}

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
	return s.plan(ctx, job, mark, mark.Root)
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

// again counts what a plan would read that counts as read now.
func (s *Service) again(ctx context.Context, mark engine.Bookmark, p *Preview) error {
	if p.Plan.Spec.Table != "" {
		return s.tableAgain(ctx, mark, p)
	}
	for _, o := range p.Plan.Taken {
		e, err := Find(ctx, s.Store, mark.Root, o.Key)
		if err != nil {
			return err
		}
		if e != nil && e.State == engine.EntryRead {
			p.Again.Files++
			p.Again.Bytes += o.Size
		}
	}
	return nil
}

func bytesOf(taken []engine.Planned) (sum int64) {
	for _, o := range taken {
		sum += o.Size
	}
	return sum
}

// rowsPerByte is the density of the source in the advances seen so far.
func rowsPerByte(history []engine.BookmarkMove) float64 {
	var rows, bytes int64
	for _, m := range history {
		if m.Kind == engine.MoveAdvance {
			rows += m.Rows
			bytes += m.InBytes
		}
	}
	if bytes == 0 {
		return 0
	}
	return float64(rows) / float64(bytes)
}

// alarm says what the sinks of a job do with rows that come again. It is safe
// only under the rules of bookmarks.md, Safe writes.
func alarm(job engine.Job, again engine.Tally, density float64) (string, bool) {
	if again.Files == 0 {
		return "Nothing that was read comes again.", true
	}
	for _, sink := range job.SQL.Sinks {
		switch sink.Mode {
		case engine.Append, "":
			rows := int64(float64(again.Bytes) * density)
			return fmt.Sprintf("%s appends: about %d rows would stand twice. Choose merge by key or overwrite partitions for this target first.", sink.Place(), rows), false
		case engine.OverwritePartitions:
			return fmt.Sprintf("%s is overwritten partition by partition: each partition that is touched is rebuilt whole.", sink.Place()), true
		case engine.Merge:
			if sink.LatestBy == "" {
				return fmt.Sprintf("%s is merged on %s: no row stands twice. Without a column that says which row is the latest, an older row that is read again replaces a newer one.",
					sink.Place(), strings.Join(sink.Keys, ", ")), false
			}
			return fmt.Sprintf("%s is merged on %s: no row stands twice.", sink.Place(), strings.Join(sink.Keys, ", ")), true
		case engine.Replace:
			return fmt.Sprintf("%s is replaced whole.", sink.Place()), true
		}
	}
	return "This job writes nothing.", true
}
