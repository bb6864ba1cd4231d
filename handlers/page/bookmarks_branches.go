package page

import (
	"net/http"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/bookmark"
)

// branchBookmark answers POST /bookmarks/:id/branch with the page of the
// branch.
func (p *Pages) branchBookmark(c web.Ctx) error {
	made, err := p.Bookmarks.Branch(c.Request().Context(), web.ID(c), c.FormValue("name"), c.FormValue("why"), user(c))
	if err != nil {
		v, viewErr := p.bookmarkView(c)
		if viewErr != nil {
			return viewErr
		}
		v.Ask.Name = c.FormValue("name")
		return p.refused(c, v, "branch", err)
	}
	return web.Go(c, "/bookmarks/"+string(made.ID))
}

// askDrop answers GET /bookmarks/:id/preview/drop, of a branch, with a dialog
// that says what is gone then and what stays.
func (p *Pages) askDrop(c web.Ctx) error {
	dropped, err := p.Bookmarks.PreviewDrop(c.Request().Context(), web.ID(c))
	if err != nil {
		return err
	}
	v := bookmark.View{Mark: dropped.Branch, CSRF: p.Sessions.Token(c)}
	return web.Render(c, http.StatusOK, bookmark.AskDrop(v, dropped))
}

// dropBranch answers POST /bookmarks/:id/drop, of a branch.
func (p *Pages) dropBranch(c web.Ctx) error {
	ctx := c.Request().Context()
	branch, err := p.Store.Bookmark(ctx, web.ID(c))
	if err != nil {
		return err
	}
	if err := p.Store.DropBranch(ctx, branch.ID); err != nil {
		return err
	}
	all, err := p.Store.BookmarksOf(ctx, branch.Job)
	if err != nil {
		return err
	}
	for _, mark := range all {
		if mark.Ctx == branch.Ctx {
			return web.Go(c, "/bookmarks/"+string(mark.ID))
		}
	}
	return web.Go(c, "/bookmarks")
}

// bookmarkBranches answers GET /bookmarks/:id/branches with what the next run
// would read by each.
func (p *Pages) bookmarkBranches(c web.Ctx) error {
	v, err := p.bookmarkView(c)
	if err != nil {
		return err
	}
	plans := map[engine.ID]bookmark.Plan{}
	for _, branch := range v.Branches {
		waiting, err := p.Bookmarks.Waiting(c.Request().Context(), branch.ID)
		if engine.CodeOf(err) == engine.Internal {
			return err
		}
		plan := bookmark.Plan{Known: true, Files: int64(len(waiting.Taken))}
		if err != nil {
			plan.Trouble = engine.MessageOf(err)
		}
		for _, o := range waiting.Taken {
			plan.Bytes += o.Size
		}
		plans[branch.ID] = plan
	}
	return web.Render(c, http.StatusOK, bookmark.Branches(v, plans))
}
