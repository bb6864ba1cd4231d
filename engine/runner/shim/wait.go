package shim

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine"
	"dogear/engine/failpoint"
)

// The files in the folder of a shim. What a process leaves there outlives the
// server.
const (
	endFile  = C.SHIM_END  // begun and the exit code, each with a line feed, and in the end clean, over what noEnd holds the room with
	OutFile  = C.SHIM_OUT  // what the script wrote to its output
	ErrFile  = C.SHIM_ERR  // and to its errors
	TextFile = "script.py" // its text
	WorkDir  = C.SHIM_WORK // in which it begins
)

// noEnd is what endFile holds until there is more to say: on a disk that is full
// by then, writing over it needs no room. Nor does it take as long as to make a
// file.
const noEnd = "          \n"

// shim is one that waits, or that holds a script of this server.
type shim struct {
	dir     string
	release *os.File // a byte in it lets the script begin
	told    *os.File // takes what the script is; its end lets a shim end that waits
	text    *os.File // is its TextFile, until that is written: to open it then would take longer
	over    *os.File // has something to read once the script has ended, or the shim
	heard   string   // what was read from over of this script
	pid     *os.File // readable once the shim has ended
	process engine.Process
	telling chan error // how it went to tell it
}

// begin starts a shim, which then waits.
func (s *Shims) begin() (*shim, error) {
	name, used := s.folder()
	waits := &shim{dir: filepath.Join(s.Dir, name)}
	files, err := waits.furnish(used)
	defer func() { closeAll(files[:]...) }() // what the shim has open of them is its own
	var pid int
	if err == nil {
		failpoint.Hit("shim.start.before")
		pid, err = s.maker.make(files)
		failpoint.Hit("shim.start.after")
	}
	if err == nil {
		waits.process, err = Identify(pid)
	}
	if err == nil {
		waits.pid, err = watch(pid)
	}
	if err != nil {
		waits.drop()
		return nil, refused("start a shim", err)
	}
	waits.process.Apart, waits.process.Folder = true, name
	return waits, nil
}

// refused says what a person can do where the system has no room for a script.
func refused(doing string, err error) error {
	switch {
	case errors.Is(err, unix.EAGAIN):
		return engine.Errorf(engine.LimitHit, "The system lets this server start no more processes. End some, raise the limit of its user (ulimit -u), or give the server fewer slots; then start again.")
	case errors.Is(err, unix.ENOMEM):
		return engine.Errorf(engine.LimitHit, "The system has no memory for another process. End some, or give the server fewer slots; then start again.")
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return engine.Errorf(engine.LimitHit, "The system lets this server open no more files. Raise the limit of its user (ulimit -n), or give the server fewer slots; then start again.")
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return engine.Errorf(engine.LimitHit, "The disk with the data folder of this server is full, so the script has not begun. Make room on it; then start again.")
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// furnish makes the folder of a shim and its pipes, and opens the files that it
// is given, in the order of shim.h. Some may be nil where it fails. A used folder
// holds all that it should.
func (s *shim) furnish(used bool) (files [given]*os.File, err error) {
	open := func(name string, flags int) *os.File {
		file, failed := os.OpenFile(filepath.Join(s.dir, name), flags|unix.O_NOFOLLOW, fileMode)
		err = errors.Join(err, failed)
		return file
	}
	pipe := func() (read, write *os.File) {
		read, write, failed := os.Pipe()
		err = errors.Join(err, failed)
		return read, write
	}
	create := os.O_WRONLY
	if !used {
		create |= os.O_CREATE | os.O_EXCL
		if err := os.MkdirAll(filepath.Join(s.dir, WorkDir), dirMode); err != nil {
			return files, err
		}
		end := open(endFile, create)
		if err == nil {
			_, err = end.WriteAt([]byte(noEnd), 0)
		}
		closeAll(end, open(OutFile, create), open(ErrFile, create))
	}
	s.text = open(TextFile, create)
	folder := open(".", os.O_RDONLY)
	var release, told, over *os.File
	release, s.release = pipe()
	told, s.told = pipe()
	s.over, over = pipe()
	return [given]*os.File{folder, told, release, over}, err
}

// tell tells a shim what it will do, beside whatever the caller goes on with.
func (s *shim) tell(c *Command) {
	s.telling = make(chan error, 1)
	s.heard = ""
	text, told := c.Text, c.told(s.dir)
	go func() {
		failpoint.Hit("shim.tell.before")
		_, err := s.text.Write(text)
		if err == nil {
			err = s.text.Truncate(int64(len(text))) // there may be an earlier one
		}
		if err == nil {
			_, err = s.told.WriteString(told)
		}
		closeAll(s.text)
		failpoint.Hit("shim.tell.after")
		s.telling <- err
	}()
}

// start releases a shim that was noted, once it is told what to do.
func (s *shim) start(ctx context.Context, marker string) (*Child, error) {
	if err := <-s.telling; err != nil {
		return nil, refused("tell a shim what to do", err)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	failpoint.Hit("shim.release.before")
	_, err := s.release.WriteString("\n")
	failpoint.Hit("shim.release.after")
	if errors.Is(err, unix.EPIPE) {
		return nil, engine.Errorf(engine.Conflict, "The process that waited to become the script was killed, so the script has not begun. Start it again.")
	}
	if err != nil {
		return nil, fmt.Errorf("release a shim: %w", err)
	}
	return &Child{Process: s.process, Dir: s.dir, marker: marker, pid: s.pid, shim: s}, nil
}

// alive reports whether a shim still waits. One that has died has closed what it would
// tell its end by; the maker may have that open for a moment longer.
func (s *shim) alive() bool { return silent(s.over) && silent(s.pid) }

// silent reports whether there is nothing to read in a file, and may be yet.
func silent(file *os.File) bool {
	ready := true
	if raw, err := file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { ready = hasInput(fd) })
	}
	return !ready
}

// here reports whether the folder of a shim is still there: somebody may have
// cleared it away.
func (s *shim) here() bool {
	named := false
	if raw, err := s.text.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			about, err := look(int(fd))
			named = err == nil && alone(&about)
		})
	}
	return named
}

// drop lets a shim end that was never released, and leaves nothing of it.
func (s *shim) drop() {
	s.leave()
	_ = remove(s.dir)
}

// listen waits until the shim says something, or has ended, for d at most.
func (s *shim) listen(d time.Duration) {
	if raw, err := s.over.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(d.Milliseconds()))
		})
	}
}

// hear reads what the shim says of the end of its script, before it notes it.
func (s *shim) hear() {
	raw, err := s.over.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		var text [len(noEnd)]byte
		if n, err := unix.Read(int(fd), text[:]); err == nil {
			s.heard += string(text[:n])
		}
	})
}

// again reports whether a shim whose script has ended waits for another. It needs a
// moment to end what the script has left.
func (s *shim) again() bool {
	if !strings.HasSuffix(s.heard, idle) {
		s.listen(settle)
		s.hear()
	}
	return strings.HasSuffix(s.heard, "\n"+idle) && s.alive()
}

// leave lets a shim end: at once, or with its script. The folder of one that was
// never released says that nothing has begun, should it be noted somewhere.
func (s *shim) leave() { closeAll(s.release, s.told, s.text, s.over, s.pid) }

// closeAll closes files. Some may be nil, where there never was a shim, or closed.
func closeAll(files ...*os.File) {
	for _, file := range files {
		_ = file.Close()
	}
}
