// Package sql runs SQL jobs: it plans, fetches, lets a worker process compute,
// stages what came of it, and publishes it once the batch was committed.
package sql

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/duck"
	"dogear/engine/place"
	"dogear/engine/runner"
	"dogear/engine/runner/shim"
	"dogear/engine/sink"
	"dogear/engine/source"
	"dogear/engine/table"
)

// Planner makes the plan of an attempt.
type Planner interface {
	Plan(ctx context.Context, q bookmark.Request) (engine.Plan, error)
}

// Runner runs SQL jobs. It fits runner.Runner.
type Runner struct {
	Planner Planner
	Source  *source.Source
	Sink    *sink.Sink
	Tables  *table.Databases // may be nil where no job reads or writes tables
	Pages   bookmark.Pages   // of the ledgers; may be nil where no table is compared
	Command []string         // starts a worker; empty is this binary with "worker"
	Threads int              // of a worker; 0 is all processors
	Now     func() time.Time
	// Read is told which columns a source had when it was read; it may be nil.
	Read func(engine.Source, []engine.Column)
}

// allChanged is how an attempt ends of which errNothingLeft is said.
var allChanged = runner.Result{State: engine.Succeeded, Counts: engine.Counts{AllChanged: true}}

// errNothingLeft ends an attempt well before it has written anything.
var errNothingLeft = errors.New("nothing to do: everything changed since it was listed, and is read by the next run")

// maxTries is how often a batch begins again because its files change while
// they are read.
const maxTries = 3

// Run works on one attempt of a SQL job.
func (r *Runner) Run(ctx context.Context, a runner.Attempt, h runner.Host) (runner.Result, error) {
	result, err := r.run(ctx, a, h)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return r.interrupted(ctx, result)
	case engine.CodeOf(err) == engine.Internal:
		return result, err
	}
	result.State, result.Error, result.Batch = engine.Failed, engine.MessageOf(err), nil
	return result, nil
}

// interrupted is the result of an attempt that was told to end.
func (r *Runner) interrupted(ctx context.Context, result runner.Result) (runner.Result, error) {
	result.Batch = nil
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, runner.ErrStop):
		result.State = engine.Stopped
	case errors.Is(cause, runner.ErrTimeout):
		result.State = engine.TimedOut
	default:
		return result, cause
	}
	return result, nil
}

// work is one attempt under way.
type work struct {
	*Runner
	runner.Attempt
	host    runner.Host
	batch   engine.Batch
	fetched []source.Fetched // by source of the plan
	selects []*table.Select  // by source of the plan; nil for files
	stages  []sink.Stage     // by sink
	likes   []sink.Existing  // by sink, the newest file of its target; nil until looked for
}

func (r *Runner) run(ctx context.Context, a runner.Attempt, h runner.Host) (runner.Result, error) {
	w := &work{Runner: r, Attempt: a, host: h}
	if err := w.plan(ctx); err != nil {
		return runner.Result{}, err
	}
	if err := w.apart(ctx); err != nil {
		return runner.Result{}, err
	}
	if w.batch.Plan.Empty() {
		held := tellHeld(h, w.batch.Plan)
		return runner.Result{State: engine.Succeeded, Counts: engine.Counts{NothingNew: true, Held: held}}, nil
	}
	if err := w.mayOverwrite(); err != nil {
		return runner.Result{}, err
	}
	if err := w.fetch(ctx); err != nil {
		return runner.Result{}, err
	}
	if w.nothingLeft() {
		h.Log(runner.Info, errNothingLeft.Error())
		return allChanged, nil
	}
	computed, err := w.compute(ctx)
	if errors.Is(err, errNothingLeft) {
		h.Log(runner.Info, err.Error())
		return allChanged, w.discard(ctx)
	}
	if err != nil {
		return runner.Result{}, errors.Join(err, w.discard(ctx))
	}
	for i, part := range w.batch.Plan.Sources {
		w.learned(part, computed.Relations[i])
	}
	return w.stage(ctx, computed)
}

// learned passes on which columns a source has.
func (w *work) learned(part engine.SourcePlan, had duck.Relation) {
	if w.Read != nil {
		w.Read(part.Spec, had.Columns)
	}
}

