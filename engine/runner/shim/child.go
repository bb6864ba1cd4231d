package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine"
	"dogear/engine/failpoint"
)

// Child is a script that was released, be it by this server or an earlier one.
type Child struct {
	Process engine.Process
	Dir     string // its folder
	marker  string
	pid     *os.File // readable once the shim has ended; nil where it has
	shim    *shim    // nil where an earlier server started it
	shims   *Shims   // that the shim goes back to
	ended   bool     // it was made to end
}

// Find finds the script again whose shim an earlier server had recorded as p. One
// of an earlier version left its files in was.
func (s *Shims) Find(p engine.Process, was, marker string) (*Child, error) {
	c := &Child{Process: p, Dir: was, marker: marker}
	if p.Folder != "" {
		c.Dir = s.path(p.Folder)
	}
	if !(Processes{}).Alive(p) {
		return c, nil
	}
	pid, err := watch(p.PID)
	if err != nil {
		return nil, err
	}
	// Only now is it sure that the number was not given to another in between.
	if (Processes{}).Alive(p) {
		c.pid = pid
	} else {
		closeAll(pid)
	}
	return c, nil
}

// watch returns a file that is readable once a process has ended; nil where it is
// gone already.
func watch(pid int) (*os.File, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	switch {
	case errors.Is(err, unix.ESRCH):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("watch process %d: %w", pid, err)
	}
	return os.NewFile(uintptr(fd), "pidfd"), nil
}

// Wait waits until the script has ended, for d at most, and reports whether it
// has. The end of ctx breaks it off. Its shim may then need a moment to be gone,
// or wait for another script.
func (c *Child) Wait(ctx context.Context, d time.Duration) bool {
	switch {
	case c.shim == nil:
		if c.gone(ctx, d) {
			return true
		}
		_, over := c.Exit() // its shim waits on where somebody still holds the files of its server
		return over
	case c.shim.heard != "":
		return true
	case !c.readable(ctx, c.shim.over, d):
		return false
	}
	c.shim.hear()
	return true
}

// gone waits until the shim has ended, as Wait does.
func (c *Child) gone(ctx context.Context, d time.Duration) bool {
	return c.pid == nil || c.readable(ctx, c.pid, d)
}

// readable waits until there is something to read in a file of the child.
func (c *Child) readable(ctx context.Context, file *os.File, d time.Duration) bool {
	if ctx.Err() != nil {
		d = 0
	}
	if err := file.SetReadDeadline(time.Now().Add(d)); err != nil {
		return !(Processes{}).Alive(c.Process)
	}
	stop := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Now()) })
	defer stop()
	raw, err := file.SyscallConn()
	if err != nil {
		return !(Processes{}).Alive(c.Process)
	}
	ready := false
	look := func(fd uintptr) bool {
		ready = hasInput(fd)
		return ready
	}
	if err := raw.Read(look); err != nil {
		_ = raw.Control(func(fd uintptr) { look(fd) }) // the deadline may have come first
	}
	return ready
}

// hasInput reports whether there is something to read, or nothing ever will be.
func hasInput(fd uintptr) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// Exit is the exit code of the script; ok is false while it has left none.
// Codes above 128 are those of signals, as a shell counts them; a negative one says
// that it has not begun (Refused).
func (c *Child) Exit() (code int, ok bool) {
	failpoint.Hit("shim.exit.before")
	text, began := c.heard(), true
	if text == "" {
		text, began = strings.CutPrefix(c.said(), begun+"\n")
	}
	line, _, whole := strings.Cut(text, "\n")
	if !began || !whole {
		return 0, false // it is just being written, or never was
	}
	failpoint.Hit("shim.exit.after")
	code, err := strconv.Atoi(line) // not of noEnd, be it half written over
	return code, err == nil
}

// Refused is why the system started no process for a script that was released; nil
// where it did.
func (c *Child) Refused() error {
	code, ok := c.Exit()
	if !ok || code >= 0 {
		return nil
	}
	return refused("start a process for the script", unix.Errno(-code))
}

// heard is what the shim has told this server of the end of the script.
func (c *Child) heard() string {
	if c.shim == nil {
		return ""
	}
	return c.shim.heard
}

