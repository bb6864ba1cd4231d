package page

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/graph"
	"dogear/handlers/web"
	"dogear/views/canvas"
	"dogear/views/layout"
	"dogear/views/run"
	"dogear/views/show"
)

// runStore is what the screens of runs need.
type runStore interface {
	Runs(ctx context.Context, f engine.RunFilter) ([]engine.Run, error)
	Run(ctx context.Context, id engine.ID) (engine.Run, error)
	// Draft is where the cards of a workflow stand by now.
	Draft(ctx context.Context, workflow engine.ID) (draft.Draft, error)
	NodeRuns(ctx context.Context, run engine.ID) ([]engine.NodeRun, error)
	// Names is how jobs and crawlers are called now.
	Names(ctx context.Context) (draft.Names, error)
	// Claims says when each attempt of a run was taken up.
	Claims(ctx context.Context, run engine.ID) (map[engine.NodeKey]time.Time, error)
	TriggerRuns(ctx context.Context, run engine.ID) ([]engine.TriggerRun, error)
	// Twins finds the runs that ask for the same as one shortly before.
	Twins(ctx context.Context, runs []engine.Run) (map[engine.ID]engine.Twin, error)
	// Waits says what nodes of open runs wait for.
	Waits(ctx context.Context, runs []engine.Run) (map[engine.ID]string, error)
	// Fallen says which node each of runs failed of.
	Fallen(ctx context.Context, runs []engine.Run) (map[engine.ID]engine.Fallen, error)
	// PropertySets lists what the properties of a run were, if they were changed.
	PropertySets(ctx context.Context, run engine.ID) ([]engine.PropertySet, error)
	// PropertiesOf is what an attempt was told of the properties of its run.
	PropertiesOf(ctx context.Context, key engine.NodeKey) (map[string]string, error)
	Batch(ctx context.Context, id engine.ID) (engine.Batch, error)
	MoveOf(ctx context.Context, run, bookmark engine.ID) (*engine.BookmarkMove, error)
}

// Logs reads what attempts have written.
type Logs interface {
	// Log returns up to limit bytes of an attempt's log from offset, and how
	// long the log is now. An attempt without a log has an empty one.
	Log(ctx context.Context, key engine.NodeKey, offset, limit int64) (text []byte, size int64, err error)
}

// pageLen is how many runs a list shows at once.
const pageLen = 50

func (p *Pages) runRoutes() []web.Route {
	return []web.Route{
		get("/runs", p.runs),
		get("/runs/:id", p.run),
		get("/runs/:id/head", p.runHead),
		get("/runs/:id/timeline", p.runTimeline),
		get("/runs/:id/list", p.runGraphList),
		get("/runs/:id/nodes/:card", p.runNode),
		get("/runs/:id/nodes/:card/log", p.runLog),
		get("/runs/:id/nodes/:card/log/download", p.runLogDownload),
		get("/runs/:id/nodes/:card/inputs", p.runInputs),
		get("/runs/:id/nodes/:card/sample", p.runSample),
		post("/runs/:id/nodes/:card/skip", p.skipNode),
		post("/runs/:id/nodes/:card/unskip", p.unskipNode),
		post("/runs/:id/nodes/:card/stop", p.stopNode),
		post("/runs/:id/stop", p.stopRun),
		post("/runs/:id/pause", p.pauseRun),
		post("/runs/:id/go-on", p.goOnRun),
		get("/runs/:id/properties", p.askProperties),
		post("/runs/:id/properties", p.setProperties),
		get("/runs/:id/resume", p.askResume),
		post("/runs/:id/resume", p.resumeRun),
		post("/runs/:id/resume/nodes", p.resumeNodes),
		post("/runs/:id/again", p.runAgain),
	}
}

// runs answers GET /runs; htmx gets the table alone.
func (p *Pages) runs(c web.Ctx) error {
	list, err := p.runList(c, "")
	if err != nil {
		return err
	}
	if web.IsFragment(c) {
		return web.Render(c, http.StatusOK, run.Table(list))
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Runs", Crumbs: []layout.Crumb{{Label: "Runs"}}, Live: []string{"changed:runs"},
	}, run.Table(list))
}

