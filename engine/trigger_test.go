package engine_test

import (
	"strings"
	"testing"

	"dogear/engine"
)

// TestAChoiceAmongEventTriggersIsNamed: who must say which one reads which there are.
func TestAChoiceAmongEventTriggersIsNamed(t *testing.T) {
	t.Parallel()
	body := engine.WorkflowBody{Triggers: []engine.Trigger{
		{Name: "by hand", Type: engine.OnDemand}, {Name: "when files arrive", Type: engine.OnEvent}, {Name: "by call", Type: engine.OnEvent},
	}}

	_, err := body.EventTrigger("")
	chosen, _ := body.EventTrigger("by call")

	if says := engine.MessageOf(err); engine.CodeOf(err) != engine.Invalid || !strings.HasSuffix(says, ": when files arrive, by call.") {
		t.Errorf("got %q, want both named, and what is by hand not", says)
	}
	if chosen == nil || chosen.Name != "by call" {
		t.Errorf("chosen = %+v", chosen)
	}
}
