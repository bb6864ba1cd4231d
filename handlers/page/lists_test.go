package page_test

import (
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

// TestTheListOfJobsIsFilteredByName, in its own fragment too, and says so where no
// job has it.
func TestTheListOfJobsIsFilteredByName(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, name := range []string{"Load one", "load two"} {
		_, err := s.store.CreateJob(t.Context(), name, engine.JobBody{Kind: engine.JobPython, Bookmark: engine.BookmarkOff, Script: &engine.ScriptJob{Body: "x"}}, "owner", noon)
		must(t, err)
	}

	_, all := s.get(t, "/jobs")
	_, some := s.get(t, "/jobs?name=LOAD+")
	_, none := s.get(t, "/jobs?name=%22nothing")

	contains(t, "the list", all, "raw-to-curated", "Load one", "load two", `placeholder="Filter by name"`)
	contains(t, "the list of some", some, "Load one", "load two", `hx-get="/jobs?name=LOAD"`, `value="LOAD"`, "3 jobs")
	contains(t, "the list of none", none, "No job has this in its name", `value="&#34;nothing"`, "Show all")
	if strings.Contains(some, "raw-to-curated") {
		t.Error("the filtered list shows a job of another name")
	}
}

// TestANodeThatIsQueuedSaysWhatItWaitsFor on its card, and no version, which it gets
// when it is taken up.
func TestANodeThatIsQueuedSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	s, _ := steered(t, func(*engine.Run) {})
	n := &s.nodes[0]
	n.State, n.Version, n.Why = engine.Ready, 0, "waits for a place in the pool warehouse"
	n.Started, n.Ended = time.Time{}, time.Time{}

	_, page := s.get(t, "/runs/"+string(runID)+"?node="+n.Ref.String())

	contains(t, "the page", page, "Queued, waits for a place in the pool warehouse", "Job · attempt 1")
	if strings.Contains(page, "Job v0") {
		t.Error("the page shows a version that the node does not have yet")
	}
}
