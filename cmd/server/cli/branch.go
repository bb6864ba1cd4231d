package cli

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/handlers/control"
)

// branch names a branch.
type branch struct {
	mark
	Branch string `arg:"" help:"Name of the branch."`
}

func (b *branch) ask(do, why string) control.Branch {
	return control.Branch{Owner: b.Job, Ctx: b.Ctx, Branch: b.Branch, Do: do, Why: why}
}

type bookmarkBranch struct {
	branch
	why
}

// Run makes a branch.
func (c *bookmarkBranch) Run(ctx context.Context, term Terminal) error {
	made, err := post[control.Bookmark](ctx, c.Data, "/bookmark/branch", c.ask("make", c.Why))
	if err != nil {
		return err
	}
	return c.print(term, made, func(t *table) { bookmarkRows(t, &made) })
}

type bookmarkPromote struct {
	branch
	risk
	why
}

// Run promotes a branch: what it counts as read counts for runs.
func (c *bookmarkPromote) Run(ctx context.Context, term Terminal) error {
	o := of{mark: c.mark, Branch: c.Branch}
	return o.make(ctx, term, c.risk, control.Move{Kind: engine.MovePromote, Why: c.Why})
}

type bookmarkDrop struct {
	branch
	trial
}

// Run drops a branch.
func (c *bookmarkDrop) Run(ctx context.Context, term Terminal) error {
	ask := c.ask("drop", "")
	if ask.Dry = c.DryRun; ask.Dry {
		would, err := post[bookmark.Dropped](ctx, c.Data, "/bookmark/branch", ask)
		if err != nil {
			return err
		}
		return c.print(term, would, func(t *table) { dropRows(t, &would) })
	}
	made, err := post[control.Bookmark](ctx, c.Data, "/bookmark/branch", ask)
	if err != nil {
		return err
	}
	return c.print(term, made, func(t *table) {
		t.row("Dropped", "branch "+c.Branch)
		t.row("Stays", "v"+strconv.Itoa(made.Version)+" of "+made.Ctx)
	})
}

func dropRows(t *table, d *bookmark.Dropped) {
	t.row("Goes", fmt.Sprintf("branch %s at v%d with %d moves of its own; it cannot be undone", d.Branch.Branch, d.Branch.Version, d.Moves))
	t.row("Read by it alone", d.Only)
	t.row("Stays", fmt.Sprintf("v%d of %s, by which runs read", d.Trunk.Version, d.Trunk.Ctx))
	if d.Trouble != "" {
		t.row("Would read", "unknown: "+d.Trouble)
		return
	}
	t.row("Would read", tally(takenOf(&d.Plan)))
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
