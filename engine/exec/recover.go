package exec

import (
	"context"
	"errors"
	"time"

	"dogear/engine"
	"dogear/engine/flow"
)

// recover takes up every node that an earlier server left open. Nothing is
// guessed: the database says how far each had come.
func (e *Exec) recover(ctx context.Context, left []engine.NodeRun) {
	for _, n := range left {
		if n.State == engine.Ready {
			e.await(n)
			continue
		}
		e.work.Go(func() { e.adopt(ctx, n) })
	}
	e.fill()
}

// reserve keeps what an earlier server left its slots and its targets, before
// this one starts anything new.
func (e *Exec) reserve(ctx context.Context, left []engine.NodeRun) {
	for i := range left {
		if left[i].State != engine.Ready {
			e.slots.take(left[i].Ref)
		}
		e.hold(ctx, &left[i])
	}
}

// hold takes the targets of a committed batch before anything else starts: what
// it will publish was made from the target as it is now.
func (e *Exec) hold(ctx context.Context, n *engine.NodeRun) {
	if n.State != engine.Publishing || n.Batch == "" {
		return
	}
	batch, err := e.Store.Batch(ctx, n.Batch)
	if err != nil {
		e.Log.Error("the targets of a batch could not be held", "run", n.Run, "node", n.Ref, "err", err)
		return
	}
	if holder, busy := e.targets.try(e.targetsOf(ctx, &batch.Body), n.Key()); busy != nil {
		e.Log.Error("two committed batches have one target", "run", n.Run, "other", holder.Run)
	}
}

// adopt waits until the process of a node is gone, then goes on with the very
// same attempt. Its fence moves, so that nothing of the old server counts.
func (e *Exec) adopt(ctx context.Context, n engine.NodeRun) {
	batch, err := e.leftBehind(ctx, n)
	if err == nil {
		err = e.end(ctx, n.Process)
	}
	if err == nil && n.State == engine.Stopping {
		err = e.stopLeft(ctx, n, batch)
		e.slots.release(n.Key())
		e.fill()
	} else if err == nil {
		err = e.retake(ctx, n, batch)
	}
	if err != nil && ctx.Err() == nil {
		e.Log.Error("a node could not be taken up", "run", n.Run, "node", n.Ref, "err", err)
	}
}

// leftBehind reads the batch of a node and removes what it staged, unless it
// is committed: then the stage is what will be published.
func (e *Exec) leftBehind(ctx context.Context, n engine.NodeRun) (*engine.Batch, error) {
	if n.Batch == "" {
		return nil, nil
	}
	batch, err := e.Store.Batch(ctx, n.Batch)
	if err != nil {
		return nil, err
	}
	if batch.State == engine.BatchCommitted {
		return &batch, nil
	}
	return &batch, e.Runners[n.Ref.Kind].Discard(ctx, batch)
}

// processPoll is how often a process that is not our child is looked at.
const processPoll = 20 * time.Millisecond

// end makes sure that a recorded process is gone. An SQL worker ends by itself
// with the server whose pipe it holds; one that hangs is killed.
func (e *Exec) end(ctx context.Context, p engine.Process) error {
	const patience = 2 * time.Second
	if p.PID == 0 {
		return nil
	}
	tick := time.NewTicker(processPoll)
	defer tick.Stop()
	for waited := time.Duration(0); e.Processes.Alive(p); waited += processPoll {
		if waited >= patience {
			if err := e.Processes.Kill(p); err != nil && e.Processes.Alive(p) {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// retake writes that this server works on the node now, and launches it.
func (e *Exec) retake(ctx context.Context, n engine.NodeRun, batch *engine.Batch) error {
	w, err := e.do(ctx, flow.Step{Run: n.Run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		now, err := current(st, n.Key(), n.Fence)
		if err != nil {
			return flow.Writes{}, err
		}
		now.Fence++
		now.Process = engine.Process{}
		return flow.Writes{Run: run, Nodes: []engine.NodeRun{now}}, nil
	}})
	if err != nil {
		return err
	}
	e.launch(w.Nodes[0], batch)
	return nil
}

// stopLeft ends a node that was being stopped when the server ended.
func (e *Exec) stopLeft(ctx context.Context, n engine.NodeRun, batch *engine.Batch) error {
	p, err := e.pinned(ctx, n.Run)
	if err != nil {
		return err
	}
	_, err = e.do(ctx, flow.Step{Run: n.Run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		now, err := current(st, n.Key(), n.Fence)
		if err != nil {
			return flow.Writes{}, err
		}
		err = errors.Join(err, now.Move(engine.Stopped, e.Now().UTC()))
		w := flow.End(p.graph, st, run, now, e.Now().UTC())
		if batch != nil {
			gone := *batch
			gone.State = engine.BatchDiscarded
			w.Batch = &gone
		}
		return w, err
	}})
	return err
}
