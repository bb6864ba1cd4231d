package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/handlers/control"
)

// TestACrawlerIsListedAndRunFromTheCommandLine: it finds a table, and the same token
// starts no second run.
func TestACrawlerIsListedAndRunFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.drop(t, "1.csv", "n,word\n1,one\n2,two\n")
	text := strings.Replace(document("crawled"), "        - job: copy\n", "        - job: copy\n        - crawler: look around\n", 1)
	_, err := s.run(t, text+"crawlers:\n  - name: look around\n    database: found\n    targets:\n      - path: in\n", "workflow", "import", "-")
	must(t, err)

	list := s.ok(t, "crawler", "list")
	var first, same control.Run
	must(t, json.Unmarshal([]byte(s.ok(t, "crawler", "run", "--wait", "--json", "--token", "once", "--", "look around")), &first))
	must(t, json.Unmarshal([]byte(s.ok(t, "crawler", "run", "--json", "--token", "once", "--", "look around")), &same))
	kept := s.ok(t, "crawler", "discard", "--", "look around")

	if !strings.Contains(list, "look around  v1       found     in") {
		t.Errorf("the list is\n%s", list)
	}
	if first.Kind != engine.RunCrawl || first.Outcome != engine.RunSucceeded || len(first.Nodes) != 1 {
		t.Errorf("got a run of %s that %s with %d nodes, want a crawl that succeeded", first.Kind, first.Outcome, len(first.Nodes))
	}
	if same.ID != first.ID {
		t.Errorf("the same token started %s beside %s", same.ID, first.ID)
	}
	if !strings.Contains(kept, "left as it is  draft of crawler  look around") {
		t.Errorf("a discard of nothing says\n%s", kept)
	}
	s.refused(t, engine.NotFound, `There is no crawler named "look". Did you mean`, "crawler", "run", "look")
	s.refused(t, engine.NotFound, "There is no crawler named", "crawler", "discard", "nowhere")
}
