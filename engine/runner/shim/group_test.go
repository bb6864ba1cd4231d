package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

// standsStill waits until the script of a child does, which has written its own pid.
func standsStill(t *testing.T, child *Child) {
	t.Helper()
	await(t, "it stands still", func() bool {
		var pid int
		_, err := fmt.Sscan(wrote(t, child.Dir, OutFile), &pid)
		if err != nil {
			return false
		}
		_, state, err := stat(pid)
		return err == nil && state == "T"
	})
}

// TestAScriptThatStopsItsGroupIsStillWatched: its shim notes the end of it once somebody
// lets it go on, for the server that started it and for the next one.
func TestAScriptThatStopsItsGroupIsStillWatched(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"by its server": false, "by the next": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shims(t)
			child := started(t, s, command(t, `setsid sh -c 'touch ../apart; while ! [ -e ../go ]; do sleep 0.01; done; kill -CONT '$$ &
				while ! [ -e ../apart ]; do sleep 0.01; done; echo $$; kill -STOP 0; exit 7`))
			standsStill(t, child)
			watched := child
			if again {
				var err error
				watched, err = s.Find(child.Process, child.Dir, child.marker)
				must(t, err)
				defer watched.Close()
			}
			must(t, os.WriteFile(filepath.Join(child.Dir, "go"), nil, fileMode))

			if !watched.Wait(t.Context(), 10*time.Second) {
				t.Fatal("its end is not seen")
			}

			if code, ok := watched.Exit(); !ok || code != 7 {
				t.Errorf("got exit code %d, %v, want 7", code, ok)
			}
		})
	}
}

// TestAScriptThatStandsStillMayEndInItsOwnWay: and need not wait until it is made to.
func TestAScriptThatStandsStillMayEndInItsOwnWay(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]string{"its group does": "kill -STOP 0", "its shim does too": "kill -STOP $PPID 0"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child := started(t, shims(t), command(t, `trap 'echo bye; exit 4' TERM; echo $$; `+stop+`; while :; do sleep 0.01; done`))
			standsStill(t, child)

			asked := time.Now()
			child.Stop(time.Minute)

			if took := time.Since(asked); took > 30*time.Second {
				t.Errorf("it took %v, want what the script takes", took)
			}
			if code, ok := child.Exit(); !ok || code != 4 || !strings.HasSuffix(wrote(t, child.Dir, OutFile), "bye\n") {
				t.Errorf("got exit code %d, %v and %q, want 4 and its last word", code, ok, wrote(t, child.Dir, OutFile))
			}
		})
	}
}

// TestAScriptInAnotherGroupIsAskedToEnd: it may have gone into one.
func TestAScriptInAnotherGroupIsAskedToEnd(t *testing.T) {
	t.Parallel()
	c := command(t, `import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))
other = os.fork()
if other == 0: os.setpgid(0, 0); time.sleep(600)
while os.getpgid(other) != other: time.sleep(0.01)
os.setpgid(0, other)
print("up", flush=True)
while True: time.sleep(60)`)
	c.Program = "/usr/bin/python3"
	child := started(t, shims(t), c)
	await(t, "it is up", func() bool { return wrote(t, child.Dir, OutFile) != "" })

	child.Stop(time.Minute)

	if code, ok := child.Exit(); !ok || code != 4 {
		t.Errorf("got exit code %d, %v, want 4", code, ok)
	}
}

// TestAShimThatIsKilledTakesItsScriptAlong: the watch of it may have broken, in a server
// that has not made it.
func TestAShimThatIsKilledTakesItsScriptAlong(t *testing.T) {
	t.Parallel()
	c := command(t, escape+"echo up; sleep 600")
	child := started(t, shims(t), c)
	await(t, "it is up", func() bool { return wrote(t, child.Dir, OutFile) != "" })

	must(t, (Processes{}).Kill(child.Process))

	await(t, "nothing is left", func() bool { return len(escaped(t, child)) == 0 && len(left(c.Marker)) == 0 })
	if code, ok := (&Child{Dir: child.Dir}).Exit(); !ok || code != 128+9 {
		t.Errorf("got exit code %d, %v, want that of who is killed", code, ok)
	}
}

// TestAScriptThatIsStoppedAsItBeginsKeepsItsExitCode: its shim may not have had a turn
// since.
func TestAScriptThatIsStoppedAsItBeginsKeepsItsExitCode(t *testing.T) {
	t.Parallel()
	s := waiting(t)
	c := command(t, "echo up; sleep 600")
	p := reserve(t, s, c)
	await(t, "its process waits", func() bool { return onlyChild(t, p.PID) != 0 })
	must(t, unix.Kill(p.PID, unix.SIGSTOP)) // so it has no turn until it is stopped
	child, err := s.Release(t.Context(), c.Marker)
	must(t, err)
	defer child.Close()
	await(t, "it is up", func() bool { return wrote(t, child.Dir, OutFile) != "" })

	child.Stop(0)

	if code, ok := child.Exit(); !ok || code != 128+9 {
		t.Errorf("got exit code %d, %v, want that of who is killed", code, ok)
	}
}

// TestAScriptForWhichThereIsNoProcessIsNotToBlame: the system lets its shim start none.
func TestAScriptForWhichThereIsNoProcessIsNotToBlame(t *testing.T) {
	t.Parallel()
	s := shims(t)
	must(t, os.MkdirAll(s.Dir, dirMode))
	c := command(t, "exit 0")
	var child *Child
	// One who may do everything may start as many as there is room for.
	err := boundAsNobody(t, filepath.Dir(s.Dir), func() error {
		waits, err := s.begin() // it is bounded before it is told anything
		if err != nil {
			return err
		}
		s.spare = []*shim{waits}
		if err = unix.Prlimit(waits.process.PID, unix.RLIMIT_NPROC, &unix.Rlimit{}, nil); err == nil {
			child, err = s.Start(t.Context(), c, recorded)
		}
		return err
	})
	must(t, err)
	defer child.Close()
	if !child.Wait(t.Context(), 10*time.Second) {
		t.Fatal("it did not end")
	}

	err = child.Refused()

	if engine.CodeOf(err) != engine.LimitHit || !strings.Contains(engine.MessageOf(err), "ulimit -u") {
		t.Errorf("got %v, want what a person can do", err)
	}
}

// boundAsNobody does something in a thread, and with the processes that it starts, as a
// user whose processes are bounded.
func boundAsNobody(t *testing.T, dir string, do func() error) (err error) {
	t.Helper()
	return asNobody(t, dir, func() error {
		if os.Geteuid() == 0 {
			runtime.LockOSThread()
			if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
				return errno
			}
		}
		return do()
	})
}
