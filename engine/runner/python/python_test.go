package python

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/place"
	"dogear/engine/runner"
	"dogear/engine/runner/shim"
	"dogear/engine/source"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// host is an engine that remembers what it was told.
type host struct {
	runner.Host
	mu      sync.Mutex
	process engine.Process
	lines   []string
	started func() error
	logged  chan struct{} // gets something after each line
}

func (h *host) Started(_ context.Context, p engine.Process) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.process = p
	if h.started != nil {
		return h.started()
	}
	return nil
}

func (h *host) Log(level runner.Level, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		h.lines = append(h.lines, string(level)+" "+line)
	}
	select {
	case h.logged <- struct{}{}:
	default:
	}
}

func (h *host) log() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "\n")
}

// await waits until the log holds text.
func (h *host) await(t *testing.T, text string) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for !strings.Contains(h.log(), text) {
		select {
		case <-h.logged:
		case <-limit:
			t.Fatalf("waited too long for %q in the log:\n%s", text, h.log())
		}
	}
}

// files are the texts of scripts by address.
type files map[string]string

func (f files) Peek(_ context.Context, src engine.Source, _ int) ([]engine.Object, error) {
	body, ok := f[src.Path]
	if !ok {
		return nil, nil
	}
	return []engine.Object{{Key: src.Path, Size: int64(len(body))}}, nil
}

func (f files) Head(_ context.Context, src engine.Source, _ engine.Object, n int64) ([]byte, error) {
	return []byte(f[src.Path])[:min(n, int64(len(f[src.Path])))], nil
}

func runnerOf(t *testing.T) *Runner {
	t.Helper()
	dir := t.TempDir()
	shims := &shim.Shims{Dir: filepath.Join(dir, "shims")}
	t.Cleanup(shims.Close)
	return &Runner{Files: files{}, Shims: shims, LogLimit: 1 << 20, Keep: filepath.Join(dir, "scripts")}
}

func attempt(t *testing.T, script engine.ScriptJob) runner.Attempt {
	t.Helper()
	now := time.Now()
	job := &engine.Job{Head: engine.Head{ID: engine.NewID(now), Name: "clean up", Version: 3}, JobBody: engine.JobBody{Kind: engine.JobPython, Script: &script}}
	run := engine.Run{ID: engine.NewID(now), Kind: engine.RunWorkflow, Name: "nightly"}
	node := engine.NodeRun{Run: run.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: job.ID}, Name: job.Name, Start: 1, Attempt: 1, Fence: 4}
	return runner.Attempt{Node: node, Run: run, Job: job, Dir: filepath.Join(t.TempDir(), "runs", "attempt")}
}

func newHost() *host { return &host{logged: make(chan struct{}, 1)} }

func run(t *testing.T, body string) (runner.Result, *host) {
	t.Helper()
	h := newHost()
	result, err := runnerOf(t).Run(t.Context(), attempt(t, engine.ScriptJob{Body: body}), h)
	must(t, err)
	return result, h
}

func TestAScriptThatEndsWell(t *testing.T) {
	t.Parallel()
	result, h := run(t, "import sys\nprint('hello')\nprint()\nprint('hm', file=sys.stderr)\n")

	if result.State != engine.Succeeded || result.Counts.Exit == nil || *result.Counts.Exit != 0 {
		t.Errorf("got %+v, want success with exit code 0", result)
	}
	if !h.process.Apart {
		t.Error("its process is not recorded as one that lives apart")
	}
	if log := h.log(); !strings.Contains(log, "out hello\nout ") || !strings.Contains(log, "err hm") {
		t.Errorf("the log is %q", log)
	}
}

func TestHowAScriptFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body string
		exit int
		want []string
	}{
		"an exception":      {"print('x')\nraise ValueError('no such day')\n", 1, []string{"exit code 1", "ValueError: no such day", `File "script.py", line 2`}},
		"a syntax error":    {"def broken(:\n", 1, []string{"exit code 1", "SyntaxError", "line 1"}},
		"its own exit code": {"import sys\nsys.exit(42)\n", 42, []string{"exit code 42."}},
		"a signal":          {"import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", 137, []string{"exit code 137, by the signal SIGKILL", "want of memory"}},
		"too much memory":   {"x = bytearray(3 << 30)\n", 1, []string{"MemoryError", "2048 MB"}},
		"binary errors":     {"import os\nos.write(2, bytes(range(256)))\nraise SystemExit(3)\n", 3, []string{"exit code 3"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := run(t, tt.body)

			if result.State != engine.Failed || result.Counts.Exit == nil || *result.Counts.Exit != tt.exit {
				t.Errorf("got %s with %v, want failed with exit code %d", result.State, result.Counts.Exit, tt.exit)
			}
			for _, want := range tt.want {
				if !strings.Contains(result.Error, want) {
					t.Errorf("the error is %q, want it to hold %q", result.Error, want)
				}
			}
		})
	}
}

