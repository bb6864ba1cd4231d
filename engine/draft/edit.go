package draft

import (
	"fmt"
	"maps"
	"slices"

	"dogear/engine"
	"dogear/engine/graph"
)

// edit is one operation under way on its own copy of the body.
type edit struct {
	body    *engine.WorkflowBody
	names   Names
	removed map[engine.Ref]bool // cards that leave the canvas on purpose
}

func (e *edit) do(op Op) error {
	e.removed = map[engine.Ref]bool{}
	switch op.Kind {
	case AddNode:
		return e.addNode(op)
	case DelNode:
		return e.delNode(op)
	case Move:
		return e.move(op)
	case Connect:
		return e.connect(op)
	case Disconnect:
		return e.disconnect(op)
	case AddTrigger:
		return e.addTrigger(op)
	case DelTrigger:
		e.dropTrigger(engine.ID(op.Card))
		return nil
	case SetTrigger:
		return e.setTrigger(op)
	case SetCondition:
		return e.setCondition(op)
	case SetStart:
		return e.setStart(op)
	case SetProperties:
		return e.setProperties(op)
	case SetWorkflow:
		return e.setWorkflow(op)
	case Tidy:
		e.body.Layout = graph.Layout(graph.New(e.body), op.Cards...)
		return nil
	case Restore, Earlier:
		return e.restore(op.Delta)
	case Import, Switch: // come with a file or a Turn, and never as an operation
	}
	return refuse(Rule, "There is no operation %q.", op.Kind)
}

func (e *edit) addNode(op Op) error {
	ref, err := engine.ParseRef(op.Card)
	if err != nil {
		return refuse(Rule, "%q is not a job or crawler.", op.Card)
	}
	if _, ok := e.names[ref]; !ok {
		return refuse(Gone, "This %s no longer exists.", ref.Kind)
	}
	if slices.Contains(e.body.Refs(), ref) {
		return refuse(Same, "%s is on the canvas already.", e.names.Of(ref))
	}
	e.body.Cards = append(e.body.Cards, ref)
	e.place(op.Card, op.At)
	return nil
}

// delNode takes a card off the canvas with its edges. A pill that loses an end
// goes with it; a trigger that has a card of its own stays.
func (e *edit) delNode(op Op) error {
	ref, ok := refOf(op.Card)
	if !ok {
		return refuse(Rule, "%q is not a job or crawler.", op.Card)
	}
	e.removed[ref] = true
	e.dropCard(ref)
	var pills []engine.ID
	for i := range e.body.Triggers {
		t := &e.body.Triggers[i]
		if graph.Compact(t) && (t.Predicate.Conditions[0].Ref == ref || len(t.Actions) == 1 && t.Actions[0].Ref == ref) {
			pills = append(pills, t.ID)
			continue
		}
		cut(t, ref)
	}
	for _, id := range pills {
		e.dropTrigger(id)
	}
	return nil
}

// cut removes every edge between t and ref.
func cut(t *engine.Trigger, ref engine.Ref) {
	t.Predicate.Conditions = orNil(slices.DeleteFunc(t.Predicate.Conditions, func(c engine.Condition) bool { return c.Ref == ref }))
	t.Actions = orNil(slices.DeleteFunc(t.Actions, func(a engine.Action) bool { return a.Ref == ref }))
}

func (e *edit) move(op Op) error {
	g := graph.New(e.body)
	for _, card := range slices.Sorted(maps.Keys(op.Move)) {
		if g.Has(card) { // a card that was deleted meanwhile has no place
			point := op.Move[card]
			e.place(card, &point)
		}
	}
	return nil
}

// place puts a card somewhere. Cards that nobody has placed yet get the place
// where they were shown, so that they do not move because another one did.
func (e *edit) place(card string, at *engine.Point) {
	if at == nil {
		return
	}
	if g := graph.New(e.body); slices.ContainsFunc(g.Cards(), func(c string) bool { return c != card && e.unplaced(g, c) }) {
		e.body.Layout = graph.Place(g, e.body.Layout)
	}
	if e.body.Layout == nil {
		e.body.Layout = map[string]engine.Point{}
	}
	e.body.Layout[card] = *at
}

func (e *edit) unplaced(g *graph.Graph, card string) bool {
	_, placed := e.body.Layout[card]
	t := g.Trigger(engine.ID(card))
	return !placed && (t == nil || !graph.Compact(t))
}

func (e *edit) addTrigger(op Op) error {
	if op.New == nil {
		return refuse(Rule, "A new trigger needs a type.")
	}
	t := cloneTrigger(*op.New)
	if e.body.Trigger(t.ID) != nil {
		return refuse(Same, "%s is on the canvas already.", t.Name)
	}
	if t.Name == "" {
		t.Name = e.freeName(map[engine.TriggerType]string{
			engine.OnDemand: "On demand", engine.Scheduled: "Schedule", engine.Conditional: "Condition", engine.OnEvent: "Event",
		}[t.Type])
	}
	e.body.Triggers = append(e.body.Triggers, t)
	e.place(string(t.ID), op.At)
	return nil
}

// freeName is name, or name with the first number that no trigger has.
func (e *edit) freeName(name string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(e.body.Triggers, func(t engine.Trigger) bool { return t.Name == name })
	}
	free := name
	for n := 2; taken(free); n++ {
		free = fmt.Sprintf("%s %d", name, n)
	}
	return free
}

func (e *edit) dropTrigger(id engine.ID) {
	e.body.Triggers = orNil(slices.DeleteFunc(e.body.Triggers, func(t engine.Trigger) bool { return t.ID == id }))
}

func (e *edit) dropCard(ref engine.Ref) {
	e.body.Cards = orNil(slices.DeleteFunc(e.body.Cards, func(r engine.Ref) bool { return r == ref }))
}

// settle keeps the cards of nodes that an edit has cut off from every trigger
// and forgets the places of cards that are gone.
func (e *edit) settle(before engine.WorkflowBody) {
	named := (&engine.WorkflowBody{Triggers: e.body.Triggers}).Refs()
	in := make(map[engine.Ref]bool, len(named))
	for _, ref := range named {
		in[ref] = true
	}
	e.body.Cards = orNil(slices.DeleteFunc(e.body.Cards, func(r engine.Ref) bool { return in[r] }))
	for _, ref := range before.Refs() {
		if !in[ref] && !e.removed[ref] && !slices.Contains(e.body.Cards, ref) {
			e.body.Cards = append(e.body.Cards, ref)
		}
	}
	g := graph.New(e.body)
	maps.DeleteFunc(e.body.Layout, func(card string, _ engine.Point) bool { return !g.Has(card) })
	e.body.Layout = copied(e.body.Layout)
	e.body.Properties = copied(e.body.Properties)
}
