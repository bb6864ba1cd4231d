package page

import (
	"context"
	"net/http"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/workflow"
)

// Sample is the pipeline a server began with, if it did.
type Sample interface {
	// Folder is where its files lie; "" where its workflow was deleted.
	Folder(ctx context.Context) (string, error)
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
	ctx := c.Request().Context()
	folder, err := p.Sample.Folder(ctx)
	if err != nil {
		return err
	}
	if folder == "" {
		return engine.Errorf(engine.NotFound, "The workflow of the sample was deleted. Start the server again with --sample, and it is made again.")
	}
	added, err := p.Sample.AddNextDay(ctx)
	if err != nil {
		return err
	}
	if !web.IsFragment(c) {
		return c.Redirect(http.StatusSeeOther, "/workflows")
	}
	return web.Render(c, http.StatusOK, workflow.Sample(p.Sessions.Token(c), folder, added))
}