func TestWhatAScriptIsTold(t *testing.T) {
	t.Setenv("DOGEAR_SECRET_KEY", "hush")
	a := attempt(t, engine.ScriptJob{Body: "import json, os, sys\nprint(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]))\n"})
	a.Job.Arguments = map[string]string{"Day": "of the job", "--Mode": "full", "Empty": ""}
	a.Run.Properties = map[string]string{"Day": "of the run"}
	a.Node.Arguments = map[string]string{"Odd": `{"a": "b c"} 'q' $HOME -x`}
	h, r := newHost(), runnerOf(t)

	_, err := r.Run(t.Context(), a, h)
	must(t, err)

	log, work := h.log(), filepath.Join(r.Shims.Dir, h.process.Folder, "work")
	for _, want := range []string{
		`"--Day", "of the run"`, `"--Mode", "full"`, `"--Empty", ""`, `"--Odd", "{\"a\": \"b c\"} 'q' $HOME -x"`,
		`"--JOB_NAME", "clean up"`, `"--WORKFLOW_NAME", "nightly"`, `"--WORKFLOW_RUN_ID", "` + string(a.Run.ID) + `"`,
		`"DOGEAR_FENCE": "4"`, `"DOGEAR_ATTEMPT": "1"`, `"DOGEAR_NODE": "` + runner.Marker(a.Node.Key()) + `"`, `"HOME": "` + work, `"TMPDIR": "` + work, `}, "` + work,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the script was not told %s; it says %s", want, log)
		}
	}
	if strings.Contains(log, "hush") {
		t.Error("the script has a secret of the server")
	}
}

func TestWhatIsRefusedBeforeAnythingBegins(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(r *Runner, a *runner.Attempt)
		want   string
	}{
		"an argument of a megabyte": {func(_ *Runner, a *runner.Attempt) {
			a.Node.Arguments = map[string]string{"Big": strings.Repeat("x", 1<<20)}
		}, "--Big has 1048576 bytes"},
		"too many arguments": {func(_ *Runner, a *runner.Attempt) {
			a.Node.Arguments = map[string]string{}
			for i := range 100 {
				a.Node.Arguments[strconv.Itoa(i)] = strings.Repeat("x", 5000)
			}
		}, "at most 266240"},
		"no interpreter": {func(r *Runner, _ *runner.Attempt) { r.Python = "/nowhere/python3" }, "no program at /nowhere/python3"},
		"a script that was deleted": {func(_ *Runner, a *runner.Attempt) {
			a.Job.Script = &engine.ScriptJob{Address: "scripts/gone.py"}
		}, "There is no script at scripts/gone.py"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, a, h := runnerOf(t), attempt(t, engine.ScriptJob{Body: "print('ran')"}), newHost()
			tt.change(r, &a)

			result, err := r.Run(t.Context(), a, h)
			must(t, err)

			if result.State != engine.Failed || !strings.Contains(result.Error, tt.want) {
				t.Errorf("got %s %q, want failed with %q", result.State, result.Error, tt.want)
			}
			if h.process.PID != 0 {
				t.Error("a process was started")
			}
		})
	}
}

func TestAScriptAtAnAddressIsKept(t *testing.T) {
	t.Parallel()
	r, h := runnerOf(t), newHost()
	r.Files = files{"s3://code/a.py": "print('from afar')\n"}

	result, err := r.Run(t.Context(), attempt(t, engine.ScriptJob{Address: "s3://code/a.py"}), h)
	must(t, err)

	kept, err := filepath.Glob(filepath.Join(r.Keep, "*.py"))
	must(t, err)
	if result.State != engine.Succeeded || len(kept) != 1 {
		t.Fatalf("got %+v and %v, want success and the text kept", result, kept)
	}
	hash := strings.TrimSuffix(filepath.Base(kept[0]), ".py")
	if log := h.log(); !strings.Contains(log, hash) || !strings.Contains(log, "out from afar") {
		t.Errorf("the log is %q, want the hash and what it wrote", log)
	}
}

