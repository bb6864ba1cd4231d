package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/failpoint"
	"dogear/engine/flow"
	"dogear/engine/graph"
	"dogear/engine/runner"
)

// finish writes how an attempt ended: in one transaction where nothing is to
// be published, else in the first of two.
func (a *attempt) finish(ctx context.Context, r runner.Result) {
	moves, inputs, err := a.movesThrough(ctx, r)
	if err == nil && r.State == engine.Succeeded && r.Batch != nil {
		if err = a.commit(ctx, r, moves, inputs); err == nil {
			a.publish(ctx)
			return
		}
	}
	switch {
	case errors.Is(err, runner.ErrDrain): // the next server does the same plan again
	case errors.Is(err, runner.ErrStop):
		a.end(ctx, runner.Result{State: engine.Stopped, Counts: r.Counts}, nil, nil)
	case err != nil:
		a.fail(err)
	default:
		a.end(ctx, r, moves, inputs)
	}
}

// commit is T1 of model.md: the batch is committed with its manifest and the
// bookmark has its new version. From here on the publish only goes forward.
func (a *attempt) commit(ctx context.Context, r runner.Result, moves []flow.Move, inputs []flow.Input) error {
	return a.write(ctx, func(run engine.Run, node engine.NodeRun) (flow.Writes, error) {
		if node.State == engine.Stopping {
			return flow.Writes{}, runner.ErrStop
		}
		if err := node.Move(engine.Publishing, a.e.Now().UTC()); err != nil {
			return flow.Writes{}, err
		}
		batch := *r.Batch
		batch.State = engine.BatchCommitted
		node.Counts = r.Counts
		w := flow.Change(run, node, "", a.e.Now().UTC())
		w.Batch, w.Bookmarks, w.Inputs = &batch, slices.Clone(moves), inputs
		return w, nil
	})
}

// publish makes the committed batch visible, trying for as long as it takes,
// and then ends the node: T2 of model.md.
func (a *attempt) publish(ctx context.Context) {
	work := a.e.Runners[a.node.Ref.Kind]
	batch := *a.batch
	calm, cancel := a.calm()
	defer cancel()
	for try := 1; ; try++ {
		failpoint.Hit("exec.publish.before")
		tables, err := work.Publish(calm, batch, a)
		failpoint.Hit("exec.publish.after")
		if err == nil {
			a.published(context.WithoutCancel(ctx), batch, tables)
			return
		}
		if calm.Err() != nil {
			return
		}
		wait := a.e.Backoff(try)
		a.log.line(runner.Error, fmt.Sprintf("publishing failed, trying again in %s: %s", wait, reason(err)))
		a.e.Log.Error("a publish failed", "run", a.node.Run, "node", a.node.Ref, "try", try, "err", err)
		select {
		case <-time.After(wait):
		case <-calm.Done():
			return
		}
	}
}

// calm is what a publish is done under. A stop waits for it; it ends with the lease and
// with the server, and whoever takes the node up does it again: what is published by a
// server that was halted may have been replaced by others meanwhile.
func (a *attempt) calm() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(a.e.leased())
	stop := context.AfterFunc(a.e.patience, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// pause waits, or returns false where the server stops first.
func (a *attempt) pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for told := ctx.Done(); ; told = nil {
		select {
		case <-timer.C:
			return true
		case <-a.e.patience.Done():
			return false
		case <-told:
			if errors.Is(context.Cause(ctx), runner.ErrDrain) {
				return false
			}
		}
	}
}

func (a *attempt) published(ctx context.Context, batch engine.Batch, tables []engine.TableChange) {
	err := a.writeEnd(ctx, func(g *graph.Graph, run engine.Run, node engine.NodeRun, st flow.State) (flow.Writes, error) {
		now := a.e.Now().UTC()
		node.Error = ""
		if err := node.Move(engine.Succeeded, now); err != nil {
			return flow.Writes{}, err
		}
		w := flow.End(g, st, run, node, now)
		done := batch
		done.State = engine.BatchFinalized
		w.Batch, w.Tables = &done, slices.Clone(tables)
		return w, nil
	})
	if err != nil {
		a.tooLate(ctx, engine.Succeeded, err)
		return
	}
	a.ended = true
}

// fail ends the attempt by an error: of the rules, which a person may read, or
// of the machine, which the log keeps. What a stop broke off is stopped.
func (a *attempt) fail(err error) {
	result := runner.Result{State: engine.Failed, Error: reason(err)}
	if errors.Is(err, runner.ErrStop) {
		result = runner.Result{State: engine.Stopped}
	} else if engine.CodeOf(err) == engine.Internal {
		a.e.Log.Error("an attempt broke", "run", a.node.Run, "node", a.node.Ref, "err", err)
	}
	// What broke may be the watch of a script that goes on by itself.
	if p := a.node.Process; p.Apart && a.e.Processes != nil {
		if err := a.e.Processes.Kill(p); err != nil {
			a.e.Log.Error("the script of an attempt that broke could not be ended", "run", a.node.Run, "node", a.node.Ref, "err", err)
		}
	}
	a.end(context.Background(), result, nil, nil)
}

// reason is what the log and the page of an attempt say of an error. Who reads
// them may run the job, so they see the cause as well.
func reason(err error) string {
	if engine.CodeOf(err) == engine.Internal {
		return err.Error()
	}
	return engine.MessageOf(err)
}

// end writes the last state of an attempt that publishes nothing, with all
// that follows from it.
func (a *attempt) end(ctx context.Context, r runner.Result, moves []flow.Move, inputs []flow.Input) {
	ctx = context.WithoutCancel(ctx)
	if r.Error != "" && a.log != nil {
		text := r.Error
		if r.InLog {
			text, _, _ = strings.Cut(text, "\n")
		}
		a.log.line(runner.Error, text)
	}
	err := a.writeEnd(ctx, func(g *graph.Graph, run engine.Run, node engine.NodeRun, st flow.State) (flow.Writes, error) {
		return a.ending(endingOf{run: run, node: node, st: st, r: r, graph: g, moves: moves, inputs: inputs})
	})
	if err != nil {
		a.tooLate(ctx, r.State, err)
		return
	}
	a.ended = true
}

// tooLate keeps a result that did not count, because somebody else had taken the
// node over: whoever wonders later finds it among the events of the run.
func (a *attempt) tooLate(ctx context.Context, state engine.State, err error) {
	a.e.Log.Error("the end of a node could not be written", "run", a.node.Run, "node", a.node.Ref, "state", state, "err", err)
	if engine.CodeOf(err) != engine.Conflict {
		return
	}
	_, err = a.e.do(ctx, flow.Step{Run: a.node.Run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		return flow.Late(run, a.node, state, a.e.Now().UTC())
	}})
	if err != nil && engine.CodeOf(err) != engine.Conflict {
		a.e.Log.Warn("a late result was not kept", "run", a.node.Run, "node", a.node.Ref, "err", err)
	}
}
