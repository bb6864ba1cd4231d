package draft

import (
	"slices"
	"time"

	"dogear/engine"
)

// Turn asks that a trigger of a workflow be on, or off, from now on.
type Turn struct {
	Trigger engine.ID
	On      bool
}

// Turned is a workflow after a Turn.
type Turned struct {
	Runs  engine.WorkflowBody // to be published
	Drawn engine.WorkflowBody // the draft, with all else that it holds
	// Entry is the line of the draft's log, without its number; nil where the draft has
	// the trigger so already, or no longer has it.
	Entry *Entry
}

// Apply makes the turn: what runs changes in the switch of that trigger alone, so nothing
// that somebody is still drawing is published with it, and the draft gets the same
// switch, lest the next publish turn it back. What runs without such a trigger is
// NotFound, one that has no switch Invalid.
func (t Turn) Apply(runs, drawn engine.WorkflowBody, by string, now time.Time) (Turned, error) {
	next, err := t.turn(runs)
	if err != nil {
		return Turned{}, err
	}
	made := Turned{Runs: next, Drawn: drawn}
	if drawn.Trigger(t.Trigger) == nil {
		return made, nil // the draft deletes it, and still does
	}
	if made.Drawn, err = t.turn(drawn); err != nil {
		return Turned{}, err
	}
	if delta := Between(drawn, made.Drawn); !delta.Empty() {
		id := string(engine.NewID(now))
		made.Entry = &Entry{Op: id, Act: id, Kind: Switch, By: by, At: now.UTC(), Delta: delta}
	}
	return made, nil
}

// turn is body with the trigger turned.
func (t Turn) turn(body engine.WorkflowBody) (engine.WorkflowBody, error) {
	body.Triggers = slices.Clone(body.Triggers)
	trigger := body.Trigger(t.Trigger)
	if trigger == nil {
		return body, engine.Errorf(engine.NotFound, "What runs has no such trigger, so there is nothing to turn on or off.")
	}
	if !trigger.Switched() {
		return body, engine.Errorf(engine.Invalid, "%s starts only when somebody runs the workflow, so it is neither turned on nor off.", trigger.Name)
	}
	trigger.Disabled = !t.On
	return body, nil
}
