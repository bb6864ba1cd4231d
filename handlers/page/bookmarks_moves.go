package page

import (
	"context"
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
	if v.Keys, err = p.keyOf(c.Request().Context(), v.Mark); err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, bookmark.Choose(v, word))
}

// keyOf are the columns of the key by which a table is read, with the types that
// the database gave them where some of it was read; nil for a source of files and
// for a table that is compared, of which no key is the newest.
func (p *Pages) keyOf(ctx context.Context, mark engine.Bookmark) ([]bookmark.KeyColumn, error) {
	var columns []bookmark.KeyColumn
	if r, ok := mark.Newest.KeyRange(); ok && len(r.High) == len(r.Keys) {
		for i, name := range r.Keys {
			columns = append(columns, bookmark.KeyColumn{Name: name, Type: r.High[i].Type, Stands: r.High[i].Text})
		}
		return columns, nil
	}
	job, err := p.Store.Job(ctx, mark.Job)
	if err != nil || job.SQL == nil {
		return nil, err
	}
	for i := range job.SQL.Sources {
		if src := &job.SQL.Sources[i]; src.Context() == mark.Ctx && src.Read != engine.ReadCompare {
			for _, name := range src.Keys {
				columns = append(columns, bookmark.KeyColumn{Name: name})
			}
		}
	}
	return columns, nil
}

// refused answers with the dialog that asked for a move, as it was filled in,
// and what is wrong. What is a fault of the server is no answer to a person.
func (p *Pages) refused(c web.Ctx, v bookmark.View, word string, err error) error {
	if engine.CodeOf(err) == engine.Internal || !web.IsFragment(c) {
		return err
	}
	var keyErr error
	if v.Keys, keyErr = p.keyOf(c.Request().Context(), v.Mark); keyErr != nil {
		return keyErr
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
	if moved.ID != web.ID(c) { // a promotion moves the bookmark that runs read by
		return web.Go(c, "/bookmarks/"+string(moved.ID))
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
	again := order(c, engine.RunJob, mark.Job, nil)
	again.Pick = &pick
	run, err := p.Exec.Start(c.Request().Context(), again)
	if err != nil {
		return err
	}
	return web.Go(c, "/runs/"+string(run.ID))
}

// moveOf reads the move that a person thinks of or makes: the word is its
// kind, the rest are fields of the form or the query.
func moveOf(c web.Ctx) (rules.Move, error) {
	m := rules.Move{Kind: engine.MoveKind(c.Param("word")), Why: c.FormValue("why")}
	seen, err := seenOf(c)
	if err != nil {
		return m, err
	}
	m.Seen = seen
	switch m.Kind {
	case engine.MovePause, engine.MoveResume, engine.MoveReset, engine.MoveUndo, engine.MoveSetNow, engine.MoveAdopt, engine.MovePromote:
	case engine.MoveRewind:
		err = rewindOf(c, &m)
	case engine.MoveReadAgain, engine.MoveHold, engine.MoveRelease:
		m.Pick, err = pickOf(c)
	default:
		err = engine.Errorf(engine.NotFound, "There is no such move.")
	}
	return m, err
}

// seenOf reads the version that a dialog was worked out from; nil where the move
// comes from a button that previews nothing.
func seenOf(c web.Ctx) (*int, error) {
	text := c.FormValue("seen")
	if text == "" {
		return nil, nil
	}
	version, err := strconv.Atoi(text)
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "The version that was seen is a number; this is %q.", text)
	}
	return &version, nil
}

// rewindOf reads where a rewind goes: to a version, a run, a time, or a key.
func rewindOf(c web.Ctx, m *rules.Move) error {
	m.ToRun = engine.ID(c.FormValue("run"))
	var err error
	if m.At, err = moment(c, "at"); err != nil {
		return err
	}
	if m.ToKey, err = toKeyOf(c); err != nil {
		return err
	}
	to := c.FormValue("to")
	given := 0
	for _, set := range []bool{to != "", m.ToRun != "", !m.At.IsZero(), m.ToKey != nil} {
		if set {
			given++
		}
	}
	if given != 1 {
		return engine.Errorf(engine.Invalid, "Choose one of these: a version, a run, a time or, of a table, a key.")
	}
	if to == "" {
		return nil
	}
	if m.To, err = strconv.Atoi(to); err != nil || m.To < 0 {
		return engine.Errorf(engine.Invalid, "Choose the version to rewind to.")
	}
	return nil
}

// toKeyOf reads a key, a field for each of its columns; nil where none of them
// is filled in.
func toKeyOf(c web.Ctx) ([]string, error) {
	form, err := c.FormParams()
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	key := form["to_key"]
	empty := 0
	for _, value := range key {
		if value == "" {
			empty++
		}
	}
	switch empty {
	case len(key):
		return nil, nil
	case 0:
		return key, nil
	}
	return nil, engine.Errorf(engine.Invalid, "The key has %d columns. Fill in a value for each of them.", len(key))
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