func TestBinaryOutputIsShown(t *testing.T) {
	t.Parallel()
	_, h := run(t, "import os\nos.write(1, b'a\\x00b\\xffc\\x07d\\n')\nos.write(1, b'10%\\r50%\\r100%\\r\\n\\xc3\\xa9')\nos.write(1, b'x' * 40000)")

	log := h.log()
	for _, want := range []string{"out a\ufffdb\ufffdc\ufffdd\n", "out 100%\n", "out é" + strings.Repeat("x", 100)} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if got := strings.Count(log, "x"); got != 40000 {
		t.Errorf("%d of 40000 characters of a long line are in the log", got)
	}
}

func TestALogThatIsTooLongIsCut(t *testing.T) {
	t.Parallel()
	result, h := run(t, "for i in range(400000):\n    print('line', i)\nprint('last')\n")

	log := h.log()
	if result.State != engine.Succeeded || len(log) > 1<<20 || strings.Count(log, "warn the log is cut here") != 1 || strings.Contains(log, "last") {
		t.Errorf("got %s and %d bytes of log, want success and a log that says once that it was cut", result.State, len(log))
	}
}

// TestAnOutputThatIsEmptiedGoesOn: as a shell does with > /dev/stderr.
func TestAnOutputThatIsEmptiedGoesOn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"out", "err"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, copied := newHost(), filepath.Join(t.TempDir(), "copied")
			go func() {
				h.await(t, name+" line 999")
				_ = os.WriteFile(copied, nil, 0o600)
			}()

			result, err := runnerOf(t).Run(t.Context(), attempt(t, engine.ScriptJob{Body: fmt.Sprintf(`import os, sys, time
for i in range(1000): print("line", i, file=sys.std%s)
while not os.path.exists(%q): time.sleep(0.01)
os.system("echo again > /dev/std%s")
print("after", file=sys.std%s)
`, name, copied, name, name)}), h)
			must(t, err)

			want := fmt.Sprintf("%s line 999\nwarn the script has emptied", name)
			if log := h.log(); result.State != engine.Succeeded || !strings.Contains(log, want) || !strings.HasSuffix(log, fmt.Sprintf("\n%s again\n%s after", name, name)) {
				t.Errorf("got %s and %q, want %q and what it wrote from then on", result.State, log, want)
			}
		})
	}
}

// TestAnOutputThatIsEmptiedAndGrowsIsRead from its start, although it is longer by then than
// what was copied of it, or just as long.
func TestAnOutputThatIsEmptiedAndGrowsIsRead(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]int{"longer": 2000, "just as long": 1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, copied := newHost(), filepath.Join(t.TempDir(), "copied")
			go func() {
				h.await(t, "out old 999")
				_ = os.WriteFile(copied, nil, 0o600)
			}()

			result, err := runnerOf(t).Run(t.Context(), attempt(t, engine.ScriptJob{Body: fmt.Sprintf(`import os, time
os.write(1, b"".join(b"old %%03d\n" %% i for i in range(1000)))
while not os.path.exists(%q): time.sleep(0.01)
new = b"".join(b"new %%03d\n" %% i for i in range(%d))
os.ftruncate(1, 0)
os.write(1, new)
`, copied, lines)}), h)
			must(t, err)

			log := h.log()
			if result.State != engine.Succeeded || !strings.Contains(log, "out old 999\nwarn the script has emptied") || strings.Count(log, "out new ") != lines {
				t.Errorf("got %s and %d lines of %d, with %q", result.State, strings.Count(log, "out new "), lines, log[max(0, len(log)-300):])
			}
		})
	}
}

