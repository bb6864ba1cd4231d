package page

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	rules "dogear/engine/bookmark"
	"dogear/handlers/web"
	"dogear/views/bookmark"
	"dogear/views/layout"
)

// bookmarkStore is what the screens of bookmarks read.
type bookmarkStore interface {
	Bookmarks(ctx context.Context) ([]engine.Bookmark, error)
	BookmarksOf(ctx context.Context, job engine.ID) ([]engine.Bookmark, error)
	Bookmark(ctx context.Context, id engine.ID) (engine.Bookmark, error)
	BookmarkMoves(ctx context.Context, id engine.ID) ([]engine.BookmarkMove, error)
}

// Bookmarks makes the moves and says beforehand what they would do.
type Bookmarks interface {
	Make(ctx context.Context, id engine.ID, m rules.Move, who string) (engine.Bookmark, error)
	Preview(ctx context.Context, id engine.ID, m rules.Move, who string) (rules.Preview, error)
	Progress(ctx context.Context, id engine.ID) ([]rules.Day, engine.SourcePlan, error)
	Lookup(ctx context.Context, id engine.ID, text string) ([]engine.Entry, error)
}

func (p *Pages) bookmarkRoutes() []web.Route {
	return []web.Route{
		get("/bookmarks", p.bookmarks),
		get("/bookmarks/:id", p.bookmark),
		get("/bookmarks/:id/source", p.bookmarkSource),
		get("/bookmarks/:id/lookup", p.bookmarkLookup),
		get("/bookmarks/:id/preview/:word", p.bookmarkPreview),
		post("/bookmarks/:id/:word", p.moveBookmark),
	}
}

// bookmarks answers GET /bookmarks.
func (p *Pages) bookmarks(c web.Ctx) error {
	ctx := c.Request().Context()
	marks, err := p.Store.Bookmarks(ctx)
	if err != nil {
		return err
	}
	list := bookmark.Listing{Now: p.Now()}
	for _, mark := range marks {
		name, err := p.ownerOf(ctx, mark)
		if err != nil {
			return err
		}
		list.Items = append(list.Items, bookmark.Item{Mark: mark, Owner: name})
	}
	if web.IsFragment(c) {
		return web.Render(c, http.StatusOK, bookmark.Table(list))
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Bookmarks", Crumbs: []layout.Crumb{{Label: "Bookmarks"}}, Live: []string{"changed:bookmarks"},
	}, bookmark.Table(list))
}

// ownerOf is the name of the job or crawler that a bookmark belongs to.
func (p *Pages) ownerOf(ctx context.Context, mark engine.Bookmark) (string, error) {
	return p.nameOf(ctx, mark.Job)
}

func (p *Pages) bookmarkView(c web.Ctx) (bookmark.View, error) {
	ctx := c.Request().Context()
	v := bookmark.View{Now: p.Now(), CSRF: p.Sessions.Token(c)}
	var err error
	if v.Mark, err = p.Store.Bookmark(ctx, web.ID(c)); err != nil {
		return v, err
	}
	if v.Owner, err = p.ownerOf(ctx, v.Mark); err != nil {
		return v, err
	}
	v.Moves, err = p.Store.BookmarkMoves(ctx, v.Mark.ID)
	return v, err
}

// bookmark answers GET /bookmarks/:id. What waits in the source is asked for
// by the page itself, because listing a large source takes a while.
func (p *Pages) bookmark(c web.Ctx) error {
	v, err := p.bookmarkView(c)
	if err != nil {
		return err
	}
	if web.IsFragment(c) {
		return web.Render(c, http.StatusOK, bookmark.History(v))
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Bookmarks",
		Title:   v.Owner + " · " + v.Mark.Ctx,
		Crumbs: []layout.Crumb{
			{Label: "Bookmarks", Href: "/bookmarks"}, {Label: v.Owner, Href: "/jobs/" + string(v.Mark.Job)}, {Label: v.Mark.Ctx},
		},
		Actions: bookmark.Actions(v),
		Live:    []string{"changed:bookmarks"},
	}, bookmark.Page(v))
}

