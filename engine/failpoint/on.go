//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// What a test says to the server by its environment.
const (
	// Kill names the moment at which the process ends: "exec.commit.before 2" is
	// the second time that it comes.
	Kill = "DOGEAR_FAILPOINT"
	// Seen names a file to which the name of each moment is written as it comes.
	Seen = "DOGEAR_FAILPOINTS_SEEN"
)

// points is what the environment says.
type points struct {
	name string
	left atomic.Int64 // how often it still comes until the process ends
	seen *os.File
}

var asked = sync.OnceValue(func() *points {
	p := &points{}
	name, at, _ := strings.Cut(os.Getenv(Kill), " ")
	n, err := strconv.ParseInt(at, 10, 64)
	if name != "" && err != nil {
		panic(fmt.Sprintf("%s=%q has no number", Kill, os.Getenv(Kill)))
	}
	p.name = name
	p.left.Store(n)
	if path := os.Getenv(Seen); path != "" {
		if p.seen, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			panic(err)
		}
	}
	return p
})

// Hit ends the process by SIGKILL where it was asked to end at this moment.
func Hit(name string) {
	p := asked()
	if p.seen != nil {
		_, _ = p.seen.WriteString(name + "\n")
	}
	if p.name == name && p.left.Add(-1) == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // nothing more is done until the signal has come
	}
}
