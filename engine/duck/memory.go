package duck

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

// dataShare is how much data the system lets a worker have, as a share of its
// grant: sorts and windows that DuckDB carries out within its limit map up to
// twice that limit, not all of it at one time in use (docs/adr/0009).
const dataShare = 1.5

// boundMemory lets this process have dataShare of its grant on top of what it
// has when it starts, and no more: the system refuses the rest. DuckDB keeps to
// its own limit only with the memory that it plans; a long text or a
// decompressed block it just takes. The bound is on data and not on addresses,
// because the runtimes of Go and C reserve far more of those than they use.
func boundMemory(limits Limits) error {
	have, err := dataBytes()
	if err != nil {
		return fmt.Errorf("bound the worker's memory: %w", err)
	}
	most := have + uint64(float64(grant(limits))*dataShare)<<20
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("bound the worker's memory: %w", err)
	}
	return nil
}

// dataBytes is how much private writable memory this process has mapped, which
// is what RLIMIT_DATA counts.
func dataBytes() (uint64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if kb, ok := strings.CutPrefix(line, "VmData:"); ok {
			n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(kb), " kB"), 10, 64)
			return n << 10, err
		}
	}
	return 0, errors.New("the process table has an unknown form")
}

// spill is how much may lie on disk at once, in MB: what the job says, and
// never so much that the disk is full for everybody else.
func spill(l Limits) int {
	most := cmp.Or(l.SpillMB, engine.DefaultSpillMB)
	var disk unix.Statfs_t
	if err := unix.Statfs(l.Scratch, &disk); err == nil {
		most = min(most, int(disk.Bavail*uint64(disk.Bsize)>>20*9/10))
	}
	return most
}
