package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

// TestAStopAsksWhereSomethingWorks, of a run as of one node, and names what for how
// long; it is done once the person is sure, and at once where nothing works.
func TestAStopAsksWhereSomethingWorks(t *testing.T) {
	t.Parallel()
	s, e := steered(t, func(r *engine.Run) { r.Kind = engine.RunWorkflow })
	n := &s.nodes[0]
	path := "/runs/" + string(runID)
	node := path + "/nodes/" + n.Ref.String()
	at := func(state engine.State) {
		n.State, n.Start, n.Started, n.Ended = state, 1, noon.Add(-192*time.Minute), time.Time{}
	}
	ask := func(path, sure string) (int, string) {
		return s.change(t, path, url.Values{"start": {"1"}, "sure": {sure}})
	}

	for state, says := range map[engine.State]string{engine.Running: "Running for 3 h 12 min", engine.Publishing: "is first brought to its end"} {
		at(state)
		for _, of := range []string{path, node} {
			status, dialog := ask(of+"/stop", "")
			contains(t, "the question", dialog, "&lt;script&gt;", says, `name="sure" value="yes"`, `action="`+of+`/stop"`)
			if status != http.StatusOK || len(e.asked) > 0 {
				t.Fatalf("a stop at %s of what is %s = %d, and asked %v; want a question and nothing stopped", of, state, status, e.asked)
			}
		}
	}
	ask(node+"/stop", "yes")
	ask(path+"/stop", "yes")
	at(engine.Ready)
	_, quiet := ask(path+"/stop", "")

	if got, want := strings.Join(e.asked, "; "), "stop "+n.Ref.String()+" 1 "+string(runID)+"; stop "+string(runID)+"; stop "+string(runID); got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	if strings.Contains(quiet, "<dialog") {
		t.Error("a stop of what only waits asks")
	}
}