// TestWhatAScriptPutsInThePlaceOfItsOutputsIsLeftAlone: it is neither read, nor
// cut, nor waited for.
func TestWhatAScriptPutsInThePlaceOfItsOutputsIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]string{
		"a pipe":             "os.mkfifo(f)",
		"a link":             "os.symlink(%q, f)",
		"another name of it": "os.link(%q, f)",
		"a folder":           "os.mkdir(f); open(f + '/x', 'w').close()",
		"nothing":            "pass",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			precious := filepath.Join(t.TempDir(), "precious")
			must(t, os.WriteFile(precious, bytes.Repeat([]byte("secret\n"), 10_000), 0o600))
			if strings.Contains(put, "%q") {
				put = fmt.Sprintf(put, precious)
			}
			r, h := runnerOf(t), newHost()
			r.LogLimit = 1 << 10

			result, err := r.Run(t.Context(), attempt(t, engine.ScriptJob{Body: "import os\nfor f in ['../out', '../err']:\n  os.unlink(f)\n  " + put + "\nos._exit(7)\n"}), h)
			must(t, err)

			if result.State != engine.Failed || *result.Counts.Exit != 7 {
				t.Errorf("got %+v, want its exit code", result)
			}
			if text, err := os.ReadFile(precious); err != nil || len(text) != 70_000 || strings.Contains(h.log()+result.Error, "secret") {
				t.Errorf("%d bytes are left of another file (%v), and the log is %s", len(text), err, h.log())
			}
			if said := strings.Contains(h.log(), "warn what the script has written to stdout is not here"); said != (name != "a pipe" && name != "nothing") {
				t.Errorf("it is said that its output cannot be read: %v, and the log is %s", said, h.log())
			}
		})
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body  string
		cause error
		want  engine.State
		exit  int
	}{
		"it obeys":           {"", runner.ErrStop, engine.Stopped, 143},
		"it ends well":       {"import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n", runner.ErrStop, engine.Succeeded, 0},
		"its time is over":   {"", runner.ErrTimeout, engine.TimedOut, 143},
		"it does not listen": {"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n", runner.ErrStop, engine.Stopped, 137},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			h := newHost()
			a := attempt(t, engine.ScriptJob{Grace: 1, Body: tt.body + "import time\nprint('up')\nwhile True: time.sleep(0.01)\n"})
			go func() {
				h.await(t, "out up")
				cancel(tt.cause)
			}()

			result, err := runnerOf(t).Run(ctx, a, h)
			must(t, err)

			if result.State != tt.want || result.Counts.Exit == nil || *result.Counts.Exit != tt.exit {
				t.Errorf("got %+v, want %s with exit code %d", result, tt.want, tt.exit)
			}
			if left := left(a); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// left are the processes of an attempt.
func left(a runner.Attempt) (found []runner.Marked) {
	for _, p := range (shim.Processes{}).Marked() {
		if p.Marker == runner.Marker(a.Node.Key()) {
			found = append(found, p)
		}
	}
	return found
}

// TestTheNextServerFindsAScriptAgain: the first stops while the script runs,
// the second takes it up, and each line stands once in the log of the two.
func TestTheNextServerFindsAScriptAgain(t *testing.T) {
	t.Parallel()
	r, h := runnerOf(t), newHost()
	a := attempt(t, engine.ScriptJob{Body: "import os, sys, time\nprint('one')\nprint('two')\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('three')\nsys.exit(9)\n"})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		h.await(t, "out two")
		cancel(runner.ErrDrain)
	}()
	_, err := r.Run(ctx, a, h)
	if !errors.Is(err, runner.ErrDrain) {
		t.Fatalf("got %v, want that the server stops", err)
	}
	if len(left(a)) != 1 {
		t.Fatalf("%v run after the server has stopped, want the script", left(a))
	}

	a.Left = &runner.Left{Process: h.process, Logged: map[runner.Level]runner.Logged{runner.Out: {Lines: 2}}}
	second := newHost()
	must(t, os.WriteFile(filepath.Join(r.Shims.Dir, h.process.Folder, "work", "go"), nil, 0o600))
	result, err := r.Run(t.Context(), a, second)
	must(t, err)

	if result.State != engine.Failed || *result.Counts.Exit != 9 {
		t.Errorf("got %+v, want its true exit code", result)
	}
	if log := second.log(); log != "out three" {
		t.Errorf("the second server logs %q, want what the first has not", log)
	}
}

// TestTheNextServerSeesThatAnOutputWasEmptied: the log has more lines than there are.
func TestTheNextServerSeesThatAnOutputWasEmptied(t *testing.T) {
	t.Parallel()
	r, h := runnerOf(t), newHost()
	a := attempt(t, engine.ScriptJob{Body: "import os, time\nprint('one')\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('two')\n"})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		h.await(t, "out one")
		cancel(runner.ErrDrain)
	}()
	if _, err := r.Run(ctx, a, h); !errors.Is(err, runner.ErrDrain) {
		t.Fatalf("got %v, want that the server stops", err)
	}

	a.Left = &runner.Left{Process: h.process, Logged: map[runner.Level]runner.Logged{runner.Out: {Lines: 50}}}
	second := newHost()
	go func() {
		second.await(t, "out one")
		_ = os.WriteFile(filepath.Join(r.Shims.Dir, h.process.Folder, "work", "go"), nil, 0o600)
	}()
	result, err := r.Run(t.Context(), a, second)
	must(t, err)

	if log := second.log(); result.State != engine.Succeeded || !strings.HasPrefix(log, "warn the script has emptied") || !strings.HasSuffix(log, "\nout one\nout two") {
		t.Errorf("got %s and %q, want what is there and what it wrote from then on", result.State, log)
	}
}

