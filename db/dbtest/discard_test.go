package dbtest_test

import (
	"strings"
	"testing"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/draft"
)

func TestADiscardedDraftIsWhatIsPublished(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		first, second := engine.CrawlerBody{Database: "sales"}, engine.CrawlerBody{Database: "other"}
		id, err := store.CreateCrawler(t.Context(), "look", first, "owner", dbtest.Noon)
		must(t, err)
		ref := engine.Ref{Kind: engine.KindCrawler, ID: id}
		never := store.DiscardDraft(t.Context(), ref, 0)
		_, err = store.PublishCrawler(t.Context(), id, "owner", dbtest.Noon)
		must(t, err)
		none := store.DiscardDraft(t.Context(), ref, 0)
		seq, err := store.SaveCrawlerDraft(t.Context(), id, second, 0, "owner", dbtest.Noon)
		must(t, err)

		stale := store.DiscardDraft(t.Context(), ref, seq-1)
		must(t, store.DiscardDraft(t.Context(), ref, seq))
		after, err := store.CrawlerDraft(t.Context(), id)
		must(t, err)

		if none != nil || engine.CodeOf(never) != engine.Invalid || engine.CodeOf(stale) != engine.Conflict {
			t.Errorf("discarding one that is as published, never was, and has changed since = %v, %v, %v; want nil, %s, %s", none, never, stale, engine.Invalid, engine.Conflict)
		}
		if after.Open || after.Body.Database != "sales" || after.Version != 1 || after.Seq == seq {
			t.Errorf("the draft is %+v, want v1 as it is published, and another change than the form has seen", after)
		}
	})
}

// TestAWorkflowIsDiscardedWithAllOfItsPartsOrWithNone: of two jobs one was saved since
// somebody looked. Half a discard would leave the first as it was published beside a
// workflow that is not.
func TestAWorkflowIsDiscardedWithAllOfItsPartsOrWithNone(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		ctx := t.Context()
		var with []draft.Seen
		for _, name := range []string{"first", "second"} {
			id, err := store.CreateJob(ctx, name, engine.JobBody{Kind: engine.JobSQL}, "owner", dbtest.Noon)
			must(t, err)
			_, err = store.PublishJob(ctx, id, "owner", dbtest.Noon)
			must(t, err)
			seq, err := store.SaveJobDraft(ctx, id, engine.JobBody{Kind: engine.JobSQL, Retries: 1}, 0, "owner", dbtest.Noon)
			must(t, err)
			with = append(with, draft.Seen{Ref: engine.Ref{Kind: engine.KindJob, ID: id}, Seq: seq})
		}
		id, err := store.CreateWorkflow(ctx, "w", engine.WorkflowBody{Description: "drawn"}, "owner", dbtest.Noon)
		must(t, err)
		runs := func(draft.Draft, map[string]bool) (engine.WorkflowBody, []draft.Entry, error) {
			return engine.WorkflowBody{Description: "runs"}, []draft.Entry{{Op: string(engine.NewID(dbtest.Noon))}}, nil
		}
		open := func() (is []bool, w draft.Draft) {
			for _, part := range with {
				job, err := store.JobDraft(ctx, part.Ref.ID)
				must(t, err)
				is = append(is, job.Open)
			}
			w, err := store.Draft(ctx, id)
			must(t, err)
			return is, w
		}
		seen := with[1].Seq
		with[1].Seq, err = store.SaveJobDraft(ctx, with[1].Ref.ID, engine.JobBody{Kind: engine.JobSQL, Retries: 2}, seen, "owner", dbtest.Noon)
		must(t, err)

		_, refused := store.Discard(ctx, id, []draft.Seen{with[0], {Ref: with[1].Ref, Seq: seen}}, runs)
		kept, left := open()
		_, err = store.Discard(ctx, id, with, runs)
		must(t, err)
		gone, after := open()

		if engine.CodeOf(refused) != engine.Conflict || !strings.Contains(engine.MessageOf(refused), "The job second was saved since you looked") || !strings.Contains(engine.MessageOf(refused), "Nothing was discarded") {
			t.Errorf("got %v, want a conflict that names the job and says that nothing was discarded", refused)
		}
		if !kept[0] || !kept[1] || left.Body.Description != "drawn" || left.Seq != 0 {
			t.Errorf("the refused discard left open %v and %+v, want all as it was", kept, left)
		}
		if gone[0] || gone[1] || after.Body.Description != "runs" || after.Seq != 1 {
			t.Errorf("the discard left open %v and %+v, want neither and the workflow edited", gone, after)
		}
	})
}
