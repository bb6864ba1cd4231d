package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

// TestTheSearchPressesButtonsOfThePage, and tidies up in the editor alone.
func TestTheSearchPressesButtonsOfThePage(t *testing.T) {
	t.Parallel()
	s := serve(t)
	found := func(text, at string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL+"/find?q="+url.QueryEscape(text), http.NoBody)
		must(t, err)
		r.Header.Set("HX-Current-URL", "http://127.0.0.1:8080"+at)
		_, body := s.do(t, r)
		return body
	}

	contains(t, "theme", found("theme", "/health"), `data-press="[data-theme-toggle]"`)
	contains(t, "sign out", found("sign out", "/health"), `action=&#39;/signout&#39;`)
	contains(t, "tidy in the editor", found("tidy", "/workflows/01J?node=x"), "data-act=tidy")
	for _, at := range []string{"/health", "/workflows", "/workflows/01J/runs", "/runs/01J"} {
		if got := found("tidy", at); strings.Contains(got, "tidy") {
			t.Errorf("tidying up is offered at %s: %s", at, got)
		}
	}
}

// TestEverythingIsFoundByWhatIsSaidOfIt: its name first, then its description, its
// folders and its id; and a run by a part of its id.
func TestEverythingIsFoundByWhatIsSaidOfIt(t *testing.T) {
	t.Parallel()
	s := serve(t)
	sales, err := s.store.CreateJob(t.Context(), "sales to orders", engine.JobBody{Kind: engine.JobPython, Description: "Nightly figures for finance", Script: &engine.ScriptJob{Address: "s3://scripts/night.py"}}, "owner", noon)
	must(t, err)
	orders, err := s.store.CreateJob(t.Context(), "orders", engine.JobBody{Kind: engine.JobSQL, SQL: &engine.SQLJob{
		Sources: []engine.Source{{Name: "in", Path: "/landing/orders/*.csv"}}, Sinks: []engine.Sink{{Path: "/lake/finance"}},
	}}, "owner", noon)
	must(t, err)
	nightly, err := s.store.CreateWorkflow(t.Context(), "nightly", engine.WorkflowBody{Triggers: []engine.Trigger{{ID: engine.NewID(noon), Name: "by hand", Type: engine.OnDemand, Actions: []engine.Action{{Ref: engine.Ref{Kind: engine.KindJob, ID: s.job}}}}}}, "owner", noon)
	must(t, err)
	_, before := s.get(t, "/find?q=run+nightly")
	_, err = s.store.PublishWorkflow(t.Context(), nightly, 0, nil, "owner", noon, func(engine.Trigger) time.Time { return time.Time{} })
	must(t, err)
	_, after := s.get(t, "/find?q=run+nightly")
	if ask := `hx-get="/workflows/` + string(nightly) + `/run"`; strings.Contains(before, ask) || !strings.Contains(after, ask) {
		t.Errorf("Run nightly is offered before it is published, or not afterwards:\n%s\n%s", before, after)
	}
	found := func(text string) []string {
		status, body := s.get(t, "/find?q="+url.QueryEscape(text))
		if status != http.StatusOK {
			t.Fatalf("GET = %d", status)
		}
		var hrefs []string
		for part := range strings.SplitSeq(body, ` href="`) {
			if href, _, ok := strings.Cut(part, `"`); ok && strings.HasPrefix(href, "/") && !strings.Contains(href, "sprite") {
				hrefs = append(hrefs, href)
			}
		}
		return hrefs
	}
	one, two := "/jobs/"+string(sales), "/jobs/"+string(orders)

	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"by its name, whose beginning comes first", "orders", []string{two, one}},
		{"by its description", "nightly FIGURES", []string{one}},
		{"by a folder that it reads", "landing/orders", []string{two}},
		{"by a folder that it writes, and by its description", "finance", []string{two, one}},
		{"by where its script is", "night.py", []string{one}},
		{"by words of several of these", "orders finance", []string{two, one}},
		{"by its id, in small letters", strings.ToLower(string(orders)[18:]), []string{two}},
		{"a run by what people see of its id", strings.ToLower(string(runID)[20:]), []string{"/runs/" + string(runID)}},
		{"a run by its whole id", string(runID), []string{"/runs/" + string(runID)}},
		{"a command", "new job", []string{"/jobs#new-job"}},
		{"a screen by the way there", "go health", []string{"/health"}},
		{"a workflow that is published, to run it", "run nightly", []string{"/workflows/" + string(nightly)}},
		{"nothing", "no such thing", nil},
	} {
		got := found(tt.text)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q finds %v, want %v", tt.name, tt.text, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: %q finds %v, want %v", tt.name, tt.text, got, tt.want)
				break
			}
		}
	}
}
