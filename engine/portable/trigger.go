package portable

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"dogear/engine"
)

// endings are the states that a condition may name.
var endings = []engine.State{engine.Succeeded, engine.Failed, engine.TimedOut, engine.Stopped, engine.EndedAny}

// place names the entry number i of a list of a trigger, counted as people do.
func place(about, list string, i int) string { return fmt.Sprintf("%s, %s %d", about, list, i+1) }

// conditions are what a trigger waits for, in the order in which they stand. Two
// that say the same are refused: one of them was meant to say something else,
// and the trigger would fire too early (A12).
func (r *reader) conditions(about string, when []Condition) []engine.Condition {
	var made []engine.Condition
	for i, c := range when {
		at := place(about, "when", i)
		if c.State == "" {
			r.say("%s: the key state is left out. Write succeeded, failed, timed_out, stopped or any.", at)
		} else if !slices.Contains(endings, c.State) {
			r.say("%s, state: there is no %q. Write succeeded, failed, timed_out, stopped or any.", at, c.State)
		}
		condition := engine.Condition{Ref: r.ref(at, c.Node), State: c.State}
		if first := slices.Index(made, condition); first >= 0 && !condition.Ref.IsZero() {
			r.say("%s waits for the same end of %s as when %d. Leave one of them out, or name what it should wait for.", at, c.called(), first+1)
		}
		made = append(made, condition)
	}
	return made
}

// starts are what a trigger starts, in the order in which they stand.
func (r *reader) starts(about string, start []Action) []engine.Action {
	var made []engine.Action
	for i, a := range start {
		at := place(about, "start", i)
		action := engine.Action{Ref: r.ref(at, a.Node), Arguments: a.Arguments, Timeout: a.Timeout, Retries: a.Retries}
		r.faults(about+", start of "+a.called(), action.Faults())
		first := slices.IndexFunc(made, func(m engine.Action) bool { return m.Ref == action.Ref && maps.Equal(m.Arguments, action.Arguments) })
		if first >= 0 && !action.Ref.IsZero() {
			r.say("%s starts %s with the same arguments as start %d. Leave one of them out, or name what it should start.", at, a.called(), first+1)
		}
		made = append(made, action)
	}
	return made
}

// called is the name of n.
func (n Node) called() string { return cmp.Or(n.Job, n.Crawler) }

// kind looks at what says how a trigger fires, each by its key.
func (r *reader) kind(about string, t *Trigger) {
	switch t.Type {
	case engine.OnDemand, engine.Scheduled, engine.Conditional, engine.OnEvent:
	case "":
		r.say("%s: the key type is left out. Write on_demand, scheduled, conditional or event.", about)
	default:
		r.say("%s, type: there is no %q. Write on_demand, scheduled, conditional or event.", about, t.Type)
	}
	switch t.Logic {
	case "", engine.All, engine.Any: // left out it is all
	default:
		r.say("%s, logic: there is no %q. Write all or any; left out it is all.", about, t.Logic)
	}
}
