package page

import (
	"strconv"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/handlers/web"
	"dogear/views/editor"
)

// versionsAtOnce is how many versions a page shows.
const versionsAtOnce = 20

// workflowVersions answers GET /workflows/:id/versions?before=N with the published
// versions below N, newest first, each with what it changed.
func (p *Pages) workflowVersions(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	v := editor.Versions{State: desk.state(c, p)}
	v.List, v.Older, err = draft.Versions(c.Request().Context(), p.Store, desk.draft.Workflow, desk.names, int(number(c, "before", 0)), versionsAtOnce)
	if err != nil {
		return err
	}
	return p.showTab(c, desk, editor.TabVersions, editor.VersionList(v))
}

// bringBack answers POST /workflows/:id/versions with the editor, whose draft is
// now what an earlier version was. It is one act, which an undo takes back.
func (p *Pages) bringBack(c web.Ctx) error {
	ctx, id := c.Request().Context(), web.ID(c)
	n, err := strconv.Atoi(c.FormValue("version"))
	if err != nil {
		return engine.Errorf(engine.Invalid, "The form does not say which version it is about.")
	}
	earlier, err := p.Store.WorkflowVersion(ctx, id, n)
	if err != nil {
		return err
	}
	drawn, err := p.Drafts.Draft(ctx, id)
	if err != nil {
		return err
	}
	if _, err := p.Drafts.BringBack(ctx, drawn, earlier.WorkflowBody, user(c), "versions"); err != nil {
		return err
	}
	return web.Go(c, "/workflows/"+string(id))
}
