package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/handlers/control"
)

// trial lets a move say what it would do without doing it.
type trial struct {
	DryRun bool `help:"Say what the move would do, and change nothing."`
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
func (o *of) make(ctx context.Context, term Terminal, t trial, move control.Move) error {
	move.Owner, move.Ctx, move.Branch = o.Job, o.Ctx, o.Branch
	if t.DryRun {
		would, err := post[control.Waiting](ctx, o.Data, "/bookmark/plan", move)
		if err != nil {
			return err
		}
		return o.print(term, would, func(t *table) { planRows(t, &would) })
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

// maxPlanned is how many objects of a plan a person is shown; --json has all.
const maxPlanned = 50

func planRows(t *table, w *control.Waiting) {
	t.row("Job", w.Owner)
	t.row("Source", w.Plan.Source+", "+w.Plan.Root)
	t.row("From", "v"+strconv.Itoa(w.Plan.LedgerVersion))
	var taken engine.Tally
	for _, o := range w.Plan.Taken {
		taken.Files++
		taken.Bytes += o.Size
	}
	t.row("Would read", tally(taken))
	if w.Again.Files > 0 {
		t.row("Read before", tally(w.Again))
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
		t.row(strings.ReplaceAll(r, "_", " "), n.Files, engine.Bytes(n.Bytes))
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
		t.row(yesNo(o.Taken), strings.ReplaceAll(string(o.Reason), "_", " "), engine.Bytes(o.Size), when(o.Mod()), o.Key, o.Note)
	}
}

type bookmarkReadAgain struct {
	of
	pick
	trial
	why
}

// Run makes chosen files count as not read.
func (c *bookmarkReadAgain) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, c.trial, control.Move{Kind: engine.MoveReadAgain, Pick: c.selection(), Why: c.Why})
}

type bookmarkHold struct {
	of
	pick
	why
}

// Run holds chosen files.
func (c *bookmarkHold) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, trial{}, control.Move{Kind: engine.MoveHold, Pick: c.selection(), Why: c.Why})
}

type bookmarkRelease struct {
	of
	pick
	trial
	why
}

// Run releases what is held.
func (c *bookmarkRelease) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, c.trial, control.Move{Kind: engine.MoveRelease, Pick: c.selection(), Why: c.Why})
}

type bookmarkSetNow struct {
	of
	trial
	why
}

// Run makes everything in the source count as read.
func (c *bookmarkSetNow) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, c.trial, control.Move{Kind: engine.MoveSetNow, Why: c.Why})
}

type bookmarkAdopt struct {
	of
	trial
	why
}

// Run says that a changed source is the same thing.
func (c *bookmarkAdopt) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, c.trial, control.Move{Kind: engine.MoveAdopt, Why: c.Why})
}

type bookmarkExport struct {
	mark
	Out string `short:"o" type:"path" help:"File to write; standard output by default."`
}

// Run writes the bookmark and its ledger.
func (c *bookmarkExport) Run(ctx context.Context, term Terminal) (err error) {
	from, err := c.call(ctx, http.MethodGet, "/bookmark/export", url.Values{"owner": {c.Job}, "ctx": {c.Ctx}}, nil)
	if err != nil {
		return err
	}
	defer from.Close()
	to := term.Out
	if c.Out != "" {
		file, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return engine.Errorf(engine.Invalid, "Cannot write %s: %w", c.Out, err)
		}
		defer func() {
			if closed := file.Close(); err == nil {
				err = closed
			}
		}()
		to = file
	}
	_, err = io.Copy(to, from)
	return err
}

type bookmarkImport struct {
	mark
	why
	File string `arg:"" type:"path" help:"A file that bookmark export wrote; - is standard input."`
}

// Run makes what the file says count as read.
func (c *bookmarkImport) Run(ctx context.Context, term Terminal) error {
	from := term.In
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return engine.Errorf(engine.Invalid, "Cannot read %s: %w", c.File, err)
		}
		defer file.Close()
		from = file
	}
	moved, err := ask[control.Bookmark](ctx, c.Data, http.MethodPost, "/bookmark/import", url.Values{"owner": {c.Job}, "ctx": {c.Ctx}, "why": {c.Why}}, from)
	if err != nil {
		return err
	}
	return c.print(term, moved, func(t *table) { bookmarkRows(t, &moved) })
}

// branch names a branch.
type branch struct {
	mark
	Branch string `arg:"" help:"Name of the branch."`
}

func (b *branch) post(ctx context.Context, do, why string) (control.Bookmark, error) {
	return post[control.Bookmark](ctx, b.Data, "/bookmark/branch", control.Branch{Owner: b.Job, Ctx: b.Ctx, Branch: b.Branch, Do: do, Why: why})
}

func (b *branch) do(ctx context.Context, term Terminal, do, why string) error {
	made, err := b.post(ctx, do, why)
	if err != nil {
		return err
	}
	return b.print(term, made, func(t *table) { bookmarkRows(t, &made) })
}

type bookmarkBranch struct {
	branch
	why
}

// Run makes a branch.
func (c *bookmarkBranch) Run(ctx context.Context, term Terminal) error {
	return c.do(ctx, term, "make", c.Why)
}

type bookmarkPromote struct {
	branch
	why
}

// Run promotes a branch.
func (c *bookmarkPromote) Run(ctx context.Context, term Terminal) error {
	return c.do(ctx, term, "promote", c.Why)
}

type bookmarkDrop struct{ branch }

// Run drops a branch.
func (c *bookmarkDrop) Run(ctx context.Context, term Terminal) error {
	made, err := c.post(ctx, "drop", "")
	if err != nil {
		return err
	}
	return c.print(term, made, func(t *table) {
		t.row("Dropped", "branch "+c.Branch)
		t.row("Stays", "v"+strconv.Itoa(made.Version)+" of "+made.Ctx)
	})
}

type bookmarkBranches struct{ mark }

// Run lists the branches.
func (c *bookmarkBranches) Run(ctx context.Context, term Terminal) error {
	list, err := get[[]control.Bookmark](ctx, c.Data, "/bookmark/branches", url.Values{"owner": {c.Job}, "ctx": {c.Ctx}})
	if err != nil {
		return err
	}
	return c.print(term, list, func(t *table) {
		t.row("BRANCH", "VERSION", "FILES READ", "SIZE", "MADE", "BY")
		for i := range list {
			b := &list[i]
			t.row(b.Branch, "v"+strconv.Itoa(b.Version), b.Files, engine.Bytes(b.Bytes), when(b.At), b.By)
		}
	})
}
