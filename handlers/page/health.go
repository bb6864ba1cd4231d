package page

import (
	"context"
	"net/http"
	"slices"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/health"
	"dogear/views/layout"
)

// Health looks at everything that must hold, and at how busy the server is.
type Health interface {
	Health(ctx context.Context) (engine.Health, error)
	Load(ctx context.Context) (engine.Load, error)
}

func (p *Pages) healthRoutes() []web.Route {
	return []web.Route{get("/health", p.health), get("/health/load", p.load)}
}

// health answers GET /health.
func (p *Pages) health(c web.Ctx) error {
	found, err := p.Health.Health(c.Request().Context())
	if err != nil {
		return err
	}
	if web.IsFragment(c) {
		return web.Render(c, http.StatusOK, health.Rules(found))
	}
	busy, err := p.busy(c)
	if err != nil {
		return err
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Health", Crumbs: []layout.Crumb{{Label: "Health"}}, Live: []string{"changed:events"},
	}, health.Page(found, busy))
}

// load answers GET /health/load: how busy the server is now.
func (p *Pages) load(c web.Ctx) error {
	busy, err := p.busy(c)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, health.Load(busy))
}

func (p *Pages) busy(c web.Ctx) (health.Busy, error) {
	ctx := c.Request().Context()
	busy := health.Busy{}
	var err error
	if busy.Load, err = p.Health.Load(ctx); err != nil {
		return busy, err
	}
	triggers, err := p.Store.EventTriggers(ctx)
	if err != nil || len(triggers) == 0 {
		return busy, err
	}
	workflows, err := p.Store.Workflows(ctx)
	for _, t := range triggers {
		l := health.Listener{EventTrigger: t}
		if i := slices.IndexFunc(workflows, func(w engine.Workflow) bool { return w.ID == t.Workflow }); i >= 0 {
			l.In = workflows[i].Name
			if named := workflows[i].Trigger(t.Trigger); named != nil {
				l.Name = named.Name
			}
		}
		busy.Listeners = append(busy.Listeners, l)
	}
	return busy, err
}
