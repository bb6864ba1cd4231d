package dbtest_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/draft"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var odd = []string{
	"plain", "two words", "a/b", `quotes "and" 'more'`, "<script>alert(1)</script>", "naïve ✓ 🦊", strings.Repeat("ü", 255), "%_!", "../../etc",
}

func TestNamesAreAnyText(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		for _, name := range odd {
			id, err := store.CreateJob(t.Context(), name, engine.JobBody{Kind: engine.JobSQL}, "owner", dbtest.Noon)
			must(t, err)
			_, err = store.PublishJob(t.Context(), id, "owner", dbtest.Noon)
			must(t, err)

			job, err := store.JobNamed(t.Context(), name)

			must(t, err)
			if job.Name != name || job.ID != id {
				t.Errorf("JobNamed(%q) = %q %s, want %s", name, job.Name, job.ID, id)
			}
		}
		for _, name := range []string{"", "   ", strings.Repeat("x", 256), "two\nlines", "bell\a", "bad\xff"} {
			if _, err := store.CreateJob(t.Context(), name, engine.JobBody{}, "owner", dbtest.Noon); engine.CodeOf(err) != engine.Invalid {
				t.Errorf("CreateJob(%q) = %v, want it refused", name, err)
			}
		}
	})
}

func TestNameIsTakenOncePerKind(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		id, err := store.CreateJob(t.Context(), "load", engine.JobBody{}, "owner", dbtest.Noon)
		must(t, err)
		other, err := store.CreateJob(t.Context(), "other", engine.JobBody{}, "owner", dbtest.Noon)
		must(t, err)

		_, second := store.CreateJob(t.Context(), "load", engine.JobBody{}, "owner", dbtest.Noon)
		_, crawler := store.CreateCrawler(t.Context(), "load", engine.CrawlerBody{}, "owner", dbtest.Noon)
		rename := store.RenameObject(t.Context(), engine.KindJob, other, "load")

		if got := engine.CodeOf(second); got != engine.Conflict {
			t.Errorf("a second job with the name = %v, want %s", second, engine.Conflict)
		}
		must(t, crawler)
		if got := engine.CodeOf(rename); got != engine.Conflict {
			t.Errorf("renaming to a taken name = %v, want %s", rename, engine.Conflict)
		}
		must(t, store.Delete(t.Context(), engine.KindJob, id, dbtest.Noon))
		must(t, store.RenameObject(t.Context(), engine.KindJob, other, "load"))
	})
}

func TestDraftStandsBesideWhatIsPublished(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		first, second := engine.JobBody{Kind: engine.JobSQL, Retries: 1}, engine.JobBody{Kind: engine.JobSQL, Retries: 2}
		id, err := store.CreateJob(t.Context(), "load", first, "owner", dbtest.Noon)
		must(t, err)
		_, err = store.PublishJob(t.Context(), id, "owner", dbtest.Noon)
		must(t, err)

		seq, err := store.SaveJobDraft(t.Context(), id, second, 0, "owner", dbtest.Noon)
		must(t, err)
		_, stale := store.SaveJobDraft(t.Context(), id, first, 0, "owner", dbtest.Noon)
		before, err := store.Job(t.Context(), id)
		must(t, err)
		open, err := store.JobDraft(t.Context(), id)
		must(t, err)
		after, err := store.PublishJob(t.Context(), id, "owner", dbtest.Noon.Add(time.Hour))
		must(t, err)
		old, err := store.JobVersion(t.Context(), id, 1)
		must(t, err)

		if got := engine.CodeOf(stale); got != engine.Conflict {
			t.Errorf("saving over somebody else's draft = %v, want %s", stale, engine.Conflict)
		}
		if before.Retries != 1 || before.Version != 1 {
			t.Errorf("published meanwhile = v%d with %d retries, want v1 with 1", before.Version, before.Retries)
		}
		if !open.Open || open.Body.Retries != 2 || open.Seq != seq {
			t.Errorf("draft = open %t, %d retries, seq %d, want open, 2, %d", open.Open, open.Body.Retries, open.Seq, seq)
		}
		if after.Version != 2 || after.Retries != 2 || old.Retries != 1 {
			t.Errorf("after publishing v%d has %d retries and v1 has %d, want v2, 2 and 1", after.Version, after.Retries, old.Retries)
		}
	})
}

func TestDraftLogTakesAnOperationOnce(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		id, err := store.CreateWorkflow(t.Context(), "daily", engine.WorkflowBody{}, "owner", dbtest.Noon)
		must(t, err)
		described := engine.WorkflowBody{Description: "changed"}
		edit := func(op string) (draft.Draft, bool) {
			seen := false
			d, err := store.Edit(t.Context(), id, []string{op}, func(_ draft.Draft, done map[string]bool) (engine.WorkflowBody, []draft.Entry, error) {
				if seen = done[op]; seen {
					return described, nil, nil
				}
				return described, []draft.Entry{{Op: op, Kind: draft.SetWorkflow, By: "owner", At: dbtest.Noon}}, nil
			})
			must(t, err)
			return d, seen
		}

		first, seenFirst := edit("a")
		again, seenAgain := edit("a")
		_, refused := store.Edit(t.Context(), id, nil, func(draft.Draft, map[string]bool) (engine.WorkflowBody, []draft.Entry, error) {
			return engine.WorkflowBody{}, []draft.Entry{{Op: "b"}}, engine.Errorf(engine.Invalid, "No.")
		})
		log, err := store.Since(t.Context(), id, 0)

		must(t, err)
		if seenFirst || !seenAgain {
			t.Errorf("the operation was known before = %t and after = %t, want false and true", seenFirst, seenAgain)
		}
		if first.Seq != 1 || again.Seq != 1 || again.Body.Description != "changed" {
			t.Errorf("drafts = seq %d and %d %q, want 1, 1 and the new text", first.Seq, again.Seq, again.Body.Description)
		}
		if engine.CodeOf(refused) != engine.Invalid || len(log) != 1 || log[0].Op != "a" {
			t.Errorf("after a refusal (%v) the log is %+v, want the one operation", refused, log)
		}
	})
}

func TestSecretIsSealed(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		secret := "s3cr3t"
		body := engine.ConnectionBody{Type: engine.ConnectionS3, AccessKey: "AK"}
		made, err := store.SaveConnection(t.Context(), "", "lake", body, &secret, "owner", dbtest.Noon)
		must(t, err)
		body = made.ConnectionBody
		body.Region = "eu-central-1"
		kept, err := store.SaveConnection(t.Context(), made.ID, "lake", body, nil, "owner", dbtest.Noon)
		must(t, err)

		got, err := store.Secret(t.Context(), made.ID)

		must(t, err)
		if got != secret || !kept.HasSecret || kept.Version != 2 {
			t.Errorf("secret = %q, has %t, v%d, want %q, true, v2", got, kept.HasSecret, kept.Version, secret)
		}
		if strings.Contains(reflect.ValueOf(kept).String(), secret) {
			t.Error("the connection shows its secret")
		}
	})
}
