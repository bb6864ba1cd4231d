package page

import (
	"context"
	"net/http"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/health"
	"dogear/views/layout"
)

// Health looks at everything that must hold.
type Health interface {
	Health(ctx context.Context) (engine.Health, error)
}

func (p *Pages) healthRoutes() []web.Route {
	return []web.Route{get("/health", p.health)}
}

// health answers GET /health.
func (p *Pages) health(c web.Ctx) error {
	found, err := p.Health.Health(c.Request().Context())
	if err != nil {
		return err
	}
	if web.IsFragment(c) {
		return web.Render(c, http.StatusOK, health.Page(found))
	}
	return p.show(c, http.StatusOK, layout.Page{Section: "Health", Crumbs: []layout.Crumb{{Label: "Health"}}}, health.Page(found))
}
