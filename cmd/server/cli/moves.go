package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/handlers/control"
)

// trial lets a move say what it would do without doing it.
type trial struct {
	DryRun bool `help:"Say what the move would do, and change nothing."`
}

// risk is a trial of a move after which rows that were read may come again.
type risk struct {
	trial
	Yes bool `help:"Make the move although rows would stand twice in a target, without looking first."`
}

// pick chooses files of a source.
type pick struct {
	File    []string `help:"Name of a file as the source shows it. May be repeated."`
	Pattern string   `help:"Path pattern: * stays within a folder, ** crosses folders."`
	Since   moment   `help:"Files that were written on this day or at this time (UTC), or later."`
	Until   moment   `help:"Files that were written before this day or time (UTC)."`
}

func (p *pick) selection() engine.Selection {
	return engine.Selection{Keys: p.File, Pattern: p.Pattern, Since: p.Since.Time, Until: p.Until.Time}
}

// make makes a move and shows the bookmark as it stands then, or what it would
// do.
func (o *of) make(ctx context.Context, term Terminal, t risk, move control.Move) error {
	move.Owner, move.Ctx, move.Branch = o.Job, o.Ctx, o.Branch
	if t.DryRun {
		would, err := post[control.Waiting](ctx, o.Data, "/bookmark/plan", move)
		if err != nil {
			return err
		}
		return o.print(term, would, func(t *table) { planRows(t, &would) })
	}
	if err := o.warn(ctx, term, t, move); err != nil {
		return err
	}
	moved, err := post[control.Bookmark](ctx, o.Data, "/bookmark", move)
	if err != nil {
		return err
	}
	return o.print(term, moved, func(t *table) { bookmarkRows(t, &moved) })
}

type bookmarkPlan struct{ of }

// Run shows what the next run would read, and why.
func (c *bookmarkPlan) Run(ctx context.Context, term Terminal) error {
	waiting, err := get[control.Waiting](ctx, c.Data, "/bookmark/plan", c.query())
	if err != nil {
		return err
	}
	return c.print(term, waiting, func(t *table) { planRows(t, &waiting) })
}

func tally(t engine.Tally) string {
	if t.Files == 1 {
		return "1 file, " + engine.Bytes(t.Bytes)
	}
	return fmt.Sprintf("%d files, %s", t.Files, engine.Bytes(t.Bytes))
}

// takenOf counts what a plan reads of one source.
func takenOf(part *engine.SourcePlan) (sum engine.Tally) {
	for _, o := range part.Taken {
		sum.Files++
		sum.Bytes += o.Size
	}
	return sum
}

// maxPlanned is how many objects of a plan a person is shown; --json has all.
const maxPlanned = 50

// reason is why a file is read or not, in the words of the browser.
func reason(r engine.Reason) string {
	if r == engine.ReasonReopened {
		return "read again"
	}
	return strings.ReplaceAll(string(r), "_", " ")
}

func planRows(t *table, w *control.Waiting) {
	t.row("Job", w.Owner)
	t.row("Source", w.Plan.Source+", "+w.Plan.Root)
	t.row("From", "v"+strconv.Itoa(w.Plan.LedgerVersion))
	t.row("Would read", tally(takenOf(&w.Plan)))
	if w.Again.Files > 0 {
		t.row("Read again", tally(w.Again))
	}
	if w.Skipped > 0 {
		t.row("Would skip", fmt.Sprintf("%d that do not count as read now", w.Skipped))
	}
	if w.Estimate > 0 {
		t.row("Takes about", time.Duration(w.Estimate*float64(time.Second)).Round(time.Second/10))
	}
	t.field("Target", w.Alarm)
	for _, n := range w.Plan.Notices {
		t.row("Notice", n)
	}
	t.row()
	t.row("REASON", "FILES", "SIZE")
	reasons := make([]string, 0, len(w.Plan.Counts))
	for r := range w.Plan.Counts {
		reasons = append(reasons, string(r))
	}
	slices.Sort(reasons)
	for _, r := range reasons {
		n := w.Plan.Counts[engine.Reason(r)]
		t.row(reason(engine.Reason(r)), n.Files, engine.Bytes(n.Bytes))
	}
	all := slices.Concat(w.Plan.Taken, w.Plan.Exceptions)
	if len(all) == 0 {
		return
	}
	t.row()
	t.row("READ", "REASON", "SIZE", "WRITTEN", "NAME", "NOTE")
	for i, o := range all {
		if i == maxPlanned {
			t.row(fmt.Sprintf("… and %d more; --json has all", len(all)-i))
			break
		}
		t.row(yesNo(o.Taken), reason(o.Reason), engine.Bytes(o.Size), when(o.Mod()), o.Key, o.Note)
	}
}

type bookmarkReadAgain struct {
	of
	pick
	risk
	why
}

// Run makes chosen files count as not read.
func (c *bookmarkReadAgain) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, c.risk, control.Move{Kind: engine.MoveReadAgain, Pick: c.selection(), Why: c.Why})
}

type bookmarkHold struct {
	of
	pick
	trial
	why
}

// Run holds chosen files.
func (c *bookmarkHold) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, risk{trial: c.trial}, control.Move{Kind: engine.MoveHold, Pick: c.selection(), Why: c.Why})
}

type bookmarkRelease struct {
	of
	pick
	trial
	why
}

// Run releases what is held.
func (c *bookmarkRelease) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, risk{trial: c.trial}, control.Move{Kind: engine.MoveRelease, Pick: c.selection(), Why: c.Why})
}

type bookmarkSetNow struct {
	of
	trial
	why
}

// Run makes everything in the source count as read.
func (c *bookmarkSetNow) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, risk{trial: c.trial}, control.Move{Kind: engine.MoveSetNow, Why: c.Why})
}

type bookmarkAdopt struct {
	of
	trial
	why
}

// Run says that a changed source is the same thing.
func (c *bookmarkAdopt) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, risk{trial: c.trial}, control.Move{Kind: engine.MoveAdopt, Why: c.Why})
}
