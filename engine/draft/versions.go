package draft

import (
	"context"

	"dogear/engine"
)

// Archive keeps the published versions of workflows.
type Archive interface {
	// Versions are those of a workflow, newest first.
	Versions(ctx context.Context, id engine.ID) ([]engine.Head, error)
	// WorkflowVersion is one of them, NotFound where there is none.
	WorkflowVersion(ctx context.Context, id engine.ID, version int) (engine.Workflow, error)
}

// Version is a published version of a workflow, and how it differs from the one
// before.
type Version struct {
	engine.Head
	Body    engine.WorkflowBody
	First   bool     // there is none before
	Changes []Change // none where only places of cards changed
}

// Versions reads up to limit versions of a workflow that lie below before, newest
// first, where 0 is above all of them; the next page begins below older, 0 for none.
func Versions(ctx context.Context, archive Archive, workflow engine.ID, names Names, before, limit int) (list []Version, older int, err error) {
	heads, err := archive.Versions(ctx, workflow)
	if err != nil {
		return nil, 0, err
	}
	for len(heads) > 0 && before > 0 && heads[0].Version >= before {
		heads = heads[1:]
	}
	for _, head := range heads {
		w, err := archive.WorkflowVersion(ctx, head.ID, head.Version)
		if err != nil {
			return nil, 0, err
		}
		if n := len(list); n > 0 {
			after := &list[n-1]
			after.First, after.Changes = false, Changes(&w.WorkflowBody, &after.Body, names)
		}
		if len(list) == limit {
			return list, list[limit-1].Version, nil
		}
		list = append(list, Version{Head: head, Body: w.WorkflowBody, First: true})
	}
	return list, 0, nil
}

// BringBack makes a draft what an earlier version was, as one act of a client, and
// returns how far it has come then. drawn is the draft as whoever asks has seen it: what
// somebody else has done since then is refused or stays, as with every operation.
func (s *Service) BringBack(ctx context.Context, drawn Draft, earlier engine.WorkflowBody, by, client string) (seq int64, err error) {
	delta := Between(drawn.Body, earlier)
	if delta.Empty() {
		return drawn.Seq, nil
	}
	op := Op{ID: string(engine.NewID(s.now())), Kind: Earlier, Delta: &delta}
	saved, err := s.Save(ctx, drawn.Workflow, by, Patch{Base: drawn.Seq, Client: client, Ops: []Op{op}})
	return saved.Seq, err
}
