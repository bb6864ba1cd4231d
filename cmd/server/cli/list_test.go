package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/handlers/control"
)

// TestTheListOfRunsIsFilteredByOutcome, and says which node a run failed of.
func TestTheListOfRunsIsFilteredByOutcome(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.drop(t, "1.csv", "n\n1\n")
	_, err := s.run(t, document("w"), "workflow", "import", "-")
	must(t, err)
	if _, err := s.run(t, "", "workflow", "run", "w", "--wait", "--property", "Least=many"); err == nil {
		t.Fatal("a run with a property that is no number succeeded")
	}
	s.ok(t, "workflow", "run", "w", "--wait")

	failed := s.ok(t, "run", "list", "--outcome", "failed")
	succeeded := s.ok(t, "run", "list", "--outcome", "Succeeded")
	partly := s.ok(t, "run", "list", "--outcome", "partly-failed")
	var list []control.Run
	must(t, json.Unmarshal([]byte(s.ok(t, "run", "list", "--json", "--outcome", "failed")), &list))

	if strings.Count(failed, "\n") != 2 || !strings.Contains(failed, "Failed") || !strings.Contains(failed, "copy failed\n") {
		t.Errorf("the failed runs are\n%s\nwant one, of copy that failed", failed)
	}
	if strings.Count(succeeded, "\n") != 2 || !strings.Contains(succeeded, "Succeeded") || strings.Contains(partly, "owner") {
		t.Errorf("the succeeded runs are\n%s\nand those that partly failed\n%s\nwant one and none", succeeded, partly)
	}
	if want := (control.Failed{Node: "copy", State: engine.Failed}); len(list) != 1 || list[0].Failed == nil || *list[0].Failed != want {
		t.Errorf("as JSON the failed runs are %+v, want one with %+v", list, want)
	}
	s.refused(t, engine.Invalid, `There is no outcome "fine". A run ends succeeded, partly-failed, failed or stopped.`, "run", "list", "--outcome", "fine")
	s.refused(t, engine.Invalid, "A run that goes on has no outcome yet.", "run", "list", "--open", "--outcome", "failed")
}

// TestTriggersAreListed with when each fires next or what it waits for; those of a
// draft are none.
func TestTriggersAreListed(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	for _, text := range []string{severalStarts(), called(), messages} {
		_, err := s.run(t, text, "workflow", "import", "-")
		must(t, err)
	}

	off := s.ok(t, "trigger", "list", "several")
	s.ok(t, "trigger", "on", "several", "nightly")
	var list []control.ListedTrigger
	must(t, json.Unmarshal([]byte(s.ok(t, "trigger", "list", "--json")), &list))
	on := s.ok(t, "trigger", "list", "several")
	all := s.ok(t, "trigger", "list")

	line := func(of, name string) string {
		for l := range strings.Lines(of) {
			if strings.Contains(l, name) {
				return strings.Join(strings.Fields(l), " ")
			}
		}
		return ""
	}
	if got := line(off, "nightly"); got != "several nightly scheduled off cron(0 2 30 3 ? *)" {
		t.Errorf("a schedule that is off is listed as %q", got)
	}
	if got := line(on, "nightly"); !strings.HasPrefix(got, "several nightly scheduled on 20") || strings.Contains(on, "called") {
		t.Errorf("a schedule that is on is listed as %q in\n%s\nwant its next start, of its workflow alone", got, on)
	}
	for name, want := range map[string]string{
		"by hand": "several by hand on demand – when somebody runs the workflow",
		"calls":   "called calls event on ",
		"then":    "messages then conditional on when first succeeds",
	} {
		if got := line(all, name); !strings.HasPrefix(got, want) {
			t.Errorf("%s is listed as %q, want %q", name, got, want)
		}
	}
	if len(list) != 5 || list[0].Workflow == "" {
		t.Errorf("as JSON %d triggers are listed, want 5: %+v", len(list), list)
	}
	s.refused(t, engine.NotFound, "There is no workflow named", "trigger", "list", "nowhere")
}

// TestTheListOfWorkflowsSaysWhatIsOff, also where something else starts it.
func TestTheListOfWorkflowsSaysWhatIsOff(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	both := strings.Replace(called(), "  triggers:\n", "  triggers:\n    - {name: nightly, type: scheduled, schedule: 'cron(0 2 * * ? *)', start: [{job: copy}]}\n", 1)
	_, err := s.run(t, both, "workflow", "import", "-")
	must(t, err)
	next := func() string {
		list := strings.TrimSpace(s.ok(t, "workflow", "list"))
		return strings.TrimSpace(list[strings.LastIndex(list, "  "):]) // the last column of the last row
	}
	s.ok(t, "trigger", "on", "called", "nightly")

	on := next()
	s.ok(t, "trigger", "off", "called", "nightly")
	events := next()
	s.ok(t, "trigger", "off", "called", "calls")
	none := next()

	if !strings.HasPrefix(on, "20") || !strings.HasSuffix(on, ", by events") || events != "by events, 1 off" || none != "off" {
		t.Errorf("next starts are %q, then %q, then %q; want a time and events, events alone, and nothing", on, events, none)
	}
}

// TestARunIsRunAgainWithOtherProperties from the command line.
func TestARunIsRunAgainWithOtherProperties(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.drop(t, "1.csv", "n\n1\n2\n")
	_, err := s.run(t, document("w"), "workflow", "import", "-")
	must(t, err)
	var first, second, third control.Run
	must(t, json.Unmarshal([]byte(s.ok(t, "workflow", "run", "--wait", "--json", "--property", "Least=1", "w")), &first))

	must(t, json.Unmarshal([]byte(s.ok(t, "run", "again", "--wait", "--json", string(first.ID))), &second))
	must(t, json.Unmarshal([]byte(s.ok(t, "run", "again", "--wait", "--json", "--property", "Least=2", string(first.ID))), &third))
	s.refused(t, engine.Invalid, "taken to the letter", "run", "again", "--property", "Least={{run.id}}", string(first.ID))

	if second.Properties["Least"] != "1" || second.Repeats != first.ID || third.Properties["Least"] != "2" || third.Repeats != first.ID {
		t.Errorf("run again: %v of %s and %v of %s, want the same properties and then another, of %s", second.Properties, second.Repeats, third.Properties, third.Repeats, first.ID)
	}
	if list := s.runs(t); len(list) != 3 {
		t.Errorf("there are %d runs, want 3: a refused one starts none", len(list))
	}
}
