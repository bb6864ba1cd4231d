package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"dogear/engine"
	"dogear/engine/failpoint"
)

// The files in the folder of an attempt. What a process leaves there outlives
// the server.
const (
	endFile  = "end"       // begun, then the exit code, each with a line feed, over what noEnd holds the room with
	OutFile  = "out"       // what it wrote to its output
	ErrFile  = "err"       // and to its errors
	TextFile = "script.py" // the text of the program, should it be one that is interpreted
	WorkDir  = "work"      // in which it begins

	// Files of the shims of earlier servers.
	startFile = "start" // what such a shim ran once it was released
	beganFile = "began" // is there once its script may have begun
	exitFile  = "exit"  // the exit code and a line feed, and nothing before
)

// noEnd is what endFile holds until there is more to say: on a disk that is full
// by then, writing over it needs no room. Nor does it take as long as to make a
// file.
const noEnd = "          \n"

// begun stands in front of the exit code once the script may have begun.
const begun = "began"

// held is the shim: two shells of some hundred kB, in a session of their own.
// The second is told what to do, makes itself ready, waits for its release and
// becomes the program; the first waits for its end. It keeps the exit code even
// where the whole group is told to end, and says nothing of its own. Beside its
// input, its output and its errors, of which nobody wants to know, it has open: 3,
// which releases it; 4, the errors of the program; 5, the file of the exit code;
// 6, to which it writes when the code is there; and 7, by which it is told.
const held = `trap : TERM INT HUP
( exec 2>&4 4>&- 6>&-; . /dev/fd/7 )
echo $? >&5
echo >&6`

// shim is one that waits.
type shim struct {
	dir     string
	cmd     *exec.Cmd
	release *os.File // its end lets the shim end
	told    *os.File // takes what the shim does
	text    *os.File // is its TextFile: to make it then would take longer
	over    *os.File // has something to read once the exit code is there
	end     *os.File // is its endFile
	pid     *os.File // readable once it has ended
	lent    []*os.File
	process engine.Process
}

// begin starts a shim, which then waits.
func (s *Shims) begin() (*shim, error) {
	s.mu.Lock()
	s.n++
	dir := filepath.Join(s.Dir, strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(s.n))
	s.mu.Unlock()
	waits := &shim{dir: dir}
	files, err := waits.furnish()
	defer func() { closeAll(waits.lent...) }() // what the shim has open of them is its own
	if err == nil {
		// It outlives every context: a script goes on without its server.
		waits.cmd = exec.Command("/bin/sh", "-c", held) //nolint:noctx // see above
		waits.cmd.Dir = dir
		waits.cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
		waits.cmd.Stdout, waits.cmd.ExtraFiles = files[0], files[1:]
		waits.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		failpoint.Hit("shim.start.before")
		err = waits.cmd.Start()
		failpoint.Hit("shim.start.after")
	}
	if err == nil {
		waits.process, err = Identify(waits.cmd.Process.Pid)
	}
	if err == nil {
		waits.pid, err = watch(waits.process.PID)
	}
	if err != nil {
		waits.drop()
		return nil, fmt.Errorf("start a shim: %w", err)
	}
	waits.process.Apart = true
	return waits, nil
}

// furnish makes the folder of a shim, its pipes, and the files that it has open:
// its output and those from 3 on. Some of them may be nil where it fails.
func (s *shim) furnish() (files []*os.File, err error) {
	if err := os.MkdirAll(filepath.Join(s.dir, WorkDir), 0o700); err != nil {
		return nil, err
	}
	file := func(name string, flags int) *os.File {
		file, failed := os.OpenFile(filepath.Join(s.dir, name), os.O_CREATE|os.O_EXCL|flags, 0o600)
		err = errors.Join(err, failed)
		return file
	}
	pipe := func() (read, write *os.File) {
		read, write, failed := os.Pipe()
		err = errors.Join(err, failed)
		return read, write
	}
	// What is written to the outputs goes to their ends, which the server may cut off.
	out, errs := file(OutFile, os.O_WRONLY|os.O_APPEND), file(ErrFile, os.O_WRONLY|os.O_APPEND)
	s.text, s.end = file(TextFile, os.O_WRONLY), file(endFile, os.O_RDWR)
	var release, told, over *os.File
	release, s.release = pipe()
	told, s.told = pipe()
	s.over, over = pipe()
	if err == nil {
		_, err = s.end.WriteAt([]byte(noEnd), 0)
	}
	s.lent = []*os.File{out, release, errs, over, told}
	return []*os.File{out, release, errs, s.end, over, told}, err
}

// move gives a shim its folder for good. One that is there already, of a shim that
// was never released, makes way.
func (s *shim) move(dir string) error {
	failpoint.Hit("shim.folder.before")
	err := os.Rename(s.dir, dir)
	if errors.Is(err, fs.ErrExist) {
		err = s.swap(dir)
	}
	if err != nil {
		return fmt.Errorf("give a shim its folder: %w", err)
	}
	failpoint.Hit("shim.folder.after")
	s.dir = dir
	return nil
}

// swap is move where there is a folder. It is missing at no moment: it says that
// nothing has begun, and a server that found none would call the script lost.
func (s *shim) swap(dir string) error {
	err := unix.Renameat2(unix.AT_FDCWD, s.dir, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // the file system cannot
		return errors.Join(os.RemoveAll(dir), os.Rename(s.dir, dir))
	}
	if err == nil {
		err = os.RemoveAll(s.dir)
	}
	return err
}

// alive reports whether a shim still waits: one that has died has closed what it
// would tell its end by.
func (s *shim) alive() bool {
	dead := true
	if raw, err := s.over.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { dead = hasInput(fd) })
	}
	return !dead
}

// drop lets a shim end that was never released, and leaves nothing of it.
func (s *shim) drop() {
	s.leave()
	_ = os.RemoveAll(s.dir)
}

// leave lets a shim end that was never released. Its folder says that nothing
// has begun, should it be noted somewhere.
func (s *shim) leave() {
	closeAll(s.release, s.told, s.text, s.over, s.end, s.pid)
	if s.cmd != nil {
		go func() { _ = s.cmd.Wait() }()
	}
}

// closeAll closes files. Some may be nil, where there never was a shim, or closed.
func closeAll(files ...*os.File) {
	for _, file := range files {
		_ = file.Close()
	}
}

// Clear removes what the shims of a server that was killed have left; they
// themselves have ended with it.
func (s *Shims) Clear() error { return os.RemoveAll(s.Dir) }