func TestWhatBecameOfAScriptWithoutItsServer(t *testing.T) {
	t.Parallel()
	gone := engine.Process{PID: 1 << 22, Started: 1, Boot: "x", Apart: true}
	self, err := shim.Identify(os.Getpid())
	must(t, err)
	gone.Boot = self.Boot
	for name, tt := range map[string]struct {
		files   map[string]string // of its folder
		earlier bool              // it lies in the attempt's own, as once it did
		boot    string
		want    string
	}{
		"it has ended":                     {files: map[string]string{"end": "began\n6\n  ."}, want: "failed exit code 6"},
		"it has ended long ago":            {files: map[string]string{"end": "began\n6\n  \n"}, earlier: true, want: "failed exit code 6"},
		"it was never released":            {files: map[string]string{"end": "          \n"}, want: "succeeded ran"},
		"it was killed with its shim":      {files: map[string]string{"end": "began\n    \n"}, want: "failed lost"},
		"the machine went down":            {files: map[string]string{"end": "          \n"}, boot: "another", want: "failed lost"},
		"it ended before the machine did":  {files: map[string]string{"end": "began\n6\n  ."}, boot: "another", want: "failed exit code 6"},
		"it belongs to another server":     {want: "failed lost"},
		"its exit code is only half there": {files: map[string]string{"end": "began\n6   \n"}, want: "failed lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, h, r := attempt(t, engine.ScriptJob{Body: "print('ran')"}), newHost(), runnerOf(t)
			p := gone
			for name, text := range tt.files {
				dir := a.Dir // of an earlier version
				if !tt.earlier {
					p.Folder = "first-1"
					dir = filepath.Join(r.Shims.Dir, p.Folder)
				}
				must(t, os.MkdirAll(dir, 0o700))
				must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			if tt.boot != "" {
				p.Boot = tt.boot
			}
			a.Left = &runner.Left{Process: p}

			result, err := r.Run(t.Context(), a, h)
			must(t, err)

			got := fmt.Sprintf("%s %s %s", result.State, result.Error, h.log())
			for part := range strings.FieldsSeq(tt.want) {
				if !strings.Contains(got, part) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			}
		})
	}
}

// TestAScriptThatCannotBeginAgainIsNotLost: the server that was about to begin it
// again is killed too, or has no process left. Its folder still says that nothing
// has begun.
// TestAScriptThatRemovesItsFilesIsNotBegunAgain: although nothing is left that says
// that it has begun, as it kills its shim as well.
func TestAScriptThatRemovesItsFilesIsNotBegunAgain(t *testing.T) {
	t.Parallel()
	ran := filepath.Join(t.TempDir(), "ran")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()

	result, err := runnerOf(t).Run(ctx, attempt(t, engine.ScriptJob{Body: fmt.Sprintf("import os, shutil\nopen(%q, 'a').write('x')\nshutil.rmtree(os.path.dirname(os.getcwd()))\nos.kill(os.getppid(), 9)\nos.kill(0, 9)\n", ran)}), newHost())
	must(t, err)

	if text, err := os.ReadFile(ran); err != nil || string(text) != "x" || !strings.Contains(result.Error, "lost") {
		t.Errorf("it has begun %d times (%v), and %+v, want that it is lost", len(text), err, result)
	}
}

