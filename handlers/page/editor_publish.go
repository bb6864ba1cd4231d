package page

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/handlers/web"
	"dogear/views/editor"
)

// publishDialog answers GET /workflows/:id/publish with everything that a
// publish would change, in this workflow and in others.
func (p *Pages) publishDialog(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	p.readParts(c.Request().Context(), desk)
	state := desk.state(c, p)
	for i := range state.Parts {
		if err := p.compare(c.Request().Context(), desk, &state.Parts[i]); err != nil {
			return err
		}
	}
	here, err := p.Store.Workflows(c.Request().Context())
	if err != nil {
		return err
	}
	state.Twice = draft.Doubled(&desk.published.WorkflowBody, &desk.draft.Body, desk.draft.Workflow, here, desk.names)
	return web.Render(c, http.StatusOK, editor.Publish(state, then(c.QueryParam("then")), c.QueryParam("typed") != ""))
}

// readParts reads the sources of the jobs that a publish changes, so that a misspelt
// column is seen before and not by the run.
func (p *Pages) readParts(ctx context.Context, d *desk) {
	var changed []*engine.JobBody
	drawn := d.draft.Body.Refs()
	for i := range d.jobs {
		if d.jobs[i].Open && slices.Contains(drawn, engine.Ref{Kind: engine.KindJob, ID: d.jobs[i].ID}) {
			changed = append(changed, &d.jobs[i].Body)
		}
	}
	p.read(ctx, changed)
	d.failing(ctx, p.Syntax)
}

// compare says which fields of a job or crawler a publish changes. Of a first
// version all are new, and none is listed.
func (p *Pages) compare(ctx context.Context, d *desk, part *editor.Part) error {
	if part.Version == 0 {
		return nil
	}
	if part.Ref.Kind == engine.KindCrawler {
		runs, err := p.Store.Crawler(ctx, part.Ref.ID)
		for i := range d.crawlers {
			if d.crawlers[i].ID == part.Ref.ID {
				part.Fields = draft.CrawlerFields(runs.CrawlerBody, d.crawlers[i].Body, d.names)
			}
		}
		return err
	}
	runs, err := p.Store.Job(ctx, part.Ref.ID)
	for i := range d.jobs {
		if d.jobs[i].ID == part.Ref.ID {
			part.Fields = draft.JobFields(runs.JobBody, d.jobs[i].Body, d.names)
		}
	}
	return err
}

// publish answers POST /workflows/:id/publish. What is published is what the
// person saw: a draft that changed since then is refused.
func (p *Pages) publish(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	if problems := desk.problems(p); draft.Hard(problems) {
		return engine.Errorf(engine.Invalid, "This cannot be published yet: %s", problems[0].Message)
	}
	form, err := c.FormParams()
	if err != nil {
		return engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	seq, err := strconv.ParseInt(form.Get("seq"), 10, 64)
	if err != nil {
		return engine.Errorf(engine.Invalid, "The form does not say which draft it is about.")
	}
	with, err := parseRefs(form["with"])
	if err != nil {
		return err
	}
	ctx, id := c.Request().Context(), desk.draft.Workflow
	if _, err := p.Publisher.Publish(ctx, id, seq, with, user(c)); err != nil {
		return err
	}
	if then(form.Get("then")) != "run" {
		return web.Refresh(c, "/workflows/"+string(id))
	}
	wanted := order(c, engine.RunWorkflow, id, nil)
	wanted.Trigger = engine.ID(form.Get("trigger"))
	run, err := p.Exec.Start(ctx, wanted)
	if err != nil {
		return err
	}
	return web.Go(c, "/runs/"+string(run.ID))
}

// then is what follows a publish: "run" or nothing.
func then(text string) string {
	if text == "run" {
		return text
	}
	return ""
}

func parseRefs(texts []string) ([]engine.Ref, error) {
	var refs []engine.Ref
	for _, text := range texts {
		ref, err := engine.ParseRef(text)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}
