package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dogear/engine"
)

// waiting are shims of which one waits.
func waiting(t *testing.T) *Shims {
	t.Helper()
	s := shims(t)
	s.more()
	await(t, "a shim waits", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.spare) > 0
	})
	return s
}

func reserve(t *testing.T, s *Shims, c Command) engine.Process {
	t.Helper()
	p, ok := s.Reserve(&c)
	if !ok {
		t.Fatal("none is reserved although one waits")
	}
	return p
}

func TestAReservedScriptWaitsForItsRelease(t *testing.T) {
	t.Parallel()
	s := waiting(t)
	c := command(t, "echo done; exit 7")
	p := reserve(t, s, c)
	if again, ok := s.Reserve(&c); !ok || again != p {
		t.Errorf("asked again for the same attempt it is %+v, %v, want %+v", again, ok, p)
	}
	other := command(t, "exit 0")
	if !started(t, s, other).Wait(t.Context(), 10*time.Second) { // as long as that takes it has not begun
		t.Fatal("the other did not end")
	}
	if (&Child{Dir: s.path(p.Folder)}).Began() || !(Processes{}).Alive(p) || !p.Apart {
		t.Errorf("it has begun, or %+v does not wait, or does not live apart", p)
	}

	child, err := s.Release(t.Context(), c.Marker)
	must(t, err)
	defer child.Close()

	if !child.Wait(t.Context(), 10*time.Second) {
		t.Fatal("it did not end")
	}
	if code, ok := child.Exit(); !ok || code != 7 || wrote(t, child.Dir, OutFile) != "done\n" || child.Process != p {
		t.Errorf("got exit code %d, %v of %+v and %q, want 7 of %+v and done", code, ok, child.Process, wrote(t, child.Dir, OutFile), p)
	}
	if _, err := s.Release(t.Context(), c.Marker); engine.CodeOf(err) != engine.Internal {
		t.Errorf("a second release is answered %v", err)
	}
}

// TestWhatIsNotReleasedDoesNothing: what became of the claim decides what is
// left, for the next server has to see that nothing has begun where it counts.
func TestWhatIsNotReleasedDoesNothing(t *testing.T) {
	t.Parallel()
	drain := errors.New("the server is stopping")
	for name, tt := range map[string]struct {
		do   func(t *testing.T, s *Shims, marker string)
		here bool
	}{
		"the claim was not written":  {func(_ *testing.T, s *Shims, marker string) { s.Return(marker) }, false},
		"the attempt ends before it": {func(_ *testing.T, s *Shims, marker string) { s.Leave(marker) }, true},
		"it is made to end": {func(t *testing.T, s *Shims, marker string) {
			t.Helper()
			must(t, (Processes{}).Kill(s.kept[marker].process))
		}, true},
		"the server is about to go away": {func(t *testing.T, s *Shims, marker string) {
			t.Helper()
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(drain)
			if _, err := s.Release(ctx, marker); !errors.Is(err, drain) {
				t.Errorf("Release = %v, want %v", err, drain)
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := waiting(t)
			c := command(t, "touch ../../touched")
			p := reserve(t, s, c)
			var script int
			await(t, "its process waits", func() bool { script = onlyChild(t, p.PID); return script != 0 })
			haltMaker(t, s)

			tt.do(t, s, c.Marker)

			await(t, "both have ended", func() bool { return !(Processes{}).Alive(p) && !lives(script) })
			if _, err := os.Stat(filepath.Join(s.Dir, "touched")); err == nil {
				t.Error("the script worked")
			}
			found, err := s.Find(p, "", c.Marker)
			must(t, err)
			if _, ended := found.Exit(); ended || found.Here() != tt.here || found.Began() == tt.here {
				t.Errorf("it has ended: %v, its folder is there: %v, want %v, and says that it has not begun: %v, want the same", ended, found.Here(), tt.here, !found.Began())
			}
		})
	}
}

// TestWhoIsKilledWhileItWaitsLeavesNothing: the process that becomes the script waits
// with its shim, and without the one the other begins nothing.
func TestWhoIsKilledWhileItWaitsLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, victim := range map[string]func(shim, script int) int{
		"the shim":   func(shim, _ int) int { return shim },
		"the script": func(_, script int) int { return script },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := waiting(t)
			c := command(t, "touch ../../touched")
			p := reserve(t, s, c)
			var script int
			await(t, "its process waits", func() bool { script = onlyChild(t, p.PID); return script != 0 })
			haltMaker(t, s)
			must(t, syscall.Kill(victim(p.PID, script), syscall.SIGKILL))
			await(t, "both are gone", func() bool { return !lives(p.PID) && !lives(script) })

			if _, err := s.Release(t.Context(), c.Marker); !strings.Contains(engine.MessageOf(err), "has not begun") {
				t.Errorf("Release = %v of who is dead, want what became of it", err)
			}

			if _, err := os.Stat(filepath.Join(s.Dir, "touched")); err == nil {
				t.Error("the script worked")
			}
			if (&Child{Dir: s.path(p.Folder)}).Began() {
				t.Error("it says that it may have begun")
			}
		})
	}
}

