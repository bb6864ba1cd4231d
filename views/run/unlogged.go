package run

import "dogear/engine"

// unlogged is why a node has no log, inputs or outputs to show.
type unlogged struct {
	icon, title, why string
	href             string // of the run that has them; "" for none
}

// unlogged says why there is no log; ok is false where there is one, or one may come.
func (n Node) unlogged() (none unlogged, ok bool) {
	if n.Attempt.Copied != "" {
		return n.elsewhere(TabLog), true
	}
	switch {
	case n.Attempt.Attempt == 0 && n.View.Run.Open():
		return unlogged{icon: "hourglass", title: "No log yet", why: "This node has not started. It waits for what stands before it in the graph."}, true
	case n.Attempt.Attempt == 0 || n.Attempt.State == engine.Skipped:
		return unlogged{icon: "skip-forward", title: "No log", why: "This node did not run, so it has written none."}, true
	case n.Attempt.State == engine.Stopped && n.Log.Next == 0:
		return unlogged{icon: "square", title: "No log", why: "This node was stopped before it wrote anything."}, true
	case !n.Live() && n.Log.Next == 0:
		return unlogged{icon: "file-search", title: "No log", why: "No log of this attempt is to be found. It may have been removed from the data folder of its server, or that server ended before it passed the log on."}, true
	}
	return unlogged{}, false
}

// elsewhere says of a node that was copied from an earlier run why there is nothing of
// it in this one, and leads to the run that did it.
func (n Node) elsewhere(tab Tab) unlogged {
	before, neither, there := "What it wrote before is in the log of the earlier run.", "there is a log in neither", "its log is there"
	switch {
	case tab == TabInputs:
		before, neither, there = "What it read before is listed in the earlier run.", "neither has read anything for it", "what it read is listed there"
	case tab == TabOutputs:
		before, neither, there = "What it wrote before is listed in the earlier run.", "neither has written anything for it", "what it wrote is listed there"
	}
	at := n.Attempt
	at.Run = n.Attempt.Copied
	href := nodeHref(at, tab)
	switch {
	case n.Attempt.Marked():
		return unlogged{"hand", "Marked by hand", "This node counts as it was marked and was not done again. " + before, href}
	case n.Attempt.State == engine.Skipped:
		return unlogged{"skip-forward", "Not done", "This node was skipped in the earlier run and not done in this one, so " + neither + ".", href}
	}
	return unlogged{"copy", "Not done again", "This node counts as it ended in the earlier run; " + there + ".", href}
}
