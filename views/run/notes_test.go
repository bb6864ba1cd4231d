package run

import (
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

// TestARunSaysWhoStoppedIt: a person, its limit, or those who stopped its nodes; no more
// than is known.
func TestARunSaysWhoStoppedIt(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 30, 12, 3, 0, 0, time.UTC)
	node := engine.NodeRun{Name: "load", State: engine.Stopped, Why: "stopped by mary", Ended: noon}
	copied := node
	copied.Copied = "before"
	for name, tt := range map[string]struct {
		run  engine.Run
		node engine.NodeRun
		want string
	}{
		"a person":                {engine.Run{StopAsked: noon, StopBy: "mary"}, engine.NodeRun{State: engine.Stopped}, "stopped|by mary"},
		"its limit":               {engine.Run{StopAsked: noon, Error: "too long"}, engine.NodeRun{}, "stopped|by its limit of time"},
		"a person stopped a node": {engine.Run{}, node, "load stopped|by mary"},
		"an earlier run's node":   {engine.Run{}, copied, ""},
		"a node that goes on":     {engine.Run{}, engine.NodeRun{State: engine.Ready, Why: "waits for one of the server's slots"}, ""},
	} {
		v := View{Run: tt.run, Nodes: []engine.NodeRun{tt.node}, Now: noon}

		var page strings.Builder
		if err := began(v).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if _, by, _ := strings.Cut(tt.want, "|"); !strings.Contains(page.String(), by) {
			t.Errorf("%s: the page does not say %q: %s", name, by, page.String())
		}
		page.Reset()
		if err := Head(v).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if says := strings.Contains(page.String(), ">by mary<"); says != (tt.run.StopBy != "") {
			t.Errorf("%s: its head says who: %v", name, says)
		}

		got := ""
		for _, s := range v.stops() {
			got += s.what + "|" + s.by
			if !s.at.Equal(noon) {
				t.Errorf("%s: at %s, want %s", name, s.at, noon)
			}
		}

		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
