package cli

import (
	"context"
	"net/url"
	"strconv"

	"dogear/engine"
	"dogear/handlers/control"
)

// Bookmark are the commands about bookmarks.
type Bookmark struct {
	List   bookmarkList   `cmd:"" help:"List the bookmarks."`
	Show   bookmarkShow   `cmd:"" help:"Show a bookmark and its history."`
	Plan   bookmarkPlan   `cmd:"" help:"Show what the next run would read, and why."`
	Pause  bookmarkPause  `cmd:"" help:"Keep a bookmark where it is while its job goes on reading what is new."`
	Resume bookmarkResume `cmd:"" help:"Let a paused bookmark move again."`
	Reset  bookmarkReset  `cmd:"" help:"Send a bookmark back to the beginning: nothing counts as read."`
	Rewind bookmarkRewind `cmd:"" help:"Restore an earlier version of a bookmark."`
	Undo   bookmarkUndo   `cmd:"" help:"Take back the newest move of a bookmark."`

	ReadAgain bookmarkReadAgain `cmd:"" help:"Let the next run read chosen files again."`
	Hold      bookmarkHold      `cmd:"" help:"Keep chosen files that are not read yet from being read."`
	Release   bookmarkRelease   `cmd:"" help:"Let the next run read what is held."`
	SetNow    bookmarkSetNow    `cmd:"" help:"Let everything that the source holds now count as read."`
	Adopt     bookmarkAdopt     `cmd:"" help:"Say that a source whose path, format or table has changed is the same thing."`
	Export    bookmarkExport    `cmd:"" help:"Write a bookmark and its ledger as JSON lines."`
	Branch    bookmarkBranch    `cmd:"" help:"Copy a bookmark under a name of its own, which moves without touching what runs read by."`
	Branches  bookmarkBranches  `cmd:"" help:"List the branches of a bookmark."`
	Promote   bookmarkPromote   `cmd:"" help:"Let what a branch counts as read count for runs."`
	Drop      bookmarkDrop      `cmd:"" help:"Drop a branch."`
	Import    bookmarkImport    `cmd:"" help:"Take over what an exported bookmark says was read."`
}

type bookmarkList struct{ target }

