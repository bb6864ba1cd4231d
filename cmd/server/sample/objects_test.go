package sample_test

import (
	"slices"
	"testing"

	"dogear/cmd/server/sample"
	"dogear/db/dbtest"
	"dogear/engine"
)

// TestTheSampleIsMadeAgainOfWhatIsLeftOfIt: its workflow was deleted, and one of its
// jobs; the others are as somebody has changed them.
func TestTheSampleIsMadeAgainOfWhatIsLeftOfIt(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), dbtest.SQLite(t)
	first, err := sample.Make(ctx, store, dbtest.Noon)
	must(t, err)
	curate, err := store.JobNamed(ctx, "raw-to-curated")
	must(t, err)
	export, err := store.JobNamed(ctx, "legacy-csv-export")
	must(t, err)
	must(t, store.Delete(ctx, engine.KindWorkflow, first.ID, dbtest.Noon))
	must(t, store.Delete(ctx, engine.KindJob, export.ID, dbtest.Noon))
	body := curate.JobBody
	body.Description = "changed"
	_, err = store.SaveJobDraft(ctx, curate.ID, body, 0, "owner", dbtest.Noon)
	must(t, err)
	_, err = store.PublishJob(ctx, curate.ID, "owner", dbtest.Noon)
	must(t, err)

	again, err := sample.Make(ctx, store, dbtest.Noon)

	must(t, err)
	kept, err := store.JobNamed(ctx, "raw-to-curated")
	must(t, err)
	refs := again.Refs()
	uses := func(id engine.ID) bool {
		return slices.ContainsFunc(refs, func(r engine.Ref) bool { return r.ID == id })
	}
	if again.Name != sample.Name || again.Version != 1 || len(refs) != 3 || !uses(curate.ID) || uses(export.ID) {
		t.Errorf("it was made again as %s v%d of %v, want the old job %s and a new export", again.Name, again.Version, refs, curate.ID)
	}
	if kept.Version != 2 || kept.Description != "changed" {
		t.Errorf("the job that was left is %q, v%d now", kept.Description, kept.Version)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
