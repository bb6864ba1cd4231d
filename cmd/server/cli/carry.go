package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"

	"dogear/engine"
	"dogear/handlers/control"
)

type bookmarkExport struct {
	mark
	Glue bool   `help:"As aws glue get-job-bookmark prints a bookmark, where it can be said so."`
	Out  string `short:"o" type:"path" help:"File to write; standard output by default."`
}

// Run writes the bookmark and its ledger.
func (c *bookmarkExport) Run(ctx context.Context, term Terminal) (err error) {
	from, err := c.call(ctx, http.MethodGet, "/bookmark/export", url.Values{"owner": {c.Job}, "ctx": {c.Ctx}, "glue": {yes(c.Glue)}}, nil)
	if err != nil {
		return err
	}
	defer from.Close()
	to := term.Out
	if c.Out != "" {
		file, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return engine.Errorf(engine.Invalid, "Cannot write %s: %w", c.Out, err)
		}
		defer func() {
			if closed := file.Close(); err == nil {
				err = closed
			}
		}()
		to = file
	}
	_, err = io.Copy(to, from)
	return err
}

// yes writes a choice as a form does; "" is no.
func yes(chosen bool) string {
	if chosen {
		return "yes"
	}
	return ""
}

type bookmarkImport struct {
	mark
	risk
	why
	Glue bool   `help:"The file is what aws glue get-job-bookmark --job-name NAME printed."`
	File string `arg:"" type:"path" help:"A file that bookmark export wrote; - is standard input."`
}

// Run makes what the file says count as read.
func (c *bookmarkImport) Run(ctx context.Context, term Terminal) error {
	var from io.ReadSeeker
	if c.File == "-" {
		text, err := io.ReadAll(term.In)
		if err != nil {
			return engine.Errorf(engine.Invalid, "Cannot read standard input: %w", err)
		}
		from = bytes.NewReader(text)
	} else {
		file, err := os.Open(c.File)
		if err != nil {
			return engine.Errorf(engine.Invalid, "Cannot read %s: %w", c.File, err)
		}
		defer file.Close()
		from = file
	}
	query := url.Values{"owner": {c.Job}, "ctx": {c.Ctx}, "why": {c.Why}, "glue": {yes(c.Glue)}, "dry": {yes(c.DryRun)}}
	if c.DryRun {
		would, err := ask[control.Waiting](ctx, c.Data, http.MethodPost, "/bookmark/import", query, from)
		if err != nil {
			return err
		}
		return c.print(term, would, func(t *table) { planRows(t, &would) })
	}
	if err := c.warn(ctx, term, query, from); err != nil {
		return err
	}
	moved, err := ask[control.Bookmark](ctx, c.Data, http.MethodPost, "/bookmark/import", query, from)
	if err != nil {
		return err
	}
	return c.print(term, moved, func(t *table) { bookmarkRows(t, &moved) })
}
