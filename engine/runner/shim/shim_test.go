package shim

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dogear/engine"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func shims(t *testing.T) *Shims {
	t.Helper()
	s := &Shims{Dir: filepath.Join(t.TempDir(), "shims")}
	t.Cleanup(s.Close)
	return s
}

// command is a shell script in a folder of its own, under a marker of its own.
func command(t *testing.T, script string) Command {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run", "attempt")
	must(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	return Command{
		Dir: dir, Args: []string{"/bin/sh", "-c", script},
		Env: []string{"PATH=/usr/bin:/bin"}, Marker: "test/" + dir,
	}
}

// started is a script that runs, and is gone with the test.
func started(t *testing.T, s *Shims, c Command) *Child {
	t.Helper()
	child, err := s.Start(t.Context(), c, recorded)
	must(t, err)
	t.Cleanup(func() {
		child.Stop(0)
		child.Close()
	})
	return child
}

func recorded(context.Context, engine.Process) error { return nil }

func wrote(t *testing.T, c Command, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir, name))
	if !errors.Is(err, fs.ErrNotExist) { // then it has written nothing yet
		must(t, err)
	}
	return string(text)
}

// await waits until is holds.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !is(); {
		if time.Now().After(end) {
			t.Fatalf("waited too long until %s", what)
		}
		select {
		case <-t.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}
}

// left are the processes of a marker that still live.
func left(marker string) (pids []int) {
	for _, p := range (Processes{}).Marked() {
		if p.Marker == marker {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

func TestAScriptWaitsUntilItIsRecorded(t *testing.T) {
	t.Parallel()
	c := command(t, "echo done; echo bad >&2; exit 7")

	child, err := shims(t).Start(t.Context(), c, func(_ context.Context, p engine.Process) error {
		if (&Child{dir: c.Dir}).Began() {
			t.Error("the script worked before it was recorded")
		}
		if !(Processes{}).Alive(p) || !p.Apart {
			t.Errorf("%+v is not alive while it waits, or does not live apart", p)
		}
		return nil
	})
	must(t, err)
	defer child.Close()
	if !child.Wait(t.Context(), 10*time.Second) {
		t.Fatal("it did not end")
	}

	if code, ok := child.Exit(); !ok || code != 7 {
		t.Errorf("got exit code %d, %v, want 7", code, ok)
	}
	if out, errs := wrote(t, c, OutFile), wrote(t, c, ErrFile); out != "done\n" || errs != "bad\n" {
		t.Errorf("it wrote %q and %q, want done and bad", out, errs)
	}
	if !child.Began() {
		t.Error("it is said not to have begun")
	}
	await(t, "its shim has ended", func() bool { return !(Processes{}).Alive(child.Process) })
}

func TestAScriptThatCannotBeRecordedDoesNothing(t *testing.T) {
	t.Parallel()
	c := command(t, "touch ../touched")
	full := errors.New("the disk is full")
	var held engine.Process

	_, err := shims(t).Start(t.Context(), c, func(_ context.Context, p engine.Process) error {
		held = p
		return full
	})

	if !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	await(t, "the shim has ended", func() bool { return !(Processes{}).Alive(held) })
	if _, err := os.Stat(filepath.Join(c.Dir, "touched")); err == nil {
		t.Error("the script worked although it was never released")
	}
}

// TestAScriptThatWasNotReleasedDoesNothing: its server was killed before it told
// the shim what to do, while it did, or before it released it.
func TestAScriptThatWasNotReleasedDoesNothing(t *testing.T) {
	t.Parallel()
	c := command(t, "touch ../../touched")
	text := c.script()
	for name, told := range map[string]string{"nothing": "", "all but the last brace": strings.TrimSuffix(text, "}\n"), "all": text} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waits, err := shims(t).begin()
			must(t, err)
			_, err = waits.told.WriteString(told)
			must(t, err)

			waits.told.Close()
			waits.release.Close()
			_ = waits.cmd.Wait()

			child := &Child{dir: waits.dir}
			if _, err := os.Stat(filepath.Join(waits.dir, "..", "touched")); err == nil || child.Began() {
				t.Error("the script worked")
			}
			if code, ok := child.Exit(); ok {
				t.Errorf("it has the exit code %d", code)
			}
		})
	}
}

// TestAScriptThatIsKilledSaysOnlyWhatItWrote: a shell has a word of its own for
// that, which would be taken for the script's.
func TestAScriptThatIsKilledSaysOnlyWhatItWrote(t *testing.T) {
	t.Parallel()
	c := command(t, "echo mine >&2; kill -KILL $$")
	child := started(t, shims(t), c)

	if !child.Wait(t.Context(), 10*time.Second) {
		t.Fatal("it did not end")
	}

	if code, ok := child.Exit(); !ok || code != 128+9 || wrote(t, c, ErrFile) != "mine\n" {
		t.Errorf("got exit code %d, %v and %q, want 137 and its own words", code, ok, wrote(t, c, ErrFile))
	}
}

