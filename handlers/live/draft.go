package live

import (
	"context"

	"dogear/engine"
	"dogear/engine/draft"
)

// Drafts knows how far a draft has come.
type Drafts interface {
	Draft(ctx context.Context, workflow engine.ID) (draft.Draft, error)
}

// OfDraft returns the snapshot of topics draft:ID. It says only how far the
// draft is: an editor then asks for the operations it has missed.
func OfDraft(drafts Drafts) Snapshot {
	return func(ctx context.Context, id engine.ID, since int64) (int64, any, error) {
		d, err := drafts.Draft(ctx, id)
		if err != nil || d.Seq <= since {
			return d.Seq, nil, err
		}
		return d.Seq, map[string]int64{"seq": d.Seq}, nil
	}
}
