// Package page answers with the screens and their fragments, one file a
// screen. A handler reads what it shows, builds the view and renders it; the
// rules live in engine.
package page

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"

	"dogear/engine"
	"dogear/engine/auth"
	"dogear/handlers/web"
	"dogear/static"
	"dogear/views/layout"
)

// Store is what the screens read and write. Each file says which part it
// needs.
type Store interface {
	workflowStore
	runStore
	bookmarkStore
	catalogStore
	jobStore
	crawlerStore
	connectionStore
	poolStore
	usageStore
	eventStore
	Totals(ctx context.Context) (engine.Totals, error)
}

// Config is what the screens are made of.
type Config struct {
	Store     Store
	Exec      Exec
	Bookmarks Bookmarks
	Logs      Logs
	SQL       SQL
	Syntax    Syntax
	Places    Places
	Drafts    Drafts
	Publisher Publisher
	Remover   Remover
	Portable  Portable
	Schedules Schedules
	Health    Health
	// Next says when a trigger fires next after now; zero for never.
	Next func(t engine.Trigger, after time.Time) time.Time
	// Came is told that what waits for an event trigger is not as it was.
	Came func(trigger engine.ID)
	// Address is where people and senders see the server.
	Address func() string
	// Sample is nil where the server began without one.
	Sample   Sample
	Auth     *auth.Service
	Sessions *web.Sessions
	Files    static.Files
	Log      *slog.Logger
	Now      func() time.Time
}

// Pages answers with screens.
type Pages struct{ Config }

// New returns the screens.
func New(cfg Config) *Pages { return &Pages{cfg} }

// Routes are the routes of all screens.
func (p *Pages) Routes() []web.Route {
	return slices.Concat(
		p.signinRoutes(),
		p.workflowRoutes(),
		p.editorRoutes(),
		p.runRoutes(),
		p.bookmarkRoutes(),
		p.catalogRoutes(),
		p.queryRoutes(),
		p.jobRoutes(),
		p.crawlerRoutes(),
		p.connectionRoutes(),
		p.poolRoutes(),
		p.deleteRoutes(),
		p.discardRoutes(),
		p.pickerRoutes(),
		p.findRoutes(),
		p.healthRoutes(),
		p.sampleRoutes(),
		[]web.Route{get("/nav", p.nav)},
	)
}

// show answers with a whole page around content.
func (p *Pages) show(c web.Ctx, status int, page layout.Page, content templ.Component) error {
	totals, err := p.Store.Totals(c.Request().Context())
	if err != nil {
		return err
	}
	page.Frame = web.Frame(c, p.Sessions, p.Files, p.Now())
	page.Frame.Totals = totals
	for _, topic := range layout.Followed {
		if !slices.Contains(page.Live, topic) {
			page.Live = append(page.Live, topic)
		}
	}
	return web.Render(c, status, layout.Around(page, content))
}

// nav answers GET /nav?section= with the navigation and its totals as they are
// now.
func (p *Pages) nav(c web.Ctx) error {
	totals, err := p.Store.Totals(c.Request().Context())
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, layout.Nav(c.QueryParam("section"), totals))
}

// user is the name that histories keep for what c asks for.
func user(c web.Ctx) string { return web.User(c).Name }

func get(path string, h web.Handler) web.Route {
	return web.Route{Method: http.MethodGet, Path: path, Handler: h}
}

func post(path string, h web.Handler) web.Route {
	return web.Route{Method: http.MethodPost, Path: path, Handler: h}
}
