package control

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"dogear/engine"
)

// Bookmark is a bookmark with the name of the job or crawler it belongs to.
type Bookmark struct {
	engine.Bookmark
	Owner string                `json:"owner"`
	Moves []engine.BookmarkMove `json:"moves,omitempty"` // newest first
}

// Move asks for a move of a bookmark.
type Move struct {
	Owner string          `json:"owner"`
	Ctx   string          `json:"ctx,omitempty"` // "" where the owner has one bookmark
	Kind  engine.MoveKind `json:"kind"`
	To    int             `json:"to,omitempty"`
	Why   string          `json:"why,omitempty"`
}

// bookmarks answers GET /bookmarks.
func (c *control) bookmarks(w http.ResponseWriter, r *http.Request) error {
	marks, err := c.Store.Bookmarks(r.Context())
	if err != nil {
		return err
	}
	names, err := c.Store.Names(r.Context())
	if err != nil {
		return err
	}
	list := make([]Bookmark, 0, len(marks))
	for _, mark := range marks {
		ref := engine.Ref{Kind: engine.KindJob, ID: mark.Job}
		if _, job := names[ref]; !job {
			ref.Kind = engine.KindCrawler
		}
		list = append(list, Bookmark{Bookmark: mark, Owner: names.Of(ref)})
	}
	return answer(w, list)
}

// bookmark answers GET /bookmark?owner=…&ctx=… with its history.
func (c *control) bookmark(w http.ResponseWriter, r *http.Request) error {
	mark, err := c.find(r.Context(), r.FormValue("owner"), r.FormValue("ctx"))
	if err != nil {
		return err
	}
	mark.Moves, err = c.Store.BookmarkMoves(r.Context(), mark.ID)
	if err != nil {
		return err
	}
	return answer(w, mark)
}

// find returns the bookmark of a job or crawler by name.
func (c *control) find(ctx context.Context, owner, name string) (Bookmark, error) {
	found := Bookmark{Owner: owner}
	id, err := c.owner(ctx, owner)
	if err != nil {
		return found, err
	}
	marks, err := c.Store.BookmarksOf(ctx, id)
	if err != nil {
		return found, err
	}
	contexts := make([]string, len(marks))
	for i, mark := range marks {
		if mark.Ctx == name || name == "" && len(marks) == 1 {
			found.Bookmark = mark
			return found, nil
		}
		contexts[i] = fmt.Sprintf("%q", mark.Ctx)
	}
	switch {
	case len(marks) == 0:
		return found, engine.Errorf(engine.NotFound, "%s has no bookmark yet. It gets one when it first succeeds.", owner)
	case name == "":
		return found, engine.Errorf(engine.Invalid, "%s has several bookmarks. Choose one with --ctx: %s.", owner, strings.Join(contexts, ", "))
	}
	return found, engine.Errorf(engine.NotFound, "%s has no bookmark %q. There is: %s.", owner, name, strings.Join(contexts, ", "))
}

// owner finds a job by name, or else a crawler.
func (c *control) owner(ctx context.Context, name string) (engine.ID, error) {
	names, err := c.Store.Names(ctx)
	if err != nil {
		return "", err
	}
	var crawler engine.ID
	for ref, n := range names {
		if n == name && ref.Kind == engine.KindJob {
			return ref.ID, nil
		}
		if n == name {
			crawler = ref.ID
		}
	}
	if crawler == "" {
		return "", engine.Errorf(engine.NotFound, "There is no job or crawler named %q.", name)
	}
	return crawler, nil
}

// move answers POST /bookmark with the bookmark as it stands then.
func (c *control) move(w http.ResponseWriter, r *http.Request) error {
	m, err := read[Move](w, r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	mark, err := c.find(ctx, m.Owner, m.Ctx)
	if err != nil {
		return err
	}
	by, err := c.by(ctx)
	if err != nil {
		return err
	}
	switch m.Kind {
	case engine.MovePause:
		mark.Bookmark, err = c.Bookmarks.Pause(ctx, mark.ID, by, m.Why)
	case engine.MoveResume:
		mark.Bookmark, err = c.Bookmarks.Resume(ctx, mark.ID, by, m.Why)
	case engine.MoveReset:
		mark.Bookmark, err = c.Bookmarks.Reset(ctx, mark.ID, by, m.Why)
	case engine.MoveRewind:
		mark.Bookmark, err = c.Bookmarks.Rewind(ctx, mark.ID, m.To, by, m.Why)
	case engine.MoveUndo:
		mark.Bookmark, err = c.Bookmarks.Undo(ctx, mark.ID, by, m.Why)
	default:
		err = engine.Errorf(engine.Invalid, "There is no move %q.", m.Kind)
	}
	if err != nil {
		return err
	}
	return answer(w, mark)
}
