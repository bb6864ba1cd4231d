package app

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

// watchEvery is how often the watchdog looks.
const watchEvery = time.Minute

// Health looks at everything that must hold.
func (h *house) Health(ctx context.Context) (engine.Health, error) {
	start := time.Now()
	rows, err := h.store.Checks(ctx)
	if err != nil {
		return engine.Health{}, err
	}
	work, err := h.exec.Checks(ctx, start)
	if err != nil {
		return engine.Health{}, err
	}
	servers, err := h.store.Replicas(ctx)
	if err != nil {
		return engine.Health{}, err
	}
	late, err := h.store.LateStarts(ctx, start)
	if err != nil {
		return engine.Health{}, err
	}
	checks := slices.Concat(rows, work)
	slices.SortFunc(checks, func(a, b engine.Check) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID)) // I3 before I10
	})
	return engine.Health{At: start.UTC(), Took: time.Since(start), Checks: checks, Servers: servers, Late: late}, nil
}

// Load looks how busy this server is, and what room it has.
func (h *house) Load(ctx context.Context) (engine.Load, error) {
	l, err := h.store.Load(ctx)
	l.Slots, l.Working = h.exec.Load()
	var disk unix.Statfs_t
	if statted := unix.Statfs(h.cfg.Data, &disk); statted == nil {
		l.Free, l.Disk = int64(disk.Bavail)*disk.Bsize, int64(disk.Blocks)*disk.Bsize
	}
	return l, err
}

// watch says what it finds in the log and the metrics.
func (h *house) watch(ctx context.Context) {
	found, err := h.Health(ctx)
	if err != nil {
		if ctx.Err() == nil {
			h.log.Error("the watchdog could not look", "err", err)
		}
		return
	}
	longest := time.Duration(0)
	for _, l := range found.Late {
		if l.Waits {
			longest = max(longest, l.Late)
		}
	}
	h.metrics.overdue.Set(longest.Seconds())
	for _, check := range found.Checks {
		h.metrics.broken.WithLabelValues(check.ID).Set(float64(len(check.Broken)))
		for _, b := range check.Broken {
			h.log.Error("something that must hold does not", "check", check.ID, "rule", check.Rule, "run", b.Run, "what", b.What)
		}
	}
}
