package exec_test

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/runner"
	"dogear/engine/runner/python"
	"dogear/engine/runner/shim"
)

// scripts is the real runner of scripts.
func scripts(t *testing.T) *python.Runner {
	t.Helper()
	dir := t.TempDir()
	shims := &shim.Shims{Dir: filepath.Join(dir, "shims")}
	t.Cleanup(shims.Close)
	return &python.Runner{Shims: shims, LogLimit: 1 << 20, Keep: dir}
}

// stubborn is a script that does not end in its first attempt, whatever it is
// told, and in its second says whether the first still lives.
const stubborn = `
import os, signal, sys, time
first = sys.argv[sys.argv.index("--First") + 1]
if os.environ["DOGEAR_ATTEMPT"] == "1":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
    with open(first, "a") as f:
        f.write("%d\n" % os.getpid())
    time.sleep(600)
for pid in open(first):
    try:
        state = open("/proc/%d/stat" % int(pid)).read().rsplit(") ")[-1][0]
    except FileNotFoundError:
        continue
    if state not in "ZX":
        sys.exit("process %s of the first attempt still lives" % pid)
`

func (h *house) scriptJob(body string, arguments map[string]string, retries int) engine.ID {
	h.t.Helper()
	job := engine.JobBody{Kind: engine.JobPython, Bookmark: engine.BookmarkOff, Script: &engine.ScriptJob{Body: body}, Arguments: arguments, Retries: retries}
	id, err := h.store.CreateJob(h.t.Context(), "a", job, "owner", time.Now())
	must(h.t, err)
	_, err = h.store.PublishJob(h.t.Context(), id, "owner", time.Now())
	must(h.t, err)
	return id
}

// TestAScriptEndsWithAnAttemptThatBreaks: what breaks may be no more than the
// watch of a script, and then it must not go on with nobody who knows of it.
func TestAScriptEndsWithAnAttemptThatBreaks(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.stop()
		h.processes = shim.Processes{}
		h.serve()
		script := osexec.Command("sleep", "600")
		script.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		must(t, script.Start())
		t.Cleanup(func() { _ = script.Process.Kill() })
		process, err := shim.Identify(script.Process.Pid)
		must(t, err)
		process.Apart = true
		h.work.do["a"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			must(t, host.Started(ctx, process))
			return runner.Result{}, errors.New("the watch broke")
		}

		run, err := h.exec.StartJob(t.Context(), h.job("a", 0).ID, nil, nil, "owner")
		must(t, err)
		_, nodes := h.ends(run.ID)

		_ = script.Wait() // it would wait for ten minutes
		if status, ok := script.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Errorf("the script ended as %v, want it killed", script.ProcessState)
		}
		if nodes[0].State != engine.Failed {
			t.Errorf("the node is %s, want it failed", nodes[0].State)
		}
	})
}

// TestAScriptEndsWithTheLeaseOfItsServer: of a server that is cut off nothing
// runs any more when another one takes up its work, and the attempt of which
// nobody knows how far it had come is followed by the next.
func TestAScriptEndsWithTheLeaseOfItsServer(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, h *house) {
		cut := h.another(2, shortTTL)
		cut.work.do["a"], h.work.do["a"] = scripts(t).Run, scripts(t).Run
		first := filepath.Join(t.TempDir(), "first")
		id := h.scriptJob(stubborn, map[string]string{"First": first}, 1)
		run, err := cut.exec.StartJob(t.Context(), id, nil, nil, "owner")
		must(t, err)
		pids := func() int {
			text, _ := os.ReadFile(first)
			return strings.Count(string(text), "\n")
		}
		for pids() < 2 {
			<-h.changedOr(5 * time.Millisecond)
		}

		cut.cut.Store(true)
		h.exec.Heard()
		_, nodes := h.ends(run.ID)

		if said(nodes) != "a.1.1 failed, a.1.2 succeeded" {
			t.Errorf("got %s (%s), want the first attempt lost and the second to find nothing of it", said(nodes), nodes[len(nodes)-1].Error)
		}
		for _, n := range nodes {
			if n.Attempt == 1 && !strings.Contains(n.Error, "lost") {
				t.Errorf("the first attempt says %q, want that it was lost", n.Error)
			}
		}
	})
}

func TestAScriptReadsNothingAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		id := h.scriptJob("print(1)", nil, 0)

		_, err := h.exec.StartJob(t.Context(), id, nil, &engine.Selection{Keys: []string{"a.csv"}}, "owner")

		if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), "is a script") {
			t.Errorf("got %v, want it refused: a script that ignores the choice would do all of its work", err)
		}
	})
}

