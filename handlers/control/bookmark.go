package control

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// Bookmark is a bookmark with the name of the job or crawler it belongs to.
type Bookmark struct {
	engine.Bookmark
	Owner string                `json:"owner"`
	Moves []engine.BookmarkMove `json:"moves,omitempty"` // newest first
}

// Move asks for a move of a bookmark.
type Move struct {
	Owner string `json:"owner"`
	Ctx   string `json:"ctx,omitempty"` // "" where the owner has one bookmark
	// Branch, where it is set, is the branch that moves instead.
	Branch string           `json:"branch,omitempty"`
	All    bool             `json:"all,omitempty"` // reset every bookmark of the owner
	Kind   engine.MoveKind  `json:"kind"`
	To     int              `json:"to,omitempty"`
	ToRun  engine.ID        `json:"to_run,omitempty"`
	At     time.Time        `json:"at,omitzero"`
	ToKey  []string         `json:"to_key,omitempty"`
	Pick   engine.Selection `json:"pick,omitzero"`
	Why    string           `json:"why,omitempty"`
}

func (m *Move) move() bookmark.Move {
	return bookmark.Move{Kind: m.Kind, To: m.To, ToRun: m.ToRun, At: m.At, ToKey: m.ToKey, Pick: m.Pick, Why: m.Why}
}

// Waiting is what the next run would read, and why.
type Waiting struct {
	Owner string            `json:"owner"`
	Plan  engine.SourcePlan `json:"plan"`
	// Of a move that is only thought of:
	Again  engine.Tally `json:"again,omitzero"`
	Chosen int64        `json:"chosen,omitempty"`
	// Skipped would count as read and does not now.
	Skipped  int64   `json:"skipped,omitempty"`
	Estimate float64 `json:"estimate,omitempty"` // of the next run, in seconds
	Alarm    string  `json:"alarm,omitempty"`
	Safe     bool    `json:"safe"`
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
	mark, err := c.meant(r.Context(), r.FormValue("owner"), r.FormValue("ctx"), r.FormValue("branch"))
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
		return found, c.noBookmark(ctx, owner)
	case name == "":
		return found, engine.Errorf(engine.Invalid, "%s has several bookmarks. Choose one with --ctx: %s.", owner, strings.Join(contexts, ", "))
	}
	return found, engine.Errorf(engine.NotFound, "%s has no bookmark %q. There is: %s.", owner, name, strings.Join(contexts, ", "))
}

// noBookmark says why a job or crawler has none.
func (c *control) noBookmark(ctx context.Context, owner string) error {
	job, err := c.Store.JobNamed(ctx, owner)
	if err == nil && job.SQL != nil && !slices.ContainsFunc(job.SQL.Sources, func(s engine.Source) bool { return s.Read != engine.ReadAll }) {
		return engine.Errorf(engine.NotFound, "%s reads its sources whole each time, so it has no bookmark.", owner)
	}
	return engine.Errorf(engine.NotFound, "%s has no bookmark yet. It gets one when it first succeeds.", owner)
}

