package shim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine"
	"dogear/engine/failpoint"
)

// Child is a script that was released, be it by this server or an earlier one.
type Child struct {
	Process engine.Process
	dir     string
	marker  string
	cmd     *exec.Cmd // nil where an earlier server started it
	pid     *os.File  // readable once the shim has ended; nil where it has
	over    *os.File  // readable before that, once the script has; nil where an earlier server started it
	end     *os.File  // its endFile; nil where an earlier server started it
	reap    sync.Once
	shims   *Shims // whence it came; nil where an earlier server started it
}

// Find finds the script again whose shim an earlier server had recorded as p,
// with its files in dir.
func Find(p engine.Process, dir, marker string) (*Child, error) {
	c := &Child{Process: p, dir: dir, marker: marker}
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
// has. The end of ctx breaks it off. Its shim may then need a moment to be gone.
func (c *Child) Wait(ctx context.Context, d time.Duration) bool {
	if c.over != nil {
		return c.readable(ctx, c.over, d)
	}
	return c.gone(ctx, d)
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
// Codes above 128 are those of signals, as a shell counts them.
func (c *Child) Exit() (code int, ok bool) {
	failpoint.Hit("shim.exit.before")
	text, err := c.said()
	text, found := bytes.CutPrefix(text, []byte(begun+"\n"))
	if errors.Is(err, fs.ErrNotExist) { // its shim may be an earlier server's
		text, err = os.ReadFile(filepath.Join(c.dir, exitFile))
		found = err == nil
	}
	line, _, whole := strings.Cut(string(text), "\n")
	if !found || !whole {
		return 0, false // it is just being written, or never was
	}
	failpoint.Hit("shim.exit.after")
	code, err = strconv.Atoi(line) // not of noEnd, be it half written over
	return code, err == nil
}

// said is what the shim has said of the beginning and the end of its script.
func (c *Child) said() ([]byte, error) {
	if c.end == nil {
		return os.ReadFile(filepath.Join(c.dir, endFile))
	}
	text := make([]byte, len(noEnd))
	n, err := c.end.ReadAt(text, 0) // to find it by its name would take longer
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return text[:n], err
}

// Began reports whether the script may have begun. One whose shim was never
// released has not.
func (c *Child) Began() bool {
	text, err := c.said()
	if !errors.Is(err, fs.ErrNotExist) {
		return err != nil || bytes.HasPrefix(text, []byte(begun))
	}
	_, err = os.Stat(filepath.Join(c.dir, beganFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// Here reports whether the files of the script are on this server.
func (c *Child) Here() bool {
	for _, name := range []string{endFile, startFile} {
		if _, err := os.Stat(filepath.Join(c.dir, name)); err == nil {
			return true
		}
	}
	return false
}

// Close gives back what the child holds here. The script is not touched.
func (c *Child) Close() {
	c.reap.Do(func() {
		if c.cmd == nil {
			closeAll(c.pid)
			return
		}
		go func() { // whoever calls has something better to do
			_ = c.cmd.Wait()
			closeAll(c.pid, c.over, c.end)
		}()
	})
}

// How long is waited for what ends by itself in a moment.
const (
	settle = 200 * time.Millisecond
	pulse  = 5 * time.Millisecond
)

// Stop ends the script and everything it has started: it is asked to end, and
// after grace made to. Stop returns once nothing of it is left.
func (c *Child) Stop(grace time.Duration) {
	if grace > 0 {
		c.group(unix.SIGTERM)
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

// Leave ends what a script has left behind that has ended by itself: what is in
// its group at once, and what is out of it, which has to be looked for, together
// with that of others a moment later.
func (c *Child) Leave() {
	c.group(unix.SIGKILL)
	if c.shims != nil {
		c.shims.broom.add(c.marker)
	} else {
		go sweep(c.marker)
	}
}

// Sweep kills what is left of the script, in its group or out of it, and
// returns once nothing is. What it wrote to its end is kept.
func (c *Child) Sweep() {
	sweep(c.marker)
	// With the script gone the shim notes its exit code and ends by itself.
	c.gone(context.Background(), settle)
	c.group(unix.SIGKILL)
	for !c.gone(context.Background(), time.Second) {
		c.group(unix.SIGKILL)
	}
	sweep(c.marker) // a process that was just becoming another one carried no marker
}

// sweep kills what carries a marker until nothing does.
func sweep(marker string) {
	for pause := pulse; killMarked(map[string]bool{marker: true}) > 0; pause = min(2*pause, time.Second) {
		time.Sleep(pause) // a killed process needs a moment to be gone
	}
}

// group signals the group of the shim. It is only done while the shim has not
// been collected, so that its number cannot be another's.
func (c *Child) group(s unix.Signal) {
	if c.pid == nil || c.cmd == nil && !(Processes{}).Alive(c.Process) {
		return
	}
	failpoint.Hit("shim.kill.before")
	_ = unix.Kill(-c.Process.PID, s) // it may have ended just now
	failpoint.Hit("shim.kill.after")
}
