package run

import "dogear/engine"

// unlogged is why a node has no log to show.
type unlogged struct {
	icon, title, why string
	href             string // of the run that has the log; "" for none
}

// unlogged says why there is no log; ok is false where there is one, or one may come.
func (n Node) unlogged() (none unlogged, ok bool) {
	skipped := n.Attempt.State == engine.Skipped
	switch {
	case n.Attempt.Marked():
		return unlogged{"hand", "Marked by hand", "This node counts as it was marked and was not done again. What it wrote before is in the log of the earlier run.", n.earlierHref()}, true
	case n.Attempt.Copied != "" && skipped:
		return unlogged{"skip-forward", "No log", "This node was skipped in the earlier run and not done in this one, so there is a log in neither.", n.earlierHref()}, true
	case n.Attempt.Copied != "":
		return unlogged{"copy", "Not done again", "This node counts as it ended in the earlier run; its log is there.", n.earlierHref()}, true
	case n.Attempt.Attempt == 0 && n.View.Run.Open():
		return unlogged{icon: "hourglass", title: "No log yet", why: "This node has not started. It waits for what stands before it in the graph."}, true
	case n.Attempt.Attempt == 0 || skipped:
		return unlogged{icon: "skip-forward", title: "No log", why: "This node did not run, so it has written none."}, true
	case n.Attempt.State == engine.Stopped && n.Log.Next == 0:
		return unlogged{icon: "square", title: "No log", why: "This node was stopped before it wrote anything."}, true
	}
	return unlogged{}, false
}

// earlierHref is the address of the log of a copied node, in the run that did it.
func (n Node) earlierHref() string {
	there := n.Attempt
	there.Run = n.Attempt.Copied
	return nodeHref(there, TabLog)
}
