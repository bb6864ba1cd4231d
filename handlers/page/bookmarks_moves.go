package page

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	rules "dogear/engine/bookmark"
	"dogear/handlers/web"
	"dogear/views/bookmark"
)

// chooseMove answers GET /bookmarks/:id/choose/:word with a dialog that asks
// what a move is about.
func (p *Pages) chooseMove(c web.Ctx) error {
	word := c.Param("word")
	if !slices.Contains([]string{"rewind", "read_again", "hold", "release", "branch", "import"}, word) {
		return engine.Errorf(engine.NotFound, "There is no such move.")
	}
	v, err := p.bookmarkView(c)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, bookmark.Choose(v, word))
}

// refused answers with the dialog that asked for a move, as it was filled in,
// and what is wrong. What is a fault of the server is no answer to a person.
func (p *Pages) refused(c web.Ctx, v bookmark.View, word string, err error) error {
	if engine.CodeOf(err) == engine.Internal || !web.IsFragment(c) {
		return err
	}
	v.Ask.Wrong = engine.MessageOf(err)
	return web.Render(c, http.StatusUnprocessableEntity, bookmark.Choose(v, word))
}

// previewMove answers GET /bookmarks/:id/preview/:word with a dialog that says
// what a move would do and asks for the reason.
func (p *Pages) previewMove(c web.Ctx) error {
	v, err := p.bookmarkView(c)
	if err != nil {
		return err
	}
	word := c.Param("word")
	preview, err := p.preview(c, &v)
	if err != nil && c.QueryParam("asked") == "form" {
		return p.refused(c, v, word, err)
	}
	if err != nil {
		return err
	}
	v.Ask.Preview, v.Ask.To, v.Ask.Stay = &preview, preview.To, c.QueryParam("stay") != ""
	return web.Render(c, http.StatusOK, bookmark.Dialog(v))
}

func (p *Pages) preview(c web.Ctx, v *bookmark.View) (rules.Preview, error) {
	var err error
	if v.Ask.Move, err = moveOf(c); err != nil {
		return rules.Preview{}, err
	}
	return p.Bookmarks.Preview(c.Request().Context(), v.Mark.ID, v.Ask.Move, user(c))
}

// moveBookmark answers POST /bookmarks/:id/:word.
func (p *Pages) moveBookmark(c web.Ctx) error {
	m, err := moveOf(c)
	if err != nil {
		return err
	}
	moved, err := p.Bookmarks.Make(c.Request().Context(), web.ID(c), m, user(c))
	if err != nil {
		return err
	}
	if c.FormValue("stay") != "" {
		return web.Say(c, bookmark.Done(m.Kind, moved.Ctx), "/bookmarks")
	}
	return web.Refresh(c, "/bookmarks/"+string(web.ID(c)))
}

// readBeside answers POST /bookmarks/:id/again with a run that reads chosen
// files again and leaves the bookmark where it is.
func (p *Pages) readBeside(c web.Ctx) error {
	pick, err := pickOf(c)
	if err != nil {
		return err
	}
	mark, err := p.Store.Bookmark(c.Request().Context(), web.ID(c))
	if err != nil {
		return err
	}
	run, err := p.Exec.StartJob(c.Request().Context(), mark.Job, nil, &pick, user(c))
	if err != nil {
		return err
	}
	return web.Go(c, "/runs/"+string(run.ID))
}

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

// promoteBranch answers POST /bookmarks/:id/promote, of a branch, with the page
// of the bookmark that it became.
func (p *Pages) promoteBranch(c web.Ctx) error {
	moved, err := p.Bookmarks.Promote(c.Request().Context(), web.ID(c), c.FormValue("why"), user(c))
	if err != nil {
		return err
	}
	return web.Go(c, "/bookmarks/"+string(moved.ID))
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

// importBookmark answers POST /bookmarks/:id/import.
func (p *Pages) importBookmark(c web.Ctx) error {
	err := p.importFile(c)
	if err == nil {
		return web.Refresh(c, "/bookmarks/"+string(web.ID(c)))
	}
	v, viewErr := p.bookmarkView(c)
	if viewErr != nil {
		return viewErr
	}
	return p.refused(c, v, "import", err)
}

func (p *Pages) importFile(c web.Ctx) error {
	head, err := c.FormFile("file")
	if err != nil {
		return engine.Errorf(engine.Invalid, "Choose a file: %w", err)
	}
	file, err := head.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = p.Bookmarks.Import(c.Request().Context(), web.ID(c), file, c.FormValue("why"), user(c))
	return err
}

// moveOf reads the move that a person thinks of or makes: the word is its
// kind, the rest are fields of the form or the query.
func moveOf(c web.Ctx) (rules.Move, error) {
	m := rules.Move{Kind: engine.MoveKind(c.Param("word")), Why: c.FormValue("why")}
	var err error
	switch m.Kind {
	case engine.MovePause, engine.MoveResume, engine.MoveReset, engine.MoveUndo, engine.MoveSetNow, engine.MoveAdopt:
	case engine.MoveRewind:
		err = rewindOf(c, &m)
	case engine.MoveReadAgain, engine.MoveHold, engine.MoveRelease:
		m.Pick, err = pickOf(c)
	default:
		err = engine.Errorf(engine.NotFound, "There is no such move.")
	}
	return m, err
}

// rewindOf reads where a rewind goes: to a version, a run or a time.
func rewindOf(c web.Ctx, m *rules.Move) error {
	m.ToRun = engine.ID(c.FormValue("run"))
	var err error
	if m.At, err = moment(c, "at"); err != nil {
		return err
	}
	to := c.FormValue("to")
	given := 0
	for _, set := range []bool{to != "", m.ToRun != "", !m.At.IsZero()} {
		if set {
			given++
		}
	}
	if given != 1 {
		return engine.Errorf(engine.Invalid, "Choose one of the three: a version, a run or a time.")
	}
	if to == "" {
		return nil
	}
	if m.To, err = strconv.Atoi(to); err != nil || m.To < 0 {
		return engine.Errorf(engine.Invalid, "Choose the version to rewind to.")
	}
	return nil
}

// pickOf reads which objects a move is about.
func pickOf(c web.Ctx) (engine.Selection, error) {
	pick := engine.Selection{Pattern: strings.TrimSpace(c.FormValue("pattern"))}
	form, err := c.FormParams()
	if err != nil {
		return pick, engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	for _, key := range form["key"] {
		if key != "" {
			pick.Keys = append(pick.Keys, key)
		}
	}
	if pick.Since, err = moment(c, "since"); err != nil {
		return pick, err
	}
	if pick.Until, err = moment(c, "until"); err != nil {
		return pick, err
	}
	if !pick.Since.IsZero() && !pick.Until.IsZero() && !pick.Since.Before(pick.Until) {
		return pick, engine.Errorf(engine.Invalid, "Nothing lies between these two days; the second must be the later one.")
	}
	return pick, nil
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
