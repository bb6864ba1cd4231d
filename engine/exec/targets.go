package exec

import (
	"context"
	"fmt"
	"slices"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// One attempt at a time writes a target, from its plan to its publish: what it
// read of the target then still holds when it is published. Who writes what
// stands in the database, so that it holds for every server and through a
// restart, and ends with the node run (docs/adr/0013).

// targetsOf names what a job writes, by where it really lies.
func (e *Exec) targetsOf(ctx context.Context, job *engine.JobBody) []string {
	if job.SQL == nil {
		return nil
	}
	var names []string
	for _, s := range job.SQL.Sinks {
		names = append(names, e.Target(ctx, s))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// spelled is the target of a sink where nobody knows where it really lies.
func spelled(_ context.Context, s engine.Sink) string { return string(s.Connection) + " " + s.Place() }

// takeTargets waits until nobody else writes what the job writes.
func (a *attempt) takeTargets(ctx context.Context) error {
	if a.job == nil {
		return nil
	}
	names := a.e.targetsOf(ctx, &a.job.JobBody)
	if len(names) == 0 {
		return nil
	}
	told := false
	for {
		free := a.e.targetsFree() // before the look, so that no end in between is missed
		holder, err := a.e.Store.HoldTargets(ctx, a.node.Key(), names)
		if err != nil || holder == nil {
			return err
		}
		if !told {
			a.waitsFor(ctx, *holder)
			told = true
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-free:
		}
	}
}

// waitsFor says on the node and in its log whose end it waits for.
func (a *attempt) waitsFor(ctx context.Context, holder engine.NodeKey) {
	why := fmt.Sprintf("waits until run %s has written its target", holder.Run)
	a.log.line(runner.Info, why)
	node := a.node
	node.Why = why
	_ = a.write(ctx, func(run engine.Run, _ engine.NodeRun) (flow.Writes, error) {
		return flow.Change(run, node, why, a.e.Now()), nil
	})
}

// targetsFree returns a channel that is closed when a node run ends.
func (e *Exec) targetsFree() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.free
}

// freeTargets wakes the attempts that wait for a target.
func (e *Exec) freeTargets() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.free)
	e.free = make(chan struct{})
}
