package app

import (
	"context"
	"time"

	"dogear/engine/bookmark"
)

// sweepEvery is how often old ledgers are looked for.
const sweepEvery = 24 * time.Hour

// sweep removes, once a day, ledgers older than the server keeps and pages
// that no version names, until ctx ends.
func (h *house) sweep(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		now := time.Now()
		var since time.Time
		if h.cfg.KeepLedgers > 0 {
			since = now.Add(-h.cfg.KeepLedgers)
		}
		done, err := bookmark.Sweep(ctx, h.store, since, now)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			h.log.Error("old ledgers could not be swept", "err", err)
		case done != bookmark.Swept{}:
			h.log.Info("old ledgers were swept", "versions", done.Versions, "pages", done.Pages)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
