package exec

import (
	"fmt"
	"slices"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/graph"
	"dogear/engine/runner"
)

// endingOf is everything the last transition of an attempt is made from.
type endingOf struct {
	run    engine.Run
	node   engine.NodeRun
	st     flow.State
	r      runner.Result
	graph  *graph.Graph
	moves  []flow.Move
	inputs []flow.Input
}

// ending decides the last state of an attempt and what follows from it: the
// end of the node, or its next attempt.
func (a *attempt) ending(o endingOf) (flow.Writes, error) {
	now := a.e.Now().UTC()
	node := o.node
	node.Counts, node.Error = o.r.Counts, o.r.Error
	if node.State != engine.Stopping { // else it says who has stopped it
		node.Why = ""
	}
	node.Version, node.Name = a.node.Version, a.node.Name
	state := landing(node.State, o.r.State)
	if err := node.Move(state, now); err != nil {
		return flow.Writes{}, err
	}
	var w flow.Writes
	if o.node.State != engine.Stopping && a.again(&node, &o.run) {
		n := node.Attempt
		w = flow.Retry(o.st, o.run, node, now.Add(a.e.Retry(&a.job.JobBody, n)), now)
	} else {
		w = flow.End(o.graph, o.st, o.run, node, now)
	}
	if a.batch != nil {
		batch := *a.batch
		batch.State = engine.BatchFinalized
		if state != engine.Succeeded {
			batch.State = engine.BatchDiscarded
		}
		w.Batch = &batch
	}
	w.Bookmarks, w.Inputs, w.Tables = slices.Clone(o.moves), o.inputs, slices.Clone(o.r.Tables)
	return w, nil
}

// landing is the state an attempt ends in: one that was told to stop and
// ended otherwise is stopped, unless it had succeeded or failed by itself.
func landing(now, result engine.State) engine.State {
	if now == engine.Stopping && result == engine.TimedOut {
		return engine.Stopped
	}
	return result
}

// again reports whether a failed attempt is followed by another.
func (a *attempt) again(node *engine.NodeRun, run *engine.Run) bool {
	return a.job != nil && node.State == engine.Failed && node.Attempt <= a.job.Retries && run.StopAsked.IsZero() && run.Open()
}

// describe is what the log says first.
func describe(node *engine.NodeRun) string {
	return fmt.Sprintf("%s v%d, start %d, attempt %d", node.Name, node.Version, node.Start, node.Attempt)
}
