package cli_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dogear/engine"
	"dogear/handlers/control"
)

// The cases of the field that are about starts by programs (cases.jsonl).

// behind is a command line that talks to s through a proxy, which cuts off as
// many answers to starts as cut says: the server has done what it was asked, and
// nobody hears of it.
func (s *site) behind(t *testing.T, cut *atomic.Int32) *site {
	t.Helper()
	data := t.TempDir()
	listener, err := control.Listen(t.Context(), data)
	must(t, err)
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "dogear"})
	forward.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return control.Dial(ctx, s.data) }, DisableKeepAlives: true}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := r.Method == http.MethodPost && (r.URL.Path == "/job" || r.URL.Path == "/workflow")
		if !start || cut.Add(-1) < 0 {
			forward.ServeHTTP(w, r)
			return
		}
		forward.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})}}
	server.Start()
	t.Cleanup(server.Close)
	return &site{data: data}
}

func (s *site) runs(t *testing.T) (runs []control.Run) {
	t.Helper()
	must(t, json.Unmarshal([]byte(s.ok(t, "run", "list", "--json")), &runs))
	return runs
}

// TestA20AStartWhoseAnswerIsCutIsAskedAgain: with a token there is one run, and
// without one there are two, of which the second says that it is like the first.
func TestA20AStartWhoseAnswerIsCutIsAskedAgain(t *testing.T) {
	t.Parallel()
	for _, start := range [][]string{
		{"job", "run", "--property", "Least=2", "copy"},
		{"workflow", "run", "--property", "Least=2", "w"},
	} {
		t.Run(start[0], func(t *testing.T) {
			t.Parallel()
			s := serve(t, t.TempDir())
			_, err := s.run(t, document("w"), "workflow", "import", "-")
			must(t, err)
			var cut atomic.Int32
			client := s.behind(t, &cut)
			ask := func(args ...string) (run control.Run, err error) {
				out, err := client.run(t, "", append(append([]string{}, start...), append(args, "--json")...)...)
				if err == nil {
					must(t, json.Unmarshal([]byte(out), &run))
				}
				return run, err
			}

			cut.Store(1)
			_, lost := ask("--token", "2026-03-01")
			first, err := ask("--token", "2026-03-01")
			must(t, err)

			if runs := s.runs(t); lost == nil || len(runs) != 1 || runs[0].ID != first.ID || runs[0].Like != nil {
				t.Fatalf("with a token, after %v: %d runs, want run %s alone", lost, len(runs), first.ID)
			}
			if _, err := ask("--token", "2026-03-01", "--property", "Least=3"); engine.CodeOf(err) != engine.Invalid {
				t.Errorf("the same token for another start: %v, want a refusal", err)
			}
			cut.Store(1)
			_, lost = ask()
			second, err := ask()
			must(t, err)
			runs := s.runs(t)
			if lost == nil || len(runs) != 3 || runs[0].ID != second.ID {
				t.Fatalf("without a token, after %v: %d runs, want two more", lost, len(runs))
			}
			if like := runs[0].Like; like == nil || like.Run != runs[1].ID || like.Seconds < 0 || like.Seconds > 60 {
				t.Errorf("the last run is like %+v, want like run %s some seconds before", like, runs[1].ID)
			}
			if shown := s.ok(t, "run", "show", string(second.ID)); !strings.Contains(shown, "with the same properties, started") {
				t.Errorf("the run is shown as\n%s\nwant that another one asked for the same", shown)
			}
		})
	}
}

// TestA05PublishingATriggerOnDemandStartsNothing; a start makes one run, which
// says who asked for it.
func TestA05PublishingATriggerOnDemandStartsNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.drop(t, "1.csv", "n,word\n1,one\n")
	for range 2 { // to make it and to write it again, as tools that describe what shall be do
		_, err := s.run(t, document("w"), "workflow", "import", "-")
		must(t, err)
	}
	if runs := s.runs(t); len(runs) != 0 {
		t.Fatalf("publishing started %d runs", len(runs))
	}

	s.ok(t, "workflow", "run", "--wait", "w")

	if runs := s.runs(t); len(runs) != 1 || runs[0].By != "owner, by the command line" {
		t.Errorf("after a start there are %+v, want one run by owner", runs)
	}
}

