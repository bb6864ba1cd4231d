package draft

import (
	"fmt"
	"slices"

	"dogear/engine"
)

// Twice is a trigger that will start, without a person, a job or crawler which another
// starts by itself already.
type Twice struct {
	Trigger string
	Kind    engine.Kind
	Node    string // the job or crawler
	Other   string // the workflow that starts it; "" is this one
	By      string // its trigger, where Other is this one
}

// String is t as a sentence.
func (t Twice) String() string {
	by := "the workflow " + t.Other
	if t.Other == "" {
		by = "the trigger " + t.By
	}
	return fmt.Sprintf("With the trigger %s, the %s %s is started twice: %s starts it by itself already.", t.Trigger, t.Kind, t.Node, by)
}

// Doubled lists the triggers of drawn, which takes the place of what runs of the workflow
// self, that begin to start something which is started by itself already. Each is listed
// once. here are all workflows as they run.
func Doubled(runs, drawn *engine.WorkflowBody, self engine.ID, here []engine.Workflow, names Names) []Twice {
	var found []Twice
	for i := range drawn.Triggers {
		t := &drawn.Triggers[i]
		for _, a := range t.Actions {
			if !StartsByItself(t, a.Ref) || StartsByItself(runs.Trigger(t.ID), a.Ref) {
				continue
			}
			by := earlier(drawn.Triggers, i, runs, a.Ref)
			if other := Starter(a.Ref, self, here); by != "" || other != "" {
				twice := Twice{Trigger: t.Name, Kind: a.Ref.Kind, Node: names.Of(a.Ref), By: by}
				if by == "" {
					twice.Other = other
				}
				found = append(found, twice)
				break
			}
		}
	}
	return found
}

// earlier is the name of a trigger beside the ith that starts ref by itself and did so
// before, or stands before it.
func earlier(triggers []engine.Trigger, i int, runs *engine.WorkflowBody, ref engine.Ref) string {
	for j := range triggers {
		if other := &triggers[j]; StartsByItself(other, ref) && (j < i || j > i && StartsByItself(runs.Trigger(other.ID), ref)) {
			return other.Name
		}
	}
	return ""
}

// Starter is the name of a workflow of here, other than self, that starts ref by itself;
// "" for none.
func Starter(ref engine.Ref, self engine.ID, here []engine.Workflow) string {
	for i := range here {
		if here[i].ID == self {
			continue
		}
		for j := range here[i].Triggers {
			if StartsByItself(&here[i].Triggers[j], ref) {
				return here[i].Name
			}
		}
	}
	return ""
}

// StartsByItself reports whether t starts ref without a person. There may be no t.
func StartsByItself(t *engine.Trigger, ref engine.Ref) bool {
	return t != nil && ByItself(t) && slices.ContainsFunc(t.Actions, func(a engine.Action) bool { return a.Ref == ref })
}

// ByItself reports whether t starts runs without a person.
func ByItself(t *engine.Trigger) bool {
	return !t.Disabled && (t.Type == engine.Scheduled || t.Type == engine.OnEvent)
}
