package shim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

// over is a script that has ended, with all that it has started: its shim waits for
// another, or is gone.
func over(t *testing.T, s *Shims, c Command) *Child {
	t.Helper()
	child := started(t, s, c)
	if !child.Wait(t.Context(), 10*time.Second) {
		t.Fatal("it did not end")
	}
	await(t, "its shim waits", func() bool { return child.shim.again() || !(Processes{}).Alive(child.Process) })
	return child
}

// ended is a script that has ended, whose shim is held until its end is noted.
func ended(t *testing.T, s *Shims, c Command) *Child {
	t.Helper()
	child, err := s.Start(t.Context(), c, recorded)
	must(t, err)
	t.Cleanup(func() { Sweep(c.Marker) })
	if !child.Wait(t.Context(), 10*time.Second) {
		t.Fatal("it did not end")
	}
	await(t, "its shim waits", func() bool { return child.shim.again() || !(Processes{}).Alive(child.Process) })
	child.Close()
	return child
}

// none lets the shims end that wait, once none is being made.
func none(s *Shims) {
	s.work.Wait()
	for _, waits := range s.spare {
		waits.drop()
	}
	s.spare = nil
}

// gone reports whether there is no such folder.
func gone(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// TestAFolderIsUsedAgain: and holds nothing of the script that had it.
func TestAFolderIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := shims(t)
	c := command(t, "echo a long line; echo another >&2; touch x; rm x; exit 3 # and a comment")
	first := over(t, s, c)
	before, err := os.Stat(filepath.Join(first.Dir, OutFile))
	must(t, err)
	s.work.Wait() // nothing takes it meanwhile
	must(t, s.Clean(first.Process))
	none(s) // they have others

	second := over(t, s, command(t, "cat ../script.py"))

	after, err := os.Stat(filepath.Join(second.Dir, OutFile))
	must(t, err)
	if !os.SameFile(before, after) {
		t.Error("the second script has another file")
	}
	if out, errs := wrote(t, second.Dir, OutFile), wrote(t, second.Dir, ErrFile); out != "cat ../script.py" || errs != "" {
		t.Errorf("it wrote %q and %q, want only what is its own", out, errs)
	}
	if code, ok := (&Child{Dir: second.Dir}).Exit(); !ok || code != 0 {
		t.Errorf("got exit code %d, %v, want 0", code, ok)
	}
}

// TestAShimIsUsedAgain: with its folder, which holds nothing of the script before.
func TestAShimIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := shims(t)
	first := ended(t, s, command(t, "echo a long line; echo another >&2; touch x; rm x; exit 3 # and a comment"))
	none(s)
	if !s.Reuse(first.Process) {
		t.Fatal("it is not used again")
	}
	if again := (&Child{Dir: first.Dir}); again.Began() || s.Reuse(first.Process) {
		t.Errorf("its folder says that something has begun: %v, or it is used twice", again.Began())
	}
	c := command(t, "cat ../script.py; [ -e ../../go ] || exit 9")
	p := reserve(t, s, c)
	if p != first.Process {
		t.Fatalf("%+v is reserved, want %+v", p, first.Process)
	}
	must(t, os.WriteFile(filepath.Join(s.Dir, "go"), nil, 0o600)) // until now it has not begun

	second, err := s.Release(t.Context(), c.Marker)
	must(t, err)
	defer second.Close()

	if !second.Wait(t.Context(), 10*time.Second) {
		t.Fatal("it did not end")
	}
	if out, errs := wrote(t, second.Dir, OutFile), wrote(t, second.Dir, ErrFile); out != string(c.Text) || errs != "" {
		t.Errorf("it wrote %q and %q, want only what is its own", out, errs)
	}
	if code, ok := second.Exit(); !ok || code != 0 {
		t.Errorf("it ended with %d, %v, want 0", code, ok)
	}
	await(t, "it has noted its end", func() bool { code, ok := (&Child{Dir: second.Dir}).Exit(); return ok && code == 0 })
}

