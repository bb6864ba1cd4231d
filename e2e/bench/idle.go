package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"dogear/db"
	"dogear/e2e/bench/measure"
	"dogear/engine"
)

const (
	idleSchedules = 1000
	idleTime      = time.Minute // in which everything that wakes by itself has done so
)

// idle measures what a server takes that has 1,000 schedules and nothing to do.
func idle(ctx context.Context, dir string) error {
	data := filepath.Join(dir, "data")
	later := time.Now().AddDate(0, 0, 1)
	if err := furnish(ctx, data, "", func(store *db.Store) error {
		return scheduled(ctx, store, idleSchedules, func(int) time.Time { return later })
	}); err != nil {
		return err
	}
	s, err := startInstance(ctx, data)
	if err != nil {
		return err
	}
	defer s.end()
	time.Sleep(3 * time.Second) // the start itself
	before, err := cpu(s.cmd.Process.Pid)
	if err != nil {
		return err
	}
	time.Sleep(idleTime)
	after, err := cpu(s.cmd.Process.Pid)
	if err != nil {
		return err
	}
	all, file, err := resident(s.cmd.Process.Pid)
	if err != nil {
		return err
	}
	measure.Figure{Name: "g12", Ours: all, Limit: 60, Unit: "MB", Note: fmt.Sprintf("resident memory of an idle server with 1,000 schedules on SQLite, of which %.0f MB are pages of files", file)}.Print()
	measure.Figure{Name: "g12_cpu", Ours: 100 * (after - before).Seconds() / idleTime.Seconds(), Limit: 0.3, Unit: "% of a core", Note: "of the same server, over a minute, its watchdog included"}.Print()
	return nil
}

// scheduled makes n schedules, ten to a workflow, that each start one job. due
// says when a schedule is due first.
func scheduled(ctx context.Context, store *db.Store, n int, due func(i int) time.Time) error {
	h := &house{store: store}
	job, err := h.job(ctx, "scheduled", plain(n))
	if err != nil {
		return err
	}
	const each = 10
	for w := range n / each {
		body := engine.WorkflowBody{}
		at := map[engine.ID]time.Time{}
		for i := range each {
			t := engine.Trigger{
				ID: engine.NewID(time.Now()), Name: fmt.Sprint("t", i), Type: engine.Scheduled, Schedule: "cron(0 3 1 * ? *)",
				Actions: []engine.Action{{Ref: engine.Ref{Kind: engine.KindJob, ID: job}}},
			}
			at[t.ID] = due(w*each + i)
			body.Triggers = append(body.Triggers, t)
		}
		if _, err := h.workflow(ctx, fmt.Sprint("w", w), body, func(t engine.Trigger) time.Time { return at[t.ID] }); err != nil {
			return err
		}
	}
	return nil
}

// cpu is the time that a process has worked. Linux counts it to the nanosecond
// for each of its threads.
func cpu(pid int) (time.Duration, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	var all time.Duration
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // a thread that has ended
		}
		spent, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(spent, 10, 64)
		if err != nil {
			return 0, err
		}
		all += time.Duration(ns)
	}
	return all, nil
}

// resident is the memory of a process in MB, and what of it are pages of files.
func resident(pid int) (all, file float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
		switch name {
		case "VmRSS":
			all = kb * 1024 / 1e6
		case "RssFile":
			file = kb * 1024 / 1e6
		}
	}
	return all, file, nil
}
