package control

import (
	"context"
	"net/http"

	"dogear/engine"
	"dogear/engine/draft"
)

// Discarded is a draft of a workflow that is again what is published.
type Discarded struct {
	engine.Head
	Discarded bool           `json:"discarded"`         // there was something to discard
	Changes   []draft.Change `json:"changes,omitempty"` // what was lost; none where only places of cards differed
}

// PartDraft is how the draft of a job or crawler differs from what is published of it.
type PartDraft struct {
	engine.Head
	Open   bool          `json:"open"` // it differs
	Seq    int64         `json:"seq"`
	Fields []draft.Field `json:"fields,omitempty"` // from what is published to the draft
}

// DiscardPart asks that the draft of a job or crawler become what is published.
type DiscardPart struct {
	Kind engine.Kind `json:"kind"`
	Name string      `json:"name"`
	Seq  int64       `json:"seq"` // of the draft as whoever asks has seen it
}

// discardWorkflow answers POST /workflow/discard. An undo in the editor takes it back.
func (c *control) discardWorkflow(w http.ResponseWriter, r *http.Request) error {
	found, err := c.asked(w, r)
	if err != nil {
		return err
	}
	gone, err := c.discarded(r.Context(), &found)
	if err != nil {
		return err
	}
	return answer(w, gone)
}

// discarded makes the draft of w what is published of it.
func (c *control) discarded(ctx context.Context, w *engine.Workflow) (Discarded, error) {
	gone := Discarded{Head: w.Head}
	if w.Version == 0 {
		return gone, engine.Errorf(engine.Invalid, "Workflow %s was never published, so there is nothing to go back to. Delete it instead.", w.Name)
	}
	drawn, err := c.Drafts.Draft(ctx, w.ID)
	if err != nil || !drawn.Open {
		return gone, err
	}
	names, err := c.Store.Names(ctx)
	if err != nil {
		return gone, err
	}
	by, err := c.by(ctx)
	if err != nil {
		return gone, err
	}
	gone.Discarded, gone.Changes = true, draft.Changes(&w.WorkflowBody, &drawn.Body, names)
	_, err = c.Drafts.BringBack(ctx, drawn, w.WorkflowBody, by, "versions")
	return gone, err
}

// part returns the id of the job or crawler of a name, and how its draft differs.
func (c *control) part(ctx context.Context, kind engine.Kind, name string) (PartDraft, error) {
	switch kind {
	case engine.KindJob:
		job, err := c.Store.JobNamed(ctx, name)
		if err != nil {
			return PartDraft{}, err
		}
		drawn, err := c.Store.JobDraft(ctx, job.ID)
		return partDraft(drawn, err, func() []draft.Field { return draft.JobFields(job.JobBody, drawn.Body, nil) })
	case engine.KindCrawler:
		crawler, err := c.Store.CrawlerNamed(ctx, name)
		if err != nil {
			return PartDraft{}, err
		}
		drawn, err := c.Store.CrawlerDraft(ctx, crawler.ID)
		return partDraft(drawn, err, func() []draft.Field { return draft.CrawlerFields(crawler.CrawlerBody, drawn.Body, nil) })
	case engine.KindWorkflow, engine.KindConnection: // the one has its own draft, the other none
	}
	return PartDraft{}, engine.Errorf(engine.Invalid, "%q is neither job nor crawler.", kind)
}

func partDraft[B any](d engine.Draft[B], err error, fields func() []draft.Field) (PartDraft, error) {
	if err != nil || !d.Open {
		return PartDraft{Head: d.Head, Seq: d.Seq}, err
	}
	return PartDraft{Head: d.Head, Open: true, Seq: d.Seq, Fields: fields()}, nil
}

// showPart answers GET /draft?kind=…&name=… with how the draft of a job or crawler differs.
func (c *control) showPart(w http.ResponseWriter, r *http.Request) error {
	part, err := c.part(r.Context(), engine.Kind(r.FormValue("kind")), r.FormValue("name"))
	if err != nil {
		return err
	}
	return answer(w, part)
}

// discardPart answers POST /draft/discard with what is published. It cannot be taken back.
func (c *control) discardPart(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[DiscardPart](w, r)
	if err != nil {
		return err
	}
	part, err := c.part(r.Context(), ask.Kind, ask.Name)
	if err != nil {
		return err
	}
	if err := c.Store.DiscardDraft(r.Context(), engine.Ref{Kind: ask.Kind, ID: part.ID}, ask.Seq); err != nil {
		return err
	}
	return answer(w, part.Head)
}
