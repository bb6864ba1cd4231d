package page

import (
	"context"
	"net/http"
	"strings"
	"time"

	"dogear/engine"
	rules "dogear/engine/bookmark"
	"dogear/handlers/web"
	"dogear/views/bookmark"
)

// moveJobBookmarks answers POST /jobs/:id/bookmarks/pause, /resume and /reset:
// the same move of every bookmark of a job.
func (p *Pages) moveJobBookmarks(c web.Ctx) error {
	ctx, id := c.Request().Context(), web.ID(c)
	var err error
	switch kind := engine.MoveKind(c.Param("word")); kind {
	case engine.MovePause, engine.MoveResume:
		err = p.pauseJob(ctx, id, kind, user(c))
	case engine.MoveReset:
		_, err = p.Bookmarks.ResetJob(ctx, id, c.FormValue("why"), user(c))
	default:
		err = engine.Errorf(engine.NotFound, "There is no such move.")
	}
	if err != nil {
		return err
	}
	name, err := p.nameOf(ctx, id)
	if err != nil {
		return err
	}
	return web.Say(c, bookmark.Done(engine.MoveKind(c.Param("word")), name), "/jobs/"+string(id))
}

// jobBookmarks answers GET /jobs/:id/bookmarks with the bookmarks of a job, for
// the places that show them beside it.
func (p *Pages) jobBookmarks(c web.Ctx) error {
	marks, err := p.Store.BookmarksOf(c.Request().Context(), web.ID(c))
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, bookmark.OfJob(web.ID(c), marks))
}

// pauseJob pauses or resumes those bookmarks of a job that are not so already.
func (p *Pages) pauseJob(ctx context.Context, job engine.ID, kind engine.MoveKind, who string) error {
	marks, err := p.Store.BookmarksOf(ctx, job)
	if err != nil {
		return err
	}
	if len(marks) == 0 {
		return engine.Errorf(engine.NotFound, "This job has no bookmark yet. It gets one when it first succeeds.")
	}
	for _, mark := range marks {
		if mark.Paused == (kind == engine.MovePause) {
			continue
		}
		if _, err := p.Bookmarks.Make(ctx, mark.ID, rules.Move{Kind: kind}, who); err != nil {
			return err
		}
	}
	return nil
}

// askResetJob answers GET /jobs/:id/bookmarks/reset with a dialog that says
// what the next run would read.
func (p *Pages) askResetJob(c web.Ctx) error {
	ctx := c.Request().Context()
	v := bookmark.JobReset{Job: web.ID(c), CSRF: p.Sessions.Token(c)}
	var err error
	if v.Name, err = p.nameOf(ctx, v.Job); err != nil {
		return err
	}
	marks, err := p.Store.BookmarksOf(ctx, v.Job)
	if err != nil {
		return err
	}
	for _, mark := range marks {
		if mark.Root == rules.Empty {
			continue
		}
		m := rules.Move{Kind: engine.MoveReset}
		preview, err := p.Bookmarks.Preview(ctx, mark.ID, m, user(c))
		if err != nil {
			return err
		}
		v.Parts = append(v.Parts, bookmark.View{Mark: mark, Ask: bookmark.Ask{Move: m, Preview: &preview}})
	}
	if len(v.Parts) == 0 {
		return engine.Errorf(engine.Conflict, "No bookmark of this job has read anything; there is nothing to reset.")
	}
	return web.Render(c, http.StatusOK, bookmark.AskJobReset(v))
}

// lagsAtOnce is how many jobs one request may ask, and lagTime after how long
// it is answered with those that are known by then: the rest are asked for again.
const (
	lagsAtOnce = 200
	lagTime    = 2 * time.Second
)

// jobLags answers GET /api/ui/lags?job=ID&job=ID… with what their cards say of the
// bookmarks of these jobs, by id.
func (p *Pages) jobLags(c web.Ctx) error {
	ids := c.QueryParams()["job"]
	if len(ids) > lagsAtOnce {
		return engine.Errorf(engine.Invalid, "Ask for at most %d jobs at once.", lagsAtOnce)
	}
	lags, began, failed := map[string]bookmark.Lag{}, p.Now(), error(nil)
	for _, text := range ids {
		id, err := engine.ParseID(text)
		if err != nil {
			return err
		}
		if lag, err := p.jobLag(c.Request().Context(), id); err == nil {
			lags[text] = lag
		} else {
			failed = err
		}
		if p.Now().Sub(began) > lagTime {
			break
		}
	}
	if len(lags) == 0 && failed != nil { // one that cannot be read hides no other; asked for alone it says why
		return failed
	}
	return c.JSON(http.StatusOK, lags)
}

// jobLag is how much waits for the bookmarks of a job and for how long.
func (p *Pages) jobLag(ctx context.Context, job engine.ID) (bookmark.Lag, error) {
	marks, err := p.Store.BookmarksOf(ctx, job)
	if err != nil {
		return bookmark.Lag{}, err
	}
	lag := bookmark.Lag{Paused: len(marks) > 0}
	var titles []string
	for _, mark := range marks {
		lag.Paused = lag.Paused && mark.Paused
		if r, ok := mark.Newest.KeyRange(); ok && r.Compared != nil {
			titles = append(titles, lag.Compared(mark))
			continue
		}
		part, err := p.Bookmarks.Waiting(ctx, mark.ID)
		if engine.CodeOf(err) == engine.Internal {
			return lag, err
		}
		titles = append(titles, lag.Add(mark, part, err, p.Now()))
	}
	lag.Finish(strings.Join(titles, "\n"), len(marks), p.Now())
	return lag, nil
}
