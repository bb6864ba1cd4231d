// Package shim starts the processes of jobs and recognises them again. A
// process does nothing until the server has durably recorded which one it is:
// so no work goes on that nobody knows of after a crash.
package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"dogear/engine"
)

// releaseFD is where a held process waits for its release.
const releaseFD = 3

// killAfter is how long a process has to end after it was asked to.
const killAfter = 10 * time.Second

// exitUntouched is the code of a process that was never released.
const exitUntouched = 3

// Identify returns what names a living process beyond the reuse of its pid.
func Identify(pid int) (engine.Process, error) {
	started, _, err := stat(pid)
	if err != nil {
		return engine.Process{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	boot, err := bootID()
	if err != nil {
		return engine.Process{}, err
	}
	return engine.Process{PID: pid, Started: started, Boot: boot}, nil
}

func bootID() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	return strings.TrimSpace(string(boot)), nil
}

// Fields of /proc/PID/stat after the command's name, which may hold anything
// and ends with the last parenthesis.
const (
	stateField   = 0
	startedField = 19
)

func stat(pid int) (started uint64, state string, err error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, "", err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= startedField {
		return 0, "", errors.New("the process table has an unknown form")
	}
	started, err = strconv.ParseUint(fields[startedField], 10, 64)
	return started, fields[stateField], err
}

// Processes recognises and ends recorded processes.
type Processes struct{}

// Alive reports whether p itself still runs: same pid, same start, same boot.
// A process that has ended and waits to be collected does not.
func (Processes) Alive(p engine.Process) bool {
	boot, err := bootID()
	if err != nil || p.PID <= 0 || boot != p.Boot {
		return false
	}
	started, state, err := stat(p.PID)
	return err == nil && started == p.Started && state != "Z" && state != "X"
}

// Kill ends p and its group at once. It is no error if p has ended already.
func (s Processes) Kill(p engine.Process) error {
	if !s.Alive(p) {
		return nil
	}
	if err := syscall.Kill(-p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end process %d: %w", p.PID, err)
	}
	return nil
}

// Child is a process that was started and released.
type Child struct {
	Process engine.Process
	cmd     *exec.Cmd
	done    chan struct{}
}

// Start starts cmd held, in a process group of its own; recorded must durably
// note the process before it returns, and then it is released. cmd must be
// this binary in the form that Main runs: `shim PROGRAM ARGUMENTS...`.
func Start(ctx context.Context, cmd *exec.Cmd, recorded func(ctx context.Context, p engine.Process) error) (*Child, error) {
	held, release, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the release pipe: %w", err)
	}
	defer release.Close()
	cmd.ExtraFiles = []*os.File{held}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	held.Close()
	if err != nil {
		return nil, fmt.Errorf("start a process: %w", err)
	}
	c := &Child{cmd: cmd, done: make(chan struct{})}
	if c.Process, err = Identify(cmd.Process.Pid); err == nil {
		err = recorded(ctx, c.Process)
	}
	if err == nil {
		_, err = release.Write([]byte{1})
	}
	if err != nil {
		release.Close()
		_ = cmd.Wait() // unreleased it ends by itself, untouched
		return nil, err
	}
	return c, nil
}

// Wait waits for the end of the process. When ctx is cancelled its group is
// asked to end, and killed ten seconds later.
func (c *Child) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		c.signal(syscall.SIGTERM)
		select {
		case <-c.done:
		case <-time.After(killAfter):
			c.signal(syscall.SIGKILL)
		}
	})
	defer stop()
	err := c.cmd.Wait()
	close(c.done)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// signal reaches the whole group while the process itself has not been
// collected, so that its number cannot be another's.
func (c *Child) signal(s syscall.Signal) {
	select {
	case <-c.done:
	default:
		_ = syscall.Kill(-c.cmd.Process.Pid, s) // it may have ended just now
	}
}

// Main is what a held process runs: it waits for its release and then becomes
// the program. It returns an exit code only where it does not.
func Main(args []string) int {
	release := os.NewFile(releaseFD, "release")
	if n, err := io.ReadFull(release, make([]byte, 1)); n != 1 || err != nil {
		return exitUntouched
	}
	release.Close()
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "shim: no program is named")
		return exitUntouched
	}
	program, err := exec.LookPath(args[0])
	if err == nil {
		err = syscall.Exec(program, args, os.Environ())
	}
	fmt.Fprintln(os.Stderr, "shim:", err)
	return exitUntouched
}
