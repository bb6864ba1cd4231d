package app

import (
	"context"
	"time"

	"dogear/db"
	"dogear/engine"
	"dogear/engine/draft"
)

// told is the store as screens and commands write to it: what they change of a
// job, crawler or pool is told to open pages.
type told struct {
	*db.Store
	changed func(kind string, id engine.ID)
}

func (h *house) told() told { return told{h.store, h.changed} }

// tell tells of what was written without an error.
func (t told) tell(err error, kind string, id engine.ID) {
	if err == nil {
		t.changed(kind, id)
	}
}

func (t told) CreateJob(ctx context.Context, name string, body engine.JobBody, by string, now time.Time) (engine.ID, error) {
	id, err := t.Store.CreateJob(ctx, name, body, by, now)
	t.tell(err, "jobs", id)
	return id, err
}

func (t told) SaveJobDraft(ctx context.Context, id engine.ID, body engine.JobBody, base int64, by string, now time.Time) (int64, error) {
	seq, err := t.Store.SaveJobDraft(ctx, id, body, base, by, now)
	t.tell(err, "jobs", id)
	return seq, err
}

func (t told) PublishJob(ctx context.Context, id engine.ID, by string, now time.Time) (engine.Job, error) {
	made, err := t.Store.PublishJob(ctx, id, by, now)
	t.tell(err, "jobs", id)
	return made, err
}

func (t told) CreateCrawler(ctx context.Context, name string, body engine.CrawlerBody, by string, now time.Time) (engine.ID, error) {
	id, err := t.Store.CreateCrawler(ctx, name, body, by, now)
	t.tell(err, "crawlers", id)
	return id, err
}

func (t told) SaveCrawlerDraft(ctx context.Context, id engine.ID, body engine.CrawlerBody, base int64, by string, now time.Time) (int64, error) {
	seq, err := t.Store.SaveCrawlerDraft(ctx, id, body, base, by, now)
	t.tell(err, "crawlers", id)
	return seq, err
}

func (t told) DiscardDraft(ctx context.Context, ref engine.Ref, base int64) error {
	err := t.Store.DiscardDraft(ctx, ref, base)
	t.tell(err, string(ref.Kind)+"s", ref.ID)
	return err
}

// Discard tells of the jobs and crawlers; of the workflow whoever made its entries does.
func (t told) Discard(ctx context.Context, workflow engine.ID, with []draft.Seen,
	change func(draft.Draft, map[string]bool) (engine.WorkflowBody, []draft.Entry, error),
) (draft.Draft, error) {
	after, err := t.Store.Discard(ctx, workflow, with, change)
	for _, part := range with {
		t.tell(err, string(part.Ref.Kind)+"s", part.Ref.ID)
	}
	return after, err
}

func (t told) PublishCrawler(ctx context.Context, id engine.ID, by string, now time.Time) (engine.Crawler, error) {
	made, err := t.Store.PublishCrawler(ctx, id, by, now)
	t.tell(err, "crawlers", id)
	return made, err
}

func (t told) RenameObject(ctx context.Context, kind engine.Kind, id engine.ID, name string) error {
	err := t.Store.RenameObject(ctx, kind, id, name)
	t.tell(err, string(kind)+"s", id)
	return err
}

func (t told) PutPool(ctx context.Context, name string, places int, by string, now time.Time) error {
	err := t.Store.PutPool(ctx, name, places, by, now)
	t.tell(err, "pools", "")
	return err
}

func (t told) DeletePool(ctx context.Context, name string) error {
	err := t.Store.DeletePool(ctx, name)
	t.tell(err, "pools", "")
	return err
}
