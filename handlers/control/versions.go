package control

import (
	"context"
	"net/http"
	"strconv"

	"dogear/engine"
	"dogear/engine/draft"
)

// Version is a published version of a workflow, and what it changed.
type Version struct {
	engine.Head
	Runs    bool           `json:"runs,omitempty"`    // it is the one that runs now
	Changes []draft.Change `json:"changes,omitempty"` // none of the first, or where only places of cards changed
}

// Restore asks that the draft of a workflow become what a version was; the one that runs
// discards what the draft holds beside it.
type Restore struct {
	Workflow string `json:"workflow"`
	Version  int    `json:"version"`
	Publish  bool   `json:"publish,omitempty"` // and that it run from now on
}

// Restored is what became of it.
type Restored struct {
	engine.Head
	From      int            `json:"from"`                // the version that was brought back
	Published bool           `json:"published"`           // Head is then the version that runs
	Changes   []draft.Change `json:"changes,omitempty"`   // of what ran until now
	Discarded *Discarded     `json:"discarded,omitempty"` // where the version is the one that runs
}

// versions answers GET /workflow/versions?name=…&limit=… , newest first.
func (c *control) versions(w http.ResponseWriter, r *http.Request) error {
	limit, err := strconv.Atoi(r.FormValue("limit"))
	if err != nil || limit < 1 || limit > 1000 {
		return engine.Errorf(engine.Invalid, "A list shows 1 to 1000 versions.")
	}
	ctx := r.Context()
	of, err := c.Store.WorkflowNamed(ctx, r.FormValue("name"))
	if err != nil {
		return err
	}
	names, err := c.Store.Names(ctx)
	if err != nil {
		return err
	}
	found, _, err := draft.Versions(ctx, c.Store, of.ID, names, 0, limit)
	if err != nil {
		return err
	}
	list := []Version{}
	for i := range found {
		list = append(list, Version{Head: found[i].Head, Runs: found[i].Version == of.Version, Changes: found[i].Changes})
	}
	return answer(w, list)
}

// restore answers POST /workflow/restore. A draft that holds changes is left as it is,
// unless it is to become what runs: that an undo in the editor takes back.
func (c *control) restore(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[Restore](w, r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	found, err := c.Store.WorkflowNamed(ctx, ask.Workflow)
	if err != nil {
		return err
	}
	if ask.Version == found.Version && ask.Version > 0 {
		gone, err := c.discarded(ctx, &found)
		if err != nil {
			return err
		}
		return answer(w, Restored{Head: found.Head, From: ask.Version, Discarded: &gone})
	}
	earlier, err := c.Store.WorkflowVersion(ctx, found.ID, ask.Version)
	if err != nil {
		return err
	}
	names, err := c.Store.Names(ctx)
	if err != nil {
		return err
	}
	by, err := c.by(ctx)
	if err != nil {
		return err
	}
	drawn, err := c.unchanged(ctx, &found, names, &earlier.WorkflowBody)
	if err != nil {
		return err
	}
	made := Restored{Head: found.Head, From: ask.Version, Changes: draft.Changes(&found.WorkflowBody, &earlier.WorkflowBody, names)}
	client := "versions"
	if ask.Publish {
		client = draft.CommandLine // behind what it publishes at once no undo reaches
	}
	seq, err := c.Drafts.BringBack(ctx, drawn, earlier.WorkflowBody, by, client)
	if err != nil {
		return err
	}
	if delta := draft.Between(found.WorkflowBody, earlier.WorkflowBody); ask.Publish && !delta.Empty() {
		published, err := c.Publisher.Publish(ctx, found.ID, seq, nil, by)
		if err != nil {
			return err
		}
		made.Head, made.Published = published.Head, true
	}
	return answer(w, made)
}

// unchanged is the draft of a workflow, which must hold nothing that is not published,
// unless that is what is wanted.
func (c *control) unchanged(ctx context.Context, w *engine.Workflow, names draft.Names, wanted *engine.WorkflowBody) (draft.Draft, error) {
	drawn, err := c.Drafts.Draft(ctx, w.ID)
	if err != nil || len(draft.Changes(&drawn.Body, wanted, names)) == 0 {
		return drawn, err
	}
	if open := draft.Changes(&w.WorkflowBody, &drawn.Body, names); len(open) > 0 {
		return drawn, engine.Errorf(engine.Conflict, "The draft of workflow %s holds changes that are not published, the first of them of %s. Publish or discard them first: workflow discard does the latter.", w.Name, open[0].Name)
	}
	return drawn, nil
}
