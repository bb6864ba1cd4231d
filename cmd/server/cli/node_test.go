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

// TestANodeIsSkippedAndStoppedFromTheCommandLine, and who comes second is told of the
// first.
func TestANodeIsSkippedAndStoppedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	gate := filepath.Join(t.TempDir(), "gate")
	_, err := s.run(t, strings.Replace(messages, "GATE", gate, 1), "workflow", "import", "-")
	must(t, err)
	start := func() string {
		var run control.Run
		must(t, json.Unmarshal([]byte(s.ok(t, "workflow", "run", "--json", "messages")), &run))
		return string(run.ID)
	}
	one := start()
	if _, err := s.run(t, "", "run", "log", one, "--node", "second"); engine.CodeOf(err) != engine.NotFound || !strings.Contains(engine.MessageOf(err), "has written nothing yet") {
		t.Errorf("the log of a node that has not begun: %v, want to read that there is none yet", err)
	}

	told := s.ok(t, "run", "skip", "--why", "not today", one, "second")
	undone := s.ok(t, "run", "skip", "--undo", one, "second")
	_, none := s.run(t, "", "run", "skip", "--undo", one, "second")
	s.ok(t, "run", "skip", one, "second")
	_, twice := s.run(t, "", "run", "skip", one, "second")
	_, begun := s.run(t, "", "run", "skip", one, "first")
	_, stranger := s.run(t, "", "run", "skip", one, "third")
	must(t, os.WriteFile(gate, nil, 0o600))
	s.ok(t, "run", "log", "--follow", one)
	ended := s.ok(t, "run", "show", one)
	if _, err := s.run(t, "", "run", "log", one, "--node", "second"); engine.CodeOf(err) != engine.NotFound || !strings.Contains(engine.MessageOf(err), "second was skipped") {
		t.Errorf("the log of a skipped node: %v, want to read that it was skipped", err)
	}
	must(t, os.Remove(gate))
	two := start()
	stopped := s.ok(t, "run", "stop", "--node", "first", two)
	s.ok(t, "run", "log", "--follow", two)
	rest := s.ok(t, "run", "show", two)

	for about, has := range map[string][2]string{
		"a node that will be skipped": {told, "Not to run  second  skipped by owner, by the command line: not today"},
		"the end of the run":          {ended, "skipped by owner, by the command line\n"},
		"a node that is stopped":      {stopped, "stopped by owner, by the command line\n"},
		"what follows it":             {rest, "Skipped"},
	} {
		if !strings.Contains(has[0], has[1]) {
			t.Errorf("%s: got\n%s\nwant %q in it", about, has[0], has[1])
		}
	}
	if said := ended + rest; strings.Contains(said, "files 0") {
		t.Errorf("a script that was skipped or stopped has figures of files:\n%s", said)
	}
	if strings.Contains(undone, "Not to run") || !strings.Contains(ended, "Outcome  Succeeded") {
		t.Errorf("after the undo\n%s\nand at the end\n%s", undone, ended)
	}
	for about, has := range map[string]struct {
		err  error
		code engine.Code
		text string
	}{
		"nothing to undo":     {none, engine.Conflict, "does not wait to be skipped"},
		"a second skip":       {twice, engine.Conflict, "was skipped by owner"},
		"one that has begun":  {begun, engine.Conflict, "first has begun already. Stop it instead."},
		"one that is nowhere": {stranger, engine.NotFound, "It has: first, second."},
	} {
		if engine.CodeOf(has.err) != has.code || !strings.Contains(engine.MessageOf(has.err), has.text) {
			t.Errorf("%s: %v, want %s: %s", about, has.err, has.code, has.text)
		}
	}
}
