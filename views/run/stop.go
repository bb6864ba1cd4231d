package run

import (
	"slices"

	"dogear/engine"
	"dogear/views/show"
)

// Stopping is what a stop would end: all that works in a run, or one node of it.
type Stopping struct {
	View  View
	Node  engine.Ref // zero for the whole run
	Start int        // of the node
	Works []engine.NodeRun
}

// NewStopping looks at a run, or at a start of one of its nodes, before it is stopped.
func NewStopping(v View, node engine.Ref, start int) Stopping {
	s := Stopping{View: v, Node: node, Start: start}
	for _, n := range v.Nodes {
		if works(n.State) && (node.IsZero() || n.Ref == node && n.Start == start) {
			s.Works = append(s.Works, n)
		}
	}
	slices.SortStableFunc(s.Works, func(a, b engine.NodeRun) int { return a.Started.Compare(b.Started) })
	return s
}

// works reports a state whose work a stop would end.
func works(s engine.State) bool {
	return s == engine.Starting || s == engine.Running || s == engine.Publishing
}

// Asks reports whether there is work to lose; where nothing works, nobody is asked.
func (s Stopping) Asks() bool { return len(s.Works) > 0 }

func (s Stopping) title() string {
	if s.Node.IsZero() {
		return "Stop run " + s.View.Short() + " of " + s.View.Run.Name + "?"
	}
	return "Stop " + s.Works[0].Name + "?"
}

func (s Stopping) href() string {
	if s.Node.IsZero() {
		return s.View.Href() + "/stop"
	}
	return s.View.Href() + "/nodes/" + s.Node.String() + "/stop"
}

// named are those that the question names; of many the first.
func (s Stopping) named() (list []engine.NodeRun, more int) {
	const most = 6
	if len(s.Works) <= most {
		return s.Works, 0
	}
	return s.Works[:most-1], len(s.Works) - most + 1
}

// since says what an attempt does, and for how long.
func (s Stopping) since(n engine.NodeRun) string {
	word := show.OfState(n.State).Word
	if n.Started.IsZero() {
		return word
	}
	return word + " for " + show.Length(s.View.Now.Sub(n.Started))
}

// keeps says what a stop leaves as it is.
func (s Stopping) keeps() string {
	words := "What is not finished is given up. What was published stays, and bookmarks stay where they are."
	if slices.ContainsFunc(s.Works, func(n engine.NodeRun) bool { return n.State == engine.Publishing }) {
		words += " What is being published is first brought to its end."
	}
	switch {
	case !s.Node.IsZero():
		words += " The run goes on without it."
	case s.View.Run.Kind == engine.RunWorkflow:
		words += " The rest can be done later, with Resume."
	}
	return words
}
