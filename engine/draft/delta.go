package draft

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"dogear/engine"
)

// Delta is what one operation changed, from and to. It is applied forward to
// follow another person's edit, and turned round to undo one.
type Delta struct {
	Triggers   []TriggerDelta                `json:"triggers,omitempty"`
	Cards      []CardDelta                   `json:"cards,omitempty"`
	Layout     map[string]Pair[engine.Point] `json:"layout,omitempty"`
	Properties map[string]Pair[string]       `json:"properties,omitempty"`
	// On and Off are the nodes that came to the canvas and left it.
	On  []engine.Ref `json:"on,omitempty"`
	Off []engine.Ref `json:"off,omitempty"`

	About   *Pair[string]         `json:"about,omitempty"` // the description
	MaxRuns *Pair[int]            `json:"max_runs,omitempty"`
	Timeout *Pair[engine.Minutes] `json:"timeout,omitempty"`
}

// Pair is a value before and after; nil is none.
type Pair[T any] struct {
	From *T `json:"from,omitempty"`
	To   *T `json:"to,omitempty"`
}

// TriggerDelta is the change of one trigger; Index is where it stands, or stood.
type TriggerDelta struct {
	ID    engine.ID       `json:"id"`
	Index int             `json:"index"`
	From  *engine.Trigger `json:"from,omitempty"`
	To    *engine.Trigger `json:"to,omitempty"`
}

// CardDelta says that Ref joined or left the cards that no trigger names.
type CardDelta struct {
	Ref   engine.Ref `json:"ref"`
	Index int        `json:"index"`
	In    bool       `json:"in"`
}

// Empty reports that nothing changed.
func (d Delta) Empty() bool {
	return len(d.Triggers)+len(d.Cards)+len(d.Layout)+len(d.Properties) == 0 && d.About == nil && d.MaxRuns == nil && d.Timeout == nil
}

// Inverse is the change that takes d back.
func (d Delta) Inverse() Delta {
	back := Delta{
		Layout: turnAll(d.Layout), Properties: turnAll(d.Properties),
		On: d.Off, Off: d.On,
		About: turn(d.About), MaxRuns: turn(d.MaxRuns), Timeout: turn(d.Timeout),
	}
	for _, t := range d.Triggers {
		back.Triggers = append(back.Triggers, TriggerDelta{ID: t.ID, Index: t.Index, From: t.To, To: t.From})
	}
	for _, c := range d.Cards {
		back.Cards = append(back.Cards, CardDelta{Ref: c.Ref, Index: c.Index, In: !c.In})
	}
	return back
}

func turn[T any](p *Pair[T]) *Pair[T] {
	if p == nil {
		return nil
	}
	return &Pair[T]{From: p.To, To: p.From}
}

func turnAll[T any](pairs map[string]Pair[T]) map[string]Pair[T] {
	if pairs == nil {
		return nil
	}
	back := make(map[string]Pair[T], len(pairs))
	for key, p := range pairs {
		back[key] = Pair[T]{From: p.To, To: p.From}
	}
	return back
}

// Between is the change that leads from one body to another.
func Between(from, to engine.WorkflowBody) Delta {
	d := Delta{
		Layout:     differences(from.Layout, to.Layout),
		Properties: differences(from.Properties, to.Properties),
	}
	before, after := from.Refs(), to.Refs()
	d.On, d.Off = missing(slices.Clone(after), before), missing(slices.Clone(before), after)
	if from.Description != to.Description {
		d.About = &Pair[string]{From: &from.Description, To: &to.Description}
	}
	if from.MaxRuns != to.MaxRuns {
		d.MaxRuns = &Pair[int]{From: &from.MaxRuns, To: &to.MaxRuns}
	}
	if from.Timeout != to.Timeout {
		d.Timeout = &Pair[engine.Minutes]{From: &from.Timeout, To: &to.Timeout}
	}
	d.Triggers = triggersBetween(from.Triggers, to.Triggers)
	for i, ref := range from.Cards {
		if !slices.Contains(to.Cards, ref) {
			d.Cards = append(d.Cards, CardDelta{Ref: ref, Index: i})
		}
	}
	for i, ref := range to.Cards {
		if !slices.Contains(from.Cards, ref) {
			d.Cards = append(d.Cards, CardDelta{Ref: ref, Index: i, In: true})
		}
	}
	return d
}

// missing lists what of list is not in other.
func missing(list, other []engine.Ref) []engine.Ref {
	in := make(map[engine.Ref]bool, len(other))
	for _, ref := range other {
		in[ref] = true
	}
	return orNil(slices.DeleteFunc(list, func(r engine.Ref) bool { return in[r] }))
}

func triggersBetween(from, to []engine.Trigger) []TriggerDelta {
	var changes []TriggerDelta
	after := make(map[engine.ID]int, len(to))
	for i, t := range to {
		after[t.ID] = i
	}
	before := make(map[engine.ID]bool, len(from))
	for i := range from {
		before[from[i].ID] = true
		j, stays := after[from[i].ID]
		switch {
		case !stays:
			changes = append(changes, TriggerDelta{ID: from[i].ID, Index: i, From: &from[i]})
		case !reflect.DeepEqual(from[i], to[j]):
			changes = append(changes, TriggerDelta{ID: from[i].ID, Index: j, From: &from[i], To: &to[j]})
		}
	}
	for j := range to {
		if !before[to[j].ID] {
			changes = append(changes, TriggerDelta{ID: to[j].ID, Index: j, To: &to[j]})
		}
	}
	return changes
}