// runList is the list of runs that the query asks for; of one workflow alone
// where it is named.
func (p *Pages) runList(c web.Ctx, of engine.ID) (run.Listing, error) {
	filter := engine.RunFilter{Name: c.QueryParam("name"), Limit: pageLen + 1}
	switch outcome := engine.Outcome(c.QueryParam("outcome")); outcome {
	case engine.RunSucceeded, engine.RunPartlyFailed, engine.RunFailed, engine.RunStopped:
		filter.Outcome = outcome
	case "open":
		filter.Open = true
	}
	for param, into := range map[string]*engine.ID{"of": &filter.Object, "before": &filter.Before} {
		if id, err := engine.ParseID(c.QueryParam(param)); err == nil {
			*into = id
		}
	}
	if of != "" {
		filter.Object = of
	}
	found, err := p.Store.Runs(c.Request().Context(), filter)
	if err != nil {
		return run.Listing{}, err
	}
	list := run.NewListing(found, filter, pageLen, p.Now())
	if of != "" {
		list.Of = "/workflows/" + string(of)
	}
	if list.Waits, err = p.Store.Waits(c.Request().Context(), list.Runs); err != nil {
		return list, err
	}
	if list.Fallen, err = p.Store.Fallen(c.Request().Context(), list.Runs); err != nil {
		return list, err
	}
	list.Twins, err = p.Store.Twins(c.Request().Context(), list.Runs)
	return list, err
}

// runView reads everything that the page of a run shows.
func (p *Pages) runView(c web.Ctx) (run.View, error) {
	ctx := c.Request().Context()
	v := run.View{Now: p.Now(), CSRF: p.Sessions.Token(c)}
	var err error
	if v.Run, err = p.Store.Run(ctx, web.ID(c)); err != nil {
		return v, err
	}
	if v.Nodes, err = p.Store.NodeRuns(ctx, v.Run.ID); err != nil {
		return v, err
	}
	v = v.Index()
	if v.Claims, err = p.Store.Claims(ctx, v.Run.ID); err != nil {
		return v, err
	}
	if v.Triggers, err = p.Store.TriggerRuns(ctx, v.Run.ID); err != nil {
		return v, err
	}
	if v.Events, err = p.Store.EventsOf(ctx, v.Run.ID); err != nil {
		return v, err
	}
	if v.Properties, err = p.Store.PropertySets(ctx, v.Run.ID); err != nil {
		return v, err
	}
	if v.Skipped, err = p.skipped(ctx, &v.Run); err != nil {
		return v, err
	}
	if v.Otherwise, err = p.otherwise(ctx, &v); err != nil {
		return v, err
	}
	if v.Origin, err = p.origin(ctx, &v.Run); err != nil {
		return v, err
	}
	twins, err := p.Store.Twins(ctx, []engine.Run{v.Run})
	if twin, ok := twins[v.Run.ID]; ok {
		v.Twin = &twin
	}
	return v, err
}

// origin is the earliest run that r goes on from, as far back as they are kept; nil
// where it goes on from none.
func (p *Pages) origin(ctx context.Context, r *engine.Run) (*engine.Run, error) {
	var first *engine.Run
	for at := r; at.Previous != ""; at = first {
		earlier, err := p.Store.Run(ctx, at.Previous)
		if engine.CodeOf(err) == engine.NotFound || err == nil && !earlier.Started.Before(at.Started) {
			break // what is no earlier run would lead round in a ring
		}
		if err != nil {
			return nil, err
		}
		first = &earlier
	}
	return first, nil
}

// run answers GET /runs/:id.
func (p *Pages) run(c web.Ctx) error {
	v, err := p.runView(c)
	if err != nil {
		return err
	}
	if err := p.stand(c.Request().Context(), &v.Run); err != nil {
		return err
	}
	v.Select(c.QueryParam("node"))
	infos, err := p.infos(c.Request().Context(), &v)
	if err != nil {
		return err
	}
	node, err := p.nodeView(c, &v, v.Selected)
	if err != nil {
		return err
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Runs",
		Crumbs:  []layout.Crumb{{Label: "Runs", Href: "/runs"}, {Label: v.Run.Name, Href: v.ObjectHref()}, {Label: v.Short()}},
		Actions: run.Head(v),
		Live:    []string{"run:" + string(v.Run.ID) + "@" + strconv.FormatInt(v.Run.Seq, 10), "changed:bookmarks"},
		Scripts: []string{"canvas.js"}, Styles: []string{"canvas.css"},
		Wide: true,
	}, run.Page(v, canvas.Canvas(v.Graph(infos)), run.Panel(node)))
}

