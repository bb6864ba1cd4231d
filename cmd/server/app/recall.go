package app

import (
	"context"
	"fmt"
	"time"
)

// What a server that starts looks at of what the one before it wrote: batches
// of jobs that may have ended a moment ago, however long they ran.
const (
	recallWithin = 24 * time.Hour
	recallMost   = 200
)

// recall tells the sources which files of the server before this one are
// complete, so that a job which follows in the same run finds them.
func (h *house) recall(ctx context.Context) error {
	manifests, err := h.store.Manifests(ctx, time.Now().Add(-recallWithin), recallMost)
	if err != nil {
		return fmt.Errorf("recall what was written: %w", err)
	}
	for _, m := range manifests {
		h.sinks.Recall(m)
	}
	return nil
}
