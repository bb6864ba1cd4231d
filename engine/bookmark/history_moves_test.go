package bookmark_test

import (
	"maps"
	"strings"

	"pgregory.net/rapid"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// moveByHand makes one of the moves of a person in the world and the oracle.
func (h *history) moveByHand(t *rapid.T) {
	service := h.service(h.tick())
	if h.mark == nil {
		if !rapid.Bool().Draw(t, "before the first run") {
			return
		}
		_, err := service.Open(t.Context(), h.job.ID, h.job.SQL.Sources[0].Context())
		must(t, err)
		h.o.madeFor = h.o.path
	}
	m := bookmark.Move{Kind: rapid.SampledFrom([]engine.MoveKind{
		engine.MovePause, engine.MoveResume, engine.MoveReset, engine.MoveRewind, engine.MoveUndo,
		engine.MoveReadAgain, engine.MoveHold, engine.MoveRelease, engine.MoveSetNow, engine.MoveAdopt,
	}).Draw(t, "what")}
	fits := h.pick(t, &m)
	next := h.after(t, &m, fits)
	asked := h.o.asks()
	preview, previewErr := service.Preview(t.Context(), h.mark.ID, m, "owner")
	moved, err := service.Make(t.Context(), h.mark.ID, m, "owner")
	if err != nil {
		if code := engine.CodeOf(err); code != engine.Conflict && code != engine.NotFound {
			t.Fatalf("%s failed: %v", m.Kind, err)
		}
		return // there was nothing to move; check sees that nothing did
	}
	if h.left != nil && !m.Kind.Beside() {
		t.Fatalf("%s was made while a run is under way", m.Kind)
	}
	h.o.paused = moved.Paused
	if m.Kind == engine.MoveReset || m.Kind == engine.MoveAdopt {
		h.o.madeFor = h.o.path
	}
	if m.Kind.Beside() {
		return
	}
	h.o.versions = append(h.o.versions, next)
	if asked && m.Kind != engine.MoveReset {
		if engine.CodeOf(previewErr) != engine.Conflict {
			t.Fatalf("a preview over another source: %v, want it to ask", previewErr)
		}
		return
	}
	must(t, previewErr)
	assertKeys(t, "previewed", keysOf(preview.Plan.Taken), h.o.due(h.visible(), h.limit))
}

// pick draws which files a move is about.
func (h *history) pick(t *rapid.T, m *bookmark.Move) func(string) bool {
	switch m.Kind {
	case engine.MoveReadAgain, engine.MoveHold, engine.MoveRelease:
	default: // is about all of them
		return nil
	}
	if rapid.Bool().Draw(t, "by pattern") {
		m.Pick = engine.Selection{Pattern: "in/1*"}
		return func(key string) bool { return strings.HasPrefix(key, "in/1") }
	}
	picked := h.key(t, "picked")
	m.Pick.Keys = []string{picked}
	return func(key string) bool { return key == picked }
}

// after is what the oracle says of the version that a move makes.
func (h *history) after(t *rapid.T, m *bookmark.Move, fits func(string) bool) version {
	next, last := h.o.now().clone(), len(h.o.versions)-1
	switch m.Kind {
	case engine.MovePause, engine.MoveResume, engine.MoveAdopt:
	case engine.MoveReset:
		next = beginning()
	case engine.MoveRewind:
		m.To = rapid.IntRange(0, last).Draw(t, "to")
		next = h.o.versions[m.To].clone()
	case engine.MoveUndo:
		next = h.o.versions[max(0, last-1)].clone()
	case engine.MoveReadAgain:
		maps.DeleteFunc(next.read, func(key, _ string) bool {
			if fits(key) {
				next.reopened[key] = true
			}
			return fits(key)
		})
	case engine.MoveHold:
		for key := range h.visible() {
			if _, read := next.read[key]; !read && fits(key) {
				next.held[key] = true
			}
		}
		for key := range next.reopened {
			if fits(key) {
				next.held[key] = true
				delete(next.reopened, key)
			}
		}
	case engine.MoveRelease:
		for key := range next.held {
			if fits(key) {
				next.reopened[key] = true
				delete(next.held, key)
			}
		}
	case engine.MoveSetNow:
		next.drop(h.visible())
		next.mark(h.visible(), h.o.due(h.visible(), 0))
	default:
		t.Fatalf("the oracle does not know the move %s", m.Kind)
	}
	return next
}