// Run lists the bookmarks.
func (c *bookmarkList) Run(ctx context.Context, term Terminal) error {
	list, err := get[[]control.Bookmark](ctx, c.Data, "/bookmarks", nil)
	if err != nil {
		return err
	}
	return c.print(term, list, func(t *table) {
		t.row("JOB", "CONTEXT", "VERSION", "FILES READ", "SIZE", "PAUSED", "MOVED")
		for i := range list {
			b := &list[i]
			t.row(b.Owner, b.Ctx, "v"+strconv.Itoa(b.Version), b.Files, engine.Bytes(b.Bytes), yesNo(b.Paused), when(b.At))
		}
	})
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// mark names a bookmark.
type mark struct {
	target
	Job string `arg:"" help:"Name of the job or crawler."`
	Ctx string `help:"Context of the source; needed where a job has several bookmarks."`
}

// of names a bookmark or a branch of it.
type of struct {
	mark
	Branch string `help:"The branch that is meant instead of the bookmark that runs read by."`
}

func (o *of) query() url.Values {
	return url.Values{"owner": {o.Job}, "ctx": {o.Ctx}, "branch": {o.Branch}}
}

type bookmarkShow struct{ of }

// shown is a bookmark with what its page says above it.
type shown struct {
	control.Bookmark
	Notices []string `json:"notices,omitempty"` // such as that all keys are below the mark now
	Trouble string   `json:"trouble,omitempty"` // why the source could not be looked at
}

// Run shows a bookmark. That of a table is looked at as its page does, with one
// question to the database; what waits in a folder or bucket is a long list, and
// dogear bookmark plan prints it.
func (c *bookmarkShow) Run(ctx context.Context, term Terminal) error {
	found, err := get[control.Bookmark](ctx, c.Data, "/bookmark", c.query())
	if err != nil {
		return err
	}
	s := shown{Bookmark: found}
	if _, keyed := found.Newest.KeyRange(); keyed {
		waiting, err := get[control.Waiting](ctx, c.Data, "/bookmark/plan", c.query())
		if err != nil {
			s.Trouble = engine.MessageOf(err)
		}
		s.Notices = waiting.Plan.Notices
	}
	return c.print(term, s, func(t *table) {
		for _, notice := range s.Notices {
			t.row("Notice", notice)
		}
		t.field("Trouble", s.Trouble)
		bookmarkRows(t, &s.Bookmark)
	})
}

func bookmarkRows(t *table, b *control.Bookmark) {
	t.row("Job", b.Owner)
	t.row("Context", b.Ctx)
	t.field("Branch", b.Branch)
	t.row("Version", "v"+strconv.Itoa(b.Version))
	t.row("Files read", strconv.FormatInt(b.Files, 10)+", "+engine.Bytes(b.Bytes))
	t.field("Newest file", b.Newest.Key)
	t.row("Paused", yesNo(b.Paused))
	if len(b.Moves) == 0 {
		return
	}
	t.row()
	t.row("VERSION", "MOVE", "FILES", "NEW", "AGAIN", "GONE", "WHEN", "BY", "WHY")
	for _, m := range b.Moves {
		kind := string(m.Kind)
		if m.Kind == engine.MoveRewind || m.Kind == engine.MoveUndo {
			kind += " to v" + strconv.Itoa(m.To)
		}
		t.row("v"+strconv.Itoa(m.Version), kind, m.Files, m.Added, m.Again, m.Removed, when(m.At), m.By, m.Why)
	}
}

// why is the reason that stands in the history.
type why struct {
	Why string `help:"The reason, for the history."`
}

type bookmarkPause struct {
	of
	why
}

// Run pauses.
func (c *bookmarkPause) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, risk{}, control.Move{Kind: engine.MovePause, Why: c.Why})
}

type bookmarkResume struct {
	of
	why
}

// Run resumes.
func (c *bookmarkResume) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, risk{}, control.Move{Kind: engine.MoveResume, Why: c.Why})
}

type bookmarkReset struct {
	of
	risk
	why
	All bool `help:"Every bookmark of the job."`
}

// Run resets.
func (c *bookmarkReset) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, c.risk, control.Move{Kind: engine.MoveReset, All: c.All, Why: c.Why})
}

type bookmarkRewind struct {
	of
	risk
	why
	To    *edition `xor:"to" help:"The version to restore; 0 is before the first."`
	ToRun string   `xor:"to" help:"The version that this run made."`
	At    moment   `xor:"to" help:"The version that stood at this time, such as 2026-11-29T12:00:00Z."`
	ToKey []string `xor:"to" sep:"," placeholder:"KEY" help:"Of a table: rows up to this key count as read, those after it come again. Name a value for each column of the key."`
}

// Run rewinds.
func (c *bookmarkRewind) Run(ctx context.Context, term Terminal) error {
	move := control.Move{Kind: engine.MoveRewind, ToRun: engine.ID(c.ToRun), At: c.At.Time, ToKey: c.ToKey, Why: c.Why}
	switch {
	case c.To != nil:
		move.To = int(*c.To)
	case c.ToRun == "" && c.At.IsZero() && c.ToKey == nil:
		return engine.Errorf(engine.Invalid, "Say where to rewind to: --to VERSION, --to-run RUN, --at TIME or, of a table, --to-key KEY.")
	}
	return c.make(ctx, term, c.risk, move)
}

type bookmarkUndo struct {
	of
	risk
	why
}

// Run takes the newest move back.
func (c *bookmarkUndo) Run(ctx context.Context, term Terminal) error {
	return c.make(ctx, term, c.risk, control.Move{Kind: engine.MoveUndo, Why: c.Why})
}
