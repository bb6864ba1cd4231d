package engine

import (
	"slices"
	"strings"
)

// StartTriggers are those with which a run can begin, in the order in which a
// person's start takes the first: on demand, schedules, event triggers. One that
// starts nothing is none; one that is turned off still is.
func (w *WorkflowBody) StartTriggers() []*Trigger {
	var found []*Trigger
	for _, kind := range []TriggerType{OnDemand, Scheduled, OnEvent} {
		for i := range w.Triggers {
			if t := &w.Triggers[i]; t.Type == kind && len(t.Actions) > 0 {
				found = append(found, t)
			}
		}
	}
	return found
}

// StartTrigger is what a person's start fires: the one of StartTriggers with that
// id, or the first where id is empty.
func (w *Workflow) StartTrigger(id ID) (*Trigger, error) {
	if w.Version == 0 {
		return nil, Errorf(Invalid, "Workflow %s has never been published. Publish it, then run it.", w.Name)
	}
	starts := w.StartTriggers()
	for _, t := range starts {
		if id == "" || t.ID == id {
			return t, nil
		}
	}
	if len(starts) > 0 {
		return nil, Errorf(NotFound, "Workflow %s no longer starts by the trigger that was chosen. Its starts are %s.", w.Name, strings.Join(names(starts), ", "))
	}
	return nil, Errorf(Invalid,
		"Workflow %s has no start: nothing says what runs first. Draw an on-demand, a schedule or an event trigger and connect it to a job or crawler.", w.Name)
}

// StartLike is the start trigger of that id, or "", which is the first, where w has it
// no more.
func (w *Workflow) StartLike(id ID) ID {
	start, err := w.StartTrigger(id)
	if err != nil {
		return ""
	}
	return start.ID
}

// StartNamed returns the one of StartTriggers with that name.
func (w *Workflow) StartNamed(name string) (*Trigger, error) {
	starts := w.StartTriggers()
	for _, t := range starts {
		if t.Name == name {
			return t, nil
		}
	}
	if len(starts) == 0 {
		return w.StartTrigger("") // says why there is none
	}
	return nil, Errorf(NotFound, "Workflow %s has no start trigger with the name %s. Its starts are %s.", w.Name, name, strings.Join(names(starts), ", "))
}

func names(triggers []*Trigger) []string {
	var list []string
	for _, t := range triggers {
		list = append(list, t.Name)
	}
	return list
}

// EventTrigger returns the event trigger of that name, or the only one where
// name is empty.
func (w *WorkflowBody) EventTrigger(name string) (*Trigger, error) {
	var found []*Trigger
	for i := range w.Triggers {
		t := &w.Triggers[i]
		if t.Type != OnEvent || name != "" && t.Name != name {
			continue
		}
		found = append(found, t)
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, Errorf(Invalid, "The workflow has more than one event trigger. Say which one by its name: %s.", strings.Join(names(found), ", "))
	case name != "":
		return nil, w.notByEvents(name)
	}
	return nil, Errorf(NotFound, "The workflow has no event trigger. Draw one and publish.")
}

// notByEvents says why the trigger of that name takes no events.
func (w *WorkflowBody) notByEvents(name string) error {
	i := slices.IndexFunc(w.Triggers, func(t Trigger) bool { return t.Name == name })
	if i < 0 {
		return Errorf(NotFound, "The workflow has no event trigger with the name %s.", name)
	}
	does := map[TriggerType]string{
		OnDemand: "it starts when somebody runs the workflow", Scheduled: "it starts by its schedule", Conditional: "it starts when its conditions are met",
	}[w.Triggers[i].Type]
	return Errorf(Invalid, "%s is no event trigger and takes no events: %s.", name, does)
}
