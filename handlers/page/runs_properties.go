package page

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/run"
)

// askProperties answers GET /runs/:id/properties with a dialog that asks for new
// values of the properties of a run.
func (p *Pages) askProperties(c web.Ctx) error {
	v, err := p.runView(c)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, run.PropertiesDialog(run.PropertiesForm{View: v}))
}

// setProperties answers POST /runs/:id/properties. It changes what the person
// changed, so that what somebody else has set meanwhile stays.
func (p *Pages) setProperties(c web.Ctx) error {
	form, err := c.FormParams()
	if err != nil {
		return engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	typed, change := map[string]string{}, map[string]string{}
	for field := range form {
		name, ok := strings.CutPrefix(field, "property.")
		if !ok {
			continue
		}
		typed[name] = lines(form.Get(field))
		if typed[name] != lines(form.Get("seen."+name)) {
			change[name] = typed[name]
		}
	}
	changed, err := p.Exec.SetProperties(c.Request().Context(), web.ID(c), change, user(c))
	if err == nil {
		return web.Refresh(c, "/runs/"+string(changed.ID))
	}
	if engine.CodeOf(err) == engine.Internal || !web.IsFragment(c) {
		return err
	}
	v, viewErr := p.runView(c)
	if viewErr != nil {
		return viewErr
	}
	return web.Render(c, http.StatusUnprocessableEntity, run.PropertiesDialog(run.PropertiesForm{View: v, Typed: typed, Wrong: engine.MessageOf(err)}))
}

// lines is what was typed with line breaks as everything but a form has them.
func lines(typed string) string { return strings.ReplaceAll(typed, "\r\n", "\n") }

// told finds out what the attempt of node was told of the properties of its run,
// where those have been changed at all.
func (p *Pages) told(ctx context.Context, node *run.Node) error {
	if len(node.View.Properties) == 0 || node.Attempt.Attempt == 0 || node.Attempt.Copied != "" {
		return nil
	}
	var err error
	node.Told, err = p.Store.PropertiesOf(ctx, node.Attempt.Key())
	node.Outdated = err == nil && !maps.Equal(node.Told, node.View.Run.Properties)
	return err
}
