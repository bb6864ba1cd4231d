package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/handlers/control"
)

// severalStarts is the pipeline, which a paused schedule starts, too.
func severalStarts() string {
	return strings.Replace(document("several"), "  triggers:\n",
		"  triggers:\n    - {name: nightly, type: scheduled, schedule: 'cron(0 2 30 3 ? *)', disabled: true, start: [{job: copy}]}\n", 1)
}

// TestARunOfSeveralStartsSaysWhichTriggerStartedIt, and one of a single start
// has nothing to say.
func TestARunOfSeveralStartsSaysWhichTriggerStartedIt(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	for _, text := range []string{document("single"), severalStarts()} {
		_, err := s.run(t, text, "workflow", "import", "-")
		must(t, err)
	}

	single, several := s.ok(t, "workflow", "run", "single"), s.ok(t, "workflow", "run", "several")
	chosen := s.ok(t, "workflow", "run", "--trigger", "nightly", "several")
	_, wrong := s.run(t, "", "workflow", "run", "--trigger", "copy", "several")

	if !strings.Contains(chosen, "With trigger  nightly\n") {
		t.Errorf("a run with the trigger nightly says\n%s", chosen)
	}
	if want := "has no start trigger with the name copy. Its starts are by hand, nightly."; engine.CodeOf(wrong) != engine.NotFound || !strings.Contains(engine.MessageOf(wrong), want) {
		t.Errorf("a trigger that is none: %v, want %q", wrong, want)
	}
	if strings.Contains(single, "With trigger") || !strings.Contains(several, "With trigger  by hand\n") {
		t.Errorf("a run of a single start says\n%s\nand one of several\n%s", single, several)
	}
}

// TestRunListSaysWhatARunWaitsFor.
func TestRunListSaysWhatARunWaitsFor(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	gate := filepath.Join(t.TempDir(), "gate")
	_, err := s.run(t, strings.Replace(messages, "GATE", gate, 1), "workflow", "import", "-")
	must(t, err)
	first := s.ok(t, "workflow", "run", "--json", "messages")
	s.ok(t, "workflow", "run", "messages")

	const says = "first waits until another run of first has ended"
	list := s.ok(t, "run", "list")
	must(t, os.WriteFile(gate, nil, 0o600))
	var run control.Run
	must(t, json.Unmarshal([]byte(first), &run))
	s.ok(t, "run", "log", "--follow", string(run.ID))

	if strings.Count(list, says) != 1 || !strings.Contains(list, "NOTE") {
		t.Errorf("the list of runs is\n%s\nwant one that %s", list, says)
	}
}
