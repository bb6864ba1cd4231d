package secret

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheKeyOfTheFirstStartIsThatOfTheNext, and nothing else is left beside it.
func TestTheKeyOfTheFirstStartIsThatOfTheNext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "data.key")

	first, err := Load("", path)
	must(t, err)
	second, err := Load("", path)
	must(t, err)

	blob, err := first.Seal([]byte("plain"), "about")
	must(t, err)
	if plain, err := second.Open(blob, "about"); err != nil || string(plain) != "plain" {
		t.Errorf("the next start opens %q, %v, want plain", plain, err)
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the key has the mode %s, want that of its owner alone", info.Mode())
	}
	files, err := os.ReadDir(dir)
	must(t, err)
	if len(files) != 1 {
		t.Errorf("%v are in the folder, want the key alone", files)
	}
}

// TestAKeyThatCannotBeWrittenLeavesNoFile: half of one would keep the server from
// starting once there is room.
func TestAKeyThatCannotBeWrittenLeavesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("this user may not mount a disk: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	rest := filepath.Join(dir, "rest")
	if err := os.WriteFile(rest, make([]byte, 1<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk cannot be filled: %v", err)
	}
	path := filepath.Join(dir, "data.key")

	_, err := Load("", path)
	if !errors.Is(err, unix.ENOSPC) {
		t.Errorf("on a full disk: %v, want that there is no room", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v are left, %v, want only what fills the disk", files, err)
	}
	must(t, os.Remove(rest))
	if _, err = Load("", path); err != nil {
		t.Errorf("once there is room: %v", err)
	}
}

// TestAKeyIsNeverWrittenOver, be it one that another server made just now.
func TestAKeyIsNeverWrittenOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "data.key")
	must(t, os.WriteFile(path, []byte("of another"), 0o600))

	err := place(path, "mine")

	text, read := os.ReadFile(path)
	must(t, read)
	if !errors.Is(err, fs.ErrExist) || string(text) != "of another" {
		t.Errorf("%v, and the file holds %q, want it as it was", err, text)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v are left, %v, want the key alone", files, err)
	}
}

// TestAnEmptyFileIsNoKey: who wrote it may have died of it, but it may have been
// a key as well, so a person decides.
func TestAnEmptyFileIsNoKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data.key")
	must(t, os.WriteFile(path, nil, 0o600))

	_, err := Load("", path)

	if engine.CodeOf(err) != engine.Invalid || !strings.Contains(err.Error(), path+" is empty") {
		t.Errorf("%v, want that the file is empty and what to do", err)
	}
}
