package page

import (
	"net/http"
	"strconv"

	"github.com/a-h/templ"

	"dogear/handlers/web"
	"dogear/views/editor"
	"dogear/views/layout"
	"dogear/views/run"
)

// workflowRuns answers GET /workflows/:id/runs with the runs of that workflow;
// htmx gets the table alone.
func (p *Pages) workflowRuns(c web.Ctx) error {
	list, err := p.runList(c, web.ID(c))
	if err != nil {
		return err
	}
	if web.IsFragment(c) {
		return web.Render(c, http.StatusOK, run.Table(list))
	}
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	return p.showTab(c, desk, editor.TabRuns, run.Table(list))
}

// showTab answers with a tab of a workflow, below the head that its editor has.
func (p *Pages) showTab(c web.Ctx, desk *desk, tab editor.Tab, content templ.Component) error {
	state, id := desk.state(c, p), string(desk.draft.Workflow)
	return p.show(c, http.StatusOK, layout.Page{
		Title:   desk.draft.Name + " · " + string(tab),
		Section: "Workflows",
		Crumbs:  []layout.Crumb{{Label: "Workflows", Href: "/workflows"}, {Label: desk.draft.Name}},
		Actions: editor.Status(state),
		Live:    []string{"draft:" + id + "@" + strconv.FormatInt(desk.draft.Seq, 10), "changed:workflows", "changed:runs"},
		Wide:    true,
	}, editor.Under(state, tab, content))
}
