package run

import (
	"slices"
	"strconv"
)

// scriptFigures are those of a script, which neither says what it reads nor what
// it writes.
func (n Node) scriptFigures() [][2]string {
	exit := "none yet"
	if n.Attempt.Counts.Exit != nil {
		exit = strconv.Itoa(*n.Attempt.Counts.Exit)
	} else if n.Attempt.State.Done() {
		exit = "none"
	}
	figures := [][2]string{{"Exit code", exit}}
	if pid := n.Attempt.Process.PID; pid > 0 {
		// Not of the script: it is the shim's, which holds others as well (ADR 0043).
		figures = append(figures, [2]string{"Held by process", strconv.Itoa(pid)})
	}
	return figures
}

// tabs are the pages that the panel of this node has.
func (n Node) tabs() []tabWord {
	return slices.DeleteFunc(slices.Clone(tabs), func(t tabWord) bool { return n.lacks(t.tab) })
}

// lacks reports a page on which nothing of this node could ever stand.
func (n Node) lacks(tab Tab) bool { return n.Script && (tab == TabInputs || tab == TabOutputs) }

// OfScript is n as the node of a script.
func (n Node) OfScript() Node {
	n.Script = true
	if n.lacks(n.Tab) {
		n.Tab = TabLog
	}
	return n
}