// stand puts the cards of a run where they stand in the editor now: places are no part
// of what runs (docs/adr/0052). A card that the workflow has no more finds a free place
// beside its neighbours.
func (p *Pages) stand(ctx context.Context, r *engine.Run) error {
	if r.Kind != engine.RunWorkflow {
		return nil
	}
	drawn, err := p.Store.Draft(ctx, r.Object)
	if engine.CodeOf(err) == engine.NotFound {
		return nil // deleted: the run stays as it was drawn
	}
	if err == nil {
		r.Body.Layout = graph.Place(graph.New(&drawn.Body), drawn.Body.Layout)
	}
	return err
}

// infos says what the cards of a run are.
func (p *Pages) infos(ctx context.Context, v *run.View) (canvas.Infos, error) {
	infos := canvas.Infos{}
	jobs, err := p.Store.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	kinds := map[engine.ID]engine.JobKind{}
	for i := range jobs {
		kinds[jobs[i].ID] = jobs[i].Kind
	}
	for _, ref := range v.Refs() {
		kind := kinds[ref.ID]
		info := canvas.Info{Name: v.NameOf(ref), Sub: show.JobKind(kind), Icon: show.JobIcon(kind)}
		if ref.Kind == engine.KindCrawler {
			info.Sub, info.Icon = "Crawler", "radar"
		}
		if info.Name == "" {
			name, err := p.nameOf(ctx, ref.ID)
			if err != nil {
				return nil, err
			}
			info.Name = name
		}
		infos[ref.String()] = info
	}
	return infos, nil
}

// nameOf is the name of a job or crawler, also of one that was deleted.
func (p *Pages) nameOf(ctx context.Context, id engine.ID) (string, error) {
	name, deleted, err := p.Store.NameOf(ctx, id)
	if engine.CodeOf(err) == engine.NotFound {
		return "(deleted)", nil // of another server's file
	}
	if deleted {
		name += " (deleted)"
	}
	return name, err
}

// runHead answers GET /runs/:id/head: outcome and buttons.
func (p *Pages) runHead(c web.Ctx) error {
	v, err := p.runView(c)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, run.Head(v))
}

// runGraphList answers GET /runs/:id/list?from=N with more rows of the graph as a
// list.
func (p *Pages) runGraphList(c web.Ctx) error {
	v, err := p.runView(c)
	if err != nil {
		return err
	}
	infos, err := p.infos(c.Request().Context(), &v)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, canvas.Rows(v.Graph(infos), int(number(c, "from", 0))))
}

// runTimeline answers GET /runs/:id/timeline?bars=N with so many attempts at most.
func (p *Pages) runTimeline(c web.Ctx) error {
	v, err := p.runView(c)
	if err != nil {
		return err
	}
	v.Bars = int(number(c, "bars", 0))
	return web.Render(c, http.StatusOK, run.Timeline(v))
}

// stopRun answers POST /runs/:id/stop. While something of the run works it asks first,
// unless the request says that it is sure.
func (p *Pages) stopRun(c web.Ctx) error {
	if asked, err := p.asksStop(c, engine.Ref{}, 0); asked || err != nil {
		return err
	}
	stopped, err := p.Exec.Stop(c.Request().Context(), web.ID(c), user(c))
	if err != nil {
		return err
	}
	return web.Refresh(c, "/runs/"+string(stopped.ID))
}

// asksStop answers with the question whether work shall be stopped, where there is some
// and the person was not asked yet; asked reports that.
func (p *Pages) asksStop(c web.Ctx, node engine.Ref, start int) (asked bool, err error) {
	if c.FormValue("sure") == "yes" || !web.IsFragment(c) {
		return false, nil
	}
	v, err := p.runView(c)
	if err != nil {
		return false, err
	}
	stopping := run.NewStopping(v, node, start)
	if !stopping.Asks() {
		return false, nil
	}
	web.ToBody(c)
	return true, web.Render(c, http.StatusOK, run.StopDialog(stopping))
}

// number reads a number of the query; anything else is fallback.
func number(c web.Ctx, name string, fallback int64) int64 {
	n, err := strconv.ParseInt(c.QueryParam(name), 10, 64)
	if err != nil || n < 0 {
		return fallback
	}
	return n
}

// stampLen is how long the time of a log line is, with the blank after it.
const stampLen = len("2006-01-02T15:04:05.000Z ")

// stamp reads the time of a log line.
func stamp(text string) (time.Time, bool) {
	if len(text) < stampLen {
		return time.Time{}, false
	}
	at, err := time.Parse("2006-01-02T15:04:05.000Z ", text[:stampLen])
	return at, err == nil
}
