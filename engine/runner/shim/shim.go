// Package shim starts the processes of jobs, recognises them again and ends
// them. A script does nothing until the server has durably recorded which
// process it is, so no work goes on that nobody knows of after a crash; and it
// goes on without the server, leaving its exit code in a file.
package shim

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"dogear/engine"
)

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

// bootID names the run of the system in which a pid counts. It cannot change
// while this process lives.
var bootID = sync.OnceValues(func() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	return strings.TrimSpace(string(boot)), nil
})

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

// Kill ends p and its group at once, and a shim with all that it holds, which is in
// other groups. It is no error if p has ended already.
func (s Processes) Kill(p engine.Process) error {
	if !s.Alive(p) {
		return nil
	}
	var err error
	if nameOf(p.PID) == shimName {
		err = errors.Join(syscall.Kill(p.PID, syscall.SIGCONT), syscall.Kill(p.PID, stopWord))
	} else {
		err = syscall.Kill(-p.PID, syscall.SIGKILL)
	}
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end process %d: %w", p.PID, err)
	}
	return nil
}