// TestAShimThatWaitsAgainHasNothingOpen: of the script before, so that a stranger
// who has is seen.
func TestAShimThatWaitsAgainHasNothingOpen(t *testing.T) {
	t.Parallel()
	s := shims(t)
	child := ended(t, s, command(t, "exit 0"))

	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", child.Process.PID))
	must(t, err)

	for _, fd := range open {
		target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", child.Process.PID, fd.Name()))
		must(t, err)
		if rest, ok := strings.CutPrefix(target, child.Dir); ok && rest != "" {
			t.Errorf("it has %s open", target)
		}
	}
}

// TestAShimThatWaitsAgainEnds: with its server, or by the word for it.
func TestAShimThatWaitsAgainEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *Shims, child *Child){
		"the server ends":  func(s *Shims, _ *Child) { s.Close() },
		"it is swept":      func(_ *Shims, child *Child) { child.Sweep() },
		"it is pushed out": func(s *Shims, _ *Child) { s.hold(&shim{}); s.hold(&shim{}) },
		"nobody wants it": func(s *Shims, child *Child) {
			s.spare = make([]*shim, mostSpares)
			s.Reuse(child.Process)
			s.spare = nil
		},
		"its folder is wrong": func(s *Shims, child *Child) { _ = os.Remove(filepath.Join(child.Dir, OutFile)); s.Reuse(child.Process) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shims(t)
			child := ended(t, s, command(t, "exit 0"))
			none(s)
			for len(s.held) < mostHeld-1 {
				s.held = append(s.held, &shim{})
			}

			end(s, child)

			await(t, "its shim has ended", func() bool { return !(Processes{}).Alive(child.Process) })
		})
	}
}

// TestAShimIsNotUsedAgain: whose script did not end by itself, or has changed what
// the next would inherit.
func TestAShimIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		end    func(child *Child)
	}{
		"it was stopped":                  {script: "echo up; sleep 600", end: func(child *Child) { child.Stop(0) }},
		"it was stopped in its end":       {script: "echo up; exit 0", end: func(child *Child) { child.Wait(context.Background(), time.Minute); child.Sweep() }},
		"it killed its shim":              {script: "kill -KILL $PPID; exit 0"},
		"its shim stands back":            {script: "renice -n 5 -p $PPID"},
		"its shim is bounded":             {script: "prlimit --pid $PPID --nofile=512:512"},
		"its shim keeps to one processor": {script: "taskset -p 1 $PPID"},
		"it left a file":                  {script: "touch left"},
		"it has not ended":                {script: "echo up; sleep 600", end: func(child *Child) { child.shim.heard = "0\n" }},
		"its shim has been killed": {script: "exit 0", end: func(child *Child) {
			child.Wait(context.Background(), time.Minute)
			_ = (Processes{}).Kill(child.Process)
			child.gone(context.Background(), time.Minute)
		}},
		"it was asked to end in its end": {script: "echo up; kill -STOP $PPID; kill -44 $PPID; exit 0", end: func(child *Child) {
			await(t, "only its shim is left, which stands still", func() bool {
				_, state, err := stat(onlyChild(t, child.Process.PID))
				return err == nil && state == "Z"
			})
			_ = unix.Kill(child.Process.PID, unix.SIGCONT)
			child.Wait(context.Background(), time.Minute)
			await(t, "it is over", func() bool { return child.shim.again() || !child.shim.alive() })
		}},
		"nobody heard of its ending": {script: "exit 0", end: func(*Child) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shims(t)
			c := command(t, tt.script)
			child, err := s.Start(t.Context(), c, recorded)
			must(t, err)
			t.Cleanup(func() { Sweep(c.Marker) })
			if tt.end == nil {
				child.Wait(t.Context(), 10*time.Second)
				await(t, "it is over", func() bool { return child.shim.again() || !child.shim.alive() })
			} else {
				await(t, "it is up", func() bool { return !strings.HasPrefix(tt.script, "echo") || wrote(t, child.Dir, OutFile) != "" })
				tt.end(child)
			}
			child.Close()

			if s.Reuse(child.Process) {
				t.Error("it is used again")
			}
		})
	}
}

