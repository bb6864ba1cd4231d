package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"dogear/cmd/server/app"
	"dogear/cmd/server/cli"
	"dogear/engine"
	"dogear/engine/duck"
	"dogear/handlers/control"
)

// TestMain lets this binary be the worker of the servers it starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(duck.Main(context.Background()))
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// command is the part of the command line that is tested.
type command struct {
	Workflow cli.Workflow `cmd:""`
	Job      cli.Job      `cmd:""`
	Crawler  cli.Crawler  `cmd:""`
	Run      cli.Run      `cmd:""`
	Trigger  cli.Trigger  `cmd:""`
	Event    cli.Event    `cmd:""`
	Pool     cli.Pool     `cmd:""`
	Bookmark cli.Bookmark `cmd:""`
	Health   cli.Health   `cmd:""`
	Signin   cli.Signin   `cmd:""`
}

// site is a running server and a command line that talks to it.
type site struct {
	data string
	stop func() error
}

// serve runs a server on data until the test ends.
func serve(t *testing.T, data string) *site {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- app.Run(ctx, app.Config{
			Data: data, Options: app.Options{Addr: "127.0.0.1:0", Slots: 2, Drain: time.Second}, Out: io.Discard,
			Worker: []string{os.Args[0], "worker"}, Ready: func(string, string) { close(ready) },
		})
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("the server did not start: %v", err)
	}
	var err error
	var stopped bool
	s := &site{data: data, stop: func() error {
		if !stopped {
			cancel()
			err, stopped = <-ended, true
		}
		return err
	}}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

