package dbtest_test

import (
	"testing"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
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