// TestAScriptHasNothingOpenOfItsShim: it could take its exit code from it, and
// what it leaves behind would keep the server from seeing its end.
func TestAScriptHasNothingOpenOfItsShim(t *testing.T) {
	t.Parallel()
	c := command(t, "for fd in 3 4 5 6 7; do readlink /proc/$$/fd/$fd; done; sleep 600 & exit 0")
	child := started(t, shims(t), c)

	if !child.Wait(t.Context(), 10*time.Second) {
		t.Fatal("its end is not seen")
	}

	if got := wrote(t, c, OutFile); got != "" {
		t.Errorf("it has open\n%s", got)
	}
}

func TestAnotherProcessWithTheSamePidIsNotTheSame(t *testing.T) {
	t.Parallel()
	p, err := Identify(os.Getpid())
	must(t, err)
	earlier, otherBoot := p, p
	earlier.Started--
	otherBoot.Boot = "another"

	for _, q := range []engine.Process{earlier, otherBoot, {}} {
		if (Processes{}).Alive(q) {
			t.Errorf("%+v is called alive, want only %+v", q, p)
		}
	}
	if !(Processes{}).Alive(p) {
		t.Errorf("%+v is this process and is called dead", p)
	}
}

func TestAScriptIsFoundAgainByWhoDidNotStartIt(t *testing.T) {
	t.Parallel()
	c := command(t, "while [ ! -e ../go ]; do sleep 0.01; done; exit 5")
	child := started(t, shims(t), c)

	found, err := Find(child.Process, c.Dir, c.Marker)
	must(t, err)
	defer found.Close()

	await(t, "it has begun", found.Began)
	if found.Wait(t.Context(), 0) || !found.Here() {
		t.Fatal("a script that runs is not found running")
	}
	must(t, os.WriteFile(filepath.Join(c.Dir, "go"), nil, 0o600))
	if !found.Wait(t.Context(), 10*time.Second) {
		t.Fatal("its end is not seen")
	}
	if code, ok := found.Exit(); !ok || code != 5 {
		t.Errorf("got exit code %d, %v, want 5", code, ok)
	}
}

// TestStopEndsWhatEscapes: a script that ignores SIGTERM, with a child in
// another session and one that was forked twice.
func TestStopEndsWhatEscapes(t *testing.T) {
	t.Parallel()
	c := command(t, `trap '' TERM
		setsid sh -c 'trap "" TERM; echo 1 >../a; exec sleep 600' &
		( setsid sh -c 'exec sleep 600' >/dev/null 2>&1 & echo 1 >../b ) &
		sleep 600 & wait; wait`)
	child := started(t, shims(t), c)
	await(t, "it has forked", func() bool {
		_, a := os.Stat(filepath.Join(c.Dir, "a"))
		_, b := os.Stat(filepath.Join(c.Dir, "b"))
		return a == nil && b == nil && len(left(c.Marker)) >= 4
	})

	child.Stop(50 * time.Millisecond)

	if pids := left(c.Marker); len(pids) > 0 {
		t.Errorf("%v are left", pids)
	}
	if (Processes{}).Alive(child.Process) {
		t.Error("the shim is left")
	}
}

func TestAScriptThatObeysMayEndInItsOwnWay(t *testing.T) {
	t.Parallel()
	c := command(t, `trap 'echo bye; exit 4' TERM; echo up; while :; do sleep 0.01; done`)
	child := started(t, shims(t), c)
	await(t, "it is up", func() bool { return wrote(t, c, OutFile) != "" })

	asked := time.Now()
	child.Stop(10 * time.Second)

	if took := time.Since(asked); took > 5*time.Second {
		t.Errorf("it took %v, want what the script takes", took)
	}
	if code, ok := child.Exit(); !ok || code != 4 || wrote(t, c, OutFile) != "up\nbye\n" {
		t.Errorf("got exit code %d, %v and %q, want 4 and its last word", code, ok, wrote(t, c, OutFile))
	}
}

func TestWhatAScriptLeavesBehindIsEndedWithIt(t *testing.T) {
	t.Parallel()
	c := command(t, `sleep 600 & echo done`) // the child keeps the outputs open
	child := started(t, shims(t), c)
	await(t, "it has ended", func() bool { _, ok := child.Exit(); return ok })

	child.Sweep()

	if pids := left(c.Marker); len(pids) > 0 || !child.Wait(t.Context(), 0) {
		t.Errorf("%v are left, and the shim with them", pids)
	}
	if got := wrote(t, c, OutFile); got != "done\n" {
		t.Errorf("it wrote %q, want done", got)
	}
}

