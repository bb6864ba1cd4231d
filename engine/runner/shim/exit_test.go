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
// says that the script has begun.
func TestWhatCountsAsAnExitCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"began\n0\n" + noEnd[8:]: 0, "began\n137\n" + noEnd[10:]: 137, "began\n0\n  .": 0, "began\n137\n.": 137,
		"began\n" + noEnd[6:]: -1, "began\n13" + noEnd[8:]: -1, "began\n": -1, "began\nx\n": -1,
		"": -1, noEnd: -1, "0\n" + noEnd[2:]: -1, // a shim that was not released ends as well
	} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, endFile), []byte(text), 0o600))

		code, ok := (&Child{Dir: dir}).Exit()

		if !ok {
			code = -1
		}
		if code != want {
			t.Errorf("%q is read as %d, want %d, -1 being none", text, code, want)
		}
	}
	if _, ok := (&Child{Dir: t.TempDir()}).Exit(); ok {
		t.Error("a folder without the file has an exit code")
	}
}
