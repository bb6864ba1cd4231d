package page_test

import (
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
