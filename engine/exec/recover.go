package exec

import (
	"context"
	"errors"
	"time"

	"dogear/engine"
	"dogear/engine/failpoint"
	"dogear/engine/flow"
)

// recover takes up every node that a server which is gone left under way.
// Nothing is guessed: the database says how far each had come.
func (e *Exec) recover(ctx context.Context, left []engine.NodeRun) {
	for _, n := range left {
		e.work.Go(func() { e.adopt(ctx, n) })
	}
	e.fill()
}

// adopt goes on with the very same attempt at a node. It waits until the process
// of the node is gone, but for one that lives apart from its server: that is
// found again by the node's runner. The fence moves, so that nothing of the old server counts, and
// of several servers that try it one succeeds.
func (e *Exec) adopt(ctx context.Context, n engine.NodeRun) {
	err := e.takeUp(ctx, n)
	for try := 1; err != nil && engine.CodeOf(err) != engine.Conflict && !e.isFenced() && ctx.Err() == nil; try++ {
		e.Log.Error("a node could not be taken up", "run", n.Run, "node", n.Ref, "try", try, "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(e.Backoff(try)):
			err = e.takeUp(ctx, n)
		}
	}
	e.mu.Lock()
	delete(e.adopting, n.Key())
	delete(e.early, n.Key())
	e.mu.Unlock()
	if err != nil { // somebody else has it, or this server is on its way down
		e.slots.release(&n)
		e.fill()
	}
	e.freeTargets()
}

// takeUp launches an attempt at a node that is this server's from now on.
func (e *Exec) takeUp(ctx context.Context, n engine.NodeRun) error {
	told, err := e.Store.PropertiesOf(ctx, n.Key())
	if err != nil {
		return err
	}
	for {
		if !n.Process.Apart {
			if err := e.end(ctx, n.Process); err != nil {
				return err
			}
		}
		failpoint.Hit("exec.retake.before")
		taken, err := e.retake(ctx, n)
		failpoint.Hit("exec.retake.after")
		if errors.Is(err, errOtherProcess) {
			n = taken
			continue
		}
		if err == nil {
			e.launch(e.attempt(taken, told, true))
		}
		return err
	}
}

// errOtherProcess says that the old server, thought gone, has just recorded a
// process: it has to end before the node is anybody else's.
var errOtherProcess = errors.New("another process works on the node")

// pickUp reads the batch that an earlier attempt at the node has left, and
// removes what it staged, unless it is committed: then the stage is what will
// be published. It tries for as long as it takes, and a stop waits for it.
func (a *attempt) pickUp(ctx context.Context) bool {
	if a.node.Batch == "" {
		return true
	}
	calm, cancel := a.calm()
	defer cancel()
	for try := 1; ; try++ {
		err := a.leftBehind(calm)
		if err == nil {
			return true
		}
		if calm.Err() != nil {
			return false
		}
		a.e.Log.Error("what an attempt left behind could not be looked at", "run", a.node.Run, "node", a.node.Ref, "try", try, "err", err)
		if !a.pause(ctx, a.e.Backoff(try)) {
			return false
		}
	}
}

func (a *attempt) leftBehind(ctx context.Context) error {
	batch, err := a.e.Store.Batch(ctx, a.node.Batch)
	if err != nil {
		return err
	}
	a.batch = &batch
	if batch.State == engine.BatchCommitted {
		return nil
	}
	return a.e.Runners[a.node.Ref.Kind].Discard(ctx, batch)
}

// processPoll is how often a process that is not our child is looked at.
const processPoll = 20 * time.Millisecond

// end makes sure that a recorded process is gone. An SQL worker ends by itself
// with the server whose pipe it holds; one that hangs, or whose server does, is
// killed soon: its work lies still meanwhile.
func (e *Exec) end(ctx context.Context, p engine.Process) error {
	const patience = 250 * time.Millisecond
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

// retake writes that this server works on the node now. With errOtherProcess it
// returns the node as it is instead.
func (e *Exec) retake(ctx context.Context, n engine.NodeRun) (engine.NodeRun, error) {
	found := n
	w, err := e.do(ctx, flow.Step{Run: n.Run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		now, err := current(st, n.Key(), n.Fence)
		if err != nil {
			return flow.Writes{}, err
		}
		if now.Process != n.Process {
			found = now
			return flow.Writes{}, errOtherProcess
		}
		now.Fence++
		now.Owner = e.id()
		if !now.Process.Apart {
			now.Process = engine.Process{}
		}
		return flow.Writes{Run: run, Nodes: []engine.NodeRun{now}}, nil
	}})
	if err != nil {
		return found, err
	}
	return w.Nodes[0], nil
}
