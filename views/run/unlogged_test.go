package run

import (
	"testing"

	"dogear/engine"
)

// TestACopiedNodeNamesWhatTheEarlierRunHolds: of a script that is its log alone.
func TestACopiedNodeNamesWhatTheEarlierRunHolds(t *testing.T) {
	t.Parallel()
	copied := Node{Attempt: engine.NodeRun{State: engine.Succeeded, Copied: "before"}}

	if got, want := copied.copiedWords(), ", where it was done. Its log, inputs and outputs are there."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := copied.OfScript().copiedWords(), ", where it was done. Its log is there."; got != want {
		t.Errorf("of a script: got %q, want %q", got, want)
	}
}