// owner finds a job by name, or else a crawler.
func (c *control) owner(ctx context.Context, name string) (engine.ID, error) {
	names, err := c.Store.Names(ctx)
	if err != nil {
		return "", err
	}
	var crawler engine.ID
	var others []string
	for ref, n := range names {
		if ref.Kind == engine.KindJob || ref.Kind == engine.KindCrawler {
			others = append(others, n)
		}
		if n == name && ref.Kind == engine.KindJob {
			return ref.ID, nil
		}
		if n == name {
			crawler = ref.ID
		}
	}
	if crawler == "" {
		slices.Sort(others)
		return "", engine.Unnamed("job or crawler", name, others)
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
	by, err := c.by(ctx)
	if err != nil {
		return err
	}
	if m.All && m.Kind == engine.MoveReset {
		return c.resetAll(w, r, m, by)
	}
	mark, err := c.meant(ctx, m.Owner, m.Ctx, m.Branch)
	if err != nil {
		return err
	}
	if mark.Bookmark, err = c.Bookmarks.Make(ctx, mark.ID, m.move(), by); err != nil {
		return err
	}
	return answer(w, mark)
}

// resetAll resets every bookmark of a job and answers with the first.
func (c *control) resetAll(w http.ResponseWriter, r *http.Request, m Move, by string) error {
	id, err := c.owner(r.Context(), m.Owner)
	if err != nil {
		return err
	}
	moved, err := c.Bookmarks.ResetJob(r.Context(), id, m.Why, by)
	if err != nil {
		return err
	}
	return answer(w, Bookmark{Bookmark: moved[0], Owner: m.Owner})
}

// open returns a bookmark, making the one of a source that was never read.
func (c *control) open(ctx context.Context, owner, name string) (Bookmark, error) {
	mark, err := c.find(ctx, owner, name)
	if name == "" || engine.CodeOf(err) != engine.NotFound {
		return mark, err
	}
	id, ownerErr := c.owner(ctx, owner)
	if ownerErr != nil {
		return mark, ownerErr
	}
	mark.Bookmark, err = c.Bookmarks.Open(ctx, id, name)
	return mark, err
}

// meant is a bookmark, or the branch of it that is named.
func (c *control) meant(ctx context.Context, owner, name, branch string) (Bookmark, error) {
	mark, err := c.open(ctx, owner, name)
	if err != nil || branch == "" {
		return mark, err
	}
	mark.Bookmark, err = c.branchOf(ctx, &mark.Bookmark, branch)
	return mark, err
}

// waiting answers GET /bookmark/plan with what the next run would read.
func (c *control) waiting(w http.ResponseWriter, r *http.Request) error {
	mark, err := c.meant(r.Context(), r.FormValue("owner"), r.FormValue("ctx"), r.FormValue("branch"))
	if err != nil {
		return err
	}
	plan, err := c.Bookmarks.Waiting(r.Context(), mark.ID)
	if err != nil {
		return err
	}
	return answer(w, Waiting{Owner: mark.Owner, Plan: plan, Safe: true})
}

// preview answers POST /bookmark/plan with what a move would do.
func (c *control) preview(w http.ResponseWriter, r *http.Request) error {
	m, err := read[Move](w, r)
	if err != nil {
		return err
	}
	mark, err := c.meant(r.Context(), m.Owner, m.Ctx, m.Branch)
	if err != nil {
		return err
	}
	by, err := c.by(r.Context())
	if err != nil {
		return err
	}
	return c.would(w, r, mark, m.move(), by)
}

// would answers with what a move would do.
func (c *control) would(w http.ResponseWriter, r *http.Request, mark Bookmark, m bookmark.Move, by string) error {
	p, err := c.Bookmarks.Preview(r.Context(), mark.ID, m, by)
	if err != nil {
		return err
	}
	return answer(w, Waiting{
		Owner: mark.Owner, Plan: p.Plan, Again: p.Again, Chosen: p.Chosen, Skipped: p.Skipped, Estimate: p.Estimate.Round(time.Millisecond).Seconds(), Alarm: p.Alarm, Safe: p.Safe,
	})
}

// exportBookmark answers GET /bookmark/export with JSON lines, or with glue=yes
// with what AWS Glue's get-job-bookmark would print.
func (c *control) exportBookmark(w http.ResponseWriter, r *http.Request) error {
	mark, err := c.find(r.Context(), r.FormValue("owner"), r.FormValue("ctx"))
	if err != nil {
		return err
	}
	if r.FormValue("glue") != "" {
		w.Header().Set("Content-Type", "application/json")
		return c.Bookmarks.ExportGlue(r.Context(), mark.ID, w)
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	return c.Bookmarks.Export(r.Context(), mark.ID, w)
}

// importBookmark answers POST /bookmark/import, whose body is an export, with
// the bookmark as it stands then; with dry=yes, with what it would do.
func (c *control) importBookmark(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	mark, err := c.open(r.Context(), query.Get("owner"), query.Get("ctx"))
	if err != nil {
		return err
	}
	by, err := c.by(r.Context())
	if err != nil {
		return err
	}
	m := bookmark.Move{Kind: engine.MoveImport, File: r.Body, Glue: query.Get("glue") != "", Why: query.Get("why")}
	if query.Get("dry") != "" {
		return c.would(w, r, mark, m, by)
	}
	if mark.Bookmark, err = c.Bookmarks.Make(r.Context(), mark.ID, m, by); err != nil {
		return err
	}
	return answer(w, mark)
}
