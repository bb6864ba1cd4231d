// Package exec is the doer: it queues what happens to runs, hands groups of it
// to the store, and does afterwards what the rules say. Each transition is one
// transaction that also makes the node runs that follow, so that a crash at
// any moment leaves either the old state or the new one.
package exec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"dogear/engine"
	"dogear/engine/failpoint"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// Exec runs runs. Make it with New, then Run it.
type Exec struct {
	Config
	slots  slots
	starts *together[engine.ID, drawn]
	heard  chan struct{} // holds one token while there is something to look at
	// leading is held by who commits a group: the loop, or an attempt that ends.
	leading sync.Mutex
	// reserved are the nodes of the group that is being committed for which a
	// process was reserved; only who leads touches it.
	reserved map[engine.NodeKey]bool
	// readied are the nodes that the group makes ready and that found no place in it;
	// only who leads touches it.
	readied  map[engine.NodeKey]*engine.NodeRun
	timed    chan struct{} // holds one token while there are new time limits of runs
	outgrown chan struct{} // closed when a newer version has changed the schema

	mu       sync.Mutex
	lease    lease
	fenced   bool                // there is no lease: nothing may be written
	nextLook time.Time           // of the timekeeper; zero while it looks
	free     chan struct{}       // closed and made anew when a node run ends
	blocked  map[engine.Ref]bool // jobs and crawlers that other servers run as often as they may
	adopting map[engine.NodeKey]bool
	// early is what adopted nodes were told before their attempts were launched.
	early   map[engine.NodeKey]error
	why     error // outgrown was closed
	alone   bool  // no other server works on the database
	oldest  bool  // none that does began before this one
	fits    map[engine.Ref]fit
	queue   []item
	wake    chan struct{} // holds one token while the queue is not empty
	pins    map[engine.ID]pin
	jobs    map[jobVersion]engine.Job
	working map[engine.NodeKey]*attempt
	paused  map[engine.ID]bool
	waiting []engine.NodeRun // ready nodes that found no room, in the order of their turn
	// called are those of them that have their turn, while their start is written.
	called  map[engine.NodeKey]*engine.NodeRun
	stopped bool
	drained error     // what every attempt was told when the server ended
	ended   []remains // of attempts, that are not yet removed
	// patience ends once they were told.
	patience context.Context //nolint:containedctx // it is what work is done under that a stop does not break off
	hurry    context.CancelFunc

	work sync.WaitGroup
}

// Run commits what is queued until ctx ends, then lets running attempts drain.
// Everything that queued up while one group was being written is the next one.
func (e *Exec) Run(ctx context.Context) error {
	left, err := e.begin(ctx)
	if ctx.Err() != nil {
		return nil // it was stopped before it had begun
	}
	if err != nil {
		return err
	}
	// A transition is never cut off: the loop outlives ctx until all work is done.
	loop, end := context.WithCancel(context.WithoutCancel(ctx))
	var ended, others sync.WaitGroup
	e.work.Add(1) // for what the loop launches, until drain
	ended.Go(func() { e.loop(loop) })
	defer func() {
		end()
		ended.Wait()
	}()
	e.recover(ctx, left)
	others.Go(func() { e.timekeeper(ctx) })
	others.Go(func() { e.reasons(ctx) })
	if e.Store.Shared() {
		e.work.Go(func() { e.lookout(ctx) })
		others.Go(func() { e.keepLease(loop) })
	}
	<-ctx.Done()
	e.drain()
	e.work.Wait()
	end()
	others.Wait()
	failpoint.Hit("exec.leave.before")
	defer failpoint.Hit("exec.leave.after")
	return e.Store.Leave(context.WithoutCancel(ctx), e.id())
}

// begin takes the lease and stock.
func (e *Exec) begin(ctx context.Context) (left []engine.NodeRun, err error) {
	if err := e.join(ctx); err != nil {
		return nil, err
	}
	return e.takeStock(ctx)
}

// takeStock reads what an earlier server left before anything new is written,
// so that no node of this server is taken for one of them.
func (e *Exec) takeStock(ctx context.Context) (left []engine.NodeRun, err error) {
	if left, err = e.Store.Orphans(ctx); err != nil {
		return nil, fmt.Errorf("find what was under way: %w", err)
	}
	ready, err := e.Store.ReadyNodes(ctx, math.MaxInt32)
	if err != nil {
		return nil, fmt.Errorf("find what waits: %w", err)
	}
	paused, err := e.Store.PausedRuns(ctx)
	if err != nil {
		return nil, fmt.Errorf("find which runs are paused: %w", err)
	}
	for _, id := range paused {
		e.paused[id] = true
	}
	if err := e.PoolsChanged(ctx); err != nil {
		return nil, err
	}
	for i := range left { // its slots are kept before anything new can take them
		e.slots.take(&left[i])
		e.adopting[left[i].Key()] = true
	}
	for _, n := range ready {
		e.await(n)
	}
	e.tidy(left)
	return left, nil
}

