package run

import (
	"testing"

	"dogear/engine"
)

// TestTheNodeThatTellsMostIsOpen: the panel of a run is of the node that a person
// would look at first.
func TestTheNodeThatTellsMostIsOpen(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		states []engine.State // of the jobs 0, 1, …, in their order
		want   int
	}{
		"one failed":         {[]engine.State{engine.Succeeded, engine.Running, engine.Failed}, 2},
		"one runs":           {[]engine.State{engine.Succeeded, engine.Stopped, engine.Running}, 2},
		"one was stopped":    {[]engine.State{engine.Skipped, engine.Succeeded, engine.Stopped}, 2},
		"one was skipped":    {[]engine.State{engine.Skipped, engine.Succeeded, engine.Succeeded}, 1},
		"all were skipped":   {[]engine.State{engine.Skipped, engine.Skipped}, 0},
		"all have succeeded": {[]engine.State{engine.Succeeded, engine.Succeeded}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := View{Run: engine.Run{Kind: engine.RunWorkflow}}
			trigger := engine.Trigger{ID: "start", Type: engine.OnDemand}
			for i, state := range tt.states {
				ref := engine.Ref{Kind: engine.KindJob, ID: engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P4" + string(rune('A'+i)))}
				trigger.Actions = append(trigger.Actions, engine.Action{Ref: ref})
				v.Nodes = append(v.Nodes, engine.NodeRun{Ref: ref, Start: 1, Attempt: 1, State: state})
			}
			v.Run.Body.Triggers = []engine.Trigger{trigger}
			v.Select("")
			if want := trigger.Actions[tt.want].Ref.String(); v.Selected != want {
				t.Errorf("got %s, want %s", v.Selected, want)
			}
		})
	}
}

// TestACopyOfASkipIsNotSaidToBeDone: a node that an earlier run skipped has no log there.
func TestACopyOfASkipIsNotSaidToBeDone(t *testing.T) {
	t.Parallel()
	for state, want := range map[engine.State]string{engine.Skipped: ", where it was skipped.", engine.Succeeded: ", where it was done. Its log, inputs and outputs are there."} {
		n := Node{}
		n.Attempt.State = state
		if got := n.copiedWords(); got != want {
			t.Errorf("%s: got %q, want %q", state, got, want)
		}
	}
}
