package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/draft"
)

// TestTheRunsOfAWorkflowStandWithinIt: under its head and tabs, with its runs
// alone, and nothing in it leads to the list of all.
func TestTheRunsOfAWorkflowStandWithinIt(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	s.patch(t, 5, draft.Op{Kind: draft.AddTrigger, At: &engine.Point{}, New: &engine.Trigger{ID: runID, Name: "lonely", Type: engine.OnDemand}})
	at := s.at("/runs")

	_, editor := s.get(t, s.at(""))
	_, tab := s.get(t, at)
	_, filtered := s.get(t, at+"?outcome=failed")
	_, main, _ := strings.Cut(tab, "<main")

	contains(t, "the editor", editor, `href="`+at+`">Runs</a>`)
	contains(t, "the tab", tab, `href="`+at+`" aria-current="page">Runs</a>`, `href="`+s.at("")+`">Editor</a>`, "Never published", "Publish…", `data-testid="runs"`, at+"?outcome=failed",
		`hx-get="`+at+`"`, `href="`+s.at("?node="))
	contains(t, "the filtered tab", filtered, at+"?outcome=stopped", `hx-get="`+at+`?outcome=failed"`)
	if strings.Contains(main, `"/runs?`) || strings.Contains(main, "of=") || strings.Contains(main, "Filter by name") {
		t.Errorf("the tab leads to the list of all runs: %s", main)
	}
}

// TestTheVersionsOfAWorkflowSayWhatEachChanged, and one is brought back into the
// draft as one act: nothing is published by it, and an undo takes it back.
func TestTheVersionsOfAWorkflowSayWhatEachChanged(t *testing.T) {
	t.Parallel()
	s := edit(t)
	_, none := s.get(t, s.at("/versions"))
	s.pipeline(t)
	publish := func(seq string) {
		t.Helper()
		if status, body := s.change(t, s.at("/publish"), url.Values{"seq": {seq}}); status != http.StatusOK {
			t.Fatalf("publish = %d %s", status, body)
		}
	}
	publish("5")
	region := "eu " + odd
	s.patch(t, 5, draft.Op{Kind: draft.SetProperties, Patch: &draft.Fields{Properties: map[string]*string{"Region": &region}}})
	publish("6")
	at := func() engine.WorkflowBody {
		d, err := s.store.Draft(t.Context(), s.workflow)
		must(t, err)
		return d.Body
	}
	second := at()

	_, list := s.get(t, s.at("/versions"))
	_, older := s.get(t, s.at("/versions?before=2"))
	unknown, _ := s.change(t, s.at("/versions"), url.Values{"version": {"9"}})
	status, _ := s.change(t, s.at("/versions"), url.Values{"version": {"1"}})
	brought := at()
	_, editor := s.get(t, s.at(""))
	history, err := s.store.Acts(t.Context(), s.workflow, "owner", 10)
	must(t, err)
	undo := draft.Stacks(history).Undo
	s.patch(t, 7, draft.Op{Kind: draft.Restore, Of: draft.Undo, Delta: &undo[len(undo)-1].Inverse()[0]})
	published, err := s.store.Workflow(t.Context(), s.workflow)
	must(t, err)

	contains(t, "the tab before a publish", none, "None is published yet", `aria-current="page">Versions</a>`)
	contains(t, "the tab", list, ">v2</b>", "Runs now", "Property Region", "eu &lt;script&gt;", ">v1</b>", "The first version: 2 nodes and 2 triggers.", "Bring back into the draft: v1", "by owner")
	contains(t, "the editor after that", editor, "v2 · 2 changes not published") // with the crawler, which nobody has published
	if strings.Contains(list, "<script>alert") || strings.Contains(list, "into the draft: v2") || strings.Contains(older, ">v2</b>") || !strings.Contains(older, ">v1</b>") {
		t.Error("a property is markup, the version that runs can be brought back, or the older ones hold it")
	}
	if unknown != http.StatusNotFound || status != http.StatusOK || len(brought.Properties) != 0 || len(brought.Triggers) != 2 {
		t.Errorf("POST = %d of none and %d of v1, and the draft has %+v", unknown, status, brought)
	}
	if now := at(); !draft.Between(second, now).Empty() || published.Version != 2 || published.Properties["Region"] != region {
		t.Errorf("after an undo the draft has %+v, and v%d runs with %v", now.Properties, published.Version, published.Properties)
	}
}