// TestAnotherShimTakesWhatAKilledOneWasReservedFor: nothing has begun in it.
func TestAnotherShimTakesWhatAKilledOneWasReservedFor(t *testing.T) {
	t.Parallel()
	r, h := runnerOf(t), newHost()
	_, err := r.Run(t.Context(), attempt(t, engine.ScriptJob{Body: "pass"}), h) // others are made with it
	must(t, err)
	a := attempt(t, engine.ScriptJob{Body: "print('ran')"})
	for a.Waits = false; !a.Waits && t.Context().Err() == nil; {
		a.Node.Process, a.Waits = r.Reserve(&a)
	}
	must(t, (shim.Processes{}).Kill(a.Node.Process))
	for (shim.Processes{}).Alive(a.Node.Process) && t.Context().Err() == nil {
		runtime.Gosched()
	}

	result, err := r.Run(t.Context(), a, h)
	must(t, err)

	if result.State != engine.Succeeded || h.log() != "out ran" || h.process == a.Node.Process {
		t.Errorf("got %+v and %q, want that it ran in another", result, h.log())
	}
	if _, err := os.Stat(filepath.Join(r.Shims.Dir, a.Node.Process.Folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the first is left (%v)", err)
	}
}

func TestAScriptThatCannotBeginAgainIsNotLost(t *testing.T) {
	t.Parallel()
	self, err := shim.Identify(os.Getpid())
	must(t, err)
	gone := engine.Process{PID: 1 << 22, Started: 1, Boot: self.Boot, Apart: true}
	a, r := attempt(t, engine.ScriptJob{Body: "print('ran')"}), runnerOf(t)
	must(t, os.MkdirAll(a.Dir, 0o700))
	must(t, os.WriteFile(filepath.Join(a.Dir, "end"), []byte("          \n"), 0o600))
	a.Left = &runner.Left{Process: gone}
	must(t, os.WriteFile(r.Shims.Dir, nil, 0o600)) // no shim can be made in what is no folder

	if _, err := r.Run(t.Context(), a, newHost()); err == nil {
		t.Fatal("it began without a shim")
	}
	must(t, os.Remove(r.Shims.Dir))
	h := newHost()
	result, err := r.Run(t.Context(), a, h)
	must(t, err)

	if result.State != engine.Succeeded || h.log() != "out ran" {
		t.Errorf("the next server has it %s (%s), with the log %q, want it to run", result.State, result.Error, h.log())
	}
}

func TestALeaseThatIsLostEndsTheScriptAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	a, h := attempt(t, engine.ScriptJob{Body: "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up')\ntime.sleep(600)\n"}), newHost()
	var lost time.Time
	go func() {
		h.await(t, "out up")
		lost = time.Now()
		cancel(runner.ErrFence)
	}()

	_, err := runnerOf(t).Run(ctx, a, h)

	if took := time.Since(lost); !errors.Is(err, runner.ErrDrain) || len(left(a)) > 0 || took > engine.DefaultGrace.Duration()/2 {
		t.Errorf("got %v after %v with %v left, want nothing left at once", err, took, left(a))
	}
}

// TestAScriptInAFolder: one that is there is run as it is now, one that was
// deleted before its node starts says so.
func TestAScriptInAFolder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(root, "code"), 0o700))
	file := filepath.Join(root, "code", "job.py")
	must(t, os.WriteFile(file, []byte("print('as it is now')\n"), 0o600))
	r := runnerOf(t)
	r.Files = source.New(place.Roots{Base: root, Allowed: []string{root}}, bucket.New(nil))
	first, second := newHost(), newHost()

	result, err := r.Run(t.Context(), attempt(t, engine.ScriptJob{Address: "code/job.py"}), first)
	must(t, err)
	must(t, os.Remove(file))
	gone, err := r.Run(t.Context(), attempt(t, engine.ScriptJob{Address: "code/job.py"}), second)
	must(t, err)

	if result.State != engine.Succeeded || !strings.Contains(first.log(), "out as it is now") {
		t.Errorf("got %s %q, want it to run:\n%s", result.State, result.Error, first.log())
	}
	if gone.State != engine.Failed || !strings.Contains(gone.Error, "There is no script at code/job.py") {
		t.Errorf("without the file: got %s %q", gone.State, gone.Error)
	}
}

// TestWhoTakesOverOnTheSameMachineEndsWhatIsLeft: another server, with folders
// of its own, has started the script, and is gone.
func TestWhoTakesOverOnTheSameMachineEndsWhatIsLeft(t *testing.T) {
	t.Parallel()
	a, h := attempt(t, engine.ScriptJob{Body: "import time\nprint('up')\ntime.sleep(600)\n"}), newHost()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		h.await(t, "out up")
		cancel(runner.ErrDrain)
	}()
	if _, err := runnerOf(t).Run(ctx, a, h); !errors.Is(err, runner.ErrDrain) || len(left(a)) != 1 {
		t.Fatalf("got %v with %v left, want the script left running", err, left(a))
	}

	a.Dir = filepath.Join(t.TempDir(), "runs", "attempt")
	a.Left = &runner.Left{Process: h.process}
	result, err := runnerOf(t).Run(t.Context(), a, newHost())
	must(t, err)

	if result.State != engine.Failed || !strings.Contains(result.Error, "lost") || len(left(a)) > 0 {
		t.Errorf("got %s %q with %v left, want it lost and nothing left", result.State, result.Error, left(a))
	}
}
