package cli_test

import (
	"strings"
	"testing"
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

	if strings.Contains(single, "With trigger") || !strings.Contains(several, "With trigger  by hand\n") {
		t.Errorf("a run of a single start says\n%s\nand one of several\n%s", single, several)
	}
}
