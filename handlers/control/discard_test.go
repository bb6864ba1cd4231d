package control

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/draft"
)

// TestAJobsDraftIsDiscardedAsItWasSeen: one that somebody saved since then stays, and
// one that was never published has nothing to go back to.
func TestAJobsDraftIsDiscardedAsItWasSeen(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), dbtest.SQLite(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	body := engine.JobBody{Kind: engine.JobSQL, Retries: 1}
	id, err := store.CreateJob(ctx, "load", body, "owner", dbtest.Noon)
	must(err)
	handler := New(Config{Store: store})
	ask := func(method, path, body string) (int, string) {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(method, path, strings.NewReader(body)))
		return recorder.Code, recorder.Body.String()
	}
	never, why := ask(http.MethodPost, "/draft/discard", `{"kind":"job","name":"load","seq":0}`)
	_, err = store.PublishJob(ctx, id, "owner", dbtest.Noon)
	must(err)
	for seq := range int64(2) {
		body.Retries++
		_, err = store.SaveJobDraft(ctx, id, body, seq, "owner", dbtest.Noon)
		must(err)
	}

	_, held := ask(http.MethodGet, "/draft?kind=job&name=load", "")
	stale, _ := ask(http.MethodPost, "/draft/discard", `{"kind":"job","name":"load","seq":1}`)
	kept, err := store.JobDraft(ctx, id)
	must(err)
	done, _ := ask(http.MethodPost, "/draft/discard", `{"kind":"job","name":"load","seq":2}`)
	gone, err := store.JobDraft(ctx, id)
	must(err)
	_, late := store.SaveJobDraft(ctx, id, body, 2, "owner", dbtest.Noon)

	if never != http.StatusUnprocessableEntity || !strings.Contains(why, "never published") {
		t.Errorf("a job that was never published = %d %s, want 422 that says so", never, why)
	}
	if !strings.Contains(held, `"fields":[{"name":"Retries","from":"1","to":"3"}]`) {
		t.Errorf("the draft differs by %s, want its retries", held)
	}
	if stale != http.StatusConflict || !kept.Open || kept.Body.Retries != 3 {
		t.Errorf("a discard of what was saved since = %d, and left %+v; want 409 and the draft", stale, kept)
	}
	if done != http.StatusOK || gone.Open || gone.Body.Retries != 1 {
		t.Errorf("a discard = %d, and left %+v; want 200 and what is published", done, gone)
	}
	if engine.CodeOf(late) != engine.Conflict {
		t.Errorf("a form that shows the discarded draft is saved: %v, want a conflict", late)
	}
}

// TestADraftThatDiffersOnlyInOrderIsDiscarded: nobody sees that it differs, and an import
// is refused beside it all the same.
func TestADraftThatDiffersOnlyInOrderIsDiscarded(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), dbtest.SQLite(t)
	a, b := engine.Ref{Kind: engine.KindJob, ID: engine.NewID(dbtest.Noon)}, engine.Ref{Kind: engine.KindJob, ID: engine.NewID(dbtest.Noon)}
	id, err := store.CreateWorkflow(ctx, "w", engine.WorkflowBody{Cards: []engine.Ref{a, b}}, "owner", dbtest.Noon)
	if err != nil {
		t.Fatal(err)
	}
	published, err := publisher{store}.Publish(ctx, id, 0, nil, "owner")
	if err != nil {
		t.Fatal(err)
	}
	turned, err := store.Edit(ctx, id, nil, func(draft.Draft, map[string]bool) (engine.WorkflowBody, []draft.Entry, error) {
		return engine.WorkflowBody{Cards: []engine.Ref{b, a}}, nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}

	_, err = draft.NewService(store, store, func(engine.ID, []draft.Entry) {}, nil).BringBack(ctx, turned, published.WorkflowBody, "owner", "tab")
	after, _ := store.Draft(ctx, id)

	if err != nil || !turned.Open || after.Open {
		t.Errorf("the draft is open before: %t, and after: %t (%v); want it open, then not", turned.Open, after.Open, err)
	}
}

// TestACrawlersDraftIsShownAndDiscarded: and what is neither job nor crawler has none.
func TestACrawlersDraftIsShownAndDiscarded(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), dbtest.SQLite(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	body := engine.CrawlerBody{Database: "found", Targets: []engine.CrawlerTarget{{Path: "in"}}}
	id, err := store.CreateCrawler(ctx, "look", body, "owner", dbtest.Noon)
	must(err)
	_, err = store.PublishCrawler(ctx, id, "owner", dbtest.Noon)
	must(err)
	body.TablePrefix = "raw_"
	seq, err := store.SaveCrawlerDraft(ctx, id, body, 0, "owner", dbtest.Noon)
	must(err)
	handler := New(Config{Store: store})
	ask := func(method, path, body string) (int, string) {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(method, path, strings.NewReader(body)))
		return recorder.Code, recorder.Body.String()
	}

	_, held := ask(http.MethodGet, "/draft?kind=crawler&name=look", "")
	done, _ := ask(http.MethodPost, "/draft/discard", fmt.Sprintf(`{"kind":"crawler","name":"look","seq":%d}`, seq))
	gone, err := store.CrawlerDraft(ctx, id)
	must(err)
	_, stranger := ask(http.MethodGet, "/draft?kind=workflow&name=look", "")

	if !strings.Contains(held, `"open":true`) || !strings.Contains(held, `{"name":"Table prefix","from":"","to":"raw_"}`) {
		t.Errorf("the draft differs by %s, want its prefix", held)
	}
	if done != http.StatusOK || gone.Open || gone.Body.TablePrefix != "" {
		t.Errorf("the discard = %d and left %+v, want 200 and what is published", done, gone)
	}
	if !strings.Contains(stranger, "neither job nor crawler") {
		t.Errorf("a workflow's = %s, want that it has none of this kind", stranger)
	}
}
