package page

import (
	"net/http"
	"strings"

	"dogear/engine"
	"dogear/engine/exec"
	"dogear/handlers/web"
	"dogear/views/run"
)

// pauseRun answers POST /runs/:id/pause.
func (p *Pages) pauseRun(c web.Ctx) error {
	paused, err := p.Exec.Pause(c.Request().Context(), web.ID(c), user(c))
	if err != nil {
		return err
	}
	return web.Refresh(c, "/runs/"+string(paused.ID))
}

// goOnRun answers POST /runs/:id/go-on, of a run that is paused.
func (p *Pages) goOnRun(c web.Ctx) error {
	gone, err := p.Exec.GoOn(c.Request().Context(), web.ID(c), user(c))
	if err != nil {
		return err
	}
	return web.Refresh(c, "/runs/"+string(gone.ID))
}

// askResume answers GET /runs/:id/resume?node=…&do=… with a dialog that asks
// how a run that has ended goes on.
func (p *Pages) askResume(c web.Ctx) error {
	v, err := p.runView(c)
	if err != nil {
		return err
	}
	asked := run.NewResume(v, c.QueryParam("node"), c.QueryParam("do"))
	if asked.Names, err = p.Store.Names(c.Request().Context()); err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, run.ResumeDialog(asked))
}

// resumeNodes answers POST /runs/:id/resume/nodes with what becomes of each node if
// the run goes on as the dialog is filled in.
func (p *Pages) resumeNodes(c web.Ctx) error {
	asked, _, err := p.askedResume(c)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, run.ResumeNodes(asked))
}

// resumeRun answers POST /runs/:id/resume with the page of the run that goes
// on, or with the dialog as it was filled in and what is wrong.
func (p *Pages) resumeRun(c web.Ctx) error {
	asked, changed, err := p.askedResume(c)
	if err != nil {
		return err
	}
	next, err := p.resume(c, asked, changed)
	if err == nil {
		return web.Go(c, "/runs/"+string(next.ID))
	}
	if engine.CodeOf(err) == engine.Internal || !web.IsFragment(c) {
		return err
	}
	asked.Wrong = engine.MessageOf(err)
	return web.Render(c, http.StatusUnprocessableEntity, run.ResumeDialog(asked))
}

// askedResume reads the dialog as it was filled in, and the properties that it
// changes.
func (p *Pages) askedResume(c web.Ctx) (asked run.Resume, changed map[string]string, err error) {
	v, err := p.runView(c)
	if err != nil {
		return asked, nil, err
	}
	asked = run.NewResume(v, "", "")
	asked.Newest, asked.Why = c.FormValue("definition") == "newest", strings.TrimSpace(c.FormValue("why"))
	if asked.Newest {
		now, err := p.Store.Workflow(c.Request().Context(), v.Run.Object)
		if err != nil {
			return asked, nil, err
		}
		asked.Body = now.WorkflowBody
	}
	if asked.Names, err = p.Store.Names(c.Request().Context()); err != nil {
		return asked, nil, err
	}
	for _, ref := range asked.Nodes() {
		if deed := c.FormValue("do." + ref.String()); run.IsDeed(deed) {
			asked.Do[ref] = run.Deed(deed)
		}
	}
	form, err := c.FormParams()
	if err != nil {
		return asked, nil, engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	asked.Typed, changed = typedProperties(form)
	return asked, changed, nil
}

func (p *Pages) resume(c web.Ctx, asked run.Resume, changed map[string]string) (engine.Run, error) {
	again, marks := asked.Split()
	if len(again) == 0 && len(marks) == 0 {
		return engine.Run{}, engine.Errorf(engine.Invalid, "Every node is kept as it ended, so nothing would be done. Choose a node to do again or to mark.")
	}
	how := exec.Resume{Nodes: again, Marks: marks, Properties: changed, Newest: asked.Newest, Why: asked.Why, Token: tokenOf(c)}
	return p.Exec.Resume(c.Request().Context(), asked.View.Run.ID, how, user(c))
}
