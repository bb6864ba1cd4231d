package runner

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"

	"dogear/engine"
)

// Jobs is the runner of all jobs: each kind has its own.
type Jobs map[engine.JobKind]Runner

// Run lets the runner of the job's kind work on it.
func (j Jobs) Run(ctx context.Context, a Attempt, h Host) (Result, error) {
	work, err := j.of(a.Job.Kind)
	if err != nil {
		return Result{}, err
	}
	return work.Run(ctx, a, h)
}

// Publish makes the output of a batch visible.
func (j Jobs) Publish(ctx context.Context, b engine.Batch, h Host) ([]engine.TableChange, error) {
	work, err := j.of(b.Body.Kind)
	if err != nil {
		return nil, err
	}
	return work.Publish(ctx, b, h)
}

// Discard removes what a batch has staged.
func (j Jobs) Discard(ctx context.Context, b engine.Batch) error {
	work, err := j.of(b.Body.Kind)
	if err != nil {
		return err
	}
	return work.Discard(ctx, b)
}

// Reserve lets the runner of the job's kind reserve a process, if it keeps any.
func (j Jobs) Reserve(a *Attempt) (engine.Process, bool) {
	if work, ok := j[a.Job.Kind].(Ahead); ok {
		return work.Reserve(a)
	}
	return engine.Process{}, false
}

// Return tells all that keep processes.
func (j Jobs) Return(key engine.NodeKey) {
	for _, work := range j {
		if work, ok := work.(Ahead); ok {
			work.Return(key)
		}
	}
}

// KeepOnly tells all that keep folders.
func (j Jobs) KeepOnly(left []engine.Process) error {
	return j.keepers(func(work Keeper) error { return work.KeepOnly(left) })
}

// Tidy tells all that keep folders.
func (j Jobs) Tidy(p engine.Process) {
	_ = j.keepers(func(work Keeper) error { work.Tidy(p); return nil })
}

// Reuse asks all that keep processes.
func (j Jobs) Reuse(p engine.Process) bool {
	for _, work := range j {
		if work, ok := work.(Keeper); ok && work.Reuse(p) {
			return true
		}
	}
	return false
}

// Clean tells all that keep folders.
func (j Jobs) Clean(p engine.Process) error {
	return j.keepers(func(work Keeper) error { return work.Clean(p) })
}

func (j Jobs) keepers(do func(Keeper) error) (err error) {
	for _, work := range j {
		if work, ok := work.(Keeper); ok {
			err = errors.Join(err, do(work))
		}
	}
	return err
}

func (j Jobs) of(kind engine.JobKind) (Runner, error) {
	if kind == "" {
		kind = engine.JobSQL
	}
	if work := j[kind]; work != nil {
		return work, nil
	}
	return nil, engine.Errorf(engine.Invalid, "This server cannot run a job of the kind %q.", kind)
}

// Properties are what the work of an attempt is told: those of the run, over
// the job's own arguments, under those with which the node was started.
func (a *Attempt) Properties() map[string]string {
	all := map[string]string{}
	for _, layer := range []map[string]string{a.Job.Arguments, a.Run.Properties, a.Node.Arguments} {
		maps.Copy(all, layer)
	}
	return all
}

// Marked is a process that carries the marker of an attempt.
type Marked struct {
	PID    int
	Name   string // of its program
	Marker string
}

// Marker names an attempt in the environment of every process that works for
// it, by which those are found that leave its process group.
func Marker(key engine.NodeKey) string {
	return string(key.Run) + "/" + key.Ref.String() + "/" + strconv.Itoa(key.Start) + "/" + strconv.Itoa(key.Attempt)
}

// ParseMarker reads what Marker writes.
func ParseMarker(text string) (engine.NodeKey, error) {
	wrong := engine.Errorf(engine.Invalid, "%.80q is no marker of an attempt.", text)
	parts := strings.Split(text, "/")
	if len(parts) != 4 {
		return engine.NodeKey{}, wrong
	}
	run, err := engine.ParseID(parts[0])
	if err != nil {
		return engine.NodeKey{}, wrong
	}
	ref, err := engine.ParseRef(parts[1])
	if err != nil {
		return engine.NodeKey{}, wrong
	}
	start, err := strconv.Atoi(parts[2])
	if err != nil {
		return engine.NodeKey{}, wrong
	}
	attempt, err := strconv.Atoi(parts[3])
	if err != nil {
		return engine.NodeKey{}, wrong
	}
	return engine.NodeKey{Run: run, Ref: ref, Start: start, Attempt: attempt}, nil
}