// run runs one command and returns what it printed.
func (s *site) run(t *testing.T, in string, args ...string) (string, error) {
	t.Helper()
	var c command
	parser, err := kong.New(&c, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
	must(t, err)
	args = slices.Insert(slices.Clone(args), min(len(args), 2), "--data", s.data) // before any "--"
	parsed, err := cli.Parse(parser, args)
	if engine.CodeOf(err) == engine.Invalid {
		return "", err
	}
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	var out bytes.Buffer
	parsed.BindTo(t.Context(), (*context.Context)(nil))
	err = parsed.Run(cli.Terminal{In: strings.NewReader(in), Out: &out, Err: io.Discard})
	return out.String(), err
}

// ok runs one command that must succeed.
func (s *site) ok(t *testing.T, args ...string) string {
	t.Helper()
	out, err := s.run(t, "", args...)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return out
}

// odd is a name that breaks careless programs.
const odd = "a/b \"c\" 'd' <e> ☃ 🦊 --json"

// pipeline is a workflow of one job that copies CSV files to Parquet.
const pipeline = `dogear: 1
workflow:
  name: NAME
  properties:
    Least: "0"
  triggers:
    - name: by hand
      type: on_demand
      start:
        - job: copy
      at: [0, 0]
  cards:
    - job: copy
      at: [260, 0]
jobs:
  - name: copy
    kind: sql
    bookmark: enabled
    sources:
      - name: input
        path: in/*.csv
        format: csv
        ctx: input
        options:
          settle_ms: 0
    steps:
      - name: output
        sql: SELECT * FROM input WHERE n >= CAST(getvariable('Least') AS BIGINT)
    sinks:
      - from: output
        path: out
`

func document(name string) string {
	quoted, _ := json.Marshal(name)
	return strings.Replace(pipeline, "NAME", string(quoted), 1)
}

func (s *site) drop(t *testing.T, name, text string) {
	t.Helper()
	dir := filepath.Join(s.data, "files", "in")
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

func TestAWorkflowIsImportedRunAndItsBookmarkMoved(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.drop(t, "1.csv", "n,word\n1,one\n2,two\n")

	dry, err := s.run(t, document(odd), "workflow", "import", "--dry-run", "-")
	must(t, err)
	if list := s.ok(t, "workflow", "list"); strings.Contains(list, "a/b") {
		t.Errorf("a dry run made the workflow:\n%s", list)
	}
	made, err := s.run(t, document(odd), "workflow", "import", "-")
	must(t, err)
	if !strings.Contains(dry, "would make  workflow") || !strings.Contains(made, "made  workflow") {
		t.Errorf("got reports\n%s\nand\n%s", dry, made)
	}
	exported := s.ok(t, "workflow", "export", "--", odd)
	again, err := s.run(t, exported, "workflow", "import", "-")
	must(t, err)
	if strings.Contains(again, "changed") || s.ok(t, "workflow", "export", "--", odd) != exported {
		t.Errorf("importing an export changed something:\n%s", again)
	}

	out := s.ok(t, "workflow", "run", "--wait", "--json", "--property", "Least=2", "--", odd)
	var run control.Run
	must(t, json.Unmarshal([]byte(out), &run))
	if run.Outcome != engine.RunSucceeded || len(run.Nodes) != 1 || run.Nodes[0].Counts.RowsOut != 1 || run.By != "owner, by the command line" {
		t.Errorf("got %s of %d nodes by %s, want succeeded, one node that wrote one row, by owner:\n%s", run.Outcome, len(run.Nodes), run.By, out)
	}
	if log := s.ok(t, "run", "log", "--follow", string(run.ID)); !strings.Contains(log, "copy | ") || !strings.HasSuffix(log, "\n") {
		t.Errorf("got log %q, want lines of copy", log)
	}
	if list := s.ok(t, "run", "list"); !strings.Contains(list, string(run.ID)) || !strings.Contains(list, "Succeeded") {
		t.Errorf("got runs\n%s\nwant %s", list, run.ID)
	}

	idle, err := s.run(t, "", "workflow", "run", "--wait", "--property", "Least=2", "--", odd)
	must(t, err)
	if !strings.Contains(idle, "nothing new") || strings.Contains(out, "nothing_new") {
		t.Errorf("the first run says\n%s\nthe second\n%s\nwant of the second that there was nothing new", out, idle)
	}

	const twice = "out appends: about 1 row would stand twice."
	for _, move := range [][]string{{"reset"}, {"reset", "--all"}, {"rewind", "--to", "0"}, {"undo"}, {"read-again", "--file", "1.csv"}} {
		_, err := s.run(t, "", slices.Concat([]string{"bookmark", move[0], "copy"}, move[1:])...)
		if engine.CodeOf(err) != engine.Conflict || !strings.HasPrefix(engine.MessageOf(err), twice) || !strings.Contains(engine.MessageOf(err), "--yes") {
			t.Errorf("%q without --yes: got %v, want it refused with %q", move, err, twice)
		}
	}
	if _, err := s.run(t, "", "bookmark", "read-again", "copy", "--pattern", "["); engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), "has a bracket") || !strings.Contains(engine.MessageOf(err), "Nothing was moved.") {
		t.Errorf("a pattern that is wrong: got %v", err)
	}
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"show", "copy"}, "v1"},
		{[]string{"pause", "copy", "--why", "audit"}, "yes"},
		{[]string{"resume", "copy"}, "no"},
		{[]string{"reset", "copy", "--dry-run"}, "Read again   1 file, 19 B"},
		{[]string{"reset", "copy", "--dry-run"}, "yes   read again  19 B"},
		{[]string{"rewind", "copy", "--to", "v0", "--dry-run"}, "read again  1"},
		{[]string{"reset", "copy", "--ctx", "input", "--why", "from the beginning", "--yes"}, "v2"},
		{[]string{"undo", "copy"}, "v3"},
		{[]string{"rewind", "copy", "--to", "v0", "--yes"}, "v4"},
		{[]string{"show", "copy"}, "from the beginning"},
		{[]string{"list"}, "copy"},
		{[]string{"plan", "copy"}, "1 file, 19 B"},
		{[]string{"set-now", "copy", "--dry-run"}, "0 files, 0 B"},
		{[]string{"show", "copy"}, "v4"},
		{[]string{"set-now", "copy", "--why", "loaded by hand"}, "v5"},
		{[]string{"plan", "copy"}, "0 files, 0 B"},
		{[]string{"read-again", "copy", "--pattern", "*.csv", "--dry-run"}, "about 1 row would stand twice"},
		{[]string{"read-again", "copy", "--file", "1.csv", "--yes"}, "v6"},
		{[]string{"plan", "copy"}, "asked for by owner"},
		{[]string{"hold", "copy", "--file", "1.csv", "--dry-run"}, "0 files, 0 B"},
		{[]string{"hold", "copy", "--file", "1.csv", "--why", "wrong prices"}, "v7"},
		{[]string{"plan", "copy"}, "held by owner: wrong prices"},
		{[]string{"release", "copy", "--since", "2026-01-01"}, "v8"},
		{[]string{"rewind", "copy", "--at", "2020-01-01T00:00:00Z"}, "v9"},
		{[]string{"undo", "copy"}, "v10"},
		{[]string{"branch", "copy", "what if"}, "what if"},
		{[]string{"set-now", "copy", "--branch", "what if"}, "v2"},
		{[]string{"plan", "copy"}, "1 file, 19 B"},
		{[]string{"plan", "copy", "--branch", "what if"}, "0 files, 0 B"},
		{[]string{"branches", "copy"}, "what if"},
		{[]string{"promote", "copy", "what if", "--dry-run"}, "1 that do not count as read now"},
		{[]string{"show", "copy"}, "v10"},
		{[]string{"promote", "copy", "what if", "--why", "looks right"}, "v11"},
		{[]string{"show", "copy"}, "from the branch what if: looks right"},
		{[]string{"plan", "copy"}, "0 files, 0 B"},
		{[]string{"drop", "copy", "what if", "--dry-run"}, "by which runs read"},
		{[]string{"branches", "copy"}, "what if"},
		{[]string{"drop", "copy", "what if"}, "branch what if"},
		{[]string{"rewind", "copy", "--at", "2020-01-01", "--yes"}, "v12"},
	} {
		if got := s.ok(t, append([]string{"bookmark"}, step.args...)...); !strings.Contains(got, step.want) {
			t.Errorf("bookmark %q: got\n%s\nwant %q", step.args, got, step.want)
		}
	}
}

