package page

import (
	"net/http"
	"strings"

	"dogear/handlers/web"
	"dogear/views/layout"
)

// maxHits is how many things a search shows.
const maxHits = 12

func (p *Pages) findRoutes() []web.Route { return []web.Route{get("/find", p.find)} }

// find answers GET /find?q=… with the things that have q in their name.
func (p *Pages) find(c web.Ctx) error {
	hits, err := p.everything(c)
	if err != nil {
		return err
	}
	text := strings.ToLower(strings.TrimSpace(c.QueryParam("q")))
	var found []layout.Hit
	for _, hit := range hits {
		if strings.Contains(strings.ToLower(hit.Label), text) {
			if found = append(found, hit); len(found) == maxHits {
				break
			}
		}
	}
	return web.Render(c, http.StatusOK, layout.Found(found))
}

// everything lists what has a name, and the screens.
func (p *Pages) everything(c web.Ctx) ([]layout.Hit, error) {
	ctx := c.Request().Context()
	workflows, err := p.Store.Workflows(ctx)
	if err != nil {
		return nil, err
	}
	jobs, err := p.Store.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	crawlers, err := p.Store.Crawlers(ctx)
	if err != nil {
		return nil, err
	}
	tables, err := p.Store.Tables(ctx)
	if err != nil {
		return nil, err
	}
	var hits []layout.Hit
	for _, w := range workflows {
		hits = append(hits, layout.Hit{Icon: "workflow", Label: w.Name, Kind: "Workflow", Href: "/workflows/" + string(w.ID)})
	}
	for _, j := range jobs {
		hits = append(hits, layout.Hit{Icon: "file-code-2", Label: j.Name, Kind: "Job", Href: "/jobs/" + string(j.ID)})
	}
	for _, r := range crawlers {
		hits = append(hits, layout.Hit{Icon: "radar", Label: r.Name, Kind: "Crawler", Href: "/crawlers/" + string(r.ID)})
	}
	for _, t := range tables {
		hits = append(hits, layout.Hit{Icon: "table", Label: t.FullName(), Kind: "Table", Href: "/catalog/" + string(t.ID)})
	}
	return append(hits, layout.Screens()...), nil
}
