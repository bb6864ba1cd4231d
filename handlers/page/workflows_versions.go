package page

import (
	"context"
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
	list, older, err := p.versionsOf(c.Request().Context(), desk, int(number(c, "before", 0)))
	if err != nil {
		return err
	}
	return p.showTab(c, desk, editor.TabVersions, editor.VersionList(editor.Versions{State: desk.state(c, p), List: list, Older: older}))
}

// versionsOf reads a page of versions, and where the next one begins; 0 for none.
func (p *Pages) versionsOf(ctx context.Context, d *desk, before int) (list []editor.Version, older int, err error) {
	heads, err := p.Store.Versions(ctx, d.draft.Workflow)
	if err != nil {
		return nil, 0, err
	}
	for len(heads) > 0 && before > 0 && heads[0].Version >= before {
		heads = heads[1:]
	}
	var after *editor.Version // the one that is compared with what is read next
	for _, head := range heads {
		w, err := p.Store.WorkflowVersion(ctx, head.ID, head.Version)
		if err != nil {
			return nil, 0, err
		}
		if after != nil {
			after.First, after.Changes = false, draft.Changes(&w.WorkflowBody, &after.Body, d.names)
		}
		if len(list) == versionsAtOnce {
			return list, list[versionsAtOnce-1].Version, nil
		}
		list = append(list, editor.Version{Head: head, Body: w.WorkflowBody, First: true})
		after = &list[len(list)-1]
	}
	return list, 0, nil
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
	if delta := draft.Between(drawn.Body, earlier.WorkflowBody); !delta.Empty() {
		op := draft.Op{ID: string(engine.NewID(p.Now())), Kind: draft.Earlier, Delta: &delta}
		if _, err := p.Drafts.Save(ctx, id, user(c), draft.Patch{Base: drawn.Seq, Client: "versions", Ops: []draft.Op{op}}); err != nil {
			return err
		}
	}
	return web.Go(c, "/workflows/"+string(id))
}
