package page_test

import (
	"context"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/handlers/page"
)

// fell is the world of a run that failed of some node.
type fell struct {
	world
	of    engine.Fallen
	asked *int
}

func (w fell) Fallen(_ context.Context, runs []engine.Run) (map[engine.ID]engine.Fallen, error) {
	*w.asked++
	return map[engine.ID]engine.Fallen{runs[0].ID: w.of}, nil
}

// TestTheListOfRunsNamesTheNodeThatFailed, linked to its attempt, and asks for those of
// all its runs at once.
func TestTheListOfRunsNamesTheNodeThatFailed(t *testing.T) {
	t.Parallel()
	s, asked := serve(t), 0
	ref := s.nodes[1].Ref
	of := engine.Fallen{NodeKey: engine.NodeKey{Run: runID, Ref: ref, Start: 1, Attempt: 2}, Name: "load " + odd, State: engine.TimedOut, More: 2}
	s.open(t, page.Config{Store: fell{world{s.store, s}, of, &asked}, Logs: s, SQL: data{}, Bookmarks: moves{s: s}})

	_, list := s.get(t, "/runs")

	contains(t, "the list", list, "load &lt;script&gt;", "timed out +2", "/runs/"+string(runID)+"?attempt=2&amp;node="+ref.String()+"&amp;start=1")
	if asked != 1 || strings.Contains(list, "<script>alert") {
		t.Errorf("a list of runs asked %d times which nodes failed, want once", asked)
	}
}