// said is what the shim has noted of the beginning and the end of its script.
func (c *Child) said() string {
	file, err := c.open(endFile, os.O_RDONLY)
	if err != nil {
		return "" // where there is none it says nothing
	}
	defer file.Close()
	text := make([]byte, len(noEnd))
	n, _ := io.ReadFull(file, text)
	return string(text[:n])
}

// Output opens what the script has written to one of its outputs, for reading and
// to be cut.
func (c *Child) Output(name string) (*os.File, error) { return c.open(name, os.O_RDWR) }

// open opens a file of the script, unless the script has put something else in its
// place: what it names, or a pipe in which nothing ever comes.
func (c *Child) open(name string, flags int) (*os.File, error) {
	dir, err := unix.Open(c.Dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: c.Dir, Err: err}
	}
	defer func() { _ = unix.Close(dir) }()
	fd, err := unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if about, err := look(fd); err != nil || about.Mode&unix.S_IFMT != unix.S_IFREG || !alone(&about) {
		_ = unix.Close(fd)
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// Began reports whether the script may have begun. One whose shim was never
// released has not. Where nothing says so it may have, and have removed what did.
func (c *Child) Began() bool {
	said := c.said()
	return said == "" || strings.HasPrefix(said, begun)
}

// Here reports whether the files of the script are on this server.
func (c *Child) Here() bool {
	_, err := os.Lstat(filepath.Join(c.Dir, endFile))
	return c.Dir != "" && err == nil
}

// Close gives back what the child holds here. The script is not touched; its shim
// can be used again (Shims.Reuse) where the script has ended by itself.
func (c *Child) Close() {
	switch {
	case c.shim == nil:
		closeAll(c.pid)
	case c.shim.heard != "" && !c.ended:
		c.shims.hold(c.shim)
	default:
		c.shim.leave()
	}
}

// How long is waited for what ends by itself in a moment.
const (
	settle = 200 * time.Millisecond
	pulse  = 5 * time.Millisecond
	// patience is how long a shim may take to end what its script has started, which
	// may be thousands.
	patience = 30 * time.Second
)

// Stop ends the script and everything it has started: it is asked to end, and
// after grace made to. Stop returns once nothing of it is left.
func (c *Child) Stop(grace time.Duration) {
	c.ended = true
	if grace > 0 {
		c.signal(c.Process.PID, unix.SIGCONT)
		c.signal(c.Process.PID, askWord)
		c.signal(-c.Process.PID, unix.SIGTERM) // an earlier version left its script in the group of the shim
		c.wait(grace)
	}
	c.Sweep()
}

// wait waits until the shim has ended or the script has left its exit code.
func (c *Child) wait(most time.Duration) {
	for end := time.Now().Add(most); time.Now().Before(end); {
		if c.Wait(context.Background(), min(pulse, time.Until(end))) {
			return
		}
		if _, ok := c.Exit(); ok {
			return
		}
	}
}

// Sweep kills what is left of the script, wherever it is, and returns once
// nothing is. What it wrote to its end is kept.
func (c *Child) Sweep() {
	c.ended = true
	// What a script has started is the shim's, should it lose its parents, and with
	// the last of it the shim ends. Without the shim nobody would hold them.
	for end := time.Now().Add(patience); ; {
		c.signal(c.Process.PID, unix.SIGCONT)
		c.signal(c.Process.PID, stopWord)
		if c.gone(context.Background(), settle) {
			break
		}
		if time.Now().After(end) || !c.ours() {
			c.signal(-c.Process.PID, unix.SIGKILL)
		}
	}
	Sweep(c.marker) // somebody may have killed the shim before
}

// ours reports whether the shim is one that knows the words for it, and would not just
// end by them.
func (c *Child) ours() bool { return nameOf(c.Process.PID) == shimName }

// Sweep kills what carries a marker until nothing does.
func Sweep(marker string) {
	for pause := pulse; killMarked(marker) > 0; pause = min(2*pause, time.Second) {
		time.Sleep(pause) // a killed process needs a moment to be gone
	}
}

// signal signals the shim, or by its negative number its group.
func (c *Child) signal(to int, s unix.Signal) {
	if c.pid == nil || !(Processes{}).Alive(c.Process) || (s == stopWord || s == askWord) && !c.ours() {
		return
	}
	failpoint.Hit("shim.kill.before")
	_ = unix.Kill(to, s) // it may have ended just now
	failpoint.Hit("shim.kill.after")
}
