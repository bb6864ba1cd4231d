package app

import (
	"context"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/draft"
	"dogear/engine/exec"
	"dogear/engine/runner"
	"dogear/engine/runner/python"
	"dogear/engine/runner/shim"
	"dogear/engine/runner/sql"
	"dogear/engine/schedule"
	"dogear/engine/sink"
	"dogear/engine/source"
	"dogear/engine/table"
)

// jobs makes the runner of SQL jobs, and what knows their processes.
func (h *house) jobs(planner *bookmark.Planner, sources *source.Source, sinks *sink.Sink, tables *table.Databases) (runner.Runner, exec.Processes) {
	h.shims = &shim.Shims{Dir: h.cfg.folder("runs", "shims")}
	return runner.Jobs{
		engine.JobSQL:    &sql.Runner{Planner: planner, Source: sources, Sink: sinks, Tables: tables, Pages: h.store, Command: h.cfg.Worker, Now: time.Now, Read: h.syntax.Read},
		engine.JobPython: &python.Runner{Files: sources, Shims: h.shims, Python: h.cfg.Python, LogLimit: logLimit, Keep: h.cfg.folder("runs", "scripts")},
	}, shim.Processes{}
}

// logLimit is how many bytes of each of its outputs a script may have in its log.
const logLimit = 64 << 20

// Publish makes a draft the version that runs and sets the alarm anew.
func (h *house) Publish(ctx context.Context, workflow engine.ID, seq int64, with []engine.Ref, by string) (engine.Workflow, error) {
	now := time.Now().UTC()
	made, err := h.store.PublishWorkflow(ctx, workflow, seq, with, by, now, func(t engine.Trigger) time.Time { return next(t, now) })
	if err != nil {
		return made, err
	}
	h.wakeClocks()
	h.changed("workflows", workflow)
	for _, ref := range with {
		h.changed(string(ref.Kind)+"s", ref.ID)
	}
	return made, nil
}

// Switch turns a trigger on or off in what runs and in the draft, and sets the alarm anew.
func (h *house) Switch(ctx context.Context, workflow engine.ID, turn draft.Turn, by string) (engine.Workflow, error) {
	now := time.Now().UTC()
	made, entry, err := h.store.SwitchTrigger(ctx, workflow, turn, by, now, func(t engine.Trigger) time.Time { return next(t, now) })
	if err != nil {
		return made, err
	}
	h.wakeClocks()
	h.changed("workflows", workflow)
	if entry != nil {
		h.drafted(workflow, []draft.Entry{*entry})
	}
	return made, nil
}

// schedules is what this server asks of schedules.
func (h *house) schedules() schedule.Rules { return schedule.Rules{Floor: h.cfg.Floor} }
