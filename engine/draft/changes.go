package draft

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/engine/arrival"
)

// Change is one line of what a publish changes in the workflow itself.
type Change struct {
	What   Verb    `json:"what"`
	Card   string  `json:"card,omitempty"`
	Name   string  `json:"name"` // what changes, in words
	Fields []Field `json:"fields,omitempty"`
}

// Verb says what happens to the subject of a change.
type Verb string

// The verbs.
const (
	Added   Verb = "added"
	Removed Verb = "removed"
	Altered Verb = "changed"
)

// Field is one value before and after.
type Field struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Changes lists what differs between two bodies as people see it. A card that
// only moved is no change.
func Changes(from, to *engine.WorkflowBody, names Names) []Change {
	changes := nodeChanges(from, to, names)
	delta := Between(*from, *to)
	for _, t := range delta.Triggers {
		switch {
		case t.From == nil:
			changes = append(changes, Change{What: Added, Card: string(t.ID), Name: "Trigger " + t.To.Name, Fields: triggerFields(nil, t.To, names)})
		case t.To == nil:
			changes = append(changes, Change{What: Removed, Card: string(t.ID), Name: "Trigger " + t.From.Name})
		default:
			if fields := triggerFields(t.From, t.To, names); len(fields) > 0 {
				changes = append(changes, Change{What: Altered, Card: string(t.ID), Name: "Trigger " + t.To.Name, Fields: fields})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(delta.Properties)) {
		changes = append(changes, propertyChange(name, delta.Properties[name]))
	}
	if fields := aboutFields(delta); len(fields) > 0 {
		changes = append(changes, Change{What: Altered, Name: "Settings of the workflow", Fields: fields})
	}
	return changes
}

func nodeChanges(from, to *engine.WorkflowBody, names Names) []Change {
	var changes []Change
	before, after := from.Refs(), to.Refs()
	for _, ref := range after {
		if !slices.Contains(before, ref) {
			changes = append(changes, Change{What: Added, Card: ref.String(), Name: capital(string(ref.Kind)) + " " + names.Of(ref)})
		}
	}
	for _, ref := range before {
		if !slices.Contains(after, ref) {
			changes = append(changes, Change{What: Removed, Card: ref.String(), Name: capital(string(ref.Kind)) + " " + names.Of(ref)})
		}
	}
	return changes
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func triggerFields(from, to *engine.Trigger, names Names) []Field {
	if from == nil {
		from = &engine.Trigger{Type: to.Type}
	}
	var fields []Field
	put := func(name, was, is string) {
		if was != is {
			fields = append(fields, Field{Name: name, From: was, To: is})
		}
	}
	if from.Name != "" {
		put("Name", from.Name, to.Name)
	}
	put("Schedule", from.Schedule, to.Schedule)
	put("Time zone", from.Zone, to.Zone)
	put("Missed times", string(from.Missed), string(to.Missed))
	put("Overlap", string(from.Overlap), string(to.Overlap))
	if to.Type == engine.OnEvent {
		eventFields(from.Event, to.Event, names, put)
	}
	put("Switch", turned(from), turned(to))
	put("Waits for", WaitsFor(from, names), WaitsFor(to, names))
	put("Starts", Starts(from, names), Starts(to, names))
	put("Arguments", arguments(from, names), arguments(to, names))
	put("Timeout of this start", timeouts(from, names), timeouts(to, names))
	put("Retries of this start", retries(from, names), retries(to, names))
	return fields
}

// eventFields puts what differs between two rules of events.
func eventFields(from, to engine.EventRule, names Names, put func(name, was, is string)) {
	words := func(r engine.EventRule) string {
		if r == (engine.EventRule{}) {
			return ""
		}
		return arrival.Words(r)
	}
	put("Starts a run", words(from), words(to))
	put("Place", from.Path, to.Path)
	put("Connection", names.connection(from.Connection), names.connection(to.Connection))
	put("Queue", from.Queue, to.Queue)
	put("Looks every, s", seconds(from.Every), seconds(to.Every))
	put("Settles, s", seconds(from.Settle), seconds(to.Settle))
}

// turned says whether a trigger is on; one that only a person fires has no switch.
func turned(t *engine.Trigger) string {
	switch {
	case !t.Switched():
		return ""
	case t.Disabled:
		return "off"
	}
	return "on"
}

// seconds writes n, and nothing where the default holds.
func seconds(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// WaitsFor says what a trigger waits for, in words.
func WaitsFor(t *engine.Trigger, names Names) string {
	words := make([]string, len(t.Predicate.Conditions))
	for i, c := range t.Predicate.Conditions {
		words[i] = names.Of(c.Ref) + " " + Ends(c.State)
	}
	joint := " and "
	if t.Predicate.Logic == engine.Any {
		joint = " or "
	}
	return strings.Join(words, joint)
}

// Ends is a condition's state as the end of a sentence about a node.
func Ends(state engine.State) string {
	switch state {
	case engine.Succeeded:
		return "succeeds"
	case engine.Failed:
		return "fails"
	case engine.TimedOut:
		return "times out"
	case engine.Stopped:
		return "is stopped"
	default:
		return "ends"
	}
}

// Starts lists what a trigger starts, in words.
func Starts(t *engine.Trigger, names Names) string {
	words := make([]string, len(t.Actions))
	for i, a := range t.Actions {
		words[i] = names.Of(a.Ref)
	}
	return strings.Join(words, ", ")
}

func arguments(t *engine.Trigger, names Names) string {
	var words []string
	for _, a := range t.Actions {
		for _, key := range slices.Sorted(maps.Keys(a.Arguments)) {
			words = append(words, fmt.Sprintf("%s %s=%s", names.Of(a.Ref), key, a.Arguments[key]))
		}
	}
	return strings.Join(words, ", ")
}

// timeouts lists the timeouts that a trigger sets for what it starts.
func timeouts(t *engine.Trigger, names Names) string {
	var words []string
	for _, a := range t.Actions {
		if a.Timeout > 0 {
			words = append(words, fmt.Sprintf("%s %d min", names.Of(a.Ref), a.Timeout))
		}
	}
	return strings.Join(words, ", ")
}

// retries lists the retries that a trigger sets for what it starts.
func retries(t *engine.Trigger, names Names) string {
	var words []string
	for _, a := range t.Actions {
		if a.Retries != nil {
			words = append(words, fmt.Sprintf("%s %d", names.Of(a.Ref), *a.Retries))
		}
	}
	return strings.Join(words, ", ")
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func propertyChange(name string, p Pair[string]) Change {
	c := Change{What: Altered, Name: "Property " + name}
	field := Field{Name: "Value"}
	switch {
	case p.From == nil:
		c.What, field.To = Added, *p.To
	case p.To == nil:
		c.What, field.From = Removed, *p.From
	default:
		field.From, field.To = *p.From, *p.To
	}
	c.Fields = []Field{field}
	return c
}

func aboutFields(d Delta) []Field {
	var fields []Field
	if d.About != nil {
		fields = append(fields, Field{Name: "Description", From: *d.About.From, To: *d.About.To})
	}
	if d.Timeout != nil {
		fields = append(fields, Field{Name: "Time limit of a run, minutes", From: fmt.Sprint(*d.Timeout.From), To: fmt.Sprint(*d.Timeout.To)})
	}
	if d.MaxRuns != nil {
		fields = append(fields, Field{Name: "Runs at once", From: fmt.Sprint(*d.MaxRuns.From), To: fmt.Sprint(*d.MaxRuns.To)})
	}
	return fields
}
