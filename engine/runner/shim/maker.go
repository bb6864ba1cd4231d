package shim

// #include "shim.h"
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// What shim.h says.
const (
	given = C.shim_files // how many files a shim is given
	// begun stands in front of the exit code once the script may have begun.
	begun    = C.SHIM_BEGUN
	clean    = C.SHIM_CLEAN
	cleanAt  = C.SHIM_CLEAN_AT // where that stands in the file
	idle     = C.SHIM_WAITS
	head     = C.SHIM_HEAD
	stopWord = unix.Signal(C.SHIM_STOP)
	askWord  = unix.Signal(C.SHIM_ASK)
	shimName = C.SHIM_NAME
)

// maker makes shims (shim.c). It is started with the first and ends with the
// server, for it sees the end of its socket; the shims go on.
type maker struct {
	mu     sync.Mutex
	cmd    *exec.Cmd // nil while there is none
	socket int       // to it
}

// answerWithin is how long a maker may take, in seconds, until another one is
// started. It takes a tenth of a millisecond.
const answerWithin = 5

// make makes a shim that has these files, in the order of shim.h, and returns
// its pid.
func (m *maker) make(files [given]*os.File) (pid int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd != nil {
		if pid, err = m.ask(files); err == nil {
			return pid, nil
		}
		m.end() // somebody has killed it, or it has no room: another one may have
	}
	if err := m.start(); err != nil {
		return 0, err
	}
	return m.ask(files)
}

// start starts a maker.
func (m *maker) start() error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("start the maker of shims: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "maker")
	defer theirs.Close()
	cmd := exec.Command("/proc/self/exe") //nolint:noctx // it ends by itself
	cmd.Args = []string{C.SHIM_MAKER}
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	closeInherited()
	if err = unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: answerWithin}); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_ = unix.Close(pair[0])
		return fmt.Errorf("start the maker of shims: %w", err)
	}
	m.cmd, m.socket = cmd, pair[0]
	return nil
}

// closeInherited keeps what whoever started the server has left open, such as a lock, from
// what the server starts: a script would hold it when the server is gone.
func closeInherited() {
	_ = unix.CloseRange(firstFile, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) // an older system does not know it
}

// firstFile is the first file that is not an input, an output or the errors.
const firstFile = 3

// ask asks the maker for a shim.
func (m *maker) ask(files [given]*os.File) (pid int, err error) {
	var fds []int
	for _, file := range files {
		fds = append(fds, int(file.Fd()))
	}
	if err := unix.Sendmsg(m.socket, []byte{0}, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL); err != nil {
		return 0, fmt.Errorf("ask for a shim: %w", err)
	}
	var answer [4]byte
	n, err := unix.Read(m.socket, answer[:])
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Read(m.socket, answer[:])
	}
	switch pid = int(int32(binary.NativeEndian.Uint32(answer[:]))); {
	case err != nil:
		return 0, fmt.Errorf("ask for a shim: %w", err)
	case n != len(answer):
		return 0, errors.New("the maker of shims is gone")
	case pid < 0:
		return 0, fmt.Errorf("make a shim: %w", unix.Errno(-pid))
	}
	return pid, nil
}

// close ends the maker. Its shims go on.
func (m *maker) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd != nil {
		m.end()
	}
}

func (m *maker) end() {
	_ = unix.Close(m.socket)
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
	m.cmd = nil
}
