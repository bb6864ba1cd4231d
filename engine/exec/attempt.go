package exec

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/graph"
	"dogear/engine/runner"
)

// attempt is a node run that this server works on.
type attempt struct {
	e      *Exec
	node   engine.NodeRun // as it was last written
	run    engine.Run
	told   map[string]string // the properties of the run as this attempt is told them
	job    *engine.Job
	limit  limit
	ctx    context.Context // until it is told to stop
	cancel context.CancelCauseFunc
	log    *logFile
	apart  atomic.Bool // its process lives apart from this server
	waits  bool        // its process waits for its release since the claim
	// batch is the one of this attempt, once it is planned.
	batch *engine.Batch
	ended bool     // its end is written, and what it leaves can go
	next  *attempt // that its end has started, and that its goroutine goes on with
}

// path names the directory or log of an attempt below the exec's directory. Each step asks
// for it, and what it joins is clean.
func (e *Exec) path(kind string, key engine.NodeKey) string {
	const slash = string(filepath.Separator)
	return e.Dir + slash + kind + slash + string(key.Run) + slash + key.Ref.String() + "-" + strconv.Itoa(key.Start) + "-" + strconv.Itoa(key.Attempt)
}

// LogPath is the file that holds the log of an attempt.
func (e *Exec) LogPath(key engine.NodeKey) string { return e.path("log", key) + ".log" }

// work takes the attempt from its claim to its end. Every way out but the
// server's own stop writes how it ended.
func (a *attempt) work(ctx context.Context) {
	key := a.node.Key()
	a.log = &logFile{
		path: a.e.LogPath(key), now: a.e.Now, told: func() { a.e.Logged(key) },
		first: func() string { return describe(&a.node) },
	}
	if a.e.Store.Shared() {
		a.log.ship = &shipped{logs: a.e.Store, key: key, fence: a.node.Fence, path: a.log.path, dirt: make(chan struct{}, 1)}
	}
	if !a.pickUp(ctx) {
		return
	}
	switch {
	case a.batch != nil && a.batch.State == engine.BatchCommitted:
		a.publish(ctx)
		return
	case a.node.State == engine.Stopping && a.node.Process.Apart: // what it was being stopped for still lives, perhaps
		a.cancel(runner.ErrStop)
	case a.node.State == engine.Stopping: // it was being stopped when its server went away
		a.end(ctx, runner.Result{State: engine.Stopped}, nil, nil)
		return
	}
	result, err := a.executeThrough(ctx)
	if errors.Is(context.Cause(ctx), runner.ErrDrain) {
		return // the next server takes it up where the database says it is
	}
	if err != nil {
		a.fail(err)
		return
	}
	a.finish(ctx, result)
}

// executeThrough executes the attempt anew where it broke because the database
// was away: that is no failure of the job. A stop waits for the database, too.
func (a *attempt) executeThrough(ctx context.Context) (runner.Result, error) {
	for {
		result, err := a.execute(ctx)
		if err == nil || engine.CodeOf(err) != engine.Internal && !away(err) || !a.outlasted(ctx) {
			return result, err
		}
		if a.batch != nil {
			a.node.Batch = a.batch.ID
		}
		if !a.pickUp(ctx) {
			return result, err
		}
	}
}

// outlasted reports whether the database was away and answers again: it waits for that.
func (a *attempt) outlasted(ctx context.Context) bool {
	calm, cancel := a.calm()
	defer cancel()
	if a.e.Store.Ping(calm) == nil || calm.Err() != nil {
		return false
	}
	a.log.line(runner.Warn, "the database of the server does not answer; the attempt begins again when it does")
	for calm.Err() == nil && a.pause(ctx, a.e.Backoff(1)) {
		if a.e.Store.Ping(calm) == nil {
			return true
		}
	}
	return false
}

// execute loads what the attempt needs and gives it to its runner.
func (a *attempt) execute(ctx context.Context) (runner.Result, error) {
	input, err := a.loadThrough(ctx)
	if err != nil {
		a.giveBack()
		return runner.Result{}, err
	}
	if err := a.takeTargets(ctx); err != nil {
		if ctx.Err() != nil {
			return runner.Result{State: ended(ctx, engine.Stopped)}, nil
		}
		return runner.Result{}, err
	}
	left := a.limit.Duration
	if input.Left != nil && !a.node.Deadline.IsZero() { // what ran on without a server spent its time
		left = a.node.Deadline.Sub(a.e.Now())
	}
	limited, cancel := context.WithTimeoutCause(ctx, left, runner.ErrTimeout)
	defer cancel()
	work := a.e.Runners[a.node.Ref.Kind]
	if work == nil {
		return runner.Result{}, engine.Errorf(engine.Invalid, "This server cannot run a %s.", a.node.Ref.Kind)
	}
	result, err := a.guarded(limited, work, input)
	if state := ended(limited, ""); state != "" && result.State != engine.Succeeded {
		return runner.Result{State: state, Error: a.sentence(state), Counts: result.Counts, Batch: result.Batch}, nil
	}
	return result, err
}

