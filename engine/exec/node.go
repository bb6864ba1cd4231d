package exec

import (
	"context"

	"dogear/engine"
	"dogear/engine/flow"
)

// Skip tells an open run of a workflow not to do a node that has not begun. What
// waits for it goes on as if it had succeeded.
func (e *Exec) Skip(ctx context.Context, run engine.ID, ref engine.Ref, by, why string) (engine.Run, error) {
	return e.ofNode(ctx, run, func(p pin, run engine.Run, st flow.State) (flow.Writes, error) {
		return flow.Skip(p.graph, st, run, ref, by, why, e.Now().UTC())
	})
}

// Unskip takes back what Skip has said of a node that has not had its turn.
func (e *Exec) Unskip(ctx context.Context, run engine.ID, ref engine.Ref, by string) (engine.Run, error) {
	return e.ofNode(ctx, run, func(p pin, run engine.Run, st flow.State) (flow.Writes, error) {
		return flow.Unskip(p.graph, st, run, ref, by, e.Now().UTC())
	})
}

// StopNode stops one node of a run of a workflow and lets the run go on. start names
// one of several starts of it; 0 is all that are open.
func (e *Exec) StopNode(ctx context.Context, run engine.ID, ref engine.Ref, start int, by string) (engine.Run, error) {
	return e.ofNode(ctx, run, func(p pin, run engine.Run, st flow.State) (flow.Writes, error) {
		return flow.StopNode(p.graph, st, run, ref, start, by, e.Now().UTC())
	})
}

// ofNode writes a step on a run that is asked for of one of its nodes.
func (e *Exec) ofNode(ctx context.Context, id engine.ID, decide func(pin, engine.Run, flow.State) (flow.Writes, error)) (engine.Run, error) {
	p, err := e.pinned(ctx, id)
	if err != nil {
		return engine.Run{}, err
	}
	written, err := e.do(ctx, flow.Step{Run: id, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		return decide(p, run, st)
	}})
	return written.Run, err
}
