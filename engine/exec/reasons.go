package exec

import (
	"context"
	"time"

	"dogear/engine"
)

// A waiting node says what it waits for as it was when it became ready. Later it may
// wait for something else: a job has ended, and its pool has no places. So the first in
// the line are looked at every few seconds, and what has changed is written; but not
// where other servers work on the database, of which each knows only its own slots.

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
			e.tellReasons()
		}
	}
}

// tellReasons writes what the first in the line wait for, where they say something else.
func (e *Exec) tellReasons() {
	for _, n := range e.misled() {
		e.push(item{step: e.start(n), waits: &n})
	}
}

// misled takes those out of the line that wait for something else than they say.
func (e *Exec) misled() (wrong []engine.NodeRun) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped || e.Store.Shared() && !e.alone { // several servers would contradict each other
		return nil
	}
	stay := e.waiting[:0:0]
	for i := range e.waiting[:min(len(e.waiting), reasonsSeen)] {
		n := e.waiting[i]
		if len(wrong) < reasonsTold && !e.paused[n.Run] && !e.blocked[n.Ref] && !e.left(&n) && e.slots.tells(&n) {
			wrong = append(wrong, n)
			e.called[n.Key()] = &n
			continue
		}
		stay = append(stay, n)
	}
	if len(wrong) > 0 {
		e.waiting = append(stay, e.waiting[min(len(e.waiting), reasonsSeen):]...)
	}
	return wrong
}
