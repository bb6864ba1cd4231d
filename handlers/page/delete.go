package page

import (
	"context"
	"net/http"
	"time"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/removal"
)

// usageStore knows what depends on an object.
type usageStore interface {
	Usage(ctx context.Context, kind engine.Kind, id engine.ID) (engine.Usage, error)
	// NameOf is the name of an object, or the last one of a deleted object.
	NameOf(ctx context.Context, id engine.ID) (name string, deleted bool, err error)
}

// Remover deletes what nothing depends on; the rest is a Conflict.
type Remover interface {
	Delete(ctx context.Context, kind engine.Kind, id engine.ID, now time.Time) error
}

func (p *Pages) deleteRoutes() []web.Route {
	var routes []web.Route
	for _, kind := range []engine.Kind{engine.KindWorkflow, engine.KindJob, engine.KindCrawler, engine.KindConnection} {
		path := removal.List(kind) + "/:id/delete"
		routes = append(routes, get(path, p.askDelete(kind)), post(path, p.delete(kind)))
	}
	return routes
}

// askDelete answers GET …/:id/delete with what a deletion would touch.
func (p *Pages) askDelete(kind engine.Kind) web.Handler {
	return func(c web.Ctx) error {
		used, err := p.Store.Usage(c.Request().Context(), kind, web.ID(c))
		if err != nil {
			return err
		}
		return web.Render(c, http.StatusOK, removal.Dialog(removal.View{Usage: used, CSRF: p.Sessions.Token(c)}))
	}
}

// delete answers POST …/:id/delete with the list that the object was in.
func (p *Pages) delete(kind engine.Kind) web.Handler {
	return func(c web.Ctx) error {
		if err := p.Remover.Delete(c.Request().Context(), kind, web.ID(c), p.Now()); err != nil {
			return err
		}
		return web.Go(c, removal.List(kind))
	}
}
