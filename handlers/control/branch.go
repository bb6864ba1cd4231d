package control

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"dogear/engine"
)

// Branch asks for something to be done with a branch of a bookmark.
type Branch struct {
	Owner  string `json:"owner"`
	Ctx    string `json:"ctx,omitempty"`
	Branch string `json:"branch"`
	Do     string `json:"do"` // "make" or "drop"; promote is a Move
	Dry    bool   `json:"dry,omitempty"`
	Why    string `json:"why,omitempty"`
}

// branches answers GET /bookmark/branches.
func (c *control) branches(w http.ResponseWriter, r *http.Request) error {
	mark, err := c.find(r.Context(), r.FormValue("owner"), r.FormValue("ctx"))
	if err != nil {
		return err
	}
	marks, err := c.Store.Branches(r.Context(), mark.Job, mark.Bookmark.Ctx)
	if err != nil {
		return err
	}
	list := make([]Bookmark, len(marks))
	for i := range marks {
		list[i] = Bookmark{Bookmark: marks[i], Owner: mark.Owner}
	}
	return answer(w, list)
}

// branch answers POST /bookmark/branch with the branch that was made or the
// bookmark whose branch was dropped; a drop with dry set, with what it would do.
func (c *control) branch(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[Branch](w, r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	by, err := c.by(ctx)
	if err != nil {
		return err
	}
	mark, err := c.open(ctx, ask.Owner, ask.Ctx)
	if err != nil {
		return err
	}
	if ask.Do == "make" {
		mark.Bookmark, err = c.Bookmarks.Branch(ctx, mark.ID, ask.Branch, ask.Why, by)
		if err != nil {
			return err
		}
		return answer(w, mark)
	}
	branch, err := c.branchOf(ctx, &mark.Bookmark, ask.Branch)
	if err != nil {
		return err
	}
	switch {
	case ask.Do != "drop":
		return engine.Errorf(engine.Invalid, "A branch is made or dropped, not %q.", ask.Do)
	case ask.Dry:
		dropped, err := c.Bookmarks.PreviewDrop(ctx, branch.ID)
		if err != nil {
			return err
		}
		return answer(w, dropped)
	}
	if err := c.Store.DropBranch(ctx, branch.ID); err != nil {
		return err
	}
	return answer(w, mark)
}

// branchOf finds a branch of a bookmark by name.
func (c *control) branchOf(ctx context.Context, mark *engine.Bookmark, name string) (engine.Bookmark, error) {
	marks, err := c.Store.Branches(ctx, mark.Job, mark.Ctx)
	if err != nil {
		return engine.Bookmark{}, err
	}
	names := make([]string, len(marks))
	for i := range marks {
		if marks[i].Branch == name {
			return marks[i], nil
		}
		names[i] = fmt.Sprintf("%q", marks[i].Branch)
	}
	there := "It has none."
	if len(names) > 0 {
		there = "There is: " + strings.Join(names, ", ") + "."
	}
	return engine.Bookmark{}, engine.Errorf(engine.NotFound, "The bookmark %s has no branch %q. %s", mark.Ctx, name, there)
}