// haltMaker keeps the maker from ending what a shim has left, until the test ends. It has
// closed by then what it has handed to its shims.
func haltMaker(t *testing.T, s *Shims) {
	t.Helper()
	maker := s.maker.cmd.Process
	const own = 4 // an input, an output, the errors, and the socket
	await(t, "the maker rests", func() bool {
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", maker.Pid))
		must(t, err)
		return len(open) == own
	})
	must(t, maker.Signal(syscall.SIGSTOP))
	t.Cleanup(func() { _ = maker.Signal(syscall.SIGCONT) })
}

// lives reports whether a process has not ended.
func lives(pid int) bool {
	_, state, err := stat(pid)
	return err == nil && state != "Z"
}

// onlyChild is the pid of the child of a process, 0 where it has none yet.
func onlyChild(t *testing.T, pid int) (child int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	must(t, err)
	if len(text) > 0 {
		child, err = strconv.Atoi(strings.TrimSpace(string(text)))
		must(t, err)
	}
	return child
}

// TestNoneIsReservedWhereNoneWaits: or where there is nothing that it could do.
func TestNoneIsReservedWhereNoneWaits(t *testing.T) {
	t.Parallel()
	c := command(t, "exit 0")
	if p, ok := shims(t).Reserve(&c); ok {
		t.Errorf("%+v is reserved although none waited", p)
	}
	s := waiting(t)
	c.Args = []string{"a\x00b"}
	if p, ok := s.Reserve(&c); ok {
		t.Errorf("%+v is reserved for what it cannot be told", p)
	}
}

// TestALongScriptIsReserved: a pipe does not hold what its shim is told.
func TestALongScriptIsReserved(t *testing.T) {
	t.Parallel()
	s := waiting(t)
	c := command(t, "printf %s $#")
	for range 300 {
		c.Args = append(c.Args, strings.Repeat("x", 1000))
	}
	reserve(t, s, c)

	child, err := s.Release(t.Context(), c.Marker)
	must(t, err)
	defer child.Close()

	if !child.Wait(t.Context(), 10*time.Second) || wrote(t, child.Dir, OutFile) != "300" {
		t.Errorf("it wrote %q, want that it was told 300 words", wrote(t, child.Dir, OutFile))
	}
}

// TestNoMoreShimsAreMadeThanWait: each takes as long as a script to start.
func TestNoMoreShimsAreMadeThanWait(t *testing.T) {
	t.Parallel()
	s := shims(t)

	for range 4 * spares { // as many scripts are released at once
		s.more()
	}
	s.work.Wait()

	if s.n != spares || len(s.spare) != spares {
		t.Errorf("%d were made and %d wait, want %d", s.n, len(s.spare), spares)
	}
}

// TestAShimThatDiedIsNotReserved: nobody could release it.
func TestAShimThatDiedIsNotReserved(t *testing.T) {
	t.Parallel()
	s := waiting(t)
	s.Close() // which lets them end
	dead, err := s.begin()
	must(t, err)
	must(t, (Processes{}).Kill(dead.process))
	await(t, "it is dead", func() bool { return !dead.alive() })
	s.spare = []*shim{dead}
	c := command(t, "exit 0")

	if p, ok := s.Reserve(&c); ok {
		t.Errorf("%+v is reserved although it is dead", p)
	}
}
