package shim

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAFullDiskLosesNoExitCode: a script that filled the disk and ended well
// would else be called lost, and be done twice.
func TestAFullDiskLosesNoExitCode(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("this user may not mount a disk: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(disk, unix.MNT_DETACH)) })
	s := &Shims{Dir: filepath.Join(disk, "shims")}
	t.Cleanup(s.Close)
	c := command(t, `cat /dev/zero >rest; exit 0`)
	c.Dir = filepath.Join(disk, "attempt")
	child := started(t, s, c)
	if !child.Wait(t.Context(), 20*time.Second) {
		t.Fatal("it did not end")
	}

	code, ok := child.Exit()

	if err := os.WriteFile(filepath.Join(disk, "more"), make([]byte, 1), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if !ok || code != 0 {
		t.Errorf("got exit code %d, %v, want 0", code, ok)
	}
}

// TestWhatCountsAsAnExitCode: a whole line that is a number, after the one that
// says that the script has begun. The shims of earlier servers left no such line.
func TestWhatCountsAsAnExitCode(t *testing.T) {
	t.Parallel()
	for file, texts := range map[string]map[string]int{
		endFile: {
			"began\n0\n" + noEnd[8:]: 0, "began\n137\n" + noEnd[10:]: 137,
			"began\n" + noEnd[6:]: -1, "began\n13" + noEnd[8:]: -1, "began\n": -1,
			"": -1, noEnd: -1, "0\n" + noEnd[2:]: -1, // a shim that was not released ends as well
		},
		exitFile: { // of earlier servers
			"0\n": 0, "7\n": 7, "255\n": 255, "0\n     \n": 0, "137\n   \n": 137,
			"": -1, "6": -1, "\n": -1, "       \n": -1, "13     \n": -1, "x\n": -1,
		},
	} {
		for text, want := range texts {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))

			code, ok := (&Child{dir: dir}).Exit()

			if !ok {
				code = -1
			}
			if code != want {
				t.Errorf("%q in %s is read as %d, want %d, -1 being none", text, file, code, want)
			}
		}
	}
	if _, ok := (&Child{dir: t.TempDir()}).Exit(); ok {
		t.Error("a folder without the file has an exit code")
	}
}
