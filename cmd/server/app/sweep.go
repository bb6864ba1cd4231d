package app

import (
	"context"
	"time"

	"dogear/engine/bookmark"
	"dogear/engine/exec"
)

// sweepEvery is how often old ledgers are looked for.
const sweepEvery = 24 * time.Hour

// pruneEvents removes events that started their run, or were let go, longer ago
// than the server keeps them.
func (h *house) pruneEvents(ctx context.Context) {
	if h.cfg.KeepEvents <= 0 {
		return
	}
	n, err := h.store.PruneEvents(ctx, time.Now().Add(-h.cfg.KeepEvents))
	if err != nil && ctx.Err() == nil {
		h.log.Error("old events could not be removed", "err", err)
	}
	if n > 0 {
		h.log.Info("old events were removed", "events", n)
	}
}

// pruneTokens forgets the tokens of starts that count no more.
func (h *house) pruneTokens(ctx context.Context) {
	if _, err := h.store.PruneTokens(ctx, time.Now().Add(-exec.TokenWindow)); err != nil && ctx.Err() == nil {
		h.log.Error("old tokens could not be forgotten", "err", err)
	}
}

// sweep removes ledgers older than the server keeps, and pages that no version
// names.
func (h *house) sweep(ctx context.Context) {
	now := time.Now()
	var since time.Time
	if h.cfg.KeepLedgers > 0 {
		since = now.Add(-h.cfg.KeepLedgers)
	}
	done, err := bookmark.Sweep(ctx, h.store, since, now)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		h.log.Error("old ledgers could not be swept", "err", err)
	case done != bookmark.Swept{}:
		h.log.Info("old ledgers were swept", "versions", done.Versions, "pages", done.Pages)
	}
}
