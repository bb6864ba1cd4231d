package shim

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

const nobody = 65534

// asNobody does something as a user who may not do everything. A test is often run
// by one who may.
func asNobody(t *testing.T, dir string, do func() error) (err error) {
	t.Helper()
	if os.Geteuid() != 0 {
		return do()
	}
	must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		must(t, err)
		return os.Lchown(path, nobody, nobody)
	}))
	must(t, os.Chmod(filepath.Dir(dir), 0o755)) // to come in
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // which ends with this, and its user with it
		if err = unix.Setfsuid(nobody); err == nil {
			err = do()
		}
	}()
	<-done
	return err
}

// TestAFolderWithoutRightsIsRemoved: the module cache of Go is one, which lies in
// the HOME of a script.
func TestAFolderWithoutRightsIsRemoved(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]os.FileMode{"it is read-only": 0o555, "nobody has any": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			dir, other := filepath.Join(parent, "folder"), t.TempDir()
			must(t, os.Chmod(other, 0o500))
			deep := filepath.Join(dir, WorkDir, "deep", "deeper")
			must(t, os.MkdirAll(deep, dirMode))
			must(t, os.WriteFile(filepath.Join(deep, "file"), nil, 0o400))
			must(t, os.Symlink(other, filepath.Join(deep, "link")))

			err := asNobody(t, parent, func() error {
				for at := deep; at != parent; at = filepath.Dir(at) {
					if err := os.Chmod(at, mode); err != nil {
						return err
					}
				}
				return remove(dir)
			})

			if err != nil || !gone(dir) {
				t.Errorf("it is gone: %v (%v)", gone(dir), err)
			}
			if about, err := os.Stat(other); err != nil || about.Mode().Perm() != 0o500 {
				t.Errorf("what a link leads to is changed: %v, %v", about, err)
			}
		})
	}
}

// TestWhatIsMountedInAFolderIsSeen: to remove the folder would empty it.
func TestWhatIsMountedInAFolderIsSeen(t *testing.T) {
	t.Parallel()
	const mounts = `24 1 254:0 / / rw,relatime - ext4 /dev/root rw
37 24 0:33 / /data/shims/a-1/work/my\040bucket rw - fuse.rclone bucket: rw
38 24 0:34 / /data/shims/a-2 rw - tmpfs tmpfs rw
39 24 0:35 / /data/shims/a-30/work rw - tmpfs tmpfs rw
`
	for dir, want := range map[string]string{
		"/data/shims/a-1": "/data/shims/a-1/work/my bucket",
		"/data/shims/a-2": "/data/shims/a-2",
		"/data/shims/a-3": "",
		"/data/shims/a":   "",
	} {
		if got := mountedIn(mounts, dir); got != want {
			t.Errorf("in %s: got %q, want %q", dir, got, want)
		}
	}
}
