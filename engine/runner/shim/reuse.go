package shim

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"dogear/engine"
	"dogear/engine/failpoint"
)

// The shim of an attempt is used again with its folder, where the script has left
// that as it was given it: to make and to end a process for each costs as much as
// a small script itself, and Linux looks at every file that was removed in the last
// minute before it makes one in the same part of the disk.

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

// hold keeps the shim of a script that has ended until its end is noted. One that
// nobody ever asks for again is pushed out.
func (s *Shims) hold(ended *shim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = append(s.held, ended)
	if len(s.held) > mostHeld {
		s.held[0].leave()
		s.held = slices.Delete(s.held, 0, 1)
	}
}

// heldIn hands out the shim that is held in a folder; nil is none.
func (s *Shims) heldIn(folder string) *shim {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.held, func(ended *shim) bool { return ended.process.Folder == folder })
	if i < 0 {
		return nil
	}
	ended := s.held[i]
	s.held = slices.Delete(s.held, i, i+1)
	return ended
}

// Reuse lets the shim of a process wait for another script, in the same folder, once
// the attempt has ended, with its end durably noted. It is false where that cannot
// be, now or at all: then Clean is for the folder.
func (s *Shims) Reuse(p engine.Process) bool {
	ended := s.heldIn(p.Folder)
	if ended == nil {
		return false
	}
	if ended.again() && s.wants() {
		failpoint.Hit("shim.reuse.before")
		text, ok := renew(ended.dir)
		failpoint.Hit("shim.reuse.after")
		if ok && s.spared(ended, text) {
			return true
		}
	}
	ended.leave()
	return false
}

// wants reports whether another shim may wait.
func (s *Shims) wants() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.shut && len(s.spare) < mostSpares
}

// spared lets a shim wait, unless that has become one too many.
func (s *Shims) spared(waits *shim, text *os.File) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits.text = text
	if s.shut || len(s.spare) >= mostSpares {
		return false
	}
	s.spare = append(s.spare, waits)
	return true
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
	if full {
		return remove(dir)
	}
	text, ok := renew(dir)
	closeAll(text)
	if !ok {
		return remove(dir)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = append(s.used, p.Folder)
	return nil
}

// Tidy removes what a script that has ended has left where it worked.
func (s *Shims) Tidy(p engine.Process) {
	if dir := s.path(p.Folder); dir != "" {
		_ = remove(filepath.Join(dir, WorkDir))
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
			err = errors.Join(err, remove(filepath.Join(s.Dir, entry.Name())))
		}
	}
	return err
}

// renew makes a folder ready for another script, and returns its TextFile. It is
// false where the script has not left the folder as it was given it, or somebody
// has one of its files open.
func renew(path string) (text *os.File, ok bool) {
	folder, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer func() { _ = unix.Close(folder) }()
	var files []int
	defer func() {
		for _, fd := range files {
			_ = unix.Close(fd)
		}
	}()
	for _, name := range []string{endFile, OutFile, ErrFile, TextFile} {
		fd, ok := asGiven(folder, name)
		if !ok {
			return nil, false
		}
		files = append(files, fd)
	}
	end, out, errs := files[0], files[1], files[2]
	if !isClean(end) || !dirAsGiven(folder) || entries(folder) != 5 || !workAsGiven(folder) {
		return nil, false
	}
	if n, err := unix.Pwrite(end, []byte(noEnd), 0); err != nil || n != len(noEnd) || !emptied(out) || !emptied(errs) {
		return nil, false
	}
	text = os.NewFile(uintptr(files[3]), TextFile)
	files = files[:3]
	return text, true
}

// asGiven opens a file of a folder, unless another thing is in its place or
// somebody has it open: a script may have handed its output to a stranger.
func asGiven(folder int, name string) (fd int, ok bool) {
	fd, err := unix.Openat(folder, name, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, false
	}
	file, err := look(fd)
	if ok = err == nil && file.Mode == unix.S_IFREG|fileMode && alone(&file); ok {
		// A lease to write is given to who alone has a file open.
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK)
		if ok = err == nil; ok {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
			ok = err == nil
		}
	}
	if !ok {
		_ = unix.Close(fd)
	}
	return fd, ok
}

// look looks at an open file, but not at its times: of a file whose times were asked
// for, Linux notes the next change to the nanosecond, and with it those of all others
// from there on. The log of the database would have another time at each commit, which
// its flush has to write too (ADR 54).
func look(fd int) (about unix.Statx_t, err error) {
	const what = unix.STATX_TYPE | unix.STATX_MODE | unix.STATX_NLINK | unix.STATX_UID | unix.STATX_SIZE
	err = unix.Statx(fd, "", unix.AT_EMPTY_PATH, what, &about)
	return about, err
}

// ours reports whether a file is of the user of this server.
func ours(about *unix.Statx_t) bool { return int(about.Uid) == os.Geteuid() }

// alone reports whether a file is this user's, and has no other name.
func alone(about *unix.Statx_t) bool { return ours(about) && about.Nlink == 1 }

// isClean reports whether an endFile says that nothing of its script is left.
func isClean(end int) bool {
	var said [len(noEnd) + 1]byte
	n, err := unix.Pread(end, said[:], 0)
	return err == nil && n == len(noEnd) && string(said[cleanAt:n]) == clean
}

// workAsGiven reports whether the folder in which the script began is there, and
// empty.
func workAsGiven(folder int) bool {
	fd, err := unix.Openat(folder, WorkDir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	return dirAsGiven(fd) && entries(fd) == 0
}

// dirAsGiven reports whether an open folder is this user's, and nobody else's.
func dirAsGiven(fd int) bool {
	about, err := look(fd)
	return err == nil && about.Mode == unix.S_IFDIR|dirMode && about.Size <= mostBytes && ours(&about)
}

// entries is how many entries an open folder has, -1 where that cannot be seen.
func entries(folder int) (all int) {
	room := make([]byte, 4096)
	for {
		n, err := unix.ReadDirent(folder, room)
		if err != nil {
			return -1
		}
		if n == 0 {
			return all
		}
		_, found, _ := unix.ParseDirent(room[:n], -1, nil)
		all += found
	}
}

// emptied empties a file for another script.
func emptied(fd int) bool {
	about, err := look(fd)
	if err == nil && about.Size > 0 {
		err = unix.Ftruncate(fd, 0)
	}
	return err == nil
}