func TestWhatLeavesItsGroupIsSweptAfterwards(t *testing.T) {
	t.Parallel()
	c := command(t, `setsid sleep 600 & sleep 600 & while ! [ -e ../go ]; do sleep 0.01; done`)
	child := started(t, shims(t), c)
	await(t, "both have begun", func() bool { return len(left(c.Marker)) >= 3 })
	must(t, os.WriteFile(filepath.Join(c.Dir, "go"), nil, 0o600))
	if !child.Wait(t.Context(), 10*time.Second) {
		t.Fatal("the shim waits for what the script has left")
	}

	child.Leave()

	await(t, "nothing is left", func() bool { return len(left(c.Marker)) == 0 })
}

// TestTheGuardCutsWhatGrowsWithoutAServer: a script that fills its log after the
// server is gone, which the server itself would have cut.
func TestTheGuardCutsWhatGrowsWithoutAServer(t *testing.T) {
	t.Parallel()
	c := command(t, `head -c 5000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo 1 >../full; while [ ! -e ../go ]; do sleep 0.01; done; echo end`)
	root := filepath.Dir(filepath.Dir(c.Dir))
	guard, err := StartGuard(root, 1<<20)
	must(t, err)
	child := started(t, shims(t), c)
	await(t, "it has written", func() bool { return wrote(t, c, "full") != "" })
	if got := len(wrote(t, c, OutFile)); got != 5000000 {
		t.Fatalf("the output is cut to %d bytes beside a server that lives", got)
	}

	guard.Leave()

	await(t, "both outputs are cut", func() bool { return len(wrote(t, c, OutFile)) == 1<<20 && len(wrote(t, c, ErrFile)) == 1<<20 })
	must(t, os.WriteFile(filepath.Join(c.Dir, "go"), nil, 0o600))
	if !child.Wait(t.Context(), 20*time.Second) {
		t.Fatal("it did not end")
	}
	if code, ok := child.Exit(); !ok || code != 0 || !strings.HasSuffix(wrote(t, c, OutFile), "end\n") {
		t.Errorf("got exit code %d, %v; a script that writes too much must go on undisturbed", code, ok)
	}
	select { // with the last script the guard ends
	case <-guard.ended:
	case <-time.After(10 * time.Second):
		t.Error("the guard is left")
	}
}

func TestAScriptIsBoundInMemory(t *testing.T) {
	t.Parallel()
	c := command(t, `ulimit -d`)
	c.DataMB = 100
	child := started(t, shims(t), c)
	child.Wait(t.Context(), 10*time.Second)

	if got := strings.TrimSpace(wrote(t, c, OutFile)); got != strconv.Itoa(100<<10) {
		t.Errorf("its limit is %s kB, want that of 100 MB", got)
	}
}

func TestArgumentsAndEnvironmentArriveByteForByte(t *testing.T) {
	t.Parallel()
	odd := "it's \"$HOME\" `x` \\ *\n\t{\"a\": 1} é" + strings.Repeat("y", 100_000) // more than a pipe holds
	c := command(t, "")
	c.Args = []string{"/bin/sh", "-c", `printf %s "$1"; printf %s "$ODD" >&2; env >../env`, "x", odd}
	c.Env = append(c.Env, "ODD="+odd)
	child := started(t, shims(t), c)
	child.Wait(t.Context(), 10*time.Second)

	if out, errs := wrote(t, c, OutFile), wrote(t, c, ErrFile); out != odd || errs != odd {
		t.Errorf("got %q and %q, want %q", out, errs, odd)
	}
	for line := range strings.Lines(wrote(t, c, "env")) {
		name, _, ok := strings.Cut(line, "=")
		if ok && strings.ToUpper(name) == name && !strings.Contains("PATH ODD PWD _ DOGEAR_NODE", strings.TrimSpace(name)) {
			t.Errorf("the environment holds %q, which nobody gave", line)
		}
	}
}

func TestAShimThatDiedIsNotTaken(t *testing.T) {
	t.Parallel()
	s := shims(t)
	dead, err := s.begin()
	must(t, err)
	s.spare = []*shim{dead}
	must(t, syscall.Kill(-dead.process.PID, syscall.SIGKILL))
	await(t, "it is dead", func() bool { return !dead.alive() })
	c := command(t, "exit 2")

	child := started(t, s, c)
	child.Wait(t.Context(), 10*time.Second)

	if code, ok := child.Exit(); !ok || code != 2 {
		t.Errorf("got exit code %d, %v, want 2", code, ok)
	}
}
