package exec

import (
	"runtime"

	"dogear/engine"
	"dogear/engine/flow"
)

// Pins is how many runs the server keeps what they have pinned of.
func (e *Exec) Pins() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.pins)
}

// LaunchTold launches an attempt at a node that is taken up and was told to end
// before.
func (e *Exec) LaunchTold(n engine.NodeRun, cause error) {
	e.mu.Lock()
	e.adopting[n.Key()] = true
	e.mu.Unlock()
	e.cancel(n.Key(), cause)
	e.slots.take(&n)
	e.launch(e.attempt(n, nil, true))
}

// RefusedBeside commits as an attempt does that ends, which is refused, once another step
// is queued beside it.
func (e *Exec) RefusedBeside(queue func()) error {
	e.leading.Lock()
	go queue()
	for queued := 0; queued == 0; runtime.Gosched() {
		e.mu.Lock()
		queued = len(e.queue)
		e.mu.Unlock()
	}
	done := make(chan *flow.Written, 1)
	e.enqueue(item{step: flow.Step{Run: "nowhere", Ends: true}, done: done})
	_, _, err := e.told(done, e.lead())
	return err
}

// Launched is a claimed node as it is launched after its group was written.
func Launched(n engine.NodeRun, written []flow.Written) engine.NodeRun {
	starts := []starting{{node: n}}
	stoppedAtOnce(starts, written)
	return starts[0].node
}
