package shim

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dogear/engine"
)

// over is a script that has ended, with all that it has started.
func over(t *testing.T, s *Shims, c Command) *Child {
	t.Helper()
	child := started(t, s, c)
	if !child.Wait(t.Context(), 10*time.Second) {
		t.Fatal("it did not end")
	}
	await(t, "its shim has ended", func() bool { return !(Processes{}).Alive(child.Process) })
	return child
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
	for _, waits := range s.spare { // they have others
		waits.drop()
	}
	s.spare = nil

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
	child := over(t, s, command(t, "exit 0"))
	stranger, err := os.OpenFile(filepath.Join(child.Dir, OutFile), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	defer stranger.Close()

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
