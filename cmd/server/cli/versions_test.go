package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/handlers/control"
)

// TestVersionsAreListedShownAndBroughtBack: into the draft, or so that they run; a draft
// that holds other changes is left alone.
func TestVersionsAreListedShownAndBroughtBack(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	first := strings.Replace(severalStarts(), "disabled: true, ", "", 1)
	for _, text := range []string{first, strings.Replace(first, `Least: "0"`, `Least: "5"`, 1)} {
		_, err := s.run(t, text, "workflow", "import", "-")
		must(t, err)
	}
	s.ok(t, "trigger", "off", "several", "nightly")

	list := s.ok(t, "workflow", "versions", "several")
	newest := s.ok(t, "workflow", "versions", "--limit", "1", "several")
	var versions []control.Version
	must(t, json.Unmarshal([]byte(s.ok(t, "workflow", "versions", "--json", "several")), &versions))
	old := s.ok(t, "workflow", "show", "--version", "1", "several")
	same := s.ok(t, "workflow", "restore", "--publish", "several", "3")
	draft := s.ok(t, "workflow", "restore", "several", "1")
	unpublished := s.workflow(t, "several")
	s.refused(t, engine.Conflict, "Publish or discard them first", "workflow", "restore", "--publish", "several", "2")
	run := s.ok(t, "workflow", "restore", "--publish", "several", "1")
	published := s.workflow(t, "several")

	if len(versions) != 3 || !versions[0].Runs || versions[1].Runs || len(versions[2].Changes) != 0 {
		t.Errorf("the versions are %+v, want three, the newest of which runs", versions)
	}
	for about, has := range map[string][2]string{
		"the list says what runs":        {list, "runs now"},
		"the list says what changed":     {list, `"0" -> "5"`},
		"one version has what it is of":  {newest, "Trigger nightly"},
		"an earlier version":             {old, "Property  Least=0"},
		"what runs already":              {same, "left as it is"},
		"a version in the draft":         {draft, "brought back"},
		"what that changes":              {draft, `"5" -> "0"`},
		"a version that runs":            {run, "v4, as v1 was"},
		"the property of what runs now":  {s.ok(t, "workflow", "show", "several"), "Property  Least=0"},
		"the list after all":             {s.ok(t, "workflow", "versions", "several"), "v4"},
		"the trigger that was turned on": {s.ok(t, "workflow", "show", "several"), "next 20"},
	} {
		if !strings.Contains(has[0], has[1]) {
			t.Errorf("%s: got\n%s\nwant %q in it", about, has[0], has[1])
		}
	}
	if strings.Count(newest, "\nv") != 1 || strings.Contains(old, "Last run") || strings.Contains(old, "next") {
		t.Errorf("one version is\n%s\nand an earlier one\n%s\nwant no more of either", newest, old)
	}
	if unpublished.Version != 3 || published.Version != 4 {
		t.Errorf("v%d runs after a version came into the draft, and v%d after the publish; want v3 and v4", unpublished.Version, published.Version)
	}
	s.refused(t, engine.NotFound, "There is no version 9", "workflow", "show", "--version", "9", "several")
	s.refused(t, engine.NotFound, "There is no version 9", "workflow", "restore", "several", "9")
	s.refused(t, engine.NotFound, "There is no workflow named", "workflow", "versions", "nowhere")
}

// TestADraftIsDiscardedFromTheCommandLine: it is what is published again, by its own
// command and by bringing back the version that runs; then nothing is refused of it.
func TestADraftIsDiscardedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	first := severalStarts()
	second := strings.Replace(first, `Least: "0"`, `Least: "5"`, 1)
	for _, text := range []string{first, second} {
		_, err := s.run(t, text, "workflow", "import", "-")
		must(t, err)
	}
	open := func() { s.ok(t, "workflow", "restore", "several", "1") }

	unchanged := s.ok(t, "workflow", "discard", "several")
	open()
	_, refused := s.run(t, second, "workflow", "import", "-")
	gone := s.ok(t, "workflow", "discard", "several")
	_, taken := s.run(t, second, "workflow", "import", "-")
	open()
	back := s.ok(t, "workflow", "restore", "several", "2")
	again := s.ok(t, "workflow", "restore", "several", "2")
	job := s.ok(t, "job", "discard", "copy")

	if engine.CodeOf(refused) != engine.Invalid || !strings.Contains(engine.MessageOf(refused), "Publish or discard them first") {
		t.Errorf("an import beside a draft: %v, want that it names the two ways", refused)
	}
	if taken != nil {
		t.Errorf("an import once it was discarded: %v", taken)
	}
	for about, has := range map[string][2]string{
		"nothing to discard":            {unchanged, "left as it is  draft of workflow  several"},
		"a draft that is discarded":     {gone, "discarded  draft of workflow"},
		"what it held":                  {gone, `"5" -> "0"`},
		"the version that runs":         {back, "which is v2 again"},
		"what the draft held before it": {back, `"5" -> "0"`},
		"what it is already":            {again, "left as it is"},
		"a job that is as published":    {job, "left as it is  draft of job  copy"},
	} {
		if !strings.Contains(has[0], has[1]) {
			t.Errorf("%s: got\n%s\nwant %q in it", about, has[0], has[1])
		}
	}
	if w := s.workflow(t, "several"); w.Version != 2 {
		t.Errorf("v%d runs, want v2: a discard publishes nothing", w.Version)
	}
	s.refused(t, engine.NotFound, "There is no workflow named", "workflow", "discard", "nowhere")
	s.refused(t, engine.NotFound, "There is no job named", "job", "discard", "nowhere")
}
