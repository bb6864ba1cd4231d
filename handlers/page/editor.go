package page

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/handlers/web"
	"dogear/views/canvas"
	"dogear/views/editor"
	"dogear/views/layout"
)

// Drafts edits the drafts of workflows.
type Drafts interface {
	Draft(ctx context.Context, workflow engine.ID) (draft.Draft, error)
	Save(ctx context.Context, workflow engine.ID, by string, p draft.Patch) (draft.Saved, error)
	Since(ctx context.Context, workflow engine.ID, base int64) (draft.Saved, error)
	History(ctx context.Context, workflow engine.ID, by string) (draft.History, error)
	// BringBack makes a draft what an earlier version was.
	BringBack(ctx context.Context, drawn draft.Draft, earlier engine.WorkflowBody, by, client string) (seq int64, err error)
	// Discard does so together with the drafts of jobs and crawlers.
	Discard(ctx context.Context, drawn draft.Draft, earlier engine.WorkflowBody, with []draft.Seen, by, client string) (seq int64, err error)
}

// Publisher makes a draft the version that runs, with the drafts of the jobs
// and crawlers in with. A draft that is not at seq any more is a Conflict.
type Publisher interface {
	Publish(ctx context.Context, workflow engine.ID, seq int64, with []engine.Ref, by string) (engine.Workflow, error)
	// Switch publishes what runs with one trigger turned, whatever the draft holds.
	Switch(ctx context.Context, workflow engine.ID, turn draft.Turn, by string) (engine.Workflow, error)
}

// Schedules says what is wrong with a schedule, or not what it seems to be.
type Schedules interface {
	Check(text, zone string, now time.Time) error
	Warn(text string) string
}

func (p *Pages) editorRoutes() []web.Route {
	return []web.Route{
		get("/workflows/:id", p.editor),
		get("/workflows/:id/head", p.editorHead),
		get("/workflows/:id/list", p.editorList),
		get("/workflows/:id/palette", p.editorPalette),
		get("/workflows/:id/panel", p.workflowPanel),
		post("/workflows/:id/panel", p.saveWorkflow),
		get("/workflows/:id/cards/:card", p.cardPanel),
		post("/workflows/:id/cards/:card", p.saveCard),
		get("/workflows/:id/cards/:card/events", p.cardEvents),
		post("/workflows/:id/cards/:card/fails", p.cardFails),
		post("/workflows/:id/cards/:card/switch", p.switchCard),
		post("/workflows/:id/cards/:card/discard", p.discardEvents),
		post("/workflows/:id/cards/:card/secret", p.newSecret),
		get("/workflows/:id/publish", p.publishDialog),
		post("/workflows/:id/publish", p.publish),
		get("/api/ui/workflows/:id/draft", p.draftSince),
		{Method: http.MethodPatch, Path: "/api/ui/workflows/:id/draft", Handler: p.saveDraft},
		post("/api/ui/workflows/:id/blocks", p.newBlock),
		post("/api/ui/workflows/:id/names/:node", p.renameBlock),
	}
}

// editor answers GET /workflows/:id; with ?node=CARD that card is selected.
func (p *Pages) editor(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	history, err := p.Drafts.History(c.Request().Context(), desk.draft.Workflow, user(c))
	if err != nil {
		return err
	}
	state := desk.state(c, p)
	view := desk.canvas(p, state.Problems)
	view.History, view.Selected = history, desk.selected(c.QueryParam("node"))
	panel, err := p.panelOf(c, desk, view.Selected)
	if err != nil {
		return err
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Workflows",
		Crumbs:  []layout.Crumb{{Label: "Workflows", Href: "/workflows"}, {Label: desk.draft.Name}},
		Actions: editor.Head(state),
		Live:    []string{"draft:" + string(desk.draft.Workflow) + "@" + strconv.FormatInt(desk.draft.Seq, 10), "changed:workflows", "changed:bookmarks", "changed:events"},
		Scripts: []string{"canvas.js"}, Styles: []string{"canvas.css"},
		Wide: true,
	}, editor.Page(state, canvas.Palette(view.Base, desk.items("")), canvas.Canvas(view), editor.Details(panel)))
}

// editorHead answers GET /workflows/:id/head.
func (p *Pages) editorHead(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, editor.Status(desk.state(c, p)))
}

// editorList answers GET /workflows/:id/list with the graph as a table.
func (p *Pages) editorList(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, canvas.List(desk.canvas(p, desk.problems(p))))
}

// editorPalette answers GET /workflows/:id/palette?q= with the jobs and
// crawlers whose names, or ids, hold q.
func (p *Pages) editorPalette(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, canvas.Items(desk.items(c.QueryParam("q"))))
}

// desk is everything that the editor of one workflow needs to know.
type desk struct {
	draft     draft.Draft
	published engine.Workflow
	jobs      []engine.Draft[engine.JobBody]
	crawlers  []engine.Draft[engine.CrawlerBody]
	used      map[engine.Ref][]engine.Head
	schedules map[engine.ID]engine.Schedule
	places    map[string]int // of the pools
	names     draft.Names
	infos     canvas.Infos
	fails     map[engine.Ref][]engine.Fault // what the next run of a job of the draft would fail of
}

