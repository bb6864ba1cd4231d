package page

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"dogear/engine"
	"dogear/engine/portable"
	"dogear/handlers/web"
	"dogear/views/workflow"
)

// previewImport answers POST /workflows/import/preview with what an import of the
// file would do; nothing is written.
func (p *Pages) previewImport(c web.Ctx) error {
	text, err := uploaded(c, "file")
	if err != nil {
		return p.wrongImport(c, err)
	}
	report, err := p.Portable.Import(c.Request().Context(), portable.Ask{Text: text, Dry: true, By: user(c)})
	if err != nil {
		return p.wrongImport(c, err)
	}
	return web.Render(c, http.StatusOK, workflow.ImportPreview(workflow.Preview{Report: &report, Seen: report.Digest}))
}

// changedImport is what is said of an import that is not what somebody looked at.
const changedImport = "The file, or what is here, has changed since this was shown. Nothing was imported yet: look again."

// importWorkflow answers POST /workflows/import with the workflow of a file,
// with what the import has left switched off, or with what is wrong in the file.
// What was shown of the file before, and is no longer so, is shown again instead.
func (p *Pages) importWorkflow(c web.Ctx) error {
	text, err := uploaded(c, "file")
	if err != nil {
		return p.wrongImport(c, err)
	}
	report, err := p.Portable.Import(c.Request().Context(), portable.Ask{Text: text, Seen: c.FormValue("seen"), By: user(c)})
	switch {
	case err != nil:
		return p.wrongImport(c, err)
	case report.Stale && web.IsFragment(c):
		return web.Render(c, http.StatusConflict, workflow.ImportPreview(workflow.Preview{Report: &report, Seen: report.Digest, Note: changedImport}))
	case report.Stale:
		return engine.Errorf(engine.Conflict, "%s", changedImport)
	}
	if len(report.Paused) > 0 && web.IsFragment(c) {
		web.InPlaceOf(c, "#import-form")
		return web.Render(c, http.StatusOK, workflow.Imported(report))
	}
	return web.Go(c, "/workflows/"+string(report.Workflow))
}

// wrongImport says below the field what is wrong in the file, which stays chosen.
func (p *Pages) wrongImport(c web.Ctx, err error) error {
	if engine.CodeOf(err) == engine.Internal || !web.IsFragment(c) {
		return err
	}
	return web.Render(c, http.StatusUnprocessableEntity, workflow.ImportPreview(workflow.Preview{Wrong: strings.Split(engine.MessageOf(err), "\n")}))
}

// uploaded reads a file of a form.
func uploaded(c web.Ctx, field string) ([]byte, error) {
	head, err := c.FormFile(field)
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "Choose a file: %w", err)
	}
	file, err := head.Open()
	if err != nil {
		return nil, fmt.Errorf("open an uploaded file: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, portable.MaxSize+1))
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "The file was not sent whole: %w", err)
	}
	return text, nil
}
