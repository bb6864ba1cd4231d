package cli

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"dogear/engine/draft"
	"dogear/handlers/control"
)

type workflowVersions struct {
	target
	Name  string `arg:"" help:"Name of the workflow."`
	Limit int    `default:"20" help:"How many."`
}

// Run lists the versions of a workflow.
func (c *workflowVersions) Run(ctx context.Context, term Terminal) error {
	list, err := get[[]control.Version](ctx, c.Data, "/workflow/versions", url.Values{"name": {c.Name}, "limit": {strconv.Itoa(c.Limit)}})
	if err != nil {
		return err
	}
	return c.print(term, list, func(t *table) {
		t.row("VERSION", "PUBLISHED", "BY", "")
		for i := range list {
			v := &list[i]
			now := ""
			if v.Runs {
				now = "runs now"
			}
			t.row(version(v.Version), when(v.At), v.By, now)
			changeRows(t, v.Changes)
		}
	})
}

// changeRows are the rows of what changes in a workflow.
func changeRows(t *table, changes []draft.Change) {
	for _, change := range changes {
		t.row("", change.What, change.Name)
		fieldRows(t, change.Fields)
	}
}

// fieldRows are the rows of values before and after; a text of several lines shows
// those that change.
func fieldRows(t *table, fields []draft.Field) {
	for _, f := range fields {
		lines := f.Lines()
		if len(lines) == 0 {
			t.row("", "", fmt.Sprintf("%s: %q -> %q", f.Name, f.From, f.To))
			continue
		}
		t.row("", "", f.Name+":")
		for _, l := range lines {
			switch l.Mark {
			case draft.LinesFolded:
				t.row("", "", fmt.Sprintf("  %s %d unchanged", l.Mark, l.Fold))
			case draft.LinesMore:
				t.row("", "", fmt.Sprintf("  %s %d more", l.Mark, l.Fold))
			case draft.LineAdded, draft.LineRemoved, draft.LineKept:
				t.row("", "", fmt.Sprintf("  %s %s", l.Mark, strings.ReplaceAll(l.Text, "\t", "    ")))
			}
		}
	}
}

type workflowRestore struct {
	target
	Name    string  `arg:"" help:"Name of the workflow."`
	Version edition `arg:"" help:"The version, by its number, as workflow versions shows it; the one that runs discards what the draft holds."`
	Publish bool    `help:"Publish it at once: the next runs are of it."`
}

// Run brings a version back.
func (c *workflowRestore) Run(ctx context.Context, term Terminal) error {
	made, err := post[control.Restored](ctx, c.Data, "/workflow/restore", control.Restore{Workflow: c.Name, Version: int(c.Version), Publish: c.Publish})
	if err != nil {
		return err
	}
	return c.print(term, made, func(t *table) {
		switch {
		case made.Discarded != nil && made.Discarded.Discarded:
			discardRows(t, made.Discarded)
		case len(made.Changes) == 0 && !made.Published:
			t.row("left as it is", "workflow", made.Name, "which does what "+version(made.From)+" did")
		case made.Published:
			t.row("published", "workflow", made.Name, version(made.Version)+", as "+version(made.From)+" was")
		default:
			t.row("brought back", "draft of workflow", made.Name, "as "+version(made.From)+" was; publish it in the editor, or say the same with --publish")
		}
		changeRows(t, made.Changes)
	})
}
