package app

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/runner/shim"
)

// effect is a script that says that it has run, takes a moment, and ends with
// an exit code of its own.
func effect(name string, took time.Duration, code int) engine.JobBody {
	return engine.JobBody{Kind: engine.JobPython, Bookmark: engine.BookmarkOff, Script: &engine.ScriptJob{Body: fmt.Sprintf(`
import os, sys, time
with open(sys.argv[sys.argv.index("--Effects") + 1], "a") as f:
    f.write(%q)
time.sleep(%v)
print("bye")
sys.exit(%d)
`, name+"\n", took.Seconds(), code)}}
}

// scriptsForTest makes and starts a workflow of three scripts, one after the
// other; the second fails, which the third waits for. It returns the file that
// says what has run. change may make something else of a script.
func scriptsForTest(t *testing.T, data string, took time.Duration, change ...func(name string, script *engine.ScriptJob)) string {
	t.Helper()
	effects := filepath.Join(t.TempDir(), "effects")
	store := openForTest(t, data)
	now := time.Now().UTC()
	var refs []engine.Ref
	for i, code := range []int{0, 3, 0} {
		body := effect("abc"[i:i+1], took, code)
		body.Arguments = map[string]string{"Effects": effects}
		for _, f := range change {
			f("abc"[i:i+1], body.Script)
		}
		id, err := store.CreateJob(t.Context(), "abc"[i:i+1], body, "test", now)
		must(t, err)
		_, err = store.PublishJob(t.Context(), id, "test", now)
		must(t, err)
		refs = append(refs, engine.Ref{Kind: engine.KindJob, ID: id})
	}
	after := func(what engine.Ref, state engine.State, then engine.Ref) engine.Trigger {
		return engine.Trigger{
			ID: engine.NewID(now), Name: "after", Type: engine.Conditional, Actions: []engine.Action{{Ref: then}},
			Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: what, State: state}}},
		}
	}
	body := engine.WorkflowBody{Triggers: []engine.Trigger{
		{ID: engine.NewID(now), Name: "start", Type: engine.OnDemand, Actions: []engine.Action{{Ref: refs[0]}}},
		after(refs[0], engine.Succeeded, refs[1]), after(refs[1], engine.Failed, refs[2]),
	}}
	id, err := store.CreateWorkflow(t.Context(), "w", body, "test", now)
	must(t, err)
	_, err = store.PublishWorkflow(t.Context(), id, 0, nil, "test", now, func(engine.Trigger) time.Time { return time.Time{} })
	must(t, err)
	startForTest(t, store, id)
	must(t, store.Close())
	return effects
}

// assertRanOnce checks that each script has run once, that its true exit code
// is known, that its log has each line once, and that nothing of it is left.
func assertRanOnce(t *testing.T, data, effects, what string) {
	t.Helper()
	text, err := os.ReadFile(effects)
	must(t, err)
	if string(text) != "a\nb\nc\n" {
		t.Errorf("%s: the scripts ran as %q, want each once and in order", what, text)
	}
	store := openForTest(t, data)
	defer store.Close()
	runs, err := store.Runs(t.Context(), engine.RunFilter{})
	must(t, err)
	if len(runs) != 1 || runs[0].Open() {
		t.Fatalf("%s: runs = %+v, want one that has ended", what, runs)
	}
	nodes, err := store.NodeRuns(t.Context(), runs[0].ID)
	must(t, err)
	for _, n := range nodes {
		want := map[string]string{"a": "succeeded 0", "b": "failed 3", "c": "succeeded 0"}[n.Name]
		got := string(n.State) + " none"
		if n.Counts.Exit != nil {
			got = fmt.Sprint(n.State, " ", *n.Counts.Exit)
		}
		if got != want || n.Attempt != 1 {
			t.Errorf("%s: attempt %d of %s is %s (%s), want the first to be %s", what, n.Attempt, n.Name, got, n.Error, want)
		}
		log, err := os.ReadFile(filepath.Join(data, "runs", "log", string(n.Run), n.Ref.String()+"-1-1.log"))
		must(t, err)
		if lines := strings.Count(string(log), " out bye\n"); lines != 1 {
			t.Errorf("%s: the log of %s says %d times what the script wrote once:\n%s", what, n.Name, lines, log)
		}
		if head := " v1, start 1, attempt 1\n"; strings.Count(string(log), head) != 1 {
			t.Errorf("%s: the log of %s does not begin once:\n%s", what, n.Name, log)
		}
	}
	for _, p := range (shim.Processes{}).Marked() {
		if strings.HasPrefix(p.Marker, string(runs[0].ID)) {
			t.Errorf("%s: process %d (%s) is left", what, p.PID, p.Name)
		}
	}
}

