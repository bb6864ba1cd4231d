package page

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/layout"
	"dogear/views/show"
)

// maxHits is how many things a search shows.
const maxHits = 12

// maxRunHits is how many of them are runs.
const maxRunHits = 4

func (p *Pages) findRoutes() []web.Route { return []web.Route{get("/find", p.find)} }

// find answers GET /find?q=… with the things of which every word of q is said:
// in their name, description or id, or in a folder that they read or write. Those
// whose name says it come first. A run is found by its id.
func (p *Pages) find(c web.Ctx) error {
	things, err := p.everything(c)
	if err != nil {
		return err
	}
	words := strings.Fields(strings.ToLower(c.QueryParam("q")))
	var found []thing
	for _, t := range things {
		if t.place(words) {
			found = append(found, t)
		}
	}
	slices.SortStableFunc(found, func(a, b thing) int {
		return cmp.Or(a.rank-b.rank, cmp.Compare(a.after, b.after), cmp.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label)))
	})
	hits, err := p.runHits(c.Request().Context(), words)
	if err != nil {
		return err
	}
	for _, t := range found {
		hits = append(hits, t.Hit)
	}
	more := max(len(hits)-maxHits, 0)
	return web.Render(c, http.StatusOK, layout.Found(hits[:len(hits)-more], more))
}

// thing is what can be found, by its name and by what else is said of it.
type thing struct {
	layout.Hit
	id   engine.ID
	said []string // description and folders
	rank int
	// after puts commands behind what has a name: Enter opens the first that was found.
	after int
}

// place reports whether each of words is said of t, and ranks it by where: at the
// beginning of its name, within it, or elsewhere, of which the hit then shows it.
func (t *thing) place(words []string) bool {
	name := strings.ToLower(t.Label)
	t.rank = 0
	for i, word := range words {
		switch at := strings.Index(name, word); {
		case at == 0 && i == 0:
		case at >= 0:
			t.rank = max(t.rank, 1)
		default:
			where := t.where(word)
			if where == "" {
				return false
			}
			t.rank, t.Why = 2, where
		}
	}
	return true
}

// where is what says word of t, beside its name.
func (t *thing) where(word string) string {
	for _, text := range t.said {
		if strings.Contains(strings.ToLower(text), word) {
			return text
		}
	}
	if t.id != "" && strings.Contains(strings.ToLower(string(t.id)), word) {
		return "id " + strings.ToLower(string(t.id))
	}
	return ""
}

// runHits are the newest runs whose id holds the one word that is looked for,
// where that may be a part of an id.
func (p *Pages) runHits(ctx context.Context, words []string) ([]layout.Hit, error) {
	if len(words) != 1 || !engine.PartOfID(words[0]) {
		return nil, nil
	}
	runs, err := p.Store.Runs(ctx, engine.RunFilter{ID: words[0], Limit: maxRunHits})
	var hits []layout.Hit
	for i := range runs {
		r := &runs[i]
		hits = append(hits, layout.Hit{Icon: show.OfRun(*r).Icon, Label: r.Name + " " + show.Short(r.ID), Kind: "Run", Href: "/runs/" + string(r.ID), Why: show.OfRun(*r).Word + ", started " + r.Started.UTC().Format("2 Jan 2006 15:04") + " UTC"})
	}
	return hits, err
}

// everything lists what has a name, and the screens.
func (p *Pages) everything(c web.Ctx) ([]thing, error) {
	ctx := c.Request().Context()
	workflows, err := p.Store.Workflows(ctx)
	if err != nil {
		return nil, err
	}
	jobs, err := p.Store.JobDrafts(ctx)
	if err != nil {
		return nil, err
	}
	crawlers, err := p.Store.CrawlerDrafts(ctx)
	if err != nil {
		return nil, err
	}
	tables, err := p.Store.Tables(ctx)
	if err != nil {
		return nil, err
	}
	var all []thing
	add := func(icon, name, kind, at string, id engine.ID, said ...string) {
		said = slices.DeleteFunc(said, func(text string) bool { return text == "" })
		all = append(all, thing{Hit: layout.Hit{Icon: icon, Label: name, Kind: kind, Href: at + string(id)}, id: id, said: said})
	}
	for i := range workflows {
		add("workflow", workflows[i].Name, "Workflow", "/workflows/", workflows[i].ID, workflows[i].Description)
	}
	for i := range jobs {
		body := &jobs[i].Body
		add("file-code-2", jobs[i].Name, "Job", "/jobs/", jobs[i].ID, append([]string{body.Description}, pathsOf(body)...)...)
	}
	for i := range crawlers {
		said := []string{crawlers[i].Body.Description}
		for _, target := range crawlers[i].Body.Targets {
			said = append(said, target.Path)
		}
		add("radar", crawlers[i].Name, "Crawler", "/crawlers/", crawlers[i].ID, said...)
	}
	for i := range tables {
		add("table", tables[i].FullName(), "Table", "/catalog/", tables[i].ID, tables[i].Location)
	}
	for _, screen := range layout.Screens() {
		all = append(all, thing{Hit: screen, said: []string{"Go to " + screen.Label}})
	}
	return append(all, commands(workflows, c.Request().Header.Get("HX-Current-URL"))...), nil
}

// commands are what can be done from the page with that address: to make something, what
// the page has a button for, and to run a workflow that is published, which asks first.
func commands(workflows []engine.Workflow, page string) []thing {
	var all []thing
	at := ""
	if address, err := url.Parse(page); err == nil {
		at = address.Path
	}
	for _, hit := range layout.Commands(at) {
		all = append(all, thing{Hit: hit, after: 1})
	}
	for i := range workflows {
		if w := &workflows[i]; w.Version > 0 {
			at := "/workflows/" + string(w.ID)
			all = append(all, thing{Hit: layout.Hit{Icon: "play", Label: "Run " + w.Name, Kind: "Command", Href: at, Ask: at + "/run"}, after: 1})
		}
	}
	return all
}