// TestAFolderThatIsNotAsItWasIsRemoved: another script would find what is not its
// own, or write where it must not.
func TestAFolderThatIsNotAsItWasIsRemoved(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a file is left":                 "touch left",
		"a hidden file is left":          "touch .left",
		"a file is left beside":          "touch ../left",
		"an output is another's":         "ln -s /dev/null ../new; mv ../new ../out",
		"an output has two names":        "ln ../err ../../second",
		"the text is gone":               "rm ../script.py",
		"the exit code was meddled with": "rm ../end; echo x >../end",
		"a pipe is in the place of one":  "rm ../err; mkfifo ../err",
		"others may read it":             "chmod 644 ../out",
		"others may come in":             "chmod 755 ..",
		"the folder is a link":           "cd ..; rmdir work; ln -s /tmp work",
		"its shim was killed":            "kill -KILL $PPID; sleep 600",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shims(t)
			c := command(t, script)
			child := over(t, s, c)
			t.Cleanup(func() { Sweep(c.Marker) })

			must(t, s.Clean(child.Process))

			if len(s.used) > 0 || !gone(child.Dir) {
				t.Errorf("%q are used again, and it is gone: %v", s.used, gone(child.Dir))
			}
		})
	}
}

// TestAFolderOfWhichSomebodyHasAFileOpenIsRemoved: a script may have handed its
// output to a process that is not its own, which writes on.
func TestAFolderOfWhichSomebodyHasAFileOpenIsRemoved(t *testing.T) {
	t.Parallel()
	s := shims(t)
	child := ended(t, s, command(t, "exit 0"))
	stranger, err := os.OpenFile(filepath.Join(child.Dir, OutFile), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	defer stranger.Close()

	if s.Reuse(child.Process) {
		t.Error("it is used again with its shim")
	}
	must(t, s.Clean(child.Process))

	if len(s.used) > 0 || !gone(child.Dir) {
		t.Error("it is used again")
	}
}

func TestNotMoreFoldersAreKeptThanAreOfUse(t *testing.T) {
	t.Parallel()
	s := shims(t)
	child := over(t, s, command(t, "exit 0"))
	s.work.Wait()
	s.used = make([]string, mostUsed)

	must(t, s.Clean(child.Process))

	if len(s.used) != mostUsed || !gone(child.Dir) {
		t.Error("one more is kept than should be")
	}
}

// TestTheFoldersOfWhatIsTakenUpAreKept: as a server starts.
func TestTheFoldersOfWhatIsTakenUpAreKept(t *testing.T) {
	t.Parallel()
	s := shims(t)
	must(t, s.KeepOnly(nil)) // there never was one
	left, other := over(t, s, command(t, "exit 4")), over(t, s, command(t, "exit 5"))
	s.work.Wait() // no other is being made

	must(t, (&Shims{Dir: s.Dir}).KeepOnly([]engine.Process{left.Process, {PID: 1}}))

	if gone(left.Dir) || !gone(other.Dir) {
		t.Errorf("the one that is left is gone: %v, the other is: %v", gone(left.Dir), gone(other.Dir))
	}
}

// TestNoFolderLiesElsewhere: what a record names may be anything.
func TestNoFolderLiesElsewhere(t *testing.T) {
	t.Parallel()
	s := shims(t)
	outside := filepath.Join(filepath.Dir(s.Dir), "outside")
	must(t, os.MkdirAll(outside, dirMode))
	for _, name := range []string{"", ".", "..", "../outside", "a/../../outside", outside} {
		p := engine.Process{Folder: name}

		must(t, s.Clean(p))
		s.Tidy(p)

		if gone(outside) || s.path(name) != "" {
			t.Errorf("%q is %q, and that outside is gone: %v", name, s.path(name), gone(outside))
		}
	}
}
