package run

import (
	"strings"
	"testing"

	"dogear/engine"
)

// TestABookmarkThatStoodStillSaysWhy: what there was to read was held, or was nothing.
func TestABookmarkThatStoodStillSaysWhy(t *testing.T) {
	t.Parallel()
	for want, counts := range map[string]engine.Counts{
		"there was nothing new to read":  {NothingNew: true},
		"what there was to read is held": {NothingNew: true, Held: 2},
	} {
		n := Node{Attempt: engine.NodeRun{Attempt: 1, State: engine.Succeeded, Counts: counts}}
		if got := n.became(Move{}); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
