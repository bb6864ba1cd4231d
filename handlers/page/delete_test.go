package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dogear/engine"
)

func TestADeletionSaysWhatItTouches(t *testing.T) {
	t.Parallel()
	site := serve(t)
	places := map[engine.Kind]string{
		engine.KindWorkflow: "/workflows/" + string(site.workflow), engine.KindJob: "/jobs/" + string(site.job),
		engine.KindCrawler: "/crawlers/" + string(site.crawler), engine.KindConnection: "/connections/" + string(site.connection),
	}
	says := map[engine.Kind]string{
		engine.KindWorkflow: "runs stay readable", engine.KindJob: "bookmarks stay readable",
		engine.KindCrawler: "stay in the catalog", engine.KindConnection: "secret is deleted",
	}
	for kind, place := range places {
		_, dialog := site.get(t, place+"/delete")
		status, _ := site.change(t, place+"/delete", url.Values{})
		_, err := site.store.Usage(t.Context(), kind, engine.ID(place[strings.LastIndex(place, "/")+1:]))

		if !strings.Contains(dialog, says[kind]) || strings.Contains(dialog, "<script>alert") {
			t.Errorf("the dialog of the %s says %s, want %q", kind, dialog, says[kind])
		}
		if status != http.StatusOK || engine.CodeOf(err) != engine.NotFound {
			t.Errorf("deleting the %s = %d and then %v, want 200 and nothing there", kind, status, err)
		}
	}
	for _, path := range []string{site.run("log"), site.run("bookmark"), "/bookmarks", "/bookmarks/" + string(markID), "/runs", "/catalog/" + string(tableID)} {
		if status, _ := site.get(t, path); status != http.StatusOK {
			t.Errorf("GET %s after the deletions = %d, want 200", path, status)
		}
	}
	if _, body := site.get(t, "/bookmarks"); !strings.Contains(body, "raw-to-curated") || !strings.Contains(body, "(deleted)") {
		t.Errorf("the bookmark lost the name of its job")
	}
}

func TestADeletionIsRefusedWithWhoUsesIt(t *testing.T) {
	t.Parallel()
	site := edit(t)
	site.pipeline(t)
	published, _ := site.change(t, site.at("/publish"), url.Values{"seq": {"5"}, "with": {"crawler-" + string(site.crawler)}})

	_, dialog := site.get(t, "/jobs/"+string(site.job)+"/delete")
	status, answer := site.change(t, "/jobs/"+string(site.job)+"/delete", url.Values{})

	if published != http.StatusOK {
		t.Fatalf("publish = %d, want 200", published)
	}
	if !strings.Contains(dialog, "Workflows that run it") || !strings.Contains(dialog, site.at("")) || strings.Contains(dialog, "confirm-delete") {
		t.Errorf("the dialog is %s, want the workflow and no button to delete", dialog)
	}
	if status != http.StatusConflict || !strings.Contains(answer, "Take its card off the canvas") {
		t.Errorf("POST = %d %s, want 409 that says what to do", status, answer)
	}
	if _, err := site.store.Job(t.Context(), site.job); err != nil {
		t.Errorf("the job is gone: %v", err)
	}
}
