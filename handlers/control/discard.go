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

// JobDraft is how the draft of a job differs from what is published of it.
type JobDraft struct {
	engine.Head
	Open   bool          `json:"open"` // it differs
	Seq    int64         `json:"seq"`
	Fields []draft.Field `json:"fields,omitempty"` // from what is published to the draft
}

// DiscardJob asks that the draft of a job become what is published.
type DiscardJob struct {
	Job string `json:"job"`
	Seq int64  `json:"seq"` // of the draft as whoever asks has seen it
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

// jobDraft answers GET /job/draft?name=… with how the draft of a job differs.
func (c *control) jobDraft(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	job, err := c.Store.JobNamed(ctx, r.FormValue("name"))
	if err != nil {
		return err
	}
	drawn, err := c.Store.JobDraft(ctx, job.ID)
	if err != nil {
		return err
	}
	view := JobDraft{Head: job.Head, Open: drawn.Open, Seq: drawn.Seq}
	if drawn.Open {
		view.Fields = draft.JobFields(job.JobBody, drawn.Body, nil)
	}
	return answer(w, view)
}

// discardJob answers POST /job/draft/discard with what is published. It cannot be taken back.
func (c *control) discardJob(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[DiscardJob](w, r)
	if err != nil {
		return err
	}
	job, err := c.Store.JobNamed(r.Context(), ask.Job)
	if err != nil {
		return err
	}
	if err := c.Store.DiscardDraft(r.Context(), engine.Ref{Kind: engine.KindJob, ID: job.ID}, ask.Seq); err != nil {
		return err
	}
	return answer(w, job.Head)
}
