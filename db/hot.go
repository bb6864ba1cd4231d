package db

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"dogear/engine"
	"dogear/engine/flow"
)

// hot keeps the rows of open runs that this process has read or written last,
// so that a transition need not read again what the one before it wrote. What
// stands in the tables is the truth: a transaction that does not stand drops
// what it touched.
//
// On SQLite it is there only for the one owner of a file, for nobody else
// writes these rows, and is touched only within the write transaction, of which
// there is one at a time. On PostgreSQL others may write them: there it is a
// guess (guess.go), and holds where the run has come as far as is remembered.
type hot struct {
	mu    sync.Mutex // on PostgreSQL, held while a group is written
	guess bool
	runs  map[engine.ID]*hotRun
	nodes int // that are kept, roughly
	// touched are the runs of the open transaction.
	touched map[engine.ID]bool
	// heads are what a start asks of jobs and crawlers. No step of a run writes
	// them: on SQLite every other transaction drops them, on PostgreSQL they are
	// a guess as well.
	heads map[engine.Ref]flow.Head
	// full are the workflows of which no more runs could start when that was asked
	// last. It is a guess, too.
	full map[engine.ID]bool
	// writer names this server, and written is how many groups it has written from
	// memory.
	writer  string
	written int64
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

// maxHot bounds how many node runs are kept, and how many runs and heads.
const (
	maxHot     = 200_000
	maxHotRuns = 20_000
)

func newHot(guess bool) *hot {
	return &hot{guess: guess, runs: map[engine.ID]*hotRun{}, touched: map[engine.ID]bool{}, heads: map[engine.Ref]flow.Head{}, full: map[engine.ID]bool{}}
}

func newHotRun() *hotRun {
	return &hotRun{nodes: map[engine.Ref][]engine.NodeRun{}, triggers: map[engine.ID]engine.TriggerRun{}}
}

// newlyBegun is what is known of a run that is about to begin: that there is
// nothing of it yet.
func newlyBegun() *hotRun {
	known := newHotRun()
	known.whole = true
	return known
}

// other is told that a transaction is over that was no group of steps.
func (h *hot) other(bool) {
	if h != nil && !h.guess {
		clear(h.heads)
	}
}

// headsFor returns the heads to go by: in a guess those that are remembered,
// else those that are surely as they are now.
func (h *hot) headsFor(guess bool) map[engine.Ref]flow.Head {
	if h == nil || h.guess && !guess {
		return map[engine.Ref]flow.Head{}
	}
	return h.heads
}

// saw keeps a head that was read, but not that of a deleted one.
func (h *hot) saw(ref engine.Ref, head flow.Head) {
	if h != nil && head.Version != 0 {
		h.heads[ref] = head
	}
}

// of returns what is known of a run, nil where that is nothing.
func (h *hot) of(id engine.ID) *hotRun {
	if h == nil {
		return nil
	}
	return h.runs[id]
}

// check forgets a run that has come further than is remembered.
func (h *hot) check(id engine.ID, last int64) {
	if known := h.of(id); known != nil && known.run.Seq != last {
		h.forget(id)
	}
}

// forget drops a run.
func (h *hot) forget(id engine.ID) {
	if known := h.of(id); known != nil {
		for _, of := range known.nodes {
			h.nodes -= len(of)
		}
		delete(h.runs, id)
	}
}

// read keeps a run that was read.
func (h *hot) read(run engine.Run, open int) {
	known := newHotRun()
	known.run, known.open = run, open
	h.add(known)
}

// add keeps what was read of an open run, unless it is remembered.
func (h *hot) add(known *hotRun) {
	if h == nil || known.run.ID == "" || !known.run.Open() || h.runs[known.run.ID] != nil {
		return
	}
	for _, of := range known.nodes {
		h.nodes += len(of)
	}
	h.runs[known.run.ID] = known
}

// wrote keeps what a step has written.
func (h *hot) wrote(fresh bool, w *flow.Writes, open int) {
	if h == nil {
		return
	}
	run := w.Run
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
	for _, t := range w.Triggers {
		r.triggers[t.Trigger] = t
	}
	for i := range w.Nodes {
		h.keep(r, w.Nodes[i])
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

// lacks reports whether it is known that there is no such node run.
func (r *hotRun) lacks(key engine.NodeKey) bool {
	if r == nil {
		return false
	}
	known, ok := r.nodes[key.Ref]
	return (ok || r.whole) && !slices.ContainsFunc(known, func(n engine.NodeRun) bool { return n.Key() == key })
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
	nodes := make([]engine.NodeRun, 0, len(r.nodes))
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
			delete(h.full, r.run.Object)
			h.forget(id)
		}
	}
	clear(h.touched)
	if h.nodes > maxHot || len(h.runs) > maxHotRuns || len(h.heads) > maxHotRuns {
		clear(h.runs)
		clear(h.heads)
		clear(h.full)
		h.nodes = 0
	}
}
