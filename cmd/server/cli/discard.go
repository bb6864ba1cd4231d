package cli

import (
	"context"
	"net/url"
	"strings"

	"dogear/engine"
	"dogear/handlers/control"
)

type workflowDiscard struct {
	target
	Name string `arg:"" help:"Name of the workflow."`
}

// Run makes the draft what is published, and shows what it held.
func (c *workflowDiscard) Run(ctx context.Context, term Terminal) error {
	gone, err := post[control.Discarded](ctx, c.Data, "/workflow/discard", control.Name{Name: c.Name})
	if err != nil {
		return err
	}
	return c.print(term, gone, func(t *table) { discardRows(t, &gone) })
}

// discardRows say what a draft held beside what is published.
func discardRows(t *table, gone *control.Discarded) {
	if !gone.Discarded {
		t.row("left as it is", "draft of workflow", gone.Name, "which is what "+version(gone.Version)+" is")
		return
	}
	t.row("discarded", "draft of workflow", gone.Name, "which is "+version(gone.Version)+" again; an undo in the editor brings back what it held")
	if len(gone.Changes) == 0 {
		t.row("", "moved", "cards")
	}
	changeRows(t, gone.Changes)
}

// discardPart drops the draft of a job or crawler.
type discardPart struct {
	target
	Name string `arg:"" help:"Its name."`
	Yes  bool   `help:"Discard it: what the draft holds cannot be brought back."`
}

// of makes the draft what is published, where the person is sure, and shows what
// it held.
func (c *discardPart) of(ctx context.Context, term Terminal, kind engine.Kind) error {
	held, err := get[control.PartDraft](ctx, c.Data, "/draft", url.Values{"kind": {string(kind)}, "name": {c.Name}})
	if err != nil {
		return err
	}
	if held.Open && held.Version > 0 && !c.Yes {
		fields := make([]string, len(held.Fields))
		for i, f := range held.Fields {
			fields[i] = f.Name
		}
		return engine.Errorf(engine.Conflict, "What the draft of %s %s holds beside %s could not be brought back: %s. Say the same with --yes.", kind, c.Name, version(held.Version), strings.Join(fields, ", "))
	}
	if held.Open {
		if _, err := post[engine.Head](ctx, c.Data, "/draft/discard", control.DiscardPart{Kind: kind, Name: c.Name, Seq: held.Seq}); err != nil {
			return err
		}
	}
	return c.print(term, held, func(t *table) {
		if !held.Open {
			t.row("left as it is", "draft of "+string(kind), held.Name, "which is what "+version(held.Version)+" is")
			return
		}
		t.row("discarded", "draft of "+string(kind), held.Name, "which is "+version(held.Version)+" again")
		fieldRows(t, held.Fields)
	})
}

type jobDiscard struct{ discardPart }

// Run discards the draft of a job.
func (c *jobDiscard) Run(ctx context.Context, term Terminal) error {
	return c.of(ctx, term, engine.KindJob)
}

type crawlerDiscard struct{ discardPart }

// Run discards the draft of a crawler.
func (c *crawlerDiscard) Run(ctx context.Context, term Terminal) error {
	return c.of(ctx, term, engine.KindCrawler)
}
