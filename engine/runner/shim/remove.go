package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// remove removes a folder of a shim with all that its script has left there. A
// script may have taken from its user the right to do so, as the module cache of Go
// does. What is mounted there is not the script's to lose: then the folder stays.
func remove(dir string) error {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("see what is mounted: %w", err)
	}
	parent, err := filepath.Abs(filepath.Dir(dir))
	if err == nil {
		parent, err = filepath.EvalSymlinks(parent)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if at := mountedIn(string(mounts), filepath.Join(parent, filepath.Base(dir))); at != "" {
		return fmt.Errorf("the folder of a script stays, because something is mounted at %s: unmount it", at)
	}
	if err = os.RemoveAll(dir); errors.Is(err, fs.ErrPermission) {
		if err = allow(dir); err == nil {
			err = os.RemoveAll(dir)
		}
	}
	return err
}

// mountedIn is the first place in a folder or below at which something is mounted,
// as a mountinfo of proc(5) has it; empty is none.
func mountedIn(mountinfo, dir string) string {
	const place = 4 // the field
	plain := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(mountinfo) {
		if fields := strings.Fields(line); len(fields) > place {
			if at := plain.Replace(fields[place]); at == dir || strings.HasPrefix(at, dir+"/") {
				return at
			}
		}
	}
	return ""
}

// allow gives this user all rights to a folder and to those in it.
func allow(dir string) error {
	parent, err := os.OpenRoot(filepath.Dir(dir)) // no link leads out of it
	if err != nil {
		return err
	}
	defer parent.Close()
	return fs.WalkDir(parent.FS(), filepath.Base(dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return parent.Chmod(path, dirMode)
	})
}
