package shim

import (
	"bytes"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine/failpoint"
	"dogear/engine/runner"
)

// Marked lists the processes that carry the marker of any attempt.
func (Processes) Marked() []runner.Marked {
	var found []runner.Marked
	each(func(pid int, marker string) {
		name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
		if err == nil {
			found = append(found, runner.Marked{PID: pid, Name: strings.TrimSpace(string(name)), Marker: marker})
		}
	})
	return found
}

// killMarked kills every process that carries one of the markers, and says how
// many there were.
func killMarked(markers map[string]bool) (n int) {
	each(func(pid int, found string) {
		if !markers[found] {
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

// broomEvery is how long the broom waits for more before it looks: to look
// through all processes takes about as long as to start one.
const broomEvery = 50 * time.Millisecond

// broom kills what scripts that have ended have left outside of their groups.
type broom struct {
	mu      sync.Mutex
	markers map[string]bool
	busy    bool
}

// add has the processes of a marker looked for.
func (b *broom) add(marker string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.markers == nil {
		b.markers = map[string]bool{}
	}
	b.markers[marker] = true
	if !b.busy {
		b.busy = true
		go b.sweep()
	}
}

// sweep looks until a look finds nothing and there is nothing new to look for.
func (b *broom) sweep() {
	var left map[string]bool
	for {
		time.Sleep(broomEvery)
		b.mu.Lock()
		markers := b.markers
		b.markers = nil
		if len(markers)+len(left) == 0 {
			b.busy = false
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		all := map[string]bool{}
		maps.Copy(all, markers)
		maps.Copy(all, left)
		left = nil
		if killMarked(all) > 0 {
			left = all
		}
	}
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
