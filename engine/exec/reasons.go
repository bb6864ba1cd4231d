package exec

import (
	"context"
	"errors"
	"time"

	"dogear/engine"
	"dogear/engine/flow"
)

// A waiting node says what it waits for as it was when it became ready. Later it may
// wait for something else: a job has ended, and its pool has no places. So the first in
// the line are looked at every few seconds, and what has changed is written. Of several
// servers the oldest does so, by what is taken on all of them: they would contradict
// each other, for each knows only its own slots.

const (
	reasonEvery = 2 * time.Second
	reasonsSeen = 200 // of the line, the first so many
	reasonsTold = 20  // at a time, so that a long line costs little
)

// reasons keeps what waiting nodes say true, until ctx ends.
func (e *Exec) reasons(ctx context.Context) {
	tick := time.NewTicker(reasonEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			e.tellReasons(ctx)
		}
	}
}

// tellReasons writes what the first in the line wait for, where they say something else.
func (e *Exec) tellReasons(ctx context.Context) {
	taken, err := e.takenBeside(ctx)
	if err != nil {
		e.Log.Debug("what nodes wait for could not be looked at", "err", err)
		return
	}
	for _, m := range e.misled(taken) {
		e.push(item{step: e.tell(m), waits: &m.node, says: m.why})
	}
}

// errTold refuses to write what a node waits for where it says so already.
var errTold = errors.New("the node says already what it waits for")

// tell is the step in which a node says what it waits for; should it find a place by then,
// it starts.
func (e *Exec) tell(m misled) flow.Step {
	step := e.start(m.node)
	start := step.Decide
	step.Decide = func(run engine.Run, st flow.State) (flow.Writes, error) {
		if now, err := current(st, m.node.Key(), m.node.Fence); err == nil && now.Why == m.why {
			return flow.Writes{}, errTold // another server was the oldest a moment ago
		}
		return start(run, st)
	}
	return step
}

// takenBeside is what is taken of each seat on all servers. A server that is alone, or
// has nothing to tell, need not ask.
func (e *Exec) takenBeside(ctx context.Context) (map[seat]int, error) {
	e.mu.Lock()
	asks := e.Store.Shared() && !e.alone && e.oldest && len(e.waiting) > 0
	e.mu.Unlock()
	if !asks {
		return nil, nil
	}
	refs, pools, err := e.Store.Taken(ctx)
	if err != nil {
		return nil, err
	}
	taken := map[seat]int{}
	for ref, n := range refs {
		taken[seat{ref: ref}] = n
	}
	for pool, n := range pools {
		taken[seat{pool: pool}] = n
	}
	return taken, nil
}

// misled is a node that waits for something else than it says.
type misled struct {
	node engine.NodeRun
	why  string // it waits
}

// misled takes those out of the line.
func (e *Exec) misled(taken map[seat]int) (wrong []misled) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped || e.Store.Shared() && !e.oldest {
		return nil
	}
	stay := e.waiting[:0:0]
	for i := range e.waiting[:min(len(e.waiting), reasonsSeen)] {
		n := e.waiting[i]
		why := ""
		if len(wrong) < reasonsTold && !e.paused[n.Run] && !e.left(&n) && (taken != nil || !e.blocked[n.Ref]) {
			why = e.slots.finds(&n, taken)
		}
		if why == "" || why == n.Why {
			stay = append(stay, n)
			continue
		}
		wrong = append(wrong, misled{n, why})
		e.called[n.Key()] = &n
	}
	if len(wrong) > 0 {
		e.waiting = append(stay, e.waiting[min(len(e.waiting), reasonsSeen):]...)
	}
	return wrong
}