// bookmarkSource answers GET /bookmarks/:id/source with what waits and the
// progress by day.
func (p *Pages) bookmarkSource(c web.Ctx) error {
	v, err := p.bookmarkView(c)
	if err != nil {
		return err
	}
	v.Days, v.Waiting, err = p.Bookmarks.Progress(c.Request().Context(), v.Mark.ID)
	if code := engine.CodeOf(err); code == engine.Invalid || code == engine.NotFound {
		v.Trouble, err = engine.MessageOf(err), nil // the source cannot be listed now; the ledger still reads
	}
	if err != nil {
		return err
	}
	v.Listed = true
	return web.Render(c, http.StatusOK, bookmark.Source(v))
}

// bookmarkLookup answers GET /bookmarks/:id/lookup?key=… .
func (p *Pages) bookmarkLookup(c web.Ctx) error {
	text := strings.TrimSpace(c.QueryParam("key"))
	if text == "" {
		return web.Render(c, http.StatusOK, bookmark.NoLookup())
	}
	entries, err := p.Bookmarks.Lookup(c.Request().Context(), web.ID(c), text)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, bookmark.Found(text, entries))
}

// bookmarkPreview answers GET /bookmarks/:id/preview/:word with a dialog that
// says what a move would do and asks for the reason.
func (p *Pages) bookmarkPreview(c web.Ctx) error {
	v, err := p.bookmarkView(c)
	if err != nil {
		return err
	}
	m, err := moveOf(c)
	if err != nil {
		return err
	}
	v.Ask = bookmark.Ask{Move: m}
	if m.Kind != engine.MovePause && m.Kind != engine.MoveResume {
		preview, err := p.Bookmarks.Preview(c.Request().Context(), v.Mark.ID, m, user(c))
		if err != nil {
			return err
		}
		v.Ask.Preview, v.Ask.Move.To = &preview, preview.To
	}
	return web.Render(c, http.StatusOK, bookmark.Dialog(v))
}

// moveBookmark answers POST /bookmarks/:id/:word.
func (p *Pages) moveBookmark(c web.Ctx) error {
	m, err := moveOf(c)
	if err != nil {
		return err
	}
	if _, err := p.Bookmarks.Make(c.Request().Context(), web.ID(c), m, user(c)); err != nil {
		return err
	}
	return web.Refresh(c, "/bookmarks/"+string(web.ID(c)))
}

// moveOf reads the move that a person thinks of or makes: the word is its
// kind, the rest are fields of the form or the query.
func moveOf(c web.Ctx) (rules.Move, error) {
	m := rules.Move{Kind: engine.MoveKind(c.Param("word")), Why: c.FormValue("why")}
	var err error
	switch m.Kind {
	case engine.MovePause, engine.MoveResume, engine.MoveReset, engine.MoveUndo, engine.MoveSetNow, engine.MoveAdopt:
	case engine.MoveRewind:
		if m.To, err = strconv.Atoi(c.FormValue("to")); err != nil {
			return m, engine.Errorf(engine.Invalid, "Choose the version to rewind to.")
		}
	case engine.MoveReadAgain, engine.MoveHold, engine.MoveRelease:
		m.Pick.Pattern = strings.TrimSpace(c.FormValue("pattern"))
		if key := c.FormValue("key"); key != "" {
			m.Pick.Keys = []string{key}
		}
		if m.Pick.Since, err = moment(c, "since"); err != nil {
			return m, err
		}
		if m.Pick.Until, err = moment(c, "until"); err != nil {
			return m, err
		}
	default:
		return m, engine.Errorf(engine.NotFound, "There is no such move.")
	}
	return m, nil
}

// moment reads a day or an instant of a form, in UTC; "" is none.
func moment(c web.Ctx, field string) (time.Time, error) {
	text := c.FormValue(field)
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, engine.Errorf(engine.Invalid, "%q is not a day. Write it as 2026-11-29.", text)
}
