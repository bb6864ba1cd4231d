package duck

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

// dataShare bounds what a worker may map, as a multiple of its grant. It is
// wide, because much of what is mapped is never touched: a file of 16384
// columns has 2.2 GB of data and 0.15 GB in memory (docs/adr/0009).
const dataShare = 4

// memoryEvery is how often a worker looks at its own memory: at the speed at
// which a processor touches pages that is some hundred MB.
const memoryEvery = 50 * time.Millisecond

// boundMemory keeps this process within the grant of limits. DuckDB keeps to
// its own limit only with the memory that it plans; a long text or a
// decompressed block it just takes. So the system refuses to map far more than
// the grant, and over is called when more than the grant is in use.
func boundMemory(limits Limits, over func()) error {
	most := uint64(grant(limits)) << 20
	mapped, err := memory("VmData:")
	if err != nil {
		return fmt.Errorf("bound the worker's memory: %w", err)
	}
	data := mapped + dataShare*most
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: data, Max: data}); err != nil {
		return fmt.Errorf("bound the worker's memory: %w", err)
	}
	go func() {
		for range time.Tick(memoryEvery) {
			if used, err := memory("RssAnon:"); err == nil && used > most {
				over()
				return
			}
		}
	}()
	return nil
}

// memory is one of the figures that the system keeps of this process's memory,
// in bytes.
func memory(name string) (uint64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if kb, ok := strings.CutPrefix(line, name); ok {
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
