package page

import (
	"context"
	"maps"
	"net/http"
	"net/url"
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
	typed, change := typedProperties(form)
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

// typedProperties are the form's fields "property.NAME", and those of them that
// are not as the form showed them; a field that was shown with nothing counts.
func typedProperties(form url.Values) (typed, changed map[string]string) {
	typed, changed = map[string]string{}, map[string]string{}
	for field := range form {
		name, ok := strings.CutPrefix(field, "property.")
		if !ok {
			continue
		}
		typed[name] = lines(form.Get(field))
		if seen := "seen." + name; !form.Has(seen) || typed[name] != lines(form.Get(seen)) {
			changed[name] = typed[name]
		}
	}
	return typed, changed
}

// properties are those that the form gives a run.
func properties(c web.Ctx) map[string]string {
	form, err := c.FormParams()
	if err != nil {
		return nil // the body limit or a broken form has answered already
	}
	_, changed := typedProperties(form)
	return changed
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