// TestAScriptRunsInTheShimOfAnother: which has ended, once its end is written.
func TestAScriptRunsInTheShimOfAnother(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	must(t, os.MkdirAll(data, 0o700))
	effects := scriptsForTest(t, data, 100*time.Millisecond)

	serveOn(t, data, "")

	assertRanOnce(t, data, effects, "undisturbed")
	store := openForTest(t, data)
	defer store.Close()
	runs, err := store.Runs(t.Context(), engine.RunFilter{})
	must(t, err)
	nodes, err := store.NodeRuns(t.Context(), runs[0].ID)
	must(t, err)
	shims := map[engine.Process]bool{}
	for _, n := range nodes {
		if !n.Process.Apart {
			t.Errorf("%s has no process on record", n.Name)
		}
		shims[n.Process] = true
	}
	if len(shims) == len(nodes) {
		t.Errorf("%d scripts, one after the other, had a shim each, want at least the third in one that was used before", len(nodes))
	}
}

// TestServerKilledAroundScripts kills the server before and after each of its
// commits in turn. The script that it has started goes on, and the next server
// finds it again.
func TestServerKilledAroundScripts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a minute")
	}
	kills := 0
	for _, when := range []string{"before", "after"} {
		for n := 1; ; n++ {
			data := filepath.Join(t.TempDir(), "data")
			must(t, os.MkdirAll(data, 0o700))
			effects := scriptsForTest(t, data, 100*time.Millisecond)

			killed := serveOn(t, data, fmt.Sprintf("%s %d", when, n))
			if killed {
				kills++
				serveOn(t, data, "")
			}

			assertRanOnce(t, data, effects, fmt.Sprintf("killed %s commit %d", when, n))
			if !killed {
				break
			}
		}
	}
	if kills < 10 {
		t.Errorf("the server was killed %d times, want it killed at each of some ten commits", kills)
	}
	t.Logf("%d kills", kills)
}

// TestServerKilledAtRandomAroundScripts kills one server after the other at
// moments that nobody has chosen, until the scripts are through.
func TestServerKilledAtRandomAroundScripts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a minute")
	}
	const wanted = 50
	seed := rand.Uint64()
	t.Logf("the seed is %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test that can be repeated
	for kills, round := 0, 0; kills < wanted; round++ {
		data := filepath.Join(t.TempDir(), "data")
		must(t, os.MkdirAll(data, 0o700))
		effects := scriptsForTest(t, data, 150*time.Millisecond)
		through := false
		for before := kills; !through && kills < before+10; {
			if through = !killedWithin(t, data, time.Duration(50+random.IntN(900))*time.Millisecond); !through {
				kills++
			}
		}
		if !through {
			serveOn(t, data, "")
		}
		assertRanOnce(t, data, effects, fmt.Sprintf("round %d, after %d kills", round, kills))
		if t.Failed() {
			return
		}
	}
}

// TestAServerThatStopsLeavesItsScripts: a server that is told to stop does not
// wait for a script, and the next one finds it again.
func TestAServerThatStopsLeavesItsScripts(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	must(t, os.MkdirAll(data, 0o700))
	effects := scriptsForTest(t, data, 3*time.Second)
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), roleEnv+"=server", dataEnv+"="+data, crashEnv+"=")
	must(t, cmd.Start())
	for end := time.Now().Add(20 * time.Second); ; {
		if text, err := os.ReadFile(effects); err == nil && string(text) == "a\n" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the first script does not begin")
		}
		time.Sleep(5 * time.Millisecond)
	}

	must(t, cmd.Process.Signal(syscall.SIGTERM))
	must(t, cmd.Wait())

	if scriptsOf(t, data) != 1 {
		t.Error("the script has ended with its server, or the server has waited for it")
	}
	serveOn(t, data, "")
	assertRanOnce(t, data, effects, "after a stop")
}

// scriptsOf counts the processes of the scripts of the only run in data.
func scriptsOf(t *testing.T, data string) (n int) {
	t.Helper()
	store := openForTest(t, data)
	defer store.Close()
	runs, err := store.Runs(t.Context(), engine.RunFilter{})
	must(t, err)
	for _, p := range (shim.Processes{}).Marked() {
		if strings.HasPrefix(p.Marker, string(runs[0].ID)) {
			n++
		}
	}
	return n
}

// killedWithin runs a server on data and kills it after d, unless it has ended
// by then.
func killedWithin(t *testing.T, data string, d time.Duration) (killed bool) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), roleEnv+"=server", dataEnv+"="+data, crashEnv+"=")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatalf("the server ended badly: %v\n%s", err, out.String())
		}
		return false
	case <-time.After(d):
		_ = cmd.Process.Signal(syscall.SIGKILL)
		<-ended
		return true
	}
}
