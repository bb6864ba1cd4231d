package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/handlers/control"
)

// refused checks that a command is refused with a code and says something.
func (s *site) refused(t *testing.T, code engine.Code, says string, args ...string) {
	t.Helper()
	_, err := s.run(t, "", args...)
	if engine.CodeOf(err) != code || !strings.Contains(engine.MessageOf(err), says) {
		t.Errorf("%q: %v, want %s that says %q", args, err, code, says)
	}
}

func (s *site) workflow(t *testing.T, name string) (w control.Workflow) {
	t.Helper()
	must(t, json.Unmarshal([]byte(s.ok(t, "workflow", "show", "--json", name)), &w))
	return w
}

// TestATriggerIsTurnedOffAndOnFromTheCommandLine at once, which says the version that is
// made, and a second time it stays as it is; what cannot be turned is refused and
// nothing changes.
func TestATriggerIsTurnedOffAndOnFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	for _, text := range []string{severalStarts(), called()} {
		_, err := s.run(t, text, "workflow", "import", "-")
		must(t, err)
	}

	on := s.ok(t, "trigger", "on", "several", "nightly")
	again := s.ok(t, "trigger", "on", "several", "nightly")
	scheduled := s.workflow(t, "several")
	off := s.ok(t, "trigger", "off", "called", "calls")
	_, refused := s.run(t, "", "event", "send", "--workflow", "called")

	const made, kept = "v2  made now, with this switch alone", "v2  had it so already; nothing was changed"
	if !strings.Contains(on, "  on  20") || !strings.Contains(on, made) || !strings.Contains(again, kept) || scheduled.Version != 2 || scheduled.NextStart.IsZero() {
		t.Errorf("on: %q, again: %q, and the workflow is v%d with its next start at %v; want one more version that has one", on, again, scheduled.Version, scheduled.NextStart)
	}
	if !strings.Contains(off, "calls   off  ") || engine.CodeOf(refused) != engine.Conflict {
		t.Errorf("off: %q, and an event is answered with %v, want a conflict", off, refused)
	}
	s.refused(t, engine.NotFound, `has no trigger named "nobody". It has: nightly, by hand.`, "trigger", "off", "several", "nobody")
	s.refused(t, engine.NotFound, "There is no workflow named", "trigger", "off", "nowhere", "nightly")
	s.refused(t, engine.Invalid, "starts only when somebody runs the workflow", "trigger", "off", "several", "by hand")
	if w := s.workflow(t, "several"); w.Version != 2 {
		t.Errorf("after refusals the workflow is v%d, want v2", w.Version)
	}
}

// TestATriggerIsTurnedBesideADraft, which keeps what it holds; the command says that.
func TestATriggerIsTurnedBesideADraft(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	for _, text := range []string{severalStarts(), strings.Replace(severalStarts(), `Least: "0"`, `Least: "5"`, 1)} {
		_, err := s.run(t, text, "workflow", "import", "-")
		must(t, err)
	}
	s.ok(t, "workflow", "restore", "several", "1")

	on := s.ok(t, "trigger", "on", "several", "nightly")

	if w := s.workflow(t, "several"); w.Version != 3 || w.Properties["Least"] != "5" || w.NextStart.IsZero() {
		t.Errorf("the workflow is v%d with Least %s and its next start at %v, want v3 as v2 was, but on", w.Version, w.Properties["Least"], w.NextStart)
	}
	if !strings.Contains(on, "v3") || !strings.Contains(on, "1 change is still not published: Property Least") {
		t.Errorf("the command says %q, want v3 and what the draft holds", on)
	}
}

func TestPoolsAreMadeChangedAndDeletedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())

	made := s.ok(t, "pool", "set", "warehouse", "2")
	changed := s.ok(t, "pool", "set", "warehouse", "5")
	s.refused(t, engine.Invalid, "Write a number of places from 0 to 10000", "pool", "set", "warehouse", "99999")
	s.refused(t, engine.Invalid, "-12 is below zero. <places> is a number from 0 on: How many jobs", "pool", "set", "warehouse", "-12")
	_, err := s.run(t, strings.Replace(document("w"), "    kind: sql\n", "    kind: sql\n    pool: warehouse\n", 1), "workflow", "import", "-")
	must(t, err)
	listed := s.ok(t, "pool", "list")
	if !strings.Contains(listed, engine.InBackfills) {
		t.Errorf("the pools are\n%swant to read what is in %s", listed, engine.Backfills)
	}
	shut := s.ok(t, "pool", "set", "warehouse", "0")
	s.refused(t, engine.Conflict, "is used by job copy", "pool", "delete", "warehouse")
	s.refused(t, engine.Conflict, "is always there", "pool", "delete", "backfills")
	s.refused(t, engine.NotFound, "There is no pool named", "pool", "delete", "nowhere")
	s.ok(t, "pool", "set", "spare", "1")
	left := s.ok(t, "pool", "delete", "spare")

	for about, rows := range map[string][2]string{"made": {made, "warehouse  2"}, "changed": {changed, "warehouse  5"}, "listed": {listed, "copy"}, "shut": {shut, "Nothing starts in this pool until it has places."}} {
		if !strings.Contains(rows[0], rows[1]) {
			t.Errorf("%s: the pools are\n%s\nwant %q", about, rows[0], rows[1])
		}
	}
	if strings.Contains(listed, "Nothing starts") {
		t.Errorf("pools with places are listed as\n%s", listed)
	}
	if strings.Contains(left, "spare") || !strings.Contains(left, "warehouse") {
		t.Errorf("after a deletion the pools are\n%s", left)
	}
}

// TestAWorkflowIsDeletedFromTheCommandLine where the person is sure, and its past
// runs stay.
func TestAWorkflowIsDeletedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.drop(t, "1.csv", "n,word\n1,one\n")
	_, err := s.run(t, document(odd), "workflow", "import", "-")
	must(t, err)
	s.ok(t, "workflow", "run", "--wait", "--", odd)

	s.refused(t, engine.Conflict, "say the same with --yes", "workflow", "delete", "--", odd)
	kept := s.ok(t, "workflow", "list")
	gone := s.ok(t, "workflow", "delete", "--yes", "--", odd)
	list, runs := s.ok(t, "workflow", "list"), s.runs(t)

	if !strings.Contains(kept, "a/b") || !strings.HasPrefix(gone, "deleted  workflow") || strings.Contains(list, "a/b") || len(runs) != 1 {
		t.Errorf("without --yes the workflows are\n%safter %q they are\n%sand there are %d runs, want one", kept, gone, list, len(runs))
	}
	s.refused(t, engine.NotFound, "There is no workflow named", "workflow", "delete", "--yes", "--", odd)
}
