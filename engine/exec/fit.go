package exec

import (
	"context"
	"time"

	"dogear/engine"
)

// A folder lies on one machine, so a job that reads it is left to the servers
// that have it. Which these are is looked up beside the transitions, which
// must not wait for a disk.

const (
	// fitFor is how long an answer of Fits counts.
	fitFor = 30 * time.Second
	// strangerAfter is how long a node is left to servers that have its folders.
	// Then any server takes it up, and fails with the reason.
	strangerAfter = time.Minute
)

// fit is whether this server has what the nodes of a job or crawler read.
type fit struct {
	yes bool
	at  time.Time
	ask bool // it is being looked up
}

// left reports whether a ready node is left to other servers, at least until
// it is known whether it need not be. The caller holds e.mu.
func (e *Exec) left(n *engine.NodeRun) bool {
	if e.Fits == nil || e.alone {
		return false
	}
	now := e.Now()
	known := e.fits[n.Ref]
	if now.Sub(known.at) > fitFor && !known.ask {
		known.ask = true
		e.fits[n.Ref] = known
		go e.ask(e.lease.ctx, n.Ref)
	}
	return !known.yes && now.Sub(n.ReadyAt) < strangerAfter
}

// leaves is left for those who do not hold e.mu.
func (e *Exec) leaves(n *engine.NodeRun) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.left(n)
}

// ask looks up whether this server fits, and starts what waited for that.
func (e *Exec) ask(ctx context.Context, ref engine.Ref) {
	yes := e.Fits(ctx, ref)
	e.mu.Lock()
	e.fits[ref] = fit{yes: yes, at: e.Now()}
	e.mu.Unlock()
	if yes {
		e.fill()
	}
}