func differences[T comparable](from, to map[string]T) map[string]Pair[T] {
	var pairs map[string]Pair[T]
	put := func(key string, p Pair[T]) {
		if pairs == nil {
			pairs = map[string]Pair[T]{}
		}
		pairs[key] = p
	}
	for key, was := range from {
		is, stays := to[key]
		switch {
		case !stays:
			put(key, Pair[T]{From: &was})
		case was != is:
			put(key, Pair[T]{From: &was, To: &is})
		}
	}
	for key, is := range to {
		if _, was := from[key]; !was {
			put(key, Pair[T]{To: &is})
		}
	}
	return pairs
}

// restore applies d. A trigger that is no longer as d knows it is refused:
// taking d back would overwrite what somebody did since.
func (e *edit) restore(d *Delta) error {
	if d == nil {
		return refuse(Rule, "This undo carries no change.")
	}
	for _, t := range d.Triggers {
		current := e.body.Trigger(t.ID)
		switch {
		case current == nil && t.From != nil:
			return refuse(Gone, "%s was deleted meanwhile.", t.From.Name)
		case current != nil && t.From == nil:
			return refuse(Changed, "%s is there already.", current.Name)
		case current != nil && !reflect.DeepEqual(*current, *t.From):
			return refuse(Changed, "%s was changed meanwhile.", current.Name)
		}
	}
	e.restoreTriggers(d.Triggers)
	e.restoreCards(d.Cards)
	named := (&engine.WorkflowBody{Triggers: e.body.Triggers}).Refs()
	for _, ref := range d.Off {
		if slices.Contains(named, ref) {
			return refuse(Changed, "%s was connected meanwhile.", e.names.Of(ref))
		}
		e.dropCard(ref)
		e.removed[ref] = true
	}
	e.body.Layout = restorePairs(e.body.Layout, d.Layout)
	e.body.Properties = restorePairs(e.body.Properties, d.Properties)
	if d.About != nil && d.About.To != nil {
		e.body.Description = *d.About.To
	}
	if d.MaxRuns != nil && d.MaxRuns.To != nil {
		e.body.MaxRuns = *d.MaxRuns.To
	}
	if d.Timeout != nil && d.Timeout.To != nil {
		e.body.Timeout = *d.Timeout.To
	}
	return nil
}

// restoreTriggers takes out what goes before it puts in what comes, lowest
// place first, so that each lands where it stood.
func (e *edit) restoreTriggers(changes []TriggerDelta) {
	coming := slices.Clone(changes)
	slices.SortStableFunc(coming, func(a, b TriggerDelta) int { return cmp.Compare(a.Index, b.Index) })
	for _, t := range changes {
		if t.To == nil {
			e.dropTrigger(t.ID)
		} else if current := e.body.Trigger(t.ID); current != nil {
			*current = cloneTrigger(*t.To)
		}
	}
	for _, t := range coming {
		if t.To != nil && t.From == nil {
			e.body.Triggers = slices.Insert(e.body.Triggers, min(max(t.Index, 0), len(e.body.Triggers)), cloneTrigger(*t.To))
		}
	}
}

func (e *edit) restoreCards(changes []CardDelta) {
	coming := slices.Clone(changes)
	slices.SortStableFunc(coming, func(a, b CardDelta) int { return cmp.Compare(a.Index, b.Index) })
	for _, c := range changes {
		if !c.In {
			e.dropCard(c.Ref)
		}
	}
	for _, c := range coming {
		if c.In && !slices.Contains(e.body.Cards, c.Ref) {
			e.body.Cards = slices.Insert(e.body.Cards, min(max(c.Index, 0), len(e.body.Cards)), c.Ref)
		}
	}
}

func restorePairs[T any](values map[string]T, pairs map[string]Pair[T]) map[string]T {
	for key, p := range pairs {
		if p.To == nil {
			delete(values, key)
			continue
		}
		if values == nil {
			values = map[string]T{}
		}
		values[key] = *p.To
	}
	return values
}

// clone copies everything of body that an edit may change.
func clone(body engine.WorkflowBody) engine.WorkflowBody {
	body.Triggers = slices.Clone(body.Triggers)
	for i := range body.Triggers {
		body.Triggers[i] = cloneTrigger(body.Triggers[i])
	}
	body.Cards = slices.Clone(body.Cards)
	body.Layout = copied(body.Layout)
	body.Properties = copied(body.Properties)
	return body
}

func cloneTrigger(t engine.Trigger) engine.Trigger {
	t.Predicate.Conditions = orNil(slices.Clone(t.Predicate.Conditions))
	t.Actions = orNil(slices.Clone(t.Actions))
	for i := range t.Actions {
		t.Actions[i].Arguments = copied(t.Actions[i].Arguments)
		if retries := t.Actions[i].Retries; retries != nil {
			t.Actions[i].Retries = new(*retries)
		}
	}
	return t
}

// orNil makes an empty list nil, so that equal drafts compare as equal however
// they came here.
func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// copied is a copy of values, nil where it is empty.
func copied[T any](values map[string]T) map[string]T {
	if len(values) == 0 {
		return nil
	}
	return maps.Clone(values)
}
