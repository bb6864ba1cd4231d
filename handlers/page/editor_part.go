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