func TestABookmarkIsCarriedToAnotherServer(t *testing.T) {
	t.Parallel()
	from, to := serve(t, t.TempDir()), serve(t, t.TempDir())
	for _, s := range []*site{from, to} {
		s.drop(t, "1.csv", "n,word\n1,one\n2,two\n")
		_, err := s.run(t, document("w"), "workflow", "import", "-")
		must(t, err)
	}
	from.ok(t, "workflow", "run", "--wait", "w")
	file := filepath.Join(t.TempDir(), "copy.jsonl")
	from.ok(t, "bookmark", "export", "copy", "--out", file)
	text, err := os.ReadFile(file)
	must(t, err)

	// The other server's job has never run: its bookmark is named by context.
	would, err := to.run(t, string(text), "bookmark", "import", "copy", "-", "--ctx", "input", "--dry-run")
	must(t, err)
	if !strings.Contains(would, "Would skip  1 that do not count as read now") || !strings.Contains(to.ok(t, "bookmark", "show", "copy", "--ctx", "input"), "v0") {
		t.Errorf("got\n%s\nwant what the import would do, and nothing moved", would)
	}
	shown, err := to.run(t, string(text), "bookmark", "import", "copy", "-", "--ctx", "input", "--why", "moved house")

	must(t, err)
	if !strings.Contains(shown, "v1") || !strings.Contains(shown, "1, ") {
		t.Errorf("got\n%s\nwant the bookmark at v1 with one file", shown)
	}
	_, err = to.run(t, "{}", "bookmark", "import", "copy", "-")
	if engine.CodeOf(err) != engine.Invalid {
		t.Errorf("importing another file: %v, want it refused", err)
	}
	if got := to.ok(t, "bookmark", "show", "copy"); !strings.Contains(got, "moved house") {
		t.Errorf("got\n%s\nwant the reason in the history", got)
	}
}

// TestABookmarkGoesToAWSGlueAndComesBack: the same files count as read.
func TestABookmarkGoesToAWSGlueAndComesBack(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.drop(t, "1.csv", "n,word\n1,one\n2,two\n")
	_, err := s.run(t, document("w"), "workflow", "import", "-")
	must(t, err)
	s.ok(t, "workflow", "run", "--wait", "w")
	file := filepath.Join(t.TempDir(), "glue.json")
	s.ok(t, "bookmark", "export", "copy", "--glue", "--out", file)
	s.ok(t, "bookmark", "reset", "copy", "--yes")

	would := s.ok(t, "bookmark", "import", "copy", file, "--glue", "--dry-run")
	s.ok(t, "bookmark", "import", "copy", file, "--glue", "--why", "back from AWS")
	shown := s.ok(t, "bookmark", "show", "copy")

	if !strings.Contains(would, "0 files, 0 B") || !strings.Contains(shown, "v3") || !strings.Contains(shown, "from AWS Glue's copy, v1: back from AWS") {
		t.Errorf("got\n%s\nand\n%s\nwant nothing left to read at v3", would, shown)
	}
	_, err = s.run(t, "n,word\n", "bookmark", "import", "copy", "-", "--glue")
	if engine.CodeOf(err) != engine.Invalid || !strings.Contains(err.Error(), "aws glue get-job-bookmark") {
		t.Errorf("importing another file: %v, want it refused", err)
	}
}

