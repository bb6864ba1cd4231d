package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/views/run"
)

func (s *steers) Skip(_ context.Context, id engine.ID, ref engine.Ref, by, why string) (engine.Run, error) {
	return s.ask(fmt.Sprint("skip ", ref, " by ", by, ": ", why), id)
}

func (s *steers) Unskip(_ context.Context, id engine.ID, ref engine.Ref, _ string) (engine.Run, error) {
	return s.ask(fmt.Sprint("unskip ", ref), id)
}

func (s *steers) StopNode(_ context.Context, id engine.ID, ref engine.Ref, start int, _ string) (engine.Run, error) {
	return s.ask(fmt.Sprint("stop ", ref, " ", start), id)
}

// TestTheMenuOfANodeSkipsAndStops: what has not begun is skipped, what has is stopped,
// and each is asked of that node alone.
func TestTheMenuOfANodeSkipsAndStops(t *testing.T) {
	t.Parallel()
	var skips map[string]string
	stopAsked := false
	s, e := steered(t, func(r *engine.Run) {
		r.Kind, r.Skips = engine.RunWorkflow, skips
		if stopAsked {
			r.StopAsked = noon
		}
	})
	ref, path := s.nodes[0].Ref.String(), s.node()
	look := func(state engine.State, attempt int) string {
		s.nodes[0].State, s.nodes[0].Attempt = state, attempt
		_, panel := s.get(t, path)
		return panel
	}

	offered := map[string]string{
		"one that is queued":           look(engine.Ready, 1),
		"one that runs":                look(engine.Running, 1),
		"one that waits to be retried": look(engine.Ready, 2),
		"one that has ended":           look(engine.Succeeded, 1),
	}
	skips = map[string]string{ref: "skipped by owner: " + odd}
	s.nodes[0].Why = skips[ref]
	offered["one that was skipped"] = look(engine.Skipped, 1)
	_, timeline := s.get(t, "/runs/"+string(runID)+"/timeline")
	stopAsked = true
	offered["one of a run that is being stopped"] = look(engine.Running, 1)

	want := map[string]string{
		"one that is queued": "skip stop", "one that runs": "stop", "one that waits to be retried": "stop", "one that has ended": "",
		"one that was skipped": "", "one of a run that is being stopped": "",
	}
	for of, panel := range offered {
		var found []string
		for _, deed := range []string{"skip", "unskip", "stop"} {
			if strings.Contains(panel, `hx-post="`+path+"/"+deed+`"`) {
				found = append(found, deed)
			}
		}
		if got := strings.Join(found, " "); got != want[of] {
			t.Errorf("%s is offered %q, want %q", of, got, want[of])
		}
	}
	contains(t, "the panel of a skipped node", offered["one that was skipped"], "Skipped by owner: &lt;script&gt;", "Skipped by hand")
	contains(t, "the timeline", timeline, "Told not to run: raw-to-curated", "(skipped by owner: ")
	if got := run.Remark(engine.Run{Skips: skips}); got != "1 node skipped by hand" {
		t.Errorf("the list of runs says %q", got)
	}

	for _, deed := range []string{"skip", "unskip", "stop"} {
		if status, _ := s.change(t, path+"/"+deed, url.Values{"start": {"2"}, "why": {" broken "}}); status != http.StatusOK {
			t.Errorf("%s = %d", deed, status)
		}
	}
	e.err = engine.Errorf(engine.Conflict, "raw was skipped by other already.")
	second, says := s.change(t, path+"/skip", url.Values{})
	unsaid, _ := s.change(t, path+"/stop", url.Values{})

	id := string(runID)
	if got, want := strings.Join(e.asked[:3], "; "), "skip "+ref+" by owner: broken "+id+"; unskip "+ref+" "+id+"; stop "+ref+" 2 "+id; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	if second != http.StatusConflict || !strings.Contains(says, "was skipped by other already") || unsaid != http.StatusUnprocessableEntity {
		t.Errorf("a second tab is told %d %q, and a stop without a start %d", second, says, unsaid)
	}
}

// TestANodeThatWaitsToBeSkippedSaysSo and can be let run after all.
func TestANodeThatWaitsToBeSkippedSaysSo(t *testing.T) {
	t.Parallel()
	var crawler engine.Ref
	s, _ := steered(t, func(r *engine.Run) {
		r.Kind, r.Body.Triggers[1].Actions[0].Ref = engine.RunWorkflow, crawler
		r.Skips = map[string]string{crawler.String(): "skipped by owner"}
	})
	crawler = s.nodes[1].Ref
	s.nodes[1] = s.nodes[0] // so that the crawler has none

	_, panel := s.get(t, "/runs/"+string(runID)+"/nodes/"+crawler.String())

	contains(t, "the panel", panel, "When its turn comes, it will be skipped by owner.", "/unskip")
	if strings.Contains(panel, "/skip\"") {
		t.Error("it can be skipped twice")
	}
}
