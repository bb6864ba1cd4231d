package page

import (
	"bytes"
	"net/http"
	"strconv"

	"dogear/engine"
	rules "dogear/engine/bookmark"
	"dogear/handlers/web"
	"dogear/views/bookmark"
)

// exportBookmark answers GET /bookmarks/:id/export with JSON lines, or with
// as=glue with what AWS Glue's get-job-bookmark would print.
func (p *Pages) exportBookmark(c web.Ctx) error {
	ctx := c.Request().Context()
	mark, err := p.Store.Bookmark(ctx, web.ID(c))
	if err != nil {
		return err
	}
	name := "bookmark-" + string(mark.ID) + "-v" + strconv.Itoa(mark.Version)
	if c.QueryParam("as") != "glue" {
		download(c, "application/x-ndjson", name+".jsonl")
		return p.Bookmarks.Export(ctx, mark.ID, c.Response())
	}
	var text bytes.Buffer // it may be refused
	if err := p.Bookmarks.ExportGlue(ctx, mark.ID, &text); err != nil {
		return err
	}
	download(c, "application/json", name+"-glue.json")
	_, err = text.WriteTo(c.Response())
	return err
}

// download heads an answer that the browser keeps as a file.
func download(c web.Ctx, kind, name string) {
	header := c.Response().Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// importBookmark answers POST /bookmarks/:id/import. With do=import the file
// moves the bookmark; else the answer says what it would do, for the form that
// holds the file.
func (p *Pages) importBookmark(c web.Ctx) error {
	v, err := p.bookmarkView(c)
	if err != nil {
		return err
	}
	imports := c.FormValue("do") == "import"
	err = p.importFile(c, &v, imports)
	switch {
	case err == nil && imports:
		return web.Refresh(c, "/bookmarks/"+string(v.Mark.ID))
	case err == nil:
		return web.Render(c, http.StatusOK, bookmark.ImportEnds(v))
	case engine.CodeOf(err) == engine.Internal || !web.IsFragment(c):
		return err
	}
	v.Ask.Wrong = engine.MessageOf(err)
	return web.Render(c, http.StatusUnprocessableEntity, bookmark.ImportEnds(v))
}

func (p *Pages) importFile(c web.Ctx, v *bookmark.View, imports bool) error {
	head, err := c.FormFile("file")
	if err != nil {
		return engine.Errorf(engine.Invalid, "Choose a file: %w", err)
	}
	file, err := head.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	m := rules.Move{Kind: engine.MoveImport, File: file, Glue: c.FormValue("as") == "glue", Expect: c.FormValue("expect"), Why: c.FormValue("why")}
	if imports {
		_, err = p.Bookmarks.Make(c.Request().Context(), v.Mark.ID, m, user(c))
		return err
	}
	m.Expect = ""
	preview, err := p.Bookmarks.Preview(c.Request().Context(), v.Mark.ID, m, user(c))
	v.Ask.Move, v.Ask.Preview = m, &preview
	return err
}
