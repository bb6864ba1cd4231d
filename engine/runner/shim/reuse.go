package shim

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

// The folder of an attempt is used again where the script has left it as it was
// given it: Linux looks at every file that was removed in the last minute before
// it makes one in the same part of the disk, which can take longer than all else
// that a script costs.

const (
	mostUsed  = 32       // folders that wait for another attempt
	mostBytes = 64 << 10 // of a folder itself, which stays as large as it once was
	fileMode  = 0o600
	dirMode   = 0o700
)

// folder is the name of one for a shim, and whether another has had it before.
func (s *Shims) folder() (name string, used bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.used); n > 0 {
		name, s.used = s.used[n-1], s.used[:n-1]
		return name, true
	}
	if s.name == "" { // no two servers give the same name
		s.name = rand.Text()
	}
	s.n++
	return s.name + "-" + strconv.Itoa(s.n), false
}

// path is that of a folder; empty where there can be none of the name.
func (s *Shims) path(name string) string {
	if name == "" || name != filepath.Base(name) || name == "." || name == ".." {
		return ""
	}
	return filepath.Join(s.Dir, name)
}

// Clean takes the folder of a process away whose attempt has ended, with its end
// durably noted: for another script, or for good.
func (s *Shims) Clean(p engine.Process) error {
	dir := s.path(p.Folder)
	if dir == "" {
		return nil
	}
	s.mu.Lock()
	full := s.shut || len(s.used) >= mostUsed
	s.mu.Unlock()
	if full || !asGiven(dir) || emptied(dir) != nil {
		return os.RemoveAll(dir)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = append(s.used, p.Folder)
	return nil
}

// Tidy removes what a script that has ended has left where it worked.
func (s *Shims) Tidy(p engine.Process) {
	if dir := s.path(p.Folder); dir != "" {
		_ = os.RemoveAll(filepath.Join(dir, WorkDir))
	}
}

// KeepOnly removes all folders but those of the processes that are left by an earlier
// server and are taken up. The shims that waited for it have ended with it.
func (s *Shims) KeepOnly(left []engine.Process) error {
	all, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range all {
		if !slices.ContainsFunc(left, func(p engine.Process) bool { return p.Folder == entry.Name() }) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.Dir, entry.Name())))
		}
	}
	return err
}

// asGiven reports whether a folder is one that its script has left as it was, and
// whose files nobody has open.
func asGiven(dir string) bool {
	c := &Child{Dir: dir}
	for _, name := range []string{endFile, ErrFile, OutFile, TextFile} {
		file, err := c.open(name, os.O_RDWR)
		if err != nil {
			return false
		}
		info, err := file.Stat()
		// A lease to write is given to who alone has a file open.
		_, shared := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
		closeAll(file)
		if err != nil || info.Mode() != fileMode || shared != nil {
			return false
		}
	}
	if said := c.said(); len(said) != len(noEnd) || said[cleanAt:] != clean {
		return false
	}
	work := filepath.Join(dir, WorkDir)
	info, err := os.Lstat(work)
	if err != nil || info.Mode() != fs.ModeDir|dirMode || info.Size() > mostBytes || !own(info) {
		return false
	}
	return entries(dir) == 5 && entries(work) == 0
}

// own reports whether a file is this user's, and has no other name.
func own(info fs.FileInfo) bool {
	about, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(about.Uid) == os.Geteuid() && (info.IsDir() || about.Nlink == 1)
}

// entries is how many entries a folder has, -1 where that cannot be seen.
func entries(dir string) int {
	all, err := os.ReadDir(dir)
	if err != nil {
		return -1
	}
	return len(all)
}

// emptied empties the files of a folder for another script.
func emptied(dir string) error {
	end, err := os.OpenFile(filepath.Join(dir, endFile), os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	_, err = end.WriteAt([]byte(noEnd), 0)
	err = errors.Join(err, end.Close())
	for _, name := range []string{OutFile, ErrFile} {
		path := filepath.Join(dir, name)
		if info, failed := os.Lstat(path); failed == nil && info.Size() > 0 {
			err = errors.Join(err, os.Truncate(path, 0))
		}
	}
	return err
}
