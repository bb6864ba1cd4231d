package draft

import (
	"slices"

	"dogear/engine"
	"dogear/engine/graph"
)

// connect draws an edge by what its two ends are: an action from a trigger, a
// watch to a trigger, or a trigger between two nodes.
func (e *edit) connect(op Op) error {
	g := graph.New(e.body)
	for _, card := range []string{op.Card, op.To} {
		if !g.Has(card) {
			return refuse(Gone, "This card was deleted meanwhile.")
		}
	}
	if op.Card == op.To {
		r := refuse(Cycle, "%s can't wait for itself.", e.title(op.Card))
		r.Path = []string{op.Card}
		return r
	}
	from, to := e.body.Trigger(engine.ID(op.Card)), e.body.Trigger(engine.ID(op.To))
	switch {
	case to != nil && from != nil:
		return refuse(Rule, "A trigger starts jobs and crawlers, not triggers.")
	case to != nil && to.Type != engine.Conditional:
		return refuse(Rule, "A start trigger begins the workflow; nothing can run before it.")
	}
	if way := g.PathBetween(op.To, op.Card); way != nil {
		return e.loops(op.Card, op.To, way)
	}
	switch {
	case from != nil:
		return e.act(from, op)
	case to != nil:
		return e.watch(to, op)
	}
	return e.join(g, op)
}

// act makes trigger start what op leads to.
func (e *edit) act(trigger *engine.Trigger, op Op) error {
	ref, _ := refOf(op.To)
	if slices.ContainsFunc(trigger.Actions, func(a engine.Action) bool { return a.Ref == ref }) {
		return refuse(Same, "Already connected.")
	}
	trigger.Actions = append(trigger.Actions, engine.Action{Ref: ref})
	return nil
}

// watch makes trigger wait for what op comes from.
func (e *edit) watch(trigger *engine.Trigger, op Op) error {
	ref, _ := refOf(op.Card)
	if watches(trigger, ref) {
		return refuse(Same, "Already connected.")
	}
	trigger.Predicate.Conditions = append(trigger.Predicate.Conditions, condition(ref, op))
	if op.Logic != "" {
		trigger.Predicate.Logic = op.Logic
	}
	return nil
}

func watches(t *engine.Trigger, ref engine.Ref) bool {
	return slices.ContainsFunc(t.Predicate.Conditions, func(c engine.Condition) bool { return c.Ref == ref })
}

func condition(ref engine.Ref, op Op) engine.Condition {
	c := engine.Condition{Ref: ref, State: engine.Succeeded}
	if op.Patch != nil && op.Patch.State != nil {
		c.State = *op.Patch.State
	}
	return c
}

// join connects two nodes: by a condition more on the trigger that op names, or
// by a new trigger between them.
func (e *edit) join(g *graph.Graph, op Op) error {
	from, _ := refOf(op.Card)
	to, _ := refOf(op.To)
	for _, id := range g.Starters(to) {
		if watches(g.Trigger(id), from) {
			return refuse(Same, "Already connected.")
		}
	}
	if op.Join {
		gate := e.body.Trigger(op.Trigger)
		if gate == nil || !slices.Contains(g.Starters(to), gate.ID) {
			return refuse(Gone, "The condition to join was deleted meanwhile.")
		}
		e.place(string(op.Trigger), op.At)
		return e.watch(gate, op)
	}
	if e.body.Trigger(op.Trigger) != nil {
		return refuse(Same, "Already connected.")
	}
	name := op.Name
	if name == "" {
		name = "after " + e.names.Of(from)
	}
	e.body.Triggers = append(e.body.Triggers, engine.Trigger{
		ID:        op.Trigger,
		Name:      e.freeName(shorten(name)),
		Type:      engine.Conditional,
		Predicate: engine.Predicate{Conditions: []engine.Condition{condition(from, op)}},
		Actions:   []engine.Action{{Ref: to}},
	})
	return nil
}

// shorten leaves room in a name for a number behind it.
func shorten(name string) string {
	const most = 250
	letters := []rune(name)
	if len(letters) <= most {
		return name
	}
	return string(letters[:most-1]) + "…"
}

// Suggest says how a new connection of two nodes is best made: by joining the
// trigger gate, by asking whether all or any are waited for (ask is then the
// trigger to join), or, with both empty, by a trigger of its own.
func Suggest(g *graph.Graph, to engine.Ref) (gate, ask engine.ID) {
	for _, id := range g.Starters(to) {
		t := g.Trigger(id)
		if t.Type != engine.Conditional || len(t.Actions) != 1 {
			continue
		}
		if len(t.Predicate.Conditions) > 1 && t.Predicate.Logic != engine.Any {
			return id, ""
		}
		if ask == "" {
			ask = id
		}
	}
	return "", ask
}

// disconnect cuts an edge: an action, a watch, or what the trigger that op names
// starts between two nodes. An edge that is gone already is no error.
func (e *edit) disconnect(op Op) error {
	if from, ok := refOf(op.Card); ok {
		if to := e.body.Trigger(engine.ID(op.To)); to != nil {
			to.Predicate.Conditions = orNil(slices.DeleteFunc(to.Predicate.Conditions,
				func(c engine.Condition) bool { return c.Ref == from }))
			return nil
		}
		return e.cutPill(op)
	}
	if from := e.body.Trigger(engine.ID(op.Card)); from != nil {
		to, _ := refOf(op.To)
		from.Actions = orNil(slices.DeleteFunc(from.Actions, func(a engine.Action) bool { return a.Ref == to }))
	}
	return nil
}

// cutPill cuts one edge of a pill; the pill goes with its last edge.
func (e *edit) cutPill(op Op) error {
	t := e.body.Trigger(op.Trigger)
	switch {
	case t == nil:
		return nil
	case !graph.Compact(t):
		return refuse(Changed, "%s was changed meanwhile.", t.Name)
	}
	to, _ := refOf(op.To)
	t.Actions = orNil(slices.DeleteFunc(t.Actions, func(a engine.Action) bool { return a.Ref == to }))
	if len(t.Actions) == 0 {
		e.dropTrigger(t.ID)
	}
	return nil
}
