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

// BringBack makes a draft exactly what a published version was, as one act of a client
// that an undo takes back, and returns how far it has come then. drawn is the draft as
// whoever asks has seen it: one that somebody has changed since then is a Conflict.
func (s *Service) BringBack(ctx context.Context, drawn Draft, earlier engine.WorkflowBody, by, client string) (seq int64, err error) {
	return s.Discard(ctx, drawn, earlier, nil, by, client)
}

// Seen is the draft of a job or crawler as somebody has seen it.
type Seen struct {
	Ref engine.Ref
	Seq int64 // up to which change
}

// Discard is BringBack that makes the drafts of jobs and crawlers what is published of
// them as well, all or none. Theirs no undo brings back.
func (s *Service) Discard(ctx context.Context, drawn Draft, earlier engine.WorkflowBody, with []Seen, by, client string) (seq int64, err error) {
	names, err := s.catalog.Names(ctx)
	if err != nil {
		return drawn.Seq, err
	}
	var made []Entry
	after, err := s.store.Discard(ctx, drawn.Workflow, with, func(d Draft, _ map[string]bool) (engine.WorkflowBody, []Entry, error) {
		if d.Seq != drawn.Seq {
			return d.Body, nil, engine.Errorf(engine.Conflict, "The draft of workflow %s was changed meanwhile. Look at it again first.", d.Name)
		}
		delta := Between(d.Body, earlier)
		if delta.Empty() {
			return earlier, nil, nil // they differ in an order at most, which nobody sees
		}
		id := string(engine.NewID(s.now()))
		if _, _, err := Apply(d.Body, Op{ID: id, Kind: Earlier, Delta: &delta}, names); err != nil {
			return d.Body, nil, err
		}
		made = []Entry{{Op: id, Act: id, Kind: Earlier, By: by, Client: client, At: s.now().UTC(), Delta: delta}}
		return earlier, made, nil
	})
	if err != nil {
		return drawn.Seq, err
	}
	s.tellMade(after, made)
	return after.Seq, nil
}