// commit writes a group and then does what follows from it, but for the launch of
// what it returns. Nodes that wait for the slots of those that end are started in the
// same transaction.
func (e *Exec) commit(group []item) (starts []starting) {
	if len(group) == 0 {
		return nil
	}
	group = append(group, e.successors(group)...)
	steps := make([]flow.Step, len(group))
	for i := range group {
		steps[i] = e.claiming(group[i])
	}
	e.slots.begin(len(steps))
	written := e.store(steps)
	claimed := e.slots.end(written)
	e.settle(claimed)
	e.answered(group)
	starts = make([]starting, 0, len(claimed))
	if len(e.readied) > 0 { // a map that was large once is slow to clear
		e.readied = map[engine.NodeKey]*engine.NodeRun{}
	}
	for i := range written {
		w := &written[i]
		if w.Err == nil {
			starts = e.effects(starts, &w.Writes, claimed)
		}
		switch {
		case group[i].done != nil:
			group[i].done <- w
		case w.Err != nil:
			e.refused(&group[i], w.Err)
		}
	}
	stoppedAtOnce(starts, written)
	e.fill()
	return starts
}

// launchAll works on nodes that were claimed. It comes last in what follows from a
// commit, for what was readied last runs first once this goroutine waits: the next
// node has not to wait until the one before it has tidied up.
func (e *Exec) launchAll(starts []starting) {
	for i := range starts {
		e.launch(e.attempt(starts[i].node, starts[i].properties, false))
	}
}

// store writes a group under the lease: without one it writes nothing.
func (e *Exec) store(steps []flow.Step) []flow.Written {
	if !e.isFenced() {
		failpoint.Hit("exec.commit.before")
		written := e.Store.Commit(e.leased(), steps)
		failpoint.Hit("exec.commit.after")
		return written
	}
	written := make([]flow.Written, len(steps))
	why := errFenced
	if outgrown := e.Outgrew(); outgrown != nil {
		why = outgrown
	}
	for i := range written {
		written[i].Err = why
	}
	return written
}

// refused deals with a step that nobody waits for and that wrote nothing.
func (e *Exec) refused(i *item, err error) {
	switch {
	case i.starts != nil && errors.Is(err, errNoRoom):
		e.line(*i.starts)
	case i.starts != nil && errors.Is(err, errNoRoomElsewhere):
		e.block(i.starts.Ref)
		e.line(*i.starts)
	case i.waits != nil && errors.Is(err, errTold):
		i.waits.Why = i.says
		e.line(*i.waits)
	case i.waits != nil && engine.CodeOf(err) != engine.Conflict:
		e.line(*i.waits)
	case i.waits != nil: // it was stopped meanwhile
	case i.starts != nil && away(err): // the next look at the database finds it
	case i.starts != nil && engine.CodeOf(err) == engine.Conflict: // it was stopped meanwhile
	default:
		e.Log.Error("a transition was refused", "run", i.step.Run, "err", err)
	}
}

// starting is a claimed node, with the properties of its run as it sees them.
type starting struct {
	node       engine.NodeRun
	properties map[string]string
}

// effects does what a committed step asks for: it stops what is to stop and
// tells those who watch. It adds to starts what was claimed and is to be launched.
func (e *Exec) effects(starts []starting, w *flow.Writes, claimed map[engine.NodeKey]bool) []starting {
	for i := range w.Nodes {
		n := &w.Nodes[i]
		switch n.State {
		case engine.Starting, engine.Running:
			if claimed[n.Key()] {
				delete(claimed, n.Key()) // it is launched once
				starts = append(starts, starting{*n, w.Run.Properties})
			}
		case engine.Ready:
			e.await(*n)
		case engine.Stopping:
			e.cancel(n.Key(), runner.ErrStop)
		case engine.Stopped, engine.Skipped:
			e.unwait(n.Key())
		case engine.Waiting, engine.Publishing, engine.Succeeded, engine.Failed,
			engine.TimedOut, engine.Lost:
		}
		if n.State.Done() {
			e.unblock()
		}
	}
	e.mu.Lock()
	if w.Run.Open() && !w.Run.Paused.IsZero() {
		e.paused[w.Run.ID] = true
	} else {
		delete(e.paused, w.Run.ID)
	}
	if !w.Run.Open() {
		delete(e.pins, w.Run.ID)
	}
	if w.Run.Seq == int64(len(w.Events)) { // it has just begun
		e.timing(&w.Run)
	}
	e.mu.Unlock()
	e.Committed(*w)
	return starts
}

// stopping reports that the server is on its way down.
func (e *Exec) stopping() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stopped
}