// guarded runs an attempt. A defect of the runner breaks this attempt and not the server,
// which would take it up and meet the defect again.
func (a *attempt) guarded(ctx context.Context, work runner.Runner, input *runner.Attempt) (result runner.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			a.e.Log.Error("a runner panicked", "run", a.node.Run, "node", a.node.Ref, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the server has met a defect of its own, which its log describes (%v)", p)
		}
	}()
	return work.Run(ctx, *input, a)
}

// ended says in which state a cancelled context leaves a node, or otherwise.
func ended(ctx context.Context, otherwise engine.State) engine.State {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, runner.ErrStop):
		return engine.Stopped
	case errors.Is(cause, runner.ErrTimeout):
		return engine.TimedOut
	}
	return otherwise
}

func (a *attempt) sentence(state engine.State) string {
	if state == engine.TimedOut {
		return a.limit.overtime()
	}
	return ""
}

// write commits a step on the attempt's node, unless somebody else has taken
// the node over, which its fence shows. The node is then as it was written.
func (a *attempt) write(ctx context.Context, decide func(engine.Run, engine.NodeRun) (flow.Writes, error)) error {
	return a.step(ctx, flow.Step{}, func(run engine.Run, node engine.NodeRun, _ flow.State) (flow.Writes, error) {
		return decide(run, node)
	})
}

// writeEnd commits the step in which the attempt's node ends. What keeps it from
// being written, such as a full disk, is waited for: nobody else would ever end
// the node. decide gets the graph of the run, nil for a job or crawl alone.
func (a *attempt) writeEnd(ctx context.Context, decide func(*graph.Graph, engine.Run, engine.NodeRun, flow.State) (flow.Writes, error)) error {
	for try := 1; ; try++ {
		p, err := a.e.pinned(ctx, a.node.Run)
		if err == nil {
			err = a.step(ctx, flow.Step{Ends: true}, func(run engine.Run, node engine.NodeRun, st flow.State) (flow.Writes, error) {
				return decide(p.graph, run, node, st)
			})
		}
		if code := engine.CodeOf(err); err == nil || code != engine.Internal && code != engine.Away || a.e.isFenced() {
			return err
		}
		a.e.Log.Error("the end of a node cannot be written and is tried again", "run", a.node.Run, "node", a.node.Ref, "try", try, "err", err)
		a.tidy()
		select {
		case <-a.e.leased().Done():
			return err
		case <-time.After(min(a.e.Backoff(try), longestWait)):
		}
		if a.e.ends() {
			return err // the next server takes the node up
		}
	}
}

// tidy removes what the attempt leaves behind and nobody needs: it may be that which
// fills the disk.
func (a *attempt) tidy() {
	if work, ok := a.e.Runners[a.node.Ref.Kind].(runner.Keeper); ok {
		work.Tidy(a.node.Process)
	}
}

// longestWait is how long an end that cannot be written waits at most until it
// is tried again.
const longestWait = 5 * time.Second

// ends reports that every attempt was told that the server ends.
func (e *Exec) ends() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.drained != nil
}

func (a *attempt) step(ctx context.Context, step flow.Step, decide func(engine.Run, engine.NodeRun, flow.State) (flow.Writes, error)) error {
	key, fence := a.node.Key(), a.node.Fence
	step.Run = a.node.Run
	step.Decide = func(run engine.Run, st flow.State) (flow.Writes, error) {
		now, err := current(st, key, fence)
		if err != nil {
			return flow.Writes{}, err
		}
		return decide(run, now, st)
	}
	var w flow.Writes
	var err error
	if step.Ends {
		w, a.next, err = a.e.doAtOnce(step)
	} else {
		w, err = a.e.do(context.WithoutCancel(ctx), step)
	}
	if err != nil {
		return err
	}
	for _, n := range w.Nodes {
		if n.Key() == key {
			a.node = n
		}
	}
	if w.Batch != nil {
		a.batch = w.Batch
	}
	return nil
}

// current returns a node as it is now, or Conflict where its fence has moved
// on: then somebody else works on it and this caller must write nothing.
func current(st flow.State, key engine.NodeKey, fence int64) (engine.NodeRun, error) {
	for _, n := range st.NodeRuns(key.Ref) {
		if n.Key() == key && n.Fence == fence {
			return n, nil
		}
	}
	return engine.NodeRun{}, engine.Errorf(engine.Conflict, "This attempt has been taken over; its result is not counted.")
}
