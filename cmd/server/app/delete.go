package app

import (
	"context"
	"time"

	"dogear/engine"
)

// Delete removes an object and tells open pages; what waits for its triggers
// is told.
func (h *house) Delete(ctx context.Context, kind engine.Kind, id engine.ID, now time.Time) error {
	if err := h.store.Delete(ctx, kind, id, now); err != nil {
		return err
	}
	h.wakeClocks()
	h.changed(string(kind)+"s", id)
	return nil
}