// TestB27AChangedSourceIsAdopted: a run asks, a person says that it is the same
// thing, and what was read stays read.
func TestB27AChangedSourceIsAdopted(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.drop(t, "1.csv", "n,word\n1,one\n2,two\n")
	_, err := s.run(t, document("w"), "workflow", "import", "-")
	must(t, err)
	s.ok(t, "workflow", "run", "--wait", "w")
	_, same := s.run(t, "", "bookmark", "adopt", "copy")
	changed := strings.Replace(document("w"), "in/*.csv", "in/?.csv", 1)
	_, err = s.run(t, changed, "workflow", "import", "-")
	must(t, err)
	_, asks := s.run(t, "", "bookmark", "plan", "copy")

	would := s.ok(t, "bookmark", "adopt", "copy", "--dry-run")
	s.ok(t, "bookmark", "adopt", "copy", "--why", "a tighter pattern")
	shown := s.ok(t, "bookmark", "show", "copy")

	if engine.CodeOf(same) != engine.Conflict || engine.CodeOf(asks) != engine.Conflict {
		t.Errorf("before the change %v, after it %v; want nothing to decide and then a question", same, asks)
	}
	if !strings.Contains(would, "0 files, 0 B") || !strings.Contains(shown, "a tighter pattern") || !strings.Contains(shown, "adopt") {
		t.Errorf("got\n%s\nand\n%s\nwant the source adopted, with nothing to read", would, shown)
	}
	if plan := s.ok(t, "bookmark", "plan", "copy"); !strings.Contains(plan, "0 files, 0 B") {
		t.Errorf("got\n%s\nwant what was read to stay read", plan)
	}
}

// slow is a pipeline whose first job never ends by itself.
var slow = strings.Replace(pipeline, "WHERE n >=", "WHERE (SELECT count(*) FROM range(1000000000000)) > 0 AND n >=", 1)

func TestARunIsPausedStoppedAndGoneOnFrom(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.drop(t, "1.csv", "n,word\n1,one\n2,two\n")
	_, err := s.run(t, strings.Replace(slow, "NAME", `"w"`, 1), "workflow", "import", "-")
	must(t, err)
	var run control.Run
	must(t, json.Unmarshal([]byte(s.ok(t, "workflow", "run", "w", "--json")), &run))

	if shown := s.ok(t, "run", "pause", string(run.ID)); !strings.Contains(shown, "Paused") {
		t.Errorf("got\n%s\nwant the run paused", shown)
	}
	if shown := s.ok(t, "run", "show", string(run.ID)); !strings.Contains(shown, "Outcome    Paused\n") {
		t.Errorf("got\n%s\nwant the run shown as paused", shown)
	}
	if list := s.ok(t, "run", "list"); !strings.Contains(list, "Paused") {
		t.Errorf("got\n%s\nwant the run listed as paused", list)
	}
	if shown := s.ok(t, "run", "go-on", string(run.ID)); strings.Contains(shown, "Paused") {
		t.Errorf("got\n%s\nwant the run going on", shown)
	}
	if _, err := s.run(t, "", "run", "resume", string(run.ID), "--node", "coppy"); engine.CodeOf(err) != engine.NotFound || !strings.Contains(err.Error(), `named "coppy". It has: copy.`) {
		t.Errorf("a resume from a node that is none: %v, want it refused and the right one named", err)
	}
	if _, err := s.run(t, "", "run", "resume", string(run.ID)); engine.CodeOf(err) != engine.Conflict {
		t.Errorf("going on from a run under way: %v, want a conflict", err)
	}
	if _, err := s.run(t, "", "workflow", "run", "w", "--property", "Leest=1"); engine.CodeOf(err) != engine.Invalid || !strings.Contains(err.Error(), "no property Leest. It declares: Least.") {
		t.Errorf("a property nobody knows: %v, want it refused and the right one named", err)
	}
	if _, err := s.run(t, "", "run", "log", string(run.ID), "--node", "coppy"); engine.CodeOf(err) != engine.NotFound || !strings.Contains(err.Error(), `named "coppy". It has: copy.`) {
		t.Errorf("the log of a node that is none: %v, want it refused and the right one named", err)
	}
	var queued control.Run
	must(t, json.Unmarshal([]byte(s.ok(t, "workflow", "run", "w", "--json")), &queued))
	if shown := s.ok(t, "run", "show", string(queued.ID)); !strings.Contains(shown, "Queued") || !strings.Contains(shown, "waits until another run of copy has ended") {
		t.Errorf("got\n%s\nwant why its node waits", shown)
	}
	s.ok(t, "run", "stop", string(queued.ID))
	short := strings.ToLower(string(run.ID[len(run.ID)-6:]))
	if shown := s.ok(t, "run", "show", short); !strings.Contains(shown, string(run.ID)) {
		t.Errorf("got\n%s\nwant the run that ends in %s", shown, short)
	}
	if stopped := s.ok(t, "run", "stop", short); !strings.Contains(stopped, " by owner, by the command line\n") {
		t.Errorf("got\n%s\nwant to read who stopped it, and from where", stopped)
	}
	s.ok(t, "run", "log", "--follow", string(run.ID)) // until it has ended
	if shown := s.ok(t, "run", "show", string(run.ID)); !strings.Contains(shown, "Stopped") {
		t.Errorf("got\n%s\nwant it stopped", shown)
	}
	shown := s.ok(t, "run", "resume", string(run.ID), "--mark", "copy=succeeded", "--wait")
	if !strings.Contains(shown, "Resumes  "+string(run.ID)) || !strings.Contains(shown, "Succeeded") {
		t.Errorf("got\n%s\nwant a run that goes on from %s and succeeded", shown, run.ID)
	}
	if _, err := s.run(t, "", "run", "log", strings.Fields(shown)[1], "--node", "copy"); engine.CodeOf(err) != engine.NotFound || !strings.Contains(engine.MessageOf(err), "run log "+string(run.ID)+` --node "copy"`) {
		t.Errorf("the log of a node that was not done again: %v, want to be led to the run that has it", err)
	}
}

