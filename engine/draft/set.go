package draft

import (
	"maps"
	"slices"

	"dogear/engine"
)

// trigger finds the trigger that op speaks of.
func (e *edit) trigger(op Op) (*engine.Trigger, error) {
	t := e.body.Trigger(engine.ID(op.Card))
	if t == nil {
		return nil, refuse(Gone, "This trigger was deleted meanwhile.")
	}
	if op.Patch == nil {
		return nil, refuse(Rule, "Nothing to change was sent.")
	}
	return t, nil
}

func (e *edit) setTrigger(op Op) error {
	t, err := e.trigger(op)
	if err != nil {
		return err
	}
	prev := orEmpty(op.Prev)
	if stale(prev.Name, t.Name) || stale(prev.Schedule, t.Schedule) || stale(prev.Zone, t.Zone) ||
		stale(prev.Missed, t.Missed) || stale(prev.Overlap, t.Overlap) || stale(prev.Event, t.Event) ||
		stale(prev.Disabled, t.Disabled) || prev.Logic != nil && logic(*prev.Logic) != logic(t.Predicate.Logic) {
		return refuse(Changed, "%s was changed meanwhile.", t.Name)
	}
	set(&t.Name, op.Patch.Name)
	set(&t.Schedule, op.Patch.Schedule)
	set(&t.Zone, op.Patch.Zone)
	set(&t.Missed, op.Patch.Missed)
	set(&t.Overlap, op.Patch.Overlap)
	set(&t.Event, op.Patch.Event)
	set(&t.Disabled, op.Patch.Disabled)
	set(&t.Predicate.Logic, op.Patch.Logic)
	return nil
}

// setCondition changes the state of the condition of trigger Card that watches
// To: of several the one whose state the person saw.
func (e *edit) setCondition(op Op) error {
	t, err := e.trigger(op)
	if err != nil {
		return err
	}
	ref, _ := refOf(op.To)
	seen := orEmpty(op.Prev).State
	i := slices.IndexFunc(t.Predicate.Conditions, func(c engine.Condition) bool { return c.Ref == ref && !stale(seen, c.State) })
	switch {
	case !watches(t, ref):
		return refuse(Gone, "%s no longer waits for %s.", t.Name, e.names.Of(ref))
	case i < 0:
		return refuse(Changed, "%s was changed meanwhile.", t.Name)
	}
	set(&t.Predicate.Conditions[i].State, op.Patch.State)
	return nil
}

// setStart changes how trigger Card starts To.
func (e *edit) setStart(op Op) error {
	t, err := e.trigger(op)
	if err != nil {
		return err
	}
	ref, _ := refOf(op.To)
	i := slices.IndexFunc(t.Actions, func(a engine.Action) bool { return a.Ref == ref })
	if i < 0 {
		return refuse(Gone, "%s no longer starts %s.", t.Name, e.names.Of(ref))
	}
	action, prev := &t.Actions[i], orEmpty(op.Prev)
	switch {
	case prev.Arguments != nil && !maps.Equal(*prev.Arguments, action.Arguments):
		return refuse(Changed, "The arguments with which %s starts %s were changed meanwhile.", t.Name, e.names.Of(ref))
	case prev.Limits != nil && !prev.Limits.Equal(LimitsOf(*action)):
		return refuse(Changed, "The limits with which %s starts %s were changed meanwhile.", t.Name, e.names.Of(ref))
	}
	if op.Patch.Arguments != nil {
		action.Arguments = copied(*op.Patch.Arguments)
	}
	if op.Patch.Limits != nil {
		action.Timeout, action.Retries = op.Patch.Limits.Timeout, op.Patch.Limits.Retries
	}
	return nil
}

func (e *edit) setProperties(op Op) error {
	if op.Patch == nil {
		return refuse(Rule, "Nothing to change was sent.")
	}
	for name, seen := range orEmpty(op.Prev).Properties {
		value, ok := e.body.Properties[name]
		if ok != (seen != nil) || ok && value != *seen {
			return refuse(Changed, "The property %s was changed meanwhile.", name)
		}
	}
	for name, value := range op.Patch.Properties {
		if value == nil {
			delete(e.body.Properties, name)
			continue
		}
		if e.body.Properties == nil {
			e.body.Properties = map[string]string{}
		}
		e.body.Properties[name] = *value
	}
	return nil
}

func (e *edit) setWorkflow(op Op) error {
	if op.Patch == nil {
		return refuse(Rule, "Nothing to change was sent.")
	}
	prev := orEmpty(op.Prev)
	if stale(prev.Description, e.body.Description) || stale(prev.MaxRuns, e.body.MaxRuns) || stale(prev.Timeout, e.body.Timeout) {
		return refuse(Changed, "The settings of the workflow were changed meanwhile.")
	}
	set(&e.body.Description, op.Patch.Description)
	set(&e.body.MaxRuns, op.Patch.MaxRuns)
	set(&e.body.Timeout, op.Patch.Timeout)
	return nil
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// stale reports that a person saw something other than what is there now.
func stale[T comparable](seen *T, now T) bool { return seen != nil && *seen != now }

func orEmpty(f *Fields) Fields {
	if f == nil {
		return Fields{}
	}
	return *f
}

// logic is l with its default written out.
func logic(l engine.Logic) engine.Logic {
	if l == "" {
		return engine.All
	}
	return l
}
