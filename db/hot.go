package db

import (
	"cmp"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/flow"
)

// hot keeps the rows of open runs that this process has read or written last,
// so that a transition need not read again what the one before it wrote: on
// SQLite that is a quarter of its time. It is there only for the one owner of
// an SQLite file, for nobody else writes these rows, and is touched only within
// the write transaction, of which there is one at a time. What stands in the
// tables is the truth: a transaction that does not stand drops what it touched.
type hot struct {
	runs  map[engine.ID]*hotRun
	nodes int // that are kept, roughly
	// touched are the runs of the open transaction.
	touched map[engine.ID]bool
	// heads are what a start asks of jobs and crawlers. No step of a run writes
	// them: every other transaction drops them.
	heads map[engine.Ref]flow.Head
}

// hotRun is what is known of a run. What was never asked for is not known,
// unless the run began here: then all of it is.
type hotRun struct {
	run      engine.Run
	open     int
	whole    bool
	nodes    map[engine.Ref][]engine.NodeRun
	triggers map[engine.ID]engine.TriggerRun
}

// maxHot bounds how many node runs are kept.
const maxHot = 200_000

func newHot() *hot {
	return &hot{runs: map[engine.ID]*hotRun{}, touched: map[engine.ID]bool{}, heads: map[engine.Ref]flow.Head{}}
}

// other is told that a transaction is over that was no group of steps.
func (h *hot) other(bool) {
	if h != nil {
		clear(h.heads)
	}
}

// of returns what is known of a run, nil where that is nothing.
func (h *hot) of(id engine.ID) *hotRun {
	if h == nil {
		return nil
	}
	return h.runs[id]
}

// read keeps a run that was read.
func (h *hot) read(run engine.Run, open int) {
	if h != nil && run.Open() {
		h.runs[run.ID] = &hotRun{run: run, open: open, nodes: map[engine.Ref][]engine.NodeRun{}, triggers: map[engine.ID]engine.TriggerRun{}}
	}
}

// wrote keeps what a step has written.
func (h *hot) wrote(fresh bool, run engine.Run, open int, nodes []engine.NodeRun, triggers []engine.TriggerRun) {
	if h == nil {
		return
	}
	h.touched[run.ID] = true
	run.Body = engine.WorkflowBody{} // it never changes, and exec has it
	if fresh {
		h.read(run, open)
		if r := h.runs[run.ID]; r != nil {
			r.whole = true
		}
	}
	r := h.runs[run.ID]
	if r == nil {
		return
	}
	r.run, r.open = run, open
	for _, t := range triggers {
		r.triggers[t.Trigger] = t
	}
	for i := range nodes {
		h.keep(r, nodes[i])
	}
}

// keep puts a node run in its place, where the others of its node are known.
func (h *hot) keep(r *hotRun, n engine.NodeRun) {
	known, ok := r.nodes[n.Ref]
	if !ok && !r.whole {
		return
	}
	if i := slices.IndexFunc(known, func(o engine.NodeRun) bool { return o.Key() == n.Key() }); i >= 0 {
		known[i] = n
		return
	}
	known = append(known, n)
	slices.SortFunc(known, byStart)
	r.nodes[n.Ref] = known
	h.nodes++
}

// nodeRuns returns the node runs of a node, if they are known.
func (r *hotRun) nodeRuns(ref engine.Ref) ([]engine.NodeRun, bool) {
	if r == nil {
		return nil, false
	}
	known, ok := r.nodes[ref]
	return slices.Clone(known), ok || r.whole
}

// all returns every node run of the run, if they are known.
func (r *hotRun) all() ([]engine.NodeRun, bool) {
	if r == nil || !r.whole {
		return nil, false
	}
	var nodes []engine.NodeRun
	for _, of := range r.nodes {
		nodes = append(nodes, of...)
	}
	slices.SortFunc(nodes, func(a, b engine.NodeRun) int {
		return cmp.Or(byStart(a, b), strings.Compare(string(a.Ref.ID), string(b.Ref.ID)))
	})
	return nodes, true
}

// end is told that the transaction is over, and whether it stands.
func (h *hot) end(stands bool) {
	if h == nil {
		return
	}
	for id := range h.touched {
		if r := h.runs[id]; r != nil && (!stands || !r.run.Open()) {
			for _, of := range r.nodes {
				h.nodes -= len(of)
			}
			delete(h.runs, id)
		}
	}
	clear(h.touched)
	if h.nodes > maxHot {
		clear(h.runs)
		h.nodes = 0
	}
}