// TestTheTimeOfAScriptIsNotBegunAnew: what a script has used without a server
// is counted.
func TestTheTimeOfAScriptIsNotBegunAnew(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		work := scripts(t)
		h.work.do["a"] = work.Run
		id := h.scriptJob("import time\ntime.sleep(600)\n", nil, 0)
		run, err := h.exec.StartJob(t.Context(), id, nil, nil, "owner")
		must(t, err)
		h.await(run.ID, "it runs", func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == "a.1.1 running" })
		h.stop()

		h.ahead.Store(int64(2 * time.Hour)) // longer than the default limit
		h.serve()
		_, nodes := h.ends(run.ID)

		if said(nodes) != "a.1.1 timed_out" {
			t.Errorf("got %s, want that its time is over", said(nodes))
		}
		for _, p := range (shim.Processes{}).Marked() {
			if p.Marker == runner.Marker(nodes[0].Key()) {
				t.Errorf("process %d is left", p.PID)
			}
		}
	})
}

// TestAScriptThatWasBeingStoppedIsStoppedByTheNextServer: the one before died
// between the note that the script is to end and the signal.
func TestAScriptThatWasBeingStoppedIsStoppedByTheNextServer(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["a"] = scripts(t).Run
		id := h.scriptJob("import time\ntime.sleep(600)\n", nil, 0)
		run, err := h.exec.StartJob(t.Context(), id, nil, nil, "owner")
		must(t, err)
		_, nodes := h.await(run.ID, "it runs", func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == "a.1.1 running" })
		h.stop()
		written := h.store.Commit(t.Context(), []flow.Step{{Run: run.ID, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
			return flow.Stop(nil, st, run, nodes, "owner", time.Now().UTC())
		}}})
		must(t, written[0].Err)

		h.serve()
		_, nodes = h.ends(run.ID)

		if said(nodes) != "a.1.1 stopped" {
			t.Errorf("got %s (%s), want it stopped", said(nodes), nodes[0].Error)
		}
		for _, p := range (shim.Processes{}).Marked() {
			if p.Marker == runner.Marker(nodes[0].Key()) {
				t.Errorf("process %d is left", p.PID)
			}
		}
	})
}

// TestTheLogOfAScriptThatIsTakenUpGoesOn: it says once which attempt it is of, and
// then that another server has it.
func TestTheLogOfAScriptThatIsTakenUpGoesOn(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["a"] = scripts(t).Run
		again := filepath.Join(t.TempDir(), "again")
		id := h.scriptJob("import os, sys, time\nprint('one')\nwhile not os.path.exists(sys.argv[sys.argv.index('--Again') + 1]): time.sleep(0.01)\nprint('two')\n", map[string]string{"Again": again}, 0)
		run, err := h.exec.StartJob(t.Context(), id, nil, nil, "owner")
		must(t, err)
		var path string
		h.await(run.ID, "it has written its first line", func(_ engine.Run, nodes []engine.NodeRun) bool {
			if len(nodes) == 0 {
				return false
			}
			path = h.exec.LogPath(nodes[0].Key())
			text, err := os.ReadFile(path)
			return err == nil && strings.Contains(string(text), " out one\n")
		})
		h.stop()
		must(t, os.WriteFile(again, nil, 0o600))

		h.serve()
		_, nodes := h.ends(run.ID)

		text, err := os.ReadFile(path)
		must(t, err)
		var lines []string
		for line := range strings.Lines(string(text)) {
			_, said, _ := strings.Cut(strings.TrimSpace(line), " ")
			lines = append(lines, said)
		}
		if got, want := strings.Join(lines, "; "), "info a v1, start 1, attempt 1; out one; info taken up again; out two"; got != want || said(nodes) != "a.1.1 succeeded" {
			t.Errorf("%s, and the log says %q, want %q", said(nodes), got, want)
		}
	})
}

// TestAStopWhileANodeIsTakenUpIsNotLost: it was written after the server had taken
// the node, and before its attempt was there to be told.
func TestAStopWhileANodeIsTakenUpIsNotLost(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		told := make(chan error, 1)
		h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			if a.Node.Start == 2 {
				told <- context.Cause(ctx)
				return runner.Result{State: engine.Stopped}, nil
			}
			return untilStopped(ctx, a, host)
		}
		run, err := h.exec.StartJob(t.Context(), h.job("a", 0).ID, nil, nil, "owner")
		must(t, err)
		_, nodes := h.await(run.ID, "it runs", func(_ engine.Run, nodes []engine.NodeRun) bool { return said(nodes) == "a.1.1 running" })

		taken := nodes[0]
		taken.Start = 2
		h.exec.LaunchTold(taken, runner.ErrStop)

		if cause := <-told; !errors.Is(cause, runner.ErrStop) {
			t.Errorf("the attempt is told %v, want that it stops", cause)
		}
		_, err = h.exec.Stop(t.Context(), run.ID, "owner")
		must(t, err)
		h.ends(run.ID)
	})
}
