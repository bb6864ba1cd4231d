package page

import (
	"errors"
	"net/http"
	"strconv"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/handlers/web"
	"dogear/views/canvas"
	"dogear/views/editor"
)

// saved answers the canvas: what happened since its base, and what it needs to
// draw it.
type saved struct {
	draft.Saved
	Infos    canvas.Infos    `json:"infos,omitempty"`
	Problems []draft.Problem `json:"problems"`
}

// saveDraft answers PATCH /api/ui/workflows/:id/draft. A refusal says which
// operation it is about; then none of the request was applied.
func (p *Pages) saveDraft(c web.Ctx) error {
	var patch draft.Patch
	if err := c.Bind(&patch); err != nil {
		return err
	}
	made, err := p.Drafts.Save(c.Request().Context(), web.ID(c), user(c), patch)
	if refusal, ok := errors.AsType[*draft.Refusal](err); ok {
		return c.JSON(statusOf(refusal), refusal)
	}
	if err != nil {
		return err
	}
	return p.answerDraft(c, made)
}

// statusOf is 409 where another person came first, 422 where it never goes.
func statusOf(refusal *draft.Refusal) int {
	if engine.CodeOf(refusal) == engine.Conflict {
		return http.StatusConflict
	}
	return http.StatusUnprocessableEntity
}

// draftSince answers GET /api/ui/workflows/:id/draft?since=N.
func (p *Pages) draftSince(c web.Ctx) error {
	since, err := strconv.ParseInt(c.QueryParam("since"), 10, 64)
	if err != nil || since < 0 {
		return engine.Errorf(engine.Invalid, "Say since which change: a number, 0 or more.")
	}
	missed, err := p.Drafts.Since(c.Request().Context(), web.ID(c), since)
	if err != nil {
		return err
	}
	return p.answerDraft(c, missed)
}

func (p *Pages) answerDraft(c web.Ctx, made draft.Saved) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, saved{Saved: made, Infos: desk.onCanvas(), Problems: desk.problems(p)})
}

// block is what a canvas asks to be made.
type block struct {
	Kind engine.Kind `json:"kind"`
}

// newBlock answers POST /api/ui/workflows/:id/blocks with a new job or crawler.
// It is a draft until it is published with the workflow.
func (p *Pages) newBlock(c web.Ctx) error {
	var wanted block
	if err := c.Bind(&wanted); err != nil {
		return err
	}
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	ctx, by, now := c.Request().Context(), user(c), p.Now()
	ref := engine.Ref{Kind: wanted.Kind}
	var info canvas.Info
	switch wanted.Kind {
	case engine.KindJob:
		made := engine.Draft[engine.JobBody]{Body: newJob(), Open: true}
		made.Name = desk.freeName("new-job")
		ref.ID, err = p.Store.CreateJob(ctx, made.Name, made.Body, by, now)
		info = editor.InfoOfJob(made)
	case engine.KindCrawler:
		made := engine.Draft[engine.CrawlerBody]{Body: engine.CrawlerBody{Targets: []engine.CrawlerTarget{{}}}, Open: true}
		made.Name = desk.freeName("new-crawler")
		ref.ID, err = p.Store.CreateCrawler(ctx, made.Name, made.Body, by, now)
		info = editor.InfoOfCrawler(made)
	default:
		return engine.Errorf(engine.Invalid, "There is no block of the kind %q.", wanted.Kind)
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"card": ref.String(), "info": info})
}

// freeName is name, or name with the first number that nobody has.
func (d *desk) freeName(name string) string {
	taken := map[string]bool{}
	for _, other := range d.names {
		taken[other] = true
	}
	free := name
	for n := 2; taken[free]; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}
