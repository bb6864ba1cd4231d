package exec

import (
	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// A script is claimed together with its process where one waits for it: the
// claim records the process, and with the claim written the script may begin
// (docs/adr/0027). With other servers on the database it is not: a server that
// takes the node over does not see here that nothing has begun.

// ahead claims a node as a running one where a process waits for it. What that
// takes must be at hand, for a transaction is waiting. told are the properties of
// the run as the node is told them.
func (e *Exec) ahead(n *engine.NodeRun, told map[string]string) {
	work, ok := e.Runners[n.Ref.Kind].(runner.Ahead)
	if !ok || n.Ref.Kind != engine.KindJob || e.Store.Shared() {
		return
	}
	e.mu.Lock()
	p, pinned := e.pins[n.Run]
	job, known := e.jobs[jobVersion{n.Ref.ID, n.Version}]
	e.mu.Unlock()
	if !pinned || !known {
		return
	}
	job.Name, p.run.Properties = n.Name, told // a rename makes no version
	process, ok := work.Reserve(&runner.Attempt{Node: *n, Run: p.run, Job: &job, Dir: e.path("work", n.Key())})
	if !ok {
		return
	}
	now := e.Now().UTC()
	n.State, n.Started, n.Process, n.Deadline = engine.Running, now, process, now.Add(jobLimit(&p, n, &job).Duration)
	e.reserved[n.Key()] = true
}

// settle lets the processes go whose claim was not written with the group.
func (e *Exec) settle(claimed map[engine.NodeKey]bool) {
	for key := range e.reserved {
		if !claimed[key] {
			e.giveBack(key)
		}
	}
	clear(e.reserved)
}

// giveBack lets the process go that was reserved for a node.
func (e *Exec) giveBack(key engine.NodeKey) {
	if work, ok := e.Runners[key.Ref.Kind].(runner.Ahead); ok {
		work.Return(key)
	}
}

// giveBack lets the process go that waits for an attempt which does not come to
// its runner.
func (a *attempt) giveBack() {
	if a.waits {
		a.e.giveBack(a.node.Key())
	}
}

// stoppedAtOnce brings the nodes up to date that a later step of the same group
// has told to stop, before any of them was launched.
func stoppedAtOnce(starts []starting, written []flow.Written) {
	for k := range written {
		w := &written[k]
		for i := range w.Nodes {
			n := &w.Nodes[i]
			if w.Err != nil || n.State != engine.Stopping {
				continue
			}
			for k := range starts {
				if n.Key() == starts[k].node.Key() {
					starts[k].node = *n
				}
			}
		}
	}
}
