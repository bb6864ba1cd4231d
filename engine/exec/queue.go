package exec

import (
	"context"

	"dogear/engine"
	"dogear/engine/flow"
)

// item is a step that waits to be committed.
type item struct {
	step flow.Step
	done chan *flow.Written // nil where nobody waits
	// starts is the waiting node that the step starts, where it is that. Without
	// room for it the step writes nothing and the node waits on.
	starts *engine.NodeRun
	// waits is the waiting node of which the step writes that it waits for says.
	waits *engine.NodeRun
	says  string
}

// maxGroup bounds how many steps share one transaction.
const maxGroup = 512

// loop commits what is queued, whenever somebody calls it.
func (e *Exec) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		}
		for e.commitNext() {
		}
	}
}

// commitNext commits what is queued; it is false where nothing is.
func (e *Exec) commitNext() bool {
	e.leading.Lock()
	defer e.leading.Unlock()
	group := e.gather()
	e.launchAll(e.commit(group))
	return len(group) > 0
}

// push queues an item. It never blocks, so the loop itself may call it.
func (e *Exec) push(i item) {
	e.enqueue(i)
	e.call()
}

func (e *Exec) enqueue(i item) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queue = append(e.queue, i)
}

// call wakes the loop.
func (e *Exec) call() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// gather takes what has queued up, up to one group.
func (e *Exec) gather() []item {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(e.queue), maxGroup)
	group := e.queue[:n:n]
	e.queue = e.queue[n:]
	return group
}

// do queues a step and waits for what became of it.
func (e *Exec) do(ctx context.Context, step flow.Step) (flow.Writes, error) {
	if step.New != nil && e.stopping() {
		return flow.Writes{}, engine.Errorf(engine.LimitHit, "The server is stopping and starts nothing new.")
	}
	done := make(chan *flow.Written, 1)
	e.push(item{step: step, done: done})
	select {
	case w := <-done:
		return w.Writes, w.Err
	case <-ctx.Done():
		return flow.Writes{}, context.Cause(ctx)
	}
}

// doAtOnce is do for an attempt that ends. Where nobody commits just now it commits by
// itself, and goes on with the node that comes next: to hand both over would wake a
// thread that finds nothing to do, twice in each step of a chain.
func (e *Exec) doAtOnce(step flow.Step) (w flow.Writes, next *attempt, err error) {
	done := make(chan *flow.Written, 1)
	e.enqueue(item{step: step, done: done})
	if e.leading.TryLock() {
		next = e.lead()
	} else {
		e.call()
	}
	return e.told(done, next)
}

// told waits for what became of a step. Where that has to be waited for, or the step is
// refused, its attempt may take long to go on, and next does not wait for it.
func (e *Exec) told(done <-chan *flow.Written, next *attempt) (flow.Writes, *attempt, error) {
	select {
	case written := <-done:
		if written.Err == nil {
			return written.Writes, next, nil
		}
		e.launchNext(next)
		return written.Writes, nil, written.Err
	default: // another writes it, or the next group has it
		e.launchNext(next)
		written := <-done
		return written.Writes, nil, written.Err
	}
}

func (e *Exec) launchNext(next *attempt) {
	if next != nil {
		e.launch(next)
	}
}

// lead commits what is queued, launches what that starts but for the first, and
// returns that one.
func (e *Exec) lead() (next *attempt) {
	defer e.leading.Unlock()
	starts := e.commit(e.gather())
	if len(starts) > 0 {
		next = e.attempt(starts[0].node, starts[0].properties, false)
		e.launchAll(starts[1:])
	}
	e.mu.Lock()
	more := len(e.queue) > 0
	e.mu.Unlock()
	if more {
		e.call()
	}
	return next
}
