package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

// TestTheTimeOfAnAttemptIsNamed: what it waited, was prepared and ran, which is what its
// card counts; the header of the node and its bar in the timeline say the same.
func TestTheTimeOfAnAttemptIsNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		node  engine.NodeRun
		claim int
		want  string
	}{
		"all three":           {node("load", engine.Succeeded, 10, 14, 30), 13, "waited 3, prepared 1, ran 16"},
		"it began at once":    {node("load", engine.Succeeded, 10, 10, 30), 10, "ran 20"},
		"it runs":             {node("load", engine.Running, 10, 12, 0), 12, "waited 2, running 88"},
		"it is prepared":      {node("load", engine.Starting, 10, 0, 0), 12, "waited 2, preparing 88"},
		"it waits":            {node("load", engine.Ready, 10, 0, 0), 0, "waiting 90"},
		"it waits again":      {node("load", engine.Ready, 10, 12, 0), 11, "waiting 90"}, // its server is gone
		"it did not start":    {node("load", engine.Failed, 10, 0, 30), 13, "waited 3, prepared 17"},
		"stopped as it waits": {node("load", engine.Stopped, 10, 0, 30), 0, "waited 20"},
		"skipped":             {node("load", engine.Skipped, 10, 0, 30), 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := timeline(tt.node)
			v.Claims[v.Nodes[0].Key()] = after(tt.claim)

			var words []string
			for _, s := range v.spells(v.Nodes[0]) {
				to := s.to
				if to.IsZero() {
					to = v.Now
				}
				words = append(words, fmt.Sprintf("%s %.0f", s.word(), to.Sub(s.from).Seconds()))
			}

			if got := strings.Join(words, ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	kept := node("load", engine.Succeeded, 10, 14, 30)
	kept.Copied = "01KBA5ZC9J6Q0V5W3D8M7N2P4E"
	v := timeline(kept)
	if parts := v.spells(v.Nodes[0]); len(parts) != 1 || parts[0].word() != "ran" || parts[0].to.Sub(parts[0].from) != 16*time.Second {
		t.Errorf("of one that was done in another run it is said %+v, want only how long it ran", parts)
	}
}

// TestTheHeadNamesTheNodeThatFailedFirst, and of a node that is tried again nothing.
func TestTheHeadNamesTheNodeThatFailedFirst(t *testing.T) {
	t.Parallel()
	again := node("read", engine.Failed, 0, 1, 2)
	retry := node("read", engine.Running, 3, 4, 0)
	retry.Attempt = 2
	both := timeline(node("load", engine.TimedOut, 10, 14, 30), node("check", engine.Failed, 10, 14, 20), again, retry)
	both.Run.Kind = engine.RunWorkflow
	alone := both
	alone.Run.Kind = engine.RunJob

	failed := both.Index().failed()

	if len(failed) != 2 || both.failedSign(failed).Word != "2 failed: check" {
		t.Errorf("failed are %+v, want check and then load", failed)
	}
	for outcome, want := range map[engine.Outcome]string{
		engine.RunFailed: "Failed: check and 1 more", engine.RunPartlyFailed: "Partly failed: check and 1 more", engine.RunStopped: "2 failed: check",
	} {
		both.Run.Outcome = outcome
		if got := both.failedSign(failed).Word; got != want {
			t.Errorf("of a run that ended %s the head says %q, want %q", outcome, got, want)
		}
	}
	if list := alone.Index().failed(); len(list) != 0 {
		t.Errorf("a run of one job alone names %+v", list)
	}
}