// plan makes the plan of the attempt, or takes the one it already has.
func (w *work) plan(ctx context.Context) error {
	if w.Recover != nil {
		w.batch = *w.Recover
		w.host.Log(runner.Info, fmt.Sprintf("batch %d is run again from its plan", w.batch.Number))
		return w.Discard(ctx, w.batch)
	}
	plan, err := w.Planner.Plan(ctx, bookmark.Request{Job: *w.Job, Run: w.Attempt.Run.ID, Pick: w.Attempt.Run.Pick, Now: w.Now()})
	if err != nil {
		return err
	}
	if w.Attempt.Run.Pick != nil && plan.Empty() {
		return engine.Errorf(engine.Invalid, "Nothing that counts as read fits %s, so there is nothing to read again.", w.Attempt.Run.Pick.Words())
	}
	for _, part := range plan.Sources {
		tellPlan(w.host, part)
	}
	if w.Attempt.Run.Pick != nil {
		w.tellDoubles()
	}
	if err := w.infer(ctx, &plan); err != nil {
		return err
	}
	if w.batch, err = w.host.Planned(ctx, plan); err != nil {
		return err
	}
	w.host.Log(runner.Info, fmt.Sprintf("plan written: batch %d, %s", w.batch.Number, amount(plan.Taken())))
	return nil
}

