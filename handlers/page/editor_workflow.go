package page

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/handlers/web"
	"dogear/views/editor"
	"dogear/views/form"
)

// saveWorkflow answers POST /workflows/:id/panel.
func (p *Pages) saveWorkflow(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	panel, err := p.panelOf(c, desk, "")
	if err != nil {
		return err
	}
	values, err := c.FormParams()
	if err != nil {
		return engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	ops, field, err := workflowOps(values)
	panel.Typed = form.TypedOf(values)
	if err != nil {
		panel.Errors = map[string]string{field: engine.MessageOf(err)}
		return web.Render(c, http.StatusUnprocessableEntity, editor.Details(panel))
	}
	return p.saveOps(c, panel, ops, "properties")
}

// workflowOps are the operations that make the workflow what the form says, or
// the field that is wrong.
func workflowOps(values url.Values) (ops []draft.Op, field string, err error) {
	description, was := strings.TrimSpace(values.Get("description")), values.Get("seen.description")
	if description != was {
		ops = append(ops, draft.Op{Kind: draft.SetWorkflow, Patch: &draft.Fields{Description: &description}, Prev: &draft.Fields{Description: &was}})
	}
	if ops, field, err = numbersOp(ops, values); err != nil {
		return nil, field, err
	}
	typed, err := editor.ReadProperties(values.Get("properties"))
	if err == nil {
		err = engine.CheckProperties(typed)
	}
	if err != nil {
		return nil, "properties", err
	}
	before, err := editor.ReadProperties(values.Get("seen.properties"))
	if err != nil {
		return nil, "properties", err
	}
	if patch, seen := propertiesPatch(before, typed); len(patch) > 0 {
		ops = append(ops, draft.Op{Kind: draft.SetProperties, Patch: &draft.Fields{Properties: patch}, Prev: &draft.Fields{Properties: seen}})
	}
	return ops, "", nil
}

// numbersOp changes the limits of a workflow that are numbers, where the form
// says something else than it was shown. field names what is wrong.
func numbersOp(ops []draft.Op, values url.Values) (_ []draft.Op, field string, err error) {
	patch, prev := draft.Fields{}, draft.Fields{}
	if n, was, changed, err := numberOf(values, "max_runs"); err != nil {
		return ops, "max_runs", err
	} else if changed {
		patch.MaxRuns, prev.MaxRuns = &n, &was
	}
	if n, was, changed, err := numberOf(values, "timeout"); err != nil {
		return ops, "timeout", err
	} else if changed {
		to, from := engine.Minutes(n), engine.Minutes(was)
		patch.Timeout, prev.Timeout = &to, &from
	}
	if patch.MaxRuns == nil && patch.Timeout == nil {
		return ops, "", nil
	}
	return append(ops, draft.Op{Kind: draft.SetWorkflow, Patch: &patch, Prev: &prev}), "", nil
}

// numberOf reads a number of the form, and what it was when the form was shown.
func numberOf(values url.Values, field string) (n, was int, changed bool, err error) {
	text := strings.TrimSpace(values.Get(field))
	if text == "" {
		text = "0"
	}
	n, err = strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, 0, false, engine.Errorf(engine.Invalid, "Write a number, 0 or more.")
	}
	was, err = strconv.Atoi(values.Get("seen." + field))
	return n, was, err == nil && n != was, nil // a form that was tampered with says nothing new
}

// propertiesPatch is what leads from before to after, and what of it the person
// saw.
func propertiesPatch(before, after map[string]string) (patch, seen map[string]*string) {
	patch, seen = map[string]*string{}, map[string]*string{}
	names := make([]string, 0, len(before)+len(after))
	for name := range before {
		names = append(names, name)
	}
	for name := range after {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		was, had := before[name]
		is, has := after[name]
		if had == has && was == is {
			continue
		}
		patch[name], seen[name] = nil, nil
		if has {
			patch[name] = &is
		}
		if had {
			seen[name] = &was
		}
	}
	return patch, seen
}
