package shim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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

// command is a shell script under a marker of its own.
func command(t *testing.T, script string) Command {
	t.Helper()
	return Command{Program: "/bin/sh", Text: []byte(script), Env: []string{"PATH=/usr/bin:/bin"}, Marker: "test/" + t.TempDir()}
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

func wrote(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
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

	s := shims(t)

	child, err := s.Start(t.Context(), c, func(_ context.Context, p engine.Process) error {
		if (&Child{Dir: s.path(p.Folder)}).Began() {
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
	if out, errs := wrote(t, child.Dir, OutFile), wrote(t, child.Dir, ErrFile); out != "done\n" || errs != "bad\n" {
		t.Errorf("it wrote %q and %q, want done and bad", out, errs)
	}
	if !child.Began() {
		t.Error("it is said not to have begun")
	}
	await(t, "its shim waits for another", child.shim.again)
}

func TestAScriptThatCannotBeRecordedDoesNothing(t *testing.T) {
	t.Parallel()
	s := shims(t)
	c := command(t, "touch ../touched")
	full := errors.New("the disk is full")
	var held engine.Process

	_, err := s.Start(t.Context(), c, func(_ context.Context, p engine.Process) error {
		held = p
		return full
	})

	if !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	await(t, "the shim has ended", func() bool { return !(Processes{}).Alive(held) })
	if _, err := os.Stat(filepath.Join(s.path(held.Folder), "touched")); err == nil {
		t.Error("the script worked although it was never released")
	}
}

// TestAScriptThatWasNotReleasedDoesNothing: its server was killed before it told
// the shim what to do, while it did, or before it released it.
func TestAScriptThatWasNotReleasedDoesNothing(t *testing.T) {
	t.Parallel()
	c := command(t, "touch ../touched")
	text := c.told("/tmp")
	for name, told := range map[string]string{"nothing": "", "a part of the length": text[:head-1], "all but the last byte": text[:len(text)-1], "all": text} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waits, err := shims(t).begin()
			must(t, err)
			_, err = waits.told.WriteString(told)
			must(t, err)

			waits.told.Close()
			waits.release.Close()
			await(t, "the shim has ended", func() bool { return !(Processes{}).Alive(waits.process) })

			child := &Child{Dir: waits.dir}
			if _, err := os.Stat(filepath.Join(waits.dir, "touched")); err == nil || child.Began() {
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

	if code, ok := child.Exit(); !ok || code != 128+9 || wrote(t, child.Dir, ErrFile) != "mine\n" {
		t.Errorf("got exit code %d, %v and %q, want 137 and its own words", code, ok, wrote(t, child.Dir, ErrFile))
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

	if got := wrote(t, child.Dir, OutFile); got != "" {
		t.Errorf("it has open\n%s", got)
	}
}

// TestNothingOutlivesTheServerWithWhatItWasGiven: the lock of a wrapper, which would
// keep the next server out.
func TestNothingOutlivesTheServerWithWhatItWasGiven(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	fd, err := unix.Open(lock, unix.O_CREAT|unix.O_RDWR, fileMode) // what is started inherits it
	must(t, err)
	defer func() { _ = unix.Close(fd) }()
	s := shims(t)
	must(t, os.MkdirAll(s.Dir, dirMode))
	guard, err := StartGuard(s.Dir, 1<<10)
	must(t, err)
	t.Cleanup(guard.Leave)
	child := started(t, s, command(t, "ls -l /proc/self/fd"))

	if !child.Wait(t.Context(), 10*time.Second) {
		t.Fatal("it did not end")
	}

	if got := wrote(t, child.Dir, OutFile); !strings.Contains(got, "/out") || strings.Contains(got, lock) {
		t.Errorf("a script has open\n%s", got)
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	must(t, err)
	guards := 0
	for _, process := range processes {
		if in, _ := os.Readlink(process + "/cwd"); in != s.Dir {
			continue
		}
		guards++
		files, _ := filepath.Glob(process + "/fd/*")
		for _, file := range files {
			if path, _ := os.Readlink(file); path == lock {
				t.Error("the guard has it open")
			}
		}
	}
	if guards != 1 {
		t.Errorf("there are %d guards, want one", guards)
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
	s := shims(t)
	child := started(t, s, c)

	found, err := s.Find(child.Process, "", c.Marker)
	must(t, err)
	defer found.Close()

	await(t, "it has begun", found.Began)
	if found.Wait(t.Context(), 0) || !found.Here() {
		t.Fatal("a script that runs is not found running")
	}
	must(t, os.WriteFile(filepath.Join(child.Dir, "go"), nil, 0o600))
	await(t, "its end is seen", func() bool { return found.Wait(t.Context(), pulse) }) // although who started it lives
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
		_, a := os.Stat(filepath.Join(child.Dir, "a"))
		_, b := os.Stat(filepath.Join(child.Dir, "b"))
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
	await(t, "it is up", func() bool { return wrote(t, child.Dir, OutFile) != "" })

	asked := time.Now()
	child.Stop(time.Minute)

	if took := time.Since(asked); took > 30*time.Second {
		t.Errorf("it took %v, want what the script takes", took)
	}
	if code, ok := child.Exit(); !ok || code != 4 || wrote(t, child.Dir, OutFile) != "up\nbye\n" {
		t.Errorf("got exit code %d, %v and %q, want 4 and its last word", code, ok, wrote(t, child.Dir, OutFile))
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
	if got := wrote(t, child.Dir, OutFile); got != "done\n" {
		t.Errorf("it wrote %q, want done", got)
	}
}

// escape leaves the group and the session, carries no marker, and has a child.
const escape = `env -i setsid sh -c 'sleep 600 & echo $! >>../pids; echo $$ >>../pids; wait' </dev/null >/dev/null 2>&1 &
	while [ "$(cat ../pids 2>/dev/null | wc -l)" != 2 ]; do sleep 0.01; done
	`

// escaped are the processes of escape that live.
func escaped(t *testing.T, child *Child) (alive []string) {
	t.Helper()
	for line := range strings.Lines(wrote(t, child.Dir, "pids")) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		must(t, err)
		if lives(pid) {
			alive = append(alive, line)
		}
	}
	return alive
}

// TestWhatNoMarkerFindsIsEnded: with the script, and by a stop.
func TestWhatNoMarkerFindsIsEnded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		then string
		stop bool
	}{
		"the script ends":           {then: "exit 3"},
		"the script is stopped":     {then: "sleep 600", stop: true},
		"the script is killed":      {then: "kill -KILL $$"},
		"the shim is stopped first": {then: "kill -STOP $PPID; sleep 600", stop: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := command(t, escape+"while ! [ -e ../go ]; do sleep 0.01; done; "+tt.then)
			child := started(t, shims(t), c)
			await(t, "it has escaped", func() bool { return len(escaped(t, child)) == 2 })
			must(t, os.WriteFile(filepath.Join(child.Dir, "go"), nil, 0o600))

			if tt.stop {
				child.Stop(0)
			} else if !child.Wait(t.Context(), 10*time.Second) {
				t.Fatal("it did not end")
			}

			await(t, "nothing is left", func() bool {
				return len(escaped(t, child)) == 0 && (tt.stop && !(Processes{}).Alive(child.Process) || !tt.stop && child.shim.again())
			})
			if _, ok := child.Exit(); !ok {
				t.Error("its exit code is lost")
			}
		})
	}
}

// TestWhatAKilledShimHeldIsEnded: by the maker, to which it falls.
func TestWhatAKilledShimHeldIsEnded(t *testing.T) {
	t.Parallel()
	c := command(t, escape+"kill -KILL $PPID; sleep 600")
	child := started(t, shims(t), c)

	if !child.Wait(t.Context(), 10*time.Second) {
		t.Fatal("the end of the shim is not seen")
	}

	await(t, "nothing is left", func() bool { return len(escaped(t, child)) == 0 && len(left(c.Marker)) == 0 })
	if code, ok := child.Exit(); ok || !child.Began() {
		t.Errorf("got exit code %d, %v, want none of a script that has begun", code, ok)
	}
}

// TestHundredsThatEscapeAreEnded: the shim takes as long as it needs.
func TestHundredsThatEscapeAreEnded(t *testing.T) {
	t.Parallel()
	c := command(t, `n=0; while [ $n -lt 300 ]; do n=$((n + 1)); env -i setsid sh -c 'echo $$ >>../pids; exec sleep 600' </dev/null >/dev/null 2>&1 & done; wait`)
	child := started(t, shims(t), c)
	await(t, "all have escaped", func() bool { return len(escaped(t, child)) == 300 })

	child.Stop(0)

	if alive := escaped(t, child); len(alive) > 0 {
		t.Errorf("%d are left", len(alive))
	}
}

// TestWhatAKilledShimHeldIsFoundByItsMarker: somebody has killed the shim, and
// has left the script.
func TestWhatAKilledShimHeldIsFoundByItsMarker(t *testing.T) {
	t.Parallel()
	c := command(t, "setsid sleep 600 & echo up; sleep 600")
	child := started(t, shims(t), c)
	await(t, "it is up", func() bool { return wrote(t, child.Dir, OutFile) != "" && len(left(c.Marker)) >= 2 })
	must(t, syscall.Kill(child.Process.PID, syscall.SIGKILL))

	if !child.Wait(t.Context(), 10*time.Second) {
		t.Fatal("the end of the shim is not seen")
	}
	child.Sweep()

	if pids := left(c.Marker); len(pids) > 0 {
		t.Errorf("%v are left", pids)
	}
	if code, ok := child.Exit(); ok || !child.Began() {
		t.Errorf("got exit code %d, %v, want none of a script that has begun", code, ok)
	}
}

// TestWhatTheGroupIsToldDoesNotEndTheShim: a script may tell its group to end.
func TestWhatTheGroupIsToldDoesNotEndTheShim(t *testing.T) {
	t.Parallel()
	for signal, want := range map[string]int{"TERM": 128 + 15, "INT": 128 + 2, "HUP": 128 + 1, "PIPE": 128 + 13, "USR1": 128 + 10, "ALRM": 128 + 14} {
		c := command(t, "kill -"+signal+" 0; exit 0")
		child := started(t, shims(t), c)

		if !child.Wait(t.Context(), 10*time.Second) {
			t.Fatal("it did not end")
		}

		if code, ok := child.Exit(); !ok || code != want {
			t.Errorf("%s: got exit code %d, %v, want %d", signal, code, ok, want)
		}
	}
}

// TestNoSignalEndsTheShim: of none that a script may send it, but the one that ends any
// process and the two words, is the exit code lost.
func TestNoSignalEndsTheShim(t *testing.T) {
	t.Parallel()
	s := shims(t)
	for signal := unix.Signal(1); signal <= lastSignal; signal++ {
		if signal == unix.SIGKILL || signal == unix.SIGSTOP || signal == askWord || signal == stopWord {
			continue
		}
		child := started(t, s, command(t, fmt.Sprintf("kill -%d $PPID; exit 7", signal)))

		if !child.Wait(t.Context(), 10*time.Second) {
			t.Fatal("it did not end")
		}

		if code, ok := child.Exit(); !ok || code != 7 {
			t.Errorf("signal %d: got exit code %d, %v, want 7", signal, code, ok)
		}
	}
}

// lastSignal is the greatest number that a signal of Linux has.
const lastSignal = 64

// TestAMakerThatWasKilledIsReplaced: and what it has made goes on.
func TestAMakerThatWasKilledIsReplaced(t *testing.T) {
	t.Parallel()
	s := shims(t)
	first := command(t, "while ! [ -e ../go ]; do sleep 0.01; done; exit 4")
	child := started(t, s, first)
	s.work.Wait() // what it makes ahead
	for _, waits := range s.spare {
		waits.drop()
	}
	s.spare = nil
	must(t, s.maker.cmd.Process.Kill())

	second := started(t, s, command(t, "exit 5"))

	must(t, os.WriteFile(filepath.Join(child.Dir, "go"), nil, 0o600))
	for c, want := range map[*Child]int{child: 4, second: 5} {
		if !c.Wait(t.Context(), 10*time.Second) {
			t.Fatal("it did not end")
		}
		if code, ok := c.Exit(); !ok || code != want {
			t.Errorf("got exit code %d, %v, want %d", code, ok, want)
		}
	}
}

func TestWhatNoProgramCanBeToldIsRefused(t *testing.T) {
	t.Parallel()
	c := command(t, "exit 0")
	c.Args = []string{"a\x00b"}

	_, err := shims(t).Start(t.Context(), c, recorded)

	if engine.CodeOf(err) != engine.Invalid {
		t.Errorf("a zero byte is answered %v", err)
	}
}

// TestAProgramThatCannotBeginSaysWhy: as a shell does.
func TestAProgramThatCannotBeginSaysWhy(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]int{"/no/such/program": 127, "/etc/passwd": 126} {
		c := command(t, "")
		c.Program = program
		child := started(t, shims(t), c)
		child.Wait(t.Context(), 10*time.Second)

		if code, ok := child.Exit(); !ok || code != want || !strings.HasPrefix(wrote(t, child.Dir, ErrFile), program+": ") {
			t.Errorf("%s: got exit code %d, %v and %q, want %d and why", program, code, ok, wrote(t, child.Dir, ErrFile), want)
		}
	}
}

// TestWhereThereIsNoRoomAPersonIsToldWhatToDo: the text of the script does not fit
// on the disk, or the system has no more to give.
func TestWhereThereIsNoRoomAPersonIsToldWhatToDo(t *testing.T) {
	t.Parallel()
	waits, err := shims(t).begin()
	must(t, err)
	defer waits.drop()
	closeAll(waits.text)
	waits.text, err = os.OpenFile("/dev/full", os.O_WRONLY, 0)
	must(t, err)
	c := command(t, "touch ../touched")
	waits.tell(&c)

	_, full := waits.start(t.Context(), c.Marker)

	for err, want := range map[error]string{
		full: "Make room",
		refused("", &fs.PathError{Op: "open", Path: "end", Err: unix.EMFILE}):        "ulimit -n",
		refused("", errors.Join(&fs.PathError{Op: "write", Err: unix.EDQUOT}, full)): "Make room",
		refused("", unix.EAGAIN): "ulimit -u",
	} {
		if engine.CodeOf(err) != engine.LimitHit || !strings.Contains(engine.MessageOf(err), want) {
			t.Errorf("got %v, want that it says %q", err, want)
		}
	}
	if err := refused("start a shim", unix.EIO); engine.CodeOf(err) != engine.Internal || !strings.Contains(err.Error(), "start a shim") {
		t.Errorf("got %v, want what was being done", err)
	}
}

// TestTheGuardCutsWhatGrowsWithoutAServer: a script that fills its log after the
// server is gone, which the server itself would have cut.
func TestTheGuardCutsWhatGrowsWithoutAServer(t *testing.T) {
	t.Parallel()
	c := command(t, `head -c 5000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo 1 >../full; while [ ! -e ../go ]; do sleep 0.01; done; echo end`)
	s := shims(t)
	guard, err := StartGuard(s.Dir, 1<<20)
	must(t, err)
	child := started(t, s, c)
	await(t, "it has written", func() bool { return wrote(t, child.Dir, "full") != "" })
	if got := len(wrote(t, child.Dir, OutFile)); got != 5000000 {
		t.Fatalf("the output is cut to %d bytes beside a server that lives", got)
	}

	guard.Leave()

	await(t, "both outputs are cut", func() bool {
		return len(wrote(t, child.Dir, OutFile)) == 1<<20 && len(wrote(t, child.Dir, ErrFile)) == 1<<20
	})
	must(t, os.WriteFile(filepath.Join(child.Dir, "go"), nil, 0o600))
	if !child.Wait(t.Context(), 20*time.Second) {
		t.Fatal("it did not end")
	}
	if code, ok := child.Exit(); !ok || code != 0 || !strings.HasSuffix(wrote(t, child.Dir, OutFile), "end\n") {
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

	if got := strings.TrimSpace(wrote(t, child.Dir, OutFile)); got != strconv.Itoa(100<<10) {
		t.Errorf("its limit is %s kB, want that of 100 MB", got)
	}
}

func TestArgumentsAndEnvironmentArriveByteForByte(t *testing.T) {
	t.Parallel()
	odd := "it's \"$HOME\" `x` \\ *\n\t{\"a\": 1} é" + strings.Repeat("y", 100_000) // more than a pipe holds
	c := command(t, `printf %s "$1"; printf %s "$ODD" >&2; env >../env`)
	c.Args = []string{odd}
	c.Env = append(c.Env, "ODD="+odd)
	child := started(t, shims(t), c)
	child.Wait(t.Context(), 10*time.Second)

	if out, errs := wrote(t, child.Dir, OutFile), wrote(t, child.Dir, ErrFile); out != odd || errs != odd {
		t.Errorf("got %q and %q, want %q", out, errs, odd)
	}
	for line := range strings.Lines(wrote(t, child.Dir, "env")) {
		name, _, ok := strings.Cut(line, "=")
		if ok && strings.ToUpper(name) == name && !strings.Contains("PATH ODD PWD _ DOGEAR_NODE HOME TMPDIR", strings.TrimSpace(name)) {
			t.Errorf("the environment holds %q, which nobody gave", line)
		}
	}
}

// TestAShimWithoutItsFolderIsNotTaken: somebody has cleared it away.
func TestAShimWithoutItsFolderIsNotTaken(t *testing.T) {
	t.Parallel()
	s := shims(t)
	bare, err := s.begin()
	must(t, err)
	s.spare = []*shim{bare}
	must(t, os.RemoveAll(bare.dir))

	child := started(t, s, command(t, "exit 3"))
	child.Wait(t.Context(), 10*time.Second)

	if code, ok := child.Exit(); !ok || code != 3 {
		t.Errorf("got exit code %d, %v, want 3 of the script, for 2 is said of one that is not there", code, ok)
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