// TestA09WhatCannotBeAskedOfATriggerChangesNothing, and reading it twice gives
// the same.
func TestA09WhatCannotBeAskedOfATriggerChangesNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	_, err := s.run(t, called(), "workflow", "import", "-")
	must(t, err)
	_, err = s.run(t, document("by hand"), "workflow", "import", "-")
	must(t, err)
	before := s.ok(t, "workflow", "show", "--json", "called") + s.ok(t, "workflow", "show", "--json", "by hand")

	for _, ask := range []struct {
		args []string
		says string
	}{
		{[]string{"event", "send", "--workflow", "by hand"}, "has no event trigger"},
		{[]string{"event", "send", "--workflow", "by hand", "--trigger", "by hand"}, "starts when somebody runs the workflow"},
		{[]string{"event", "send", "--workflow", "called", "--trigger", "nobody"}, "no event trigger with the name nobody"},
	} {
		_, err := s.run(t, "", ask.args...)
		if code := engine.CodeOf(err); code != engine.NotFound && code != engine.Invalid || !strings.Contains(engine.MessageOf(err), ask.says) {
			t.Errorf("%q: %v, want a refusal that says %q", ask.args, err, ask.says)
		}
	}

	after := s.ok(t, "workflow", "show", "--json", "called") + s.ok(t, "workflow", "show", "--json", "by hand")
	if after != before || len(s.runs(t)) != 0 {
		t.Errorf("after refused calls there are %d runs, and the workflows read\n%s\nbefore them\n%s", len(s.runs(t)), after, before)
	}
}

// messages is a workflow of two scripts that say what they are told in their
// first instruction; the first one then waits for a file.
const messages = `dogear: 1
workflow:
  name: messages
  properties: {messages: none}
  triggers:
    - name: go
      type: on_demand
      start:
        - job: first
          arguments: {Gate: "GATE"}
    - name: then
      type: conditional
      when:
        - {job: first, state: succeeded}
      start:
        - job: second
jobs:
  - name: first
    kind: python
    bookmark: off
    script:
      body: |
        import sys; print("told", sys.argv[sys.argv.index("--messages") + 1], flush=True)
        import os, time
        while not os.path.exists(sys.argv[sys.argv.index("--Gate") + 1]):
            time.sleep(0.01)
  - name: second
    kind: python
    bookmark: off
    script:
      body: |
        import sys; print("told", sys.argv[sys.argv.index("--messages") + 1])
`

// TestA14PropertiesAreToldFromTheFirstInstruction where the start gives them, and
// what is set while the run goes on is told to the jobs that start after it.
func TestA14PropertiesAreToldFromTheFirstInstruction(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	gate := filepath.Join(t.TempDir(), "gate")
	_, err := s.run(t, strings.Replace(messages, "GATE", gate, 1), "workflow", "import", "-")
	must(t, err)
	var run control.Run
	must(t, json.Unmarshal([]byte(s.ok(t, "workflow", "run", "--json", "--property", "messages=[a.json]", "messages")), &run))
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.ok(t, "run", "log", string(run.ID)), "told "); {
		if time.Now().After(deadline) {
			t.Fatal("the first script has said nothing")
		}
	}

	shown := s.ok(t, "run", "set", "--property", "messages=[a.json, b.json]", string(run.ID))
	must(t, os.WriteFile(gate, nil, 0o600))
	log := s.ok(t, "run", "log", "--follow", string(run.ID))

	if !strings.Contains(log, "out told [a.json]\n") || !strings.Contains(log, "out told [a.json, b.json]\n") || strings.Contains(log, "none") {
		t.Errorf("the scripts say\n%s\nwant that each is told what the run had when it began", log)
	}
	if !strings.Contains(shown, "Running") {
		t.Errorf("the run is shown as\n%s", shown)
	}
	_, err = s.run(t, "", "run", "set", "--property", "messages=late", string(run.ID))
	if engine.CodeOf(err) != engine.Conflict || !strings.Contains(engine.MessageOf(err), "ended already") {
		t.Errorf("of a run that has ended: %v, want a conflict", err)
	}
}