func (p *Pages) desk(c web.Ctx) (*desk, error) {
	ctx, id := c.Request().Context(), web.ID(c)
	d := &desk{names: draft.Names{}, infos: canvas.Infos{}}
	var err error
	if d.draft, err = p.Drafts.Draft(ctx, id); err != nil {
		return nil, err
	}
	if d.published, err = p.Store.Workflow(ctx, id); err != nil {
		return nil, err
	}
	if d.jobs, err = p.Store.JobDrafts(ctx); err != nil {
		return nil, err
	}
	if d.crawlers, err = p.Store.CrawlerDrafts(ctx); err != nil {
		return nil, err
	}
	if d.used, err = p.usedBy(ctx); err != nil {
		return nil, err
	}
	if d.schedules, err = p.Store.Schedules(ctx); err != nil {
		return nil, err
	}
	if d.places, err = p.Store.PoolPlaces(ctx); err != nil {
		return nil, err
	}
	for _, job := range d.jobs {
		d.know(engine.Ref{Kind: engine.KindJob, ID: job.ID}, editor.InfoOfJob(job))
	}
	for _, crawler := range d.crawlers {
		d.know(engine.Ref{Kind: engine.KindCrawler, ID: crawler.ID}, editor.InfoOfCrawler(crawler))
	}
	connections, err := p.Store.Connections(ctx)
	if err != nil {
		return nil, err
	}
	for i := range connections { // what has changed is said by their names
		d.names[engine.Ref{Kind: engine.KindConnection, ID: connections[i].ID}] = connections[i].Name
	}
	d.failing(ctx, p.Syntax)
	return d, nil
}

// failing looks at the texts of the jobs on the canvas.
func (d *desk) failing(ctx context.Context, syntax Syntax) {
	var refs []engine.Ref
	var bodies []*engine.JobBody
	drawn := d.draft.Body.Refs()
	for i := range d.jobs {
		if ref := (engine.Ref{Kind: engine.KindJob, ID: d.jobs[i].ID}); slices.Contains(drawn, ref) {
			refs, bodies = append(refs, ref), append(bodies, &d.jobs[i].Body)
		}
	}
	d.fails = map[engine.Ref][]engine.Fault{}
	for i, faults := range syntax.Faults(ctx, bodies) {
		d.fails[refs[i]] = faults
	}
}

func (d *desk) know(ref engine.Ref, info canvas.Info) {
	d.names[ref], d.infos[ref.String()] = info.Name, info
}

// state compares the draft with what is published.
func (d *desk) state(c web.Ctx, p *Pages) editor.State {
	s := editor.State{Draft: d.draft, CSRF: p.Sessions.Token(c), Problems: d.problems(p)}
	s.Changes = draft.Changes(&d.published.WorkflowBody, &d.draft.Body, d.names)
	refs := d.draft.Body.Refs()
	for _, job := range d.jobs {
		if ref := (engine.Ref{Kind: engine.KindJob, ID: job.ID}); job.Open && slices.Contains(refs, ref) {
			s.Parts = append(s.Parts, editor.Part{Ref: ref, Name: job.Name, Version: job.Version, Seq: job.Seq, Others: d.others(ref)})
		}
	}
	for _, crawler := range d.crawlers {
		if ref := (engine.Ref{Kind: engine.KindCrawler, ID: crawler.ID}); crawler.Open && slices.Contains(refs, ref) {
			s.Parts = append(s.Parts, editor.Part{Ref: ref, Name: crawler.Name, Version: crawler.Version, Seq: crawler.Seq, Others: d.others(ref)})
		}
	}
	return s
}

// others are the other workflows that run a job or crawler.
func (d *desk) others(ref engine.Ref) []engine.Head {
	return slices.DeleteFunc(slices.Clone(d.used[ref]), func(w engine.Head) bool { return w.ID == d.draft.Workflow })
}

func (d *desk) problems(p *Pages) []draft.Problem {
	uses, faults, paths := map[engine.Ref][]string{}, map[engine.Ref][]engine.Fault{}, map[engine.Ref][]string{}
	for _, job := range d.jobs {
		ref := engine.Ref{Kind: engine.KindJob, ID: job.ID}
		uses[ref], paths[ref] = engine.Undeclared(&job.Body, nil), pathsOf(&job.Body)
		if job.Open {
			faults[ref] = append(job.Body.Faults(), job.Body.PoolFaults(d.places)...)
		}
	}
	for _, crawler := range d.crawlers {
		ref := engine.Ref{Kind: engine.KindCrawler, ID: crawler.ID}
		for _, target := range crawler.Body.Targets {
			paths[ref] = append(paths[ref], target.Path)
		}
		if crawler.Open {
			faults[ref] = crawler.Body.Faults()
		}
	}
	return draft.Problems(&d.draft.Body, draft.Facts{
		Names:    d.names,
		Schedule: func(text, zone string) error { return p.Schedules.Check(text, zone, p.Now()) },
		Warn:     p.Schedules.Warn,
		Uses:     func(ref engine.Ref) []string { return uses[ref] },
		Faults:   func(ref engine.Ref) []engine.Fault { return faults[ref] },
		Fails:    func(ref engine.Ref) []engine.Fault { return d.fails[ref] },
		Outside:  func(ref engine.Ref) []string { return p.outside(paths[ref]) },

		OutsidePath: func(path string) []string { return p.outside([]string{path}) },
	})
}

