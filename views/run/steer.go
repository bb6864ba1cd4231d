package run

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/views/show"
)

// steered reports a run of which single nodes can still be skipped or stopped.
func (n Node) steered() bool {
	run := n.View.Run
	return run.Kind == engine.RunWorkflow && run.Open() && run.StopAsked.IsZero()
}

// told says that a person has told the node not to run, and who; "" where nobody has.
func (n Node) told() string { return n.View.Run.Skips[n.Ref.String()] }

// canSkip reports a node that has not begun.
func (n Node) canSkip() bool {
	begun := n.Attempt.Attempt > 1 || n.Attempt.Attempt == 1 && n.Attempt.State != engine.Ready
	return n.steered() && !begun && n.told() == ""
}

// waitsToBeSkipped reports one that is skipped when its turn comes.
func (n Node) waitsToBeSkipped() bool { return n.View.waitsToBeSkipped(n.Ref.String()) }

// waitsToBeSkipped reports a card of whose node the same is so.
func (v View) waitsToBeSkipped(card string) bool {
	ref, err := engine.ParseRef(card)
	if err != nil || v.Run.Skips[card] == "" || !(Node{View: v}).steered() {
		return false
	}
	_, had := v.newest(ref)
	return !had
}

// wentOn says what became of what waits for the success of a node that a person has
// skipped; "" where nothing does.
func (n Node) wentOn() string {
	if !n.View.awaited(n.Ref) {
		return ""
	}
	return " What waits for its success went on as if it had succeeded."
}

// goesOn says the same of all nodes that a person has told the run to skip.
func (v View) goesOn() string {
	for card := range v.Run.Skips {
		if ref, err := engine.ParseRef(card); err == nil && v.awaited(ref) {
			return " What waits for its success goes on as if it had succeeded."
		}
	}
	return ""
}

// awaited reports whether a trigger waits for the success of ref.
func (v View) awaited(ref engine.Ref) bool {
	for _, t := range v.Run.Body.Triggers {
		for _, c := range t.Predicate.Conditions {
			if c.Ref == ref && c.Meets(engine.Succeeded) {
				return true
			}
		}
	}
	return false
}

// toSkip are the cards of the nodes that wait to be skipped, parted by blanks, as the
// browser's module reads them.
func (v View) toSkip() string {
	return strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(v.Run.Skips)), func(card string) bool { return !v.waitsToBeSkipped(card) }), " ")
}

// first is the run in which the start trigger fired or was fired: a run that goes on
// takes that over from the one before.
func (v View) first() *engine.Run {
	if v.Origin != nil {
		return v.Origin
	}
	return &v.Run
}

// byHand is the trigger that would start the run by itself, if a person did it instead;
// "" of any other run.
func (v View) byHand() engine.ID {
	t, first := v.Run.Body.Trigger(v.Run.Trigger), v.first()
	if t == nil || t.Type == engine.OnDemand || first.Previous != "" || first.By == "schedule" || first.By == "event" {
		return ""
	}
	return t.ID
}

// canStop reports an attempt that can be stopped while its run goes on.
func (n Node) canStop() bool {
	switch n.Attempt.State {
	case engine.Ready, engine.Starting, engine.Running:
		return n.steered()
	default:
		return false
	}
}

// start is the field that says which start is meant.
func (n Node) start() map[string]string {
	return map[string]string{"start": strconv.Itoa(n.Attempt.Start)}
}

// skippedWords says in a list how much of a run a person has told not to run.
func skippedWords(r engine.Run) string {
	return show.Many(int64(len(r.Skips)), "node") + " skipped by hand"
}
