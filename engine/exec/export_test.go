package exec

import (
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

// Launched is a claimed node as it is launched after its group was written.
func Launched(n engine.NodeRun, written []flow.Written) engine.NodeRun {
	starts := []starting{{node: n}}
	stoppedAtOnce(starts, written)
	return starts[0].node
}
