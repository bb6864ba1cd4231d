package page

import (
	"context"
	"io"
	"net/http"
	"strings"

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
	Branches(ctx context.Context, job engine.ID, name string) ([]engine.Bookmark, error)
	DropBranch(ctx context.Context, id engine.ID) error
}

// Bookmarks makes the moves and says beforehand what they would do.
type Bookmarks interface {
	Make(ctx context.Context, id engine.ID, m rules.Move, who string) (engine.Bookmark, error)
	Preview(ctx context.Context, id engine.ID, m rules.Move, who string) (rules.Preview, error)
	ResetJob(ctx context.Context, job engine.ID, why, who string) ([]engine.Bookmark, error)
	Branch(ctx context.Context, id engine.ID, name, why, who string) (engine.Bookmark, error)
	PreviewDrop(ctx context.Context, id engine.ID) (rules.Dropped, error)
	Export(ctx context.Context, id engine.ID, to io.Writer) error
	ExportGlue(ctx context.Context, id engine.ID, to io.Writer) error

	Progress(ctx context.Context, id engine.ID) ([]rules.Day, engine.SourcePlan, error)
	Waiting(ctx context.Context, id engine.ID) (engine.SourcePlan, error)
	Ranges(ctx context.Context, id engine.ID, limit int) ([]engine.Entry, error)
	Lookup(ctx context.Context, id engine.ID, text string) ([]engine.Entry, error)
	Story(ctx context.Context, id engine.ID, key string) (rules.Story, error)
	Coverage(ctx context.Context, id engine.ID, table engine.Table, partitions []engine.Partition) (rules.Coverage, bool, error)
	Compare(ctx context.Context, id engine.ID, from, to int, after string, limit int) (rules.Comparison, error)
}

func (p *Pages) bookmarkRoutes() []web.Route {
	return []web.Route{
		get("/bookmarks", p.bookmarks),
		get("/bookmarks/:id", p.bookmark),
		get("/bookmarks/:id/source", p.bookmarkSource),
		get("/bookmarks/:id/lookup", p.bookmarkLookup),
		get("/bookmarks/:id/story", p.bookmarkStory),
		get("/bookmarks/:id/coverage", p.bookmarkCoverage),
		get("/bookmarks/:id/compare", p.bookmarkCompare),
		get("/bookmarks/:id/choose/:word", p.chooseMove),
		get("/bookmarks/:id/preview/drop", p.askDrop),
		get("/bookmarks/:id/preview/:word", p.previewMove),
		get("/bookmarks/:id/branches", p.bookmarkBranches),
		get("/bookmarks/:id/export", p.exportBookmark),
		post("/bookmarks/:id/import", p.importBookmark),
		post("/bookmarks/:id/branch", p.branchBookmark),
		post("/bookmarks/:id/drop", p.dropBranch),
		post("/bookmarks/:id/again", p.readBeside),
		post("/bookmarks/:id/:word", p.moveBookmark),
		get("/jobs/:id/bookmarks", p.jobBookmarks),
		get("/jobs/:id/bookmarks/reset", p.askResetJob),
		post("/jobs/:id/bookmarks/:word", p.moveJobBookmarks),
		get("/api/ui/lags", p.jobLags),
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
	if v.Branches, err = p.Store.Branches(ctx, v.Mark.Job, v.Mark.Ctx); err != nil {
		return v, err
	}
	all, err := p.Store.BookmarksOf(ctx, v.Mark.Job)
	if err != nil {
		return v, err
	}
	v.Others = max(0, len(all)-1)
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
// progress through it.
func (p *Pages) bookmarkSource(c web.Ctx) error {
	v, err := p.bookmarkView(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	v.Days, v.Waiting, err = p.Bookmarks.Progress(ctx, v.Mark.ID)
	switch engine.CodeOf(err) {
	case engine.Conflict:
		v.Differs, err = engine.MessageOf(err), nil
	case engine.Invalid, engine.NotFound: // it cannot be listed now; the ledger still reads
		v.Trouble, err = engine.MessageOf(err), nil
	case engine.Internal, engine.Forbidden, engine.LimitHit, engine.Away:
	}
	if err != nil {
		return err
	}
	if v.IsTable() {
		if v.Ranges, err = p.Bookmarks.Ranges(ctx, v.Mark.ID, bookmark.MaxBars); err != nil {
			return err
		}
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
	mark, err := p.Store.Bookmark(c.Request().Context(), web.ID(c))
	if err != nil {
		return err
	}
	entries, err := p.Bookmarks.Lookup(c.Request().Context(), mark.ID, text)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, bookmark.Found(bookmark.View{Mark: mark}, text, entries))
}

// bookmarkStory answers GET /bookmarks/:id/story?key=… with every run that read
// one object, and what came of it.
func (p *Pages) bookmarkStory(c web.Ctx) error {
	ctx := c.Request().Context()
	mark, err := p.Store.Bookmark(ctx, web.ID(c))
	if err != nil {
		return err
	}
	story, err := p.Bookmarks.Story(ctx, mark.ID, c.QueryParam("key"))
	if err != nil {
		return err
	}
	readings := make([]bookmark.Outputs, len(story.Readings))
	for i, r := range story.Readings {
		if readings[i], err = p.outputs(ctx, r); err != nil {
			return err
		}
	}
	return web.Render(c, http.StatusOK, bookmark.Story(bookmark.View{Mark: mark, Now: p.Now()}, story, readings))
}

// outputs are the run and the files that came of one reading.
func (p *Pages) outputs(ctx context.Context, r rules.Reading) (bookmark.Outputs, error) {
	out := bookmark.Outputs{Reading: r}
	var err error
	if out.Batch, err = p.Store.Batch(ctx, r.Batch); engine.CodeOf(err) == engine.NotFound {
		out.Gone = true
		return out, nil
	}
	if err != nil {
		return out, err
	}
	nodes, err := p.Store.NodeRuns(ctx, out.Batch.Node.Run)
	if err != nil {
		return out, err
	}
	for i := range nodes {
		if nodes[i].Key() == out.Batch.Node {
			out.Node = nodes[i]
		}
	}
	return out, nil
}

// differences is how many lines of a comparison are shown at once.
const differences = 200

// bookmarkCompare answers GET /bookmarks/:id/compare?from=…&to=…&after=… .
func (p *Pages) bookmarkCompare(c web.Ctx) error {
	ctx := c.Request().Context()
	mark, err := p.Store.Bookmark(ctx, web.ID(c))
	if err != nil {
		return err
	}
	from, to := number(c, "from", 0), number(c, "to", int64(mark.Version))
	after := c.QueryParam("after")
	compared, err := p.Bookmarks.Compare(ctx, mark.ID, int(from), int(to), after, differences)
	if err != nil {
		return err
	}
	v := bookmark.View{Mark: mark, Now: p.Now()}
	if after != "" {
		return web.Render(c, http.StatusOK, bookmark.ComparedRows(v, compared))
	}
	return web.Render(c, http.StatusOK, bookmark.Compared(v, compared))
}
