package portable

import (
	"fmt"

	"dogear/engine"
	"dogear/engine/draft"
)

// Paused is a trigger that an import leaves switched off: it would start a job
// or crawler that another workflow starts by itself already, so that a copy of
// a workflow would run everything twice.
type Paused struct {
	Trigger string      `json:"trigger"`
	Kind    engine.Kind `json:"kind"`
	Node    string      `json:"node"`     // the job or crawler
	Other   string      `json:"workflow"` // that starts it
}

// String is p as a sentence.
func (p Paused) String() string {
	return fmt.Sprintf("The trigger %s arrives turned off: the workflow %s starts the %s %s by itself already. Turn it on if both shall run.",
		p.Trigger, p.Other, p.Kind, p.Node)
}

// pause switches off the triggers of body that would be a second clock of
// something. One that runs here already is left as it is.
func (r *reader) pause(body, was *engine.WorkflowBody, self engine.ID, here []engine.Workflow) []Paused {
	var paused []Paused
	for i := range body.Triggers {
		t := &body.Triggers[i]
		if old := was.Trigger(t.ID); !draft.ByItself(t) || old != nil && draft.ByItself(old) {
			continue
		}
		for _, a := range t.Actions {
			if other := draft.Starter(a.Ref, self, here); other != "" {
				t.Disabled = true
				paused = append(paused, Paused{Trigger: t.Name, Kind: a.Ref.Kind, Node: r.refs[a.Ref], Other: other})
				break
			}
		}
	}
	return paused
}
