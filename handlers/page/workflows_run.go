package page

import (
	"net/http"

	"dogear/engine"
	"dogear/engine/exec"
	"dogear/handlers/web"
	"dogear/views/workflow"
)

// askRun answers GET /workflows/:id/run with a dialog that asks before a run
// starts, and for its properties.
func (p *Pages) askRun(c web.Ctx) error {
	form, err := p.startForm(c)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, workflow.StartDialog(form))
}

// startForm is what a person should know before a run of a workflow starts.
func (p *Pages) startForm(c web.Ctx) (workflow.StartForm, error) {
	ctx := c.Request().Context()
	form := workflow.StartForm{Now: p.Now(), CSRF: p.Sessions.Token(c)}
	var err error
	if form.Workflow, err = p.Store.Workflow(ctx, web.ID(c)); err != nil {
		return form, err
	}
	if _, err := form.Workflow.StartTrigger(""); err != nil {
		return form, err
	}
	form.Chosen = engine.ID(c.FormValue("trigger"))
	for _, t := range form.Workflow.StartTriggers() {
		start := workflow.Start{ID: t.ID, Name: t.Name}
		for _, action := range t.Actions {
			name, err := p.nameOf(ctx, action.Ref.ID)
			if err != nil {
				return form, err
			}
			start.First = append(start.First, name)
		}
		form.Starts = append(form.Starts, start)
	}
	form.Open, err = p.Store.Runs(ctx, engine.RunFilter{Object: form.Workflow.ID, Open: true, Limit: 1})
	return form, err
}

// runWorkflow answers POST /workflows/:id/run. While a run of the workflow is
// under way it asks first, for a second one is rarely what somebody wants; so it
// does where the workflow has more than one start.
func (p *Pages) runWorkflow(c web.Ctx) error {
	wanted := order(c, engine.RunWorkflow, web.ID(c), properties(c))
	wanted.Trigger = engine.ID(c.FormValue("trigger"))
	before, err := p.askedBefore(c, wanted)
	if err != nil {
		return err
	}
	if sure := c.FormValue("sure") == "yes" || !web.IsFragment(c); !sure && !before {
		form, err := p.startForm(c)
		if err != nil {
			return err
		}
		if len(form.Open) > 0 || len(form.Starts) > 1 {
			web.ToBody(c)
			return web.Render(c, http.StatusOK, workflow.StartDialog(form))
		}
	}
	run, err := p.Exec.Start(c.Request().Context(), wanted)
	if err != nil {
		return err
	}
	return web.Go(c, "/runs/"+string(run.ID))
}

// askedBefore reports whether the token of o has started a run already: then
// nothing starts, and the answer is that run.
func (p *Pages) askedBefore(c web.Ctx, o exec.Order) (bool, error) {
	if o.Token == "" {
		return false, nil
	}
	_, _, err := p.Store.StartedBy(c.Request().Context(), o.Object, o.Token, p.Now().Add(-exec.TokenWindow))
	if engine.CodeOf(err) == engine.NotFound {
		return false, nil
	}
	return err == nil, err
}