// fetch makes what the plan takes readable.
func (w *work) fetch(ctx context.Context) error {
	if w.fetched == nil {
		w.fetched = make([]source.Fetched, len(w.batch.Plan.Sources))
	}
	if w.selects == nil {
		w.selects = make([]*table.Select, len(w.batch.Plan.Sources))
	}
	for i, part := range w.batch.Plan.Sources {
		if w.fetched[i].Root == "" {
			if err := w.fetchOne(ctx, i, part); err != nil {
				return err
			}
		}
		if err := w.leave(part, w.fetched[i].Changed); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) fetchOne(ctx context.Context, i int, part engine.SourcePlan) error {
	if part.Spec.Table != "" {
		return w.fetchTable(ctx, i, part)
	}
	objects := make([]engine.Object, len(part.Taken))
	for j, o := range part.Taken {
		objects[j] = o.Object
	}
	var err error
	w.fetched[i], err = w.Source.Fetch(ctx, part.Spec, objects, filepath.Join(w.Dir, fmt.Sprintf("in-%d", i)))
	return err
}

// nothingLeft reports that no source read by bookmark has a file left.
func (w *work) nothingLeft() bool {
	news, left := 0, 0
	for i, part := range w.batch.Plan.Sources {
		if part.Read != engine.ReadAll {
			news++
			left += len(w.fetched[i].Files)
		}
	}
	return news > 0 && left == 0
}

// compute lets a worker write the stages. Files that were rewritten while it
// read them leave the batch, which then begins again.
func (w *work) compute(ctx context.Context) (duck.Result, error) {
	for try := 1; ; try++ {
		if err := w.prepare(ctx); err != nil {
			return duck.Result{}, err
		}
		result, err := w.worker().Do(ctx, w.request())
		if ctx.Err() != nil {
			return result, err
		}
		// A file that changed or went may be why the worker failed.
		again, unsure := w.verify(ctx)
		if err == nil || engine.CodeOf(unsure) == engine.Conflict {
			err = unsure
		}
		if unsure != nil || !again {
			return result, err
		}
		if w.nothingLeft() {
			return result, errNothingLeft
		}
		if try == maxTries {
			return result, engine.Errorf(engine.Conflict, "The files of this job keep changing while they are read. Let their writer finish, or give the source a longer settle time.")
		}
	}
}

// errTaken ends an attempt that another server has taken over.
var errTaken = engine.Errorf(engine.Conflict, "This attempt has been taken over; its result is not counted.")

// prepare makes a new empty stage for every sink.
func (w *work) prepare(ctx context.Context) error {
	if !w.host.Mine(ctx) {
		return errTaken
	}
	w.stages = nil
	for i, out := range w.Job.SQL.Sinks {
		stage, err := w.Sink.Prepare(ctx, out, i, w.batch.ID, w.Node.Fence, w.Dir)
		if err != nil {
			return err
		}
		w.stages = append(w.stages, stage)
	}
	return w.findLikes(ctx)
}

// findLikes finds the files that tell which columns the targets have.
func (w *work) findLikes(ctx context.Context) error {
	if w.likes != nil {
		return nil
	}
	var likes []sink.Existing
	for i, out := range w.Job.SQL.Sinks {
		like, err := w.Sink.Like(ctx, out, filepath.Join(w.Dir, fmt.Sprintf("like-%d", i)))
		if engine.CodeOf(err) == engine.Forbidden && place.IsS3(out.Path) { // it may be written and not read
			w.host.Log(runner.Warn, fmt.Sprintf("the types of %s are not compared with the result: %s", out.Place(), engine.MessageOf(err)))
			like, err = sink.Existing{}, nil
		}
		if err != nil {
			return err
		}
		likes = append(likes, like)
	}
	w.likes = likes
	return nil
}

// worker is a worker process that reports to the host.
func (w *work) worker() duck.Worker {
	return duck.Worker{
		Command: w.Command,
		Started: func(ctx context.Context, pid int) error {
			p, err := shim.Identify(pid)
			if err != nil {
				return err
			}
			return w.host.Started(ctx, p)
		},
		Progress: func(p duck.Progress) {
			w.host.Progress(runner.Progress{Percent: p.Percent, Note: p.Note})
		},
		Notice: func(n duck.Notice) {
			level := runner.Info
			if n.Warn {
				level = runner.Warn
			}
			w.host.Log(level, n.Text)
		},
	}
}

func (w *work) request() duck.Request {
	job := w.Job.SQL
	run := duck.Run{Steps: job.Steps, MaxRejects: job.MaxRejects, Batch: w.batch.Number, Tag: w.batch.Tag(), Properties: w.Properties()}
	for i, part := range w.batch.Plan.Sources {
		in := input(part, w.fetched[i])
		in.Table = w.selects[i]
		run.Inputs = append(run.Inputs, in)
	}
	for i, out := range job.Sinks {
		o := duck.Output{Sink: out, Stage: w.stages[i].Data, Table: w.stages[i].Table}
		o.Like = duck.Existing{Key: w.likes[i].Key, Path: w.likes[i].Path}
		if out.Mode == engine.Merge || out.Mode == engine.OverwritePartitions {
			for _, e := range w.stages[i].Existing {
				o.Existing = append(o.Existing, duck.Existing{Path: e.Path, Partition: e.Partition})
			}
		}
		run.Outputs = append(run.Outputs, o)
	}
	return duck.Request{
		Limits: duck.Limits{Threads: w.Threads, MemoryMB: w.Job.MemoryMB, SpillMB: w.Job.SpillMB, Scratch: filepath.Join(w.Dir, "scratch")},
		Run:    &run,
	}
}

// input is a source as the worker sees it.
func input(part engine.SourcePlan, got source.Fetched) duck.Input {
	spec := part.Spec
	in := duck.Input{
		Name: spec.Name, Format: spec.Format, Dialect: spec.Options.CSV, Schema: part.Schema, Inferred: len(spec.Schema) == 0,
		Root: got.Root, Hold: spec.Policy.Unreadable == "hold",
	}
	if in.Format == "" {
		in.Format = engine.CSV
	}
	for _, f := range got.Files {
		in.Files = append(in.Files, duck.File{Key: f.Key, Path: f.Path})
	}
	return in
}

// verify takes files that changed while they were read out of the batch, and
// reports whether there were any.
func (w *work) verify(ctx context.Context) (bool, error) {
	again := false
	for i, part := range w.batch.Plan.Sources {
		if part.Spec.Table != "" {
			continue // a snapshot does not change
		}
		changed, err := w.Source.Verify(ctx, part.Spec, w.fetched[i])
		if err != nil {
			return false, err
		}
		if len(changed) == 0 {
			continue
		}
		again = true
		if err := w.leave(part, changed); err != nil {
			return false, err
		}
		w.fetched[i].Files = slices.DeleteFunc(w.fetched[i].Files, func(f source.File) bool {
			return slices.ContainsFunc(changed, func(o engine.Object) bool { return o.Key == f.Key })
		})
	}
	return again, nil
}

// discard removes the stages of an attempt that failed. It happens even where
// the attempt was told to end. Where it is another server's by now, which does the
// same batch again, only what is surely of this one is removed.
func (w *work) discard(ctx context.Context) error {
	if !w.host.Mine(ctx) {
		var all []error
		for _, stage := range w.stages {
			all = append(all, w.Sink.Leave(stage))
		}
		return errors.Join(all...)
	}
	return w.Discard(context.WithoutCancel(ctx), w.batch)
}

// Discard removes what a batch has staged.
func (r *Runner) Discard(ctx context.Context, b engine.Batch) error {
	if b.Body.SQL == nil {
		return nil
	}
	var all []error
	for i, out := range b.Body.SQL.Sinks {
		all = append(all, r.Sink.Discard(ctx, out, i, b))
	}
	return errors.Join(all...)
}
