package shim

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"dogear/engine/failpoint"
	"dogear/engine/runner"
)

// Marked lists the processes that carry the marker of any attempt.
func (Processes) Marked() []runner.Marked {
	var found []runner.Marked
	each(func(pid int, marker string) {
		if name := nameOf(pid); name != "" {
			found = append(found, runner.Marked{PID: pid, Name: name, Marker: marker})
		}
	})
	return found
}

// nameOf is the name that a process bears; empty is none.
func nameOf(pid int) string {
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return strings.TrimSpace(string(name))
}

// killMarked kills every process that carries a marker, and says how many there
// were.
func killMarked(marker string) (n int) {
	each(func(pid int, found string) {
		if found != marker {
			return
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return
		}
		defer func() { _ = unix.Close(fd) }()
		// The number may have become another's since it was looked at.
		if again, ok := markerOf(pid); ok && again == found {
			n++
			failpoint.Hit("shim.sweep.before")
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			failpoint.Hit("shim.sweep.after")
		}
	})
	return n
}

// each calls do for every process of this system that carries a marker. Those
// of other users cannot be looked into, and are not ours.
func each(do func(pid int, marker string)) {
	proc, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if marker, ok := markerOf(pid); ok {
			do(pid, marker)
		}
	}
}

// markerOf is the marker in the environment with which a process began. A
// process that has ended and waits to be collected has none.
func markerOf(pid int) (string, bool) {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return "", false
	}
	const key = MarkerEnv + "="
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(key)); ok {
			return string(value), true
		}
	}
	return "", false
}
