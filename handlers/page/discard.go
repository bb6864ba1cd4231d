package page

import (
	"context"
	"net/http"
	"strconv"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/handlers/web"
	"dogear/views/editor"
)

func (p *Pages) discardRoutes() []web.Route {
	return []web.Route{
		get("/workflows/:id/discard", p.askDiscard),
		post("/workflows/:id/discard", p.discard),
		get("/jobs/:id/discard", p.askDiscardPart(engine.KindJob)),
		post("/jobs/:id/discard", p.discardPart(engine.KindJob)),
		get("/crawlers/:id/discard", p.askDiscardPart(engine.KindCrawler)),
		post("/crawlers/:id/discard", p.discardPart(engine.KindCrawler)),
	}
}

// askDiscard answers GET /workflows/:id/discard with what the draft of a workflow, and
// those of its jobs and crawlers, would lose.
func (p *Pages) askDiscard(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	state := desk.state(c, p)
	ask := editor.Discarding{
		CSRF: state.CSRF, Ref: engine.Ref{Kind: engine.KindWorkflow, ID: state.Draft.Workflow}, Name: state.Draft.Name,
		Version: state.Draft.Version, Seq: state.Draft.Seq, Moved: state.Draft.Open, Changes: state.Changes,
	}
	for _, part := range state.Parts {
		if part.Version == 0 {
			continue // there is nothing that it could become again
		}
		if err := p.compare(c.Request().Context(), desk, &part); err != nil {
			return err
		}
		ask.Parts = append(ask.Parts, part)
	}
	return web.Render(c, http.StatusOK, editor.Discard(ask))
}

// discard answers POST /workflows/:id/discard with the editor, whose draft is what is
// published; so are those of the jobs and crawlers in with. Drafts that changed since
// the person saw them are refused, and then none is discarded.
func (p *Pages) discard(c web.Ctx) error {
	ctx := c.Request().Context()
	runs, err := p.Store.Workflow(ctx, web.ID(c))
	if err != nil {
		return err
	}
	if runs.Version == 0 {
		return engine.Errorf(engine.Invalid, "%s was never published, so there is nothing to go back to. Delete it instead.", runs.Name)
	}
	form, err := c.FormParams()
	if err != nil {
		return engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	with, err := parseRefs(form["with"])
	if err != nil {
		return err
	}
	seq, err := seqOf(form.Get("seq"))
	if err != nil {
		return err
	}
	parts := make([]draft.Seen, len(with))
	for i, ref := range with {
		parts[i].Ref = ref
		if parts[i].Seq, err = seqOf(form.Get("seq." + ref.String())); err != nil {
			return err
		}
	}
	if _, err := p.Drafts.Discard(ctx, draft.Draft{Workflow: runs.ID, Seq: seq}, runs.WorkflowBody, parts, user(c), "versions"); err != nil {
		return err
	}
	return web.Go(c, "/workflows/"+string(runs.ID))
}

// askDiscardPart answers GET /jobs/:id/discard and /crawlers/:id/discard with what the
// draft would lose.
func (p *Pages) askDiscardPart(kind engine.Kind) web.Handler {
	return func(c web.Ctx) error {
		part, err := p.changed(c.Request().Context(), engine.Ref{Kind: kind, ID: web.ID(c)})
		if err != nil {
			return err
		}
		return web.Render(c, http.StatusOK, editor.Discard(editor.Discarding{
			CSRF: p.Sessions.Token(c), Ref: part.Ref, Name: part.Name, Version: part.Version, Seq: part.Seq, Fields: part.Fields,
		}))
	}
}

// changed is how the draft of a job or crawler differs from what is published.
func (p *Pages) changed(ctx context.Context, ref engine.Ref) (editor.Part, error) {
	part := editor.Part{Ref: ref}
	connections, err := p.Store.Connections(ctx)
	if err != nil {
		return part, err
	}
	names := draft.Names{}
	for i := range connections {
		names[engine.Ref{Kind: engine.KindConnection, ID: connections[i].ID}] = connections[i].Name
	}
	if ref.Kind == engine.KindCrawler {
		drawn, err := p.Store.CrawlerDraft(ctx, ref.ID)
		if err != nil {
			return part, err
		}
		runs, err := p.Store.Crawler(ctx, ref.ID)
		part.Name, part.Version, part.Seq = drawn.Name, drawn.Version, drawn.Seq
		part.Fields = draft.CrawlerFields(runs.CrawlerBody, drawn.Body, names)
		return part, err
	}
	drawn, err := p.Store.JobDraft(ctx, ref.ID)
	if err != nil {
		return part, err
	}
	runs, err := p.Store.Job(ctx, ref.ID)
	part.Name, part.Version, part.Seq = drawn.Name, drawn.Version, drawn.Seq
	part.Fields = draft.JobFields(runs.JobBody, drawn.Body, names)
	return part, err
}

// discardPart answers POST /jobs/:id/discard and /crawlers/:id/discard with the page of
// the job or crawler, whose draft is what is published.
func (p *Pages) discardPart(kind engine.Kind) web.Handler {
	return func(c web.Ctx) error {
		seq, err := seqOf(c.FormValue("seq"))
		if err != nil {
			return err
		}
		if err := p.Store.DiscardDraft(c.Request().Context(), engine.Ref{Kind: kind, ID: web.ID(c)}, seq); err != nil {
			return err
		}
		return web.Go(c, "/"+string(kind)+"s/"+string(web.ID(c)))
	}
}

// seqOf reads up to which change a form has seen a draft.
func seqOf(text string) (int64, error) {
	seq, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, engine.Errorf(engine.Invalid, "The form does not say which draft it is about.")
	}
	return seq, nil
}
