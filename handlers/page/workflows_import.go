package page

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	preview, err := p.wouldImport(c, text)
	if err != nil {
		return p.wrongImport(c, err)
	}
	return web.Render(c, http.StatusOK, workflow.ImportPreview(preview))
}

func (p *Pages) wouldImport(c web.Ctx, text []byte) (workflow.Preview, error) {
	report, err := p.Portable.Import(c.Request().Context(), text, true, user(c))
	if err != nil {
		return workflow.Preview{}, err
	}
	whole, err := json.Marshal(report)
	if err != nil {
		return workflow.Preview{}, fmt.Errorf("write down what an import would do: %w", err)
	}
	sum := sha256.Sum256(whole)
	return workflow.Preview{Report: &report, Seen: hex.EncodeToString(sum[:])}, nil
}

// importWorkflow answers POST /workflows/import with the workflow of a file,
// with what the import has left switched off, or with what is wrong in the file.
// What was shown of the file before, and is no longer so, is shown again instead.
func (p *Pages) importWorkflow(c web.Ctx) error {
	text, err := uploaded(c, "file")
	if err != nil {
		return p.wrongImport(c, err)
	}
	if seen := c.FormValue("seen"); seen != "" && web.IsFragment(c) {
		now, err := p.wouldImport(c, text)
		if err != nil {
			return p.wrongImport(c, err)
		}
		if now.Seen != seen {
			now.Note = "The file, or what is here, has changed since this was shown. Nothing was imported yet: look again."
			return web.Render(c, http.StatusConflict, workflow.ImportPreview(now))
		}
	}
	report, err := p.Portable.Import(c.Request().Context(), text, false, user(c))
	if err != nil {
		return p.wrongImport(c, err)
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
