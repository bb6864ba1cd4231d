package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/handlers/control"
)

// called is the pipeline, begun by two events.
func called() string {
	return strings.Replace(document("called"), "    - name: by hand\n      type: on_demand\n",
		"    - name: calls\n      type: event\n      event: {source: calls, batch_size: 2}\n", 1)
}

// firstRun waits until a run has begun: events start one by themselves.
func (s *site) firstRun(t *testing.T) string {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		var runs []engine.Run
		must(t, json.Unmarshal([]byte(s.ok(t, "run", "list", "--json")), &runs))
		if len(runs) > 0 {
			return string(runs[0].ID)
		}
	}
	t.Fatal("no run began")
	return ""
}

func TestEventsOfTheCommandLineStartARun(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.drop(t, "1.csv", "n,word\n1,one\n")
	_, err := s.run(t, called(), "workflow", "import", "-")
	must(t, err)
	send := func(args ...string) (event control.Event) {
		must(t, json.Unmarshal([]byte(s.ok(t, append([]string{"event", "send", "--json", "--workflow", "called"}, args...)...)), &event))
		return event
	}

	if shown := s.ok(t, "workflow", "show", "called"); !strings.Contains(shown, "event: 2 calls, or 15 min, starts copy") {
		t.Errorf("the workflow is shown as\n%s\nwant what its trigger waits for", shown)
	}
	first := send("--id", "a", "--detail", `{"day": "2026-03-01"}`)
	again := send("--id", "a")
	second := send("--trigger", "calls")

	if first.ID != "a" || first.Trigger != "calls" || first.Waiting != 1 || first.Size != 2 || first.Duplicate {
		t.Errorf("the first = %+v, want it to wait for one more", first)
	}
	if !again.Duplicate || second.Duplicate || second.ID == "" {
		t.Errorf("again = %+v, second = %+v, want the one known and the other new", again, second)
	}
	var shown struct {
		By         string            `json:"by"`
		Outcome    engine.Outcome    `json:"outcome"`
		Properties map[string]string `json:"properties"`
	}
	id := s.firstRun(t)
	s.ok(t, "run", "log", "--follow", id) // until its end
	must(t, json.Unmarshal([]byte(s.ok(t, "run", "show", "--json", id)), &shown))
	if want := "[a, " + second.ID + "]"; shown.By != "event" || shown.Outcome != engine.RunSucceeded || shown.Properties["aws:eventIds"] != want {
		t.Errorf("the run = %+v, want it to know %s and to succeed", shown, want)
	}
	for _, wrong := range []struct {
		args []string
		says string
	}{
		{[]string{"--workflow", "nobody"}, "nobody"},
		{[]string{"--workflow", "called", "--trigger", "x"}, "no event trigger with the name x"},
		{[]string{"--workflow", "called", "--id", "a, b"}, "id of an event"},
		{[]string{"--workflow", "called", "--detail", "{"}, "no JSON"},
	} {
		_, err := s.run(t, "", append([]string{"event", "send"}, wrong.args...)...)
		if err == nil || !strings.Contains(engine.MessageOf(err), wrong.says) {
			t.Errorf("event send %q = %v, want it refused with %q", wrong.args, err, wrong.says)
		}
	}
}

// TestAScriptIsToldWhichFileHasCome: the run that an arriving file starts hands over its
// path, in JSON.
func TestAScriptIsToldWhichFileHasCome(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	must(t, os.MkdirAll(filepath.Join(s.data, "files", "in"), 0o700)) // which the kernel then watches
	_, err := s.run(t, `dogear: 1
workflow:
  name: arrivals
  triggers:
    - name: comes
      type: event
      event: {source: files, path: in/*.csv, settle_seconds: 1, batch_size: 1}
      start: [{job: told}]
jobs:
  - name: told
    kind: python
    bookmark: off
    script:
      body: |
        import json, sys
        events = json.loads(sys.argv[sys.argv.index("--dogear:events") + 1])
        print("came", events[0]["detail"]["path"], events[0]["detail"]["size"], len(events))
`, "workflow", "import", "-")
	must(t, err)

	s.drop(t, "new one.csv", "n\n1\n")
	id := s.firstRun(t)
	log := s.ok(t, "run", "log", "--follow", id)

	if !strings.Contains(log, "in/new one.csv 4 1\n") {
		t.Errorf("the script says\n%s\nwant the file that has come", log)
	}
}
