package page

import (
	"context"
	"net/http"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/handlers/web"
	"dogear/views/run"
)

// runAgain answers POST /runs/:id/again with a new run of the same. It says first what
// that does, and offers the properties filled in as they were.
func (p *Pages) runAgain(c web.Ctx) error {
	v, err := p.runView(c)
	if err != nil {
		return err
	}
	asked, err := p.askedAgain(c.Request().Context(), v)
	if err != nil {
		return err
	}
	if c.FormValue("sure") != "yes" && web.IsFragment(c) {
		web.ToBody(c)
		return web.Render(c, http.StatusOK, run.AgainDialog(asked))
	}
	form, err := c.FormParams()
	if err != nil {
		return engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	typed, changed := typedProperties(form)
	started, err := p.again(c, &v.Run, changed)
	if err == nil {
		return web.Go(c, "/runs/"+string(started.ID))
	}
	if engine.CodeOf(err) == engine.Internal || !web.IsFragment(c) || len(typed) == 0 {
		return err
	}
	asked.Typed, asked.Wrong = typed, engine.MessageOf(err)
	return web.Render(c, http.StatusUnprocessableEntity, run.AgainDialog(asked))
}

// askedAgain is the question whether the work of a run shall be done once more, with what
// becomes of each of its jobs and crawlers as they are published now.
func (p *Pages) askedAgain(ctx context.Context, v run.View) (run.OnceMore, error) {
	asked := run.OnceMore{PropertiesForm: run.PropertiesForm{View: v}}
	refs := []engine.Ref{{Kind: engine.Kind(v.Run.Kind), ID: v.Run.Object}}
	if v.Run.Kind == engine.RunWorkflow {
		now, err := p.Store.Workflow(ctx, v.Run.Object)
		if engine.CodeOf(err) == engine.NotFound {
			return asked, nil // the start says so
		}
		if err != nil {
			return asked, err
		}
		refs, asked.Version = now.Refs(), now.Version
	}
	jobs, err := p.Store.Jobs(ctx)
	if err != nil {
		return asked, err
	}
	names, err := p.Store.Names(ctx)
	for _, ref := range refs {
		if ref.Kind == engine.KindCrawler {
			asked.Works = append(asked.Works, run.OnceMoreWork{Name: names.Of(ref), Does: "Looks through its folders for tables again."})
		}
		for i := range jobs {
			if ref.Kind == engine.KindJob && jobs[i].ID == ref.ID {
				asked.Works = append(asked.Works, run.OnceMoreOfJob(jobs[i].Name, &jobs[i].JobBody, v.Run.Pick))
			}
		}
	}
	return asked, err
}

// again starts old once more, with changed laid over its properties.
func (p *Pages) again(c web.Ctx, old *engine.Run, changed map[string]string) (engine.Run, error) {
	given, err := arrival.Again(old.Properties, changed)
	if err != nil {
		return engine.Run{}, err
	}
	ordered := order(c, old.Kind, old.Object, given)
	ordered.Pick, ordered.Again = old.Pick, old.ID
	if ordered.Trigger, err = p.sameStart(c.Request().Context(), old); err != nil {
		return engine.Run{}, err
	}
	return p.Exec.Start(c.Request().Context(), ordered)
}

// sameStart is the trigger that started old, "" where the workflow has it no more.
func (p *Pages) sameStart(ctx context.Context, old *engine.Run) (engine.ID, error) {
	if old.Kind != engine.RunWorkflow {
		return "", nil
	}
	now, err := p.Store.Workflow(ctx, old.Object)
	return now.StartLike(old.Trigger), err
}

// otherwise are the properties that a run has not as the one that it does once more, by
// name; nil where it does none, or one that is kept no more.
func (p *Pages) otherwise(ctx context.Context, v *run.View) ([]string, error) {
	if v.Run.Repeats == "" {
		return nil, nil
	}
	old, err := p.Store.Run(ctx, v.Run.Repeats)
	if engine.CodeOf(err) == engine.NotFound {
		return nil, nil
	}
	return v.Differs(old.Properties), err
}