func TestAJobReadsChosenFilesAgainBesideItsBookmark(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.drop(t, "1.csv", "n,word\n1,one\n2,two\n")
	s.drop(t, "2.csv", "n,word\n3,three\n")
	_, err := s.run(t, document("w"), "workflow", "import", "-")
	must(t, err)
	s.ok(t, "workflow", "run", "w", "--wait")
	if list := s.ok(t, "job", "list"); !strings.Contains(list, "copy") {
		t.Errorf("got jobs\n%s\nwant copy", list)
	}

	shown := s.ok(t, "job", "run", "copy", "--property", "Least=0", "--pattern", "1.csv", "--wait")

	if !strings.Contains(shown, "Reads again  1.csv") || !strings.Contains(shown, "files 1, rows in 2") {
		t.Errorf("got\n%s\nwant the one file read again", shown)
	}
	var again control.Run
	must(t, json.Unmarshal([]byte(s.ok(t, "job", "run", "copy", "--property", "Least=0", "--pattern", "2.csv", "--wait", "--json")), &again))
	if log := s.ok(t, "run", "log", string(again.ID)); !strings.Contains(log, "out appends: the rows of these files stand in it twice") {
		t.Errorf("got log\n%s\nwant a warning of rows that stand twice", log)
	}
	if mark := s.ok(t, "bookmark", "show", "copy"); !strings.Contains(mark, "v1") {
		t.Errorf("got\n%s\nwant the bookmark where it was", mark)
	}
	if _, err := s.run(t, "", "job", "run", "copy", "--property", "Least=0", "--pattern", "9.csv", "--wait"); !strings.Contains(engine.MessageOf(err), "ended: Failed") {
		t.Errorf("a pattern that nothing fits: %v, want the run failed", err)
	}
}

func TestARunThatFailsIsAFailureOfTheCommand(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.drop(t, "1.csv", "n\n1\n")
	_, err := s.run(t, document("w"), "workflow", "import", "-")
	must(t, err)

	out, err := s.run(t, "", "workflow", "run", "w", "--wait", "--property", "Least=many")

	if err == nil || !strings.Contains(engine.MessageOf(err), "ended: Failed") || !strings.Contains(out, "Outcome  Failed") {
		t.Errorf("got %v and\n%s\nwant a failure", err, out)
	}
}

