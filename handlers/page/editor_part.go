package page

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/handlers/web"
	"dogear/views/crawler"
	"dogear/views/editor"
	"dogear/views/job"
)

func (p *Pages) saveJobCard(c web.Ctx, panel editor.Panel, values url.Values) error {
	form := job.ReadForm(values, panel.JobState)
	if err := p.refuse(c.Request().Context(), &form); err != nil {
		return err
	}
	form.Fails = p.fails(c.Request().Context(), &form.Body)
	ops, wrong := startOps(panel.Starts, values)
	maps.Copy(form.Errors, wrong)
	panel.Job, panel.Errors = &form, form.Errors
	if len(form.Errors) > 0 {
		return web.Render(c, http.StatusUnprocessableEntity, editor.Details(panel))
	}
	// What is refused here leaves the job as it was, too.
	err := p.apply(c, panel, ops)
	if refusal, ok := errors.AsType[*draft.Refusal](err); ok {
		panel.Errors = map[string]string{"start": refusal.Message}
		seeStarts(panel.Starts)
		return web.Render(c, statusOf(refusal), editor.Details(panel))
	}
	if err != nil {
		return err
	}
	ctx, made := c.Request().Context(), panel.JobState
	err = p.rename(ctx, engine.KindJob, made.ID, made.Name, form.Name)
	if taken(err, form.Errors) {
		for i := range panel.Starts {
			panel.Starts[i].Seen = panel.Starts[i].Typed // applied above
		}
		return web.Render(c, http.StatusUnprocessableEntity, editor.Details(panel))
	}
	if err != nil {
		return err
	}
	if _, err := p.Store.SaveJobDraft(ctx, made.ID, form.Body, form.Base, user(c), p.Now()); err != nil {
		return err
	}
	return p.answerPanel(c, panel.Card)
}

// cardFails answers POST /workflows/:id/cards/:card/fails with what a run of the job
// would fail of as it is typed in the panel. With read=yes the columns of the sources
// that its draft has are looked up before. Nothing is saved.
func (p *Pages) cardFails(c web.Ctx) error {
	ref, err := engine.ParseRef(c.Param("card"))
	if err != nil || ref.Kind != engine.KindJob {
		return engine.Errorf(engine.NotFound, "There is no such job.")
	}
	ctx := c.Request().Context()
	made, err := p.Store.JobDraft(ctx, ref.ID)
	if err != nil {
		return err
	}
	values, err := c.FormParams()
	if err != nil {
		return engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	if values.Get("read") == "yes" {
		p.read(ctx, []*engine.JobBody{&made.Body})
	}
	form := job.ReadForm(values, made)
	form.Fails = p.fails(ctx, &form.Body)
	return web.Render(c, http.StatusOK, editor.FailingNow(editor.Panel{Job: &form}))
}

func (p *Pages) saveCrawlerCard(c web.Ctx, panel editor.Panel, values url.Values) error {
	ref, err := engine.ParseRef(panel.Card)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	made, err := p.Store.CrawlerDraft(ctx, ref.ID)
	if err != nil {
		return err
	}
	form := crawler.ReadForm(values, made)
	panel.Crawler, panel.Errors = &form, form.Errors
	if len(form.Errors) > 0 {
		return web.Render(c, http.StatusUnprocessableEntity, editor.Details(panel))
	}
	err = p.rename(ctx, engine.KindCrawler, made.ID, made.Name, form.Name)
	if taken(err, form.Errors) {
		return web.Render(c, http.StatusUnprocessableEntity, editor.Details(panel))
	}
	if err != nil {
		return err
	}
	if _, err := p.Store.SaveCrawlerDraft(ctx, made.ID, form.Body, form.Base, user(c), p.Now()); err != nil {
		return err
	}
	return p.answerPanel(c, panel.Card)
}

// rename gives an object another name. Its cards, runs and bookmarks go by its
// id and stay.
func (p *Pages) rename(ctx context.Context, kind engine.Kind, id engine.ID, from, to string) error {
	if from == to {
		return nil
	}
	return p.Store.RenameObject(ctx, kind, id, to)
}

// taken reports whether a new name was refused because another has it, and says
// so at the field of the name.
func taken(err error, wrong map[string]string) bool {
	if engine.CodeOf(err) != engine.Conflict {
		return false
	}
	wrong["name"] = engine.MessageOf(err)
	return true
}