// pathsOf are the folders and addresses that a job reads and writes.
func pathsOf(job *engine.JobBody) []string {
	var paths []string
	if job.Script != nil {
		paths = append(paths, job.Script.Address)
	}
	if job.SQL == nil {
		return paths
	}
	for _, s := range job.SQL.Sources {
		paths = append(paths, s.Path)
	}
	for _, s := range job.SQL.Sinks {
		paths = append(paths, s.Path)
	}
	return paths
}

// outside says which of paths this server may not use. One that is missing is
// a fault of its own.
func (p *Pages) outside(paths []string) []string {
	var found []string
	for _, path := range paths {
		if path == "" {
			continue
		}
		if err := p.Places.MayUse(path); engine.CodeOf(err) == engine.Forbidden {
			found = append(found, engine.MessageOf(err))
		}
	}
	return found
}

// comes says when a trigger of the draft starts its next run: by its row where
// it is scheduled as it is published, else when it would.
func (d *desk) comes(p *Pages, t *engine.Trigger) engine.Coming {
	row, ok := d.schedules[t.ID]
	if ok && row.Spec == t.Schedule && row.Zone == t.Zone {
		return t.Comes(&row, p.Now(), p.Next)
	}
	return engine.Coming{At: p.Next(*t, p.Now()), Paused: t.Disabled}
}

// canvas draws the draft.
func (d *desk) canvas(p *Pages, problems []draft.Problem) canvas.View {
	view := canvas.New(canvas.Input{
		Mode: canvas.Edit, Body: &d.draft.Body, Infos: d.onCanvas(), Problems: problems,
		NextStart: func(t *engine.Trigger) string {
			return comesWords(d.comes(p, t), p.Now())
		},
	})
	view.Workflow, view.Name, view.Seq = d.draft.Workflow, d.draft.Name, d.draft.Seq
	view.Base = "/workflows/" + string(d.draft.Workflow)
	view.Panel = view.Base + "/cards/"
	return view
}

// onCanvas are the infos of the jobs and crawlers that the draft names, and
// what its schedules and event triggers say.
func (d *desk) onCanvas() canvas.Infos {
	infos := canvas.Infos{}
	for _, ref := range d.draft.Body.Refs() {
		if info, ok := d.infos[ref.String()]; ok {
			infos[ref.String()] = info
		}
	}
	for i := range d.draft.Body.Triggers {
		t := &d.draft.Body.Triggers[i]
		if info := d.infoOfTrigger(t); info.Name != "" {
			infos[string(t.ID)] = info
		}
	}
	return infos
}

// infoOfTrigger is what the browser cannot say of a trigger by itself; empty
// where it can.
func (d *desk) infoOfTrigger(t *engine.Trigger) canvas.Info {
	if t.Type == engine.OnDemand || t.Type == engine.Conditional && !t.Disabled {
		return canvas.Info{}
	}
	enabled := *t // that one is not, the browser knows
	enabled.Disabled = false
	return canvas.Info{Name: t.Name, Sub: canvas.TriggerSub(&enabled), Icon: canvas.TriggerIcon(t.Type), Fires: d.fires(t)}
}

// fires is the published version in which t is turned on; 0 for none.
func (d *desk) fires(t *engine.Trigger) int {
	if runs := d.published.Trigger(t.ID); runs == nil || runs.Disabled {
		return 0
	}
	return d.published.Version
}

// selected is the card that an address names, or none where it is not there.
func (d *desk) selected(card string) string {
	if ref, err := engine.ParseRef(card); err == nil && slices.Contains(d.draft.Body.Refs(), ref) {
		return card
	}
	if d.draft.Body.Trigger(engine.ID(card)) != nil {
		return card
	}
	return ""
}

// items are the jobs and crawlers whose names hold text, or whose id it is, by name.
// Space around text was typed by chance.
func (d *desk) items(text string) []canvas.Item {
	text = strings.ToLower(strings.TrimSpace(text))
	taken := d.draft.Body.Refs()
	var items []canvas.Item
	for ref, name := range d.names {
		if ref.Kind == engine.KindConnection {
			continue
		}
		if strings.Contains(strings.ToLower(name), text) || strings.ToLower(string(ref.ID)) == text {
			items = append(items, canvas.Item{Card: ref.String(), Info: d.infos[ref.String()], Taken: slices.Contains(taken, ref)})
		}
	}
	slices.SortFunc(items, func(a, b canvas.Item) int {
		return strings.Compare(strings.ToLower(a.Info.Name)+a.Card, strings.ToLower(b.Info.Name)+b.Card)
	})
	return items
}