func TestWrongCommandsSaySoInWholeSentences(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	_, err := s.run(t, document("w"), "workflow", "import", "-")
	must(t, err)
	tests := map[string]struct {
		args []string
		in   string
		code engine.Code
		want string
	}{
		"no such workflow":  {[]string{"workflow", "run", "x"}, "", engine.NotFound, `There is no workflow named "x". `},
		"no such run":       {[]string{"run", "show", string(engine.NewID(time.Now()))}, "", engine.NotFound, "There is no run"},
		"not a run":         {[]string{"run", "stop", "../x"}, "", engine.Invalid, `"../x" is not an id.`},
		"no such job":       {[]string{"bookmark", "show", "x"}, "", engine.NotFound, `There is no job or crawler named "x".`},
		"no bookmark yet":   {[]string{"bookmark", "reset", "copy"}, "", engine.NotFound, "copy has no bookmark yet."},
		"an unknown key":    {[]string{"workflow", "import", "-"}, "dogear: 1\nworkflwo: {}\n", engine.Invalid, "line 2: the key workflwo is not known"},
		"no such file":      {[]string{"workflow", "import", "/nowhere.yaml"}, "", engine.Invalid, "cannot be read"},
		"a list of nothing": {[]string{"run", "list", "--limit", "0"}, "", engine.Invalid, "1 to 1000"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := s.run(t, test.in, test.args...)

			if engine.CodeOf(err) != test.code || !strings.Contains(engine.MessageOf(err), test.want) {
				t.Errorf("got %v, want %s with %q", err, test.code, test.want)
			}
		})
	}
}

func TestOnlyTheOwnerCanOpenTheSocket(t *testing.T) {
	t.Parallel()
	// A path longer than the address of a socket may be, open to all, with what
	// a killed server left in it.
	data := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	must(t, os.MkdirAll(data, 0o700))
	must(t, os.Chmod(data, 0o755)) //nolint:gosec // the folder somebody made by hand
	path := filepath.Join(data, control.SocketName)
	must(t, os.WriteFile(path, nil, 0o600))

	s := serve(t, data)

	info, err := os.Stat(path)
	must(t, err)
	if got, want := info.Mode(), fs.ModeSocket|0o600; got != want {
		t.Errorf("got a socket of mode %v, want %v", got, want)
	}
	if got := s.ok(t, "health"); got != "ready\n" {
		t.Errorf("got %q, want ready", got)
	}
	left, err := filepath.Glob(filepath.Join(data, ".socket-*"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("got %q left over, want nothing", left)
	}

	must(t, s.stop())
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after the stop: got %v, want no socket", err)
	}
	if _, err := s.run(t, "", "health"); engine.CodeOf(err) != engine.NotFound || !strings.Contains(engine.MessageOf(err), "No server runs on") {
		t.Errorf("after the stop: got %v, want NotFound", err)
	}
}

func TestASocketThatNobodyServesIsReplaced(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(data, control.SocketName), Net: "unix"})
	must(t, err)
	stale.SetUnlinkOnClose(false)
	must(t, stale.Close())

	s := serve(t, data)

	if got := s.ok(t, "health"); got != "ready\n" {
		t.Errorf("got %q, want ready", got)
	}
}

func TestASignInLinkComesFromTheRunningServer(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())

	first, second := strings.TrimSpace(s.ok(t, "signin")), strings.TrimSpace(s.ok(t, "signin"))

	if first == second || !strings.HasPrefix(first, "http://127.0.0.1:") {
		t.Errorf("got the links %s and %s, want two of this server", first, second)
	}
	for _, link := range []string{first, second} {
		answer, err := http.Get(link)
		must(t, err)
		body, err := io.ReadAll(answer.Body)
		must(t, errors.Join(err, answer.Body.Close()))
		if answer.StatusCode != http.StatusOK || !strings.Contains(string(body), "<form") {
			t.Errorf("%s answers %s, want the form that signs in", link, answer.Status)
		}
	}
}

// A copy of a workflow sets no second schedule going, and the answer says so.
func TestTheScheduleOfACopyArrivesTurnedOff(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	by := func(name string) string {
		return strings.Replace(document(name), "type: on_demand", "type: scheduled\n      schedule: cron(0 2 * * ? *)", 1)
	}

	first, err := s.run(t, by("w"), "workflow", "import", "-")
	must(t, err)
	dry, err := s.run(t, by("copy of w"), "workflow", "import", "--dry-run", "-")
	must(t, err)
	second, err := s.run(t, by("copy of w"), "workflow", "import", "-")
	must(t, err)

	const says = "The trigger by hand arrives turned off: the workflow w starts the job copy by itself already."
	if strings.Contains(first, "arrives") || !strings.Contains(dry, says) || !strings.Contains(second, says) {
		t.Errorf("got reports\n%s\n%s\n%s\nwant the copy's alone to say that it is off", first, dry, second)
	}
	if text := s.ok(t, "workflow", "export", "copy of w"); !strings.Contains(text, "disabled: true") {
		t.Errorf("the copy is\n%s\nwant its schedule off", text)
	}
}
