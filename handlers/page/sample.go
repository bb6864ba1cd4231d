package page

import (
	"context"
	"net/http"

	"dogear/handlers/web"
	"dogear/views/workflow"
)

// Sample is the pipeline a server began with, if it did.
type Sample interface {
	// Folder is where its files lie.
	Folder() string
	// AddNextDay adds files as the next day would bring them, and says which.
	AddNextDay(ctx context.Context) (string, error)
}

func (p *Pages) sampleRoutes() []web.Route {
	if p.Sample == nil {
		return nil
	}
	return []web.Route{post("/sample/files", p.addSampleFiles)}
}

// addSampleFiles answers POST /sample/files with what was added.
func (p *Pages) addSampleFiles(c web.Ctx) error {
	added, err := p.Sample.AddNextDay(c.Request().Context())
	if err != nil {
		return err
	}
	if !web.IsFragment(c) {
		return c.Redirect(http.StatusSeeOther, "/workflows")
	}
	return web.Render(c, http.StatusOK, workflow.Sample(p.Sessions.Token(c), p.Sample.Folder(), added))
}
