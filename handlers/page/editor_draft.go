package page

import (
	"errors"
	"net/http"
	"strconv"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/handlers/web"
	"dogear/views/canvas"
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
