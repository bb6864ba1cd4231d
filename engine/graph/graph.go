// Package graph derives the graph of a workflow from its triggers and answers
// questions about it: what waits for a node, what a trigger starts, whether
// there is a loop, what lies downstream, and where the cards stand when nobody
// has placed them.
//
// The nodes of the graph are jobs, crawlers and triggers. An edge from a job or
// crawler to a trigger is a watch; an edge from a trigger to a job or crawler
// is an action. Every node has a card on the canvas and is called by the card's
// key: Ref.String() for a job or crawler, the id for a trigger.
package graph

import (
	"slices"

	"dogear/engine"
)

// Watch is one condition of a trigger that watches a node.
type Watch struct {
	Trigger   engine.ID
	Index     int // of the condition within the trigger's predicate
	Condition engine.Condition
}

// Graph is the graph of one body of a workflow. It is made once and only read
// afterwards, so that many goroutines may share it.
type Graph struct {
	triggers []engine.Trigger
	refs     []engine.Ref
	byID     map[engine.ID]int
	watchers map[engine.Ref][]Watch
	starters map[engine.Ref][]engine.ID
	actions  map[engine.Ref][]*engine.Action // of the starters

	cards []string       // every node, in the order of its first mention
	index map[string]int // of a card in cards
	next  [][]int
	prev  [][]int
}

// New derives the graph of body. It keeps no reference to body's slices that it
// would change; body must not change while the graph is in use.
func New(body *engine.WorkflowBody) *Graph {
	g := &Graph{
		triggers: body.Triggers,
		byID:     make(map[engine.ID]int, len(body.Triggers)),
		watchers: map[engine.Ref][]Watch{},
		starters: map[engine.Ref][]engine.ID{},
		actions:  map[engine.Ref][]*engine.Action{},
		index:    map[string]int{},
	}
	for i, t := range body.Triggers {
		g.byID[t.ID] = i
		trigger := g.add(string(t.ID))
		for at, c := range t.Predicate.Conditions {
			if c.Ref.IsZero() {
				continue
			}
			g.watchers[c.Ref] = append(g.watchers[c.Ref], Watch{Trigger: t.ID, Index: at, Condition: c})
			g.link(g.addRef(c.Ref), trigger)
		}
		for k := range t.Actions {
			a := &t.Actions[k]
			if a.Ref.IsZero() {
				continue
			}
			if !slices.Contains(g.starters[a.Ref], t.ID) {
				g.starters[a.Ref] = append(g.starters[a.Ref], t.ID)
				g.actions[a.Ref] = append(g.actions[a.Ref], a)
			}
			g.link(trigger, g.addRef(a.Ref))
		}
	}
	for _, r := range body.Cards {
		if !r.IsZero() {
			g.addRef(r)
		}
	}
	return g
}

func (g *Graph) add(card string) int {
	if i, ok := g.index[card]; ok {
		return i
	}
	g.index[card] = len(g.cards)
	g.cards = append(g.cards, card)
	g.next = append(g.next, nil)
	g.prev = append(g.prev, nil)
	return len(g.cards) - 1
}

func (g *Graph) addRef(ref engine.Ref) int {
	card := ref.String()
	if i, ok := g.index[card]; ok {
		return i
	}
	g.refs = append(g.refs, ref)
	return g.add(card)
}

// link adds an edge once: a trigger may watch the same node in two states.
func (g *Graph) link(from, to int) {
	if slices.Contains(g.next[from], to) {
		return
	}
	g.next[from] = append(g.next[from], to)
	g.prev[to] = append(g.prev[to], from)
}

// Triggers lists every trigger in the order of the body.
func (g *Graph) Triggers() []engine.Trigger { return g.triggers }

// Trigger returns the trigger with that id, or nil.
func (g *Graph) Trigger(id engine.ID) *engine.Trigger {
	i, ok := g.byID[id]
	if !ok {
		return nil
	}
	return &g.triggers[i]
}

// Refs lists every job and crawler on the canvas in the order of its first
// mention.
func (g *Graph) Refs() []engine.Ref { return g.refs }

// Cards lists the key of every node in the order of its first mention.
func (g *Graph) Cards() []string { return g.cards }

// Has reports whether card is a node of the graph.
func (g *Graph) Has(card string) bool {
	_, ok := g.index[card]
	return ok
}

// Watchers lists the conditions that the end of ref may meet.
func (g *Graph) Watchers(ref engine.Ref) []Watch { return g.watchers[ref] }

// Starters lists the triggers whose actions start ref, each once.
func (g *Graph) Starters(ref engine.Ref) []engine.ID { return g.starters[ref] }

// Actions lists what a trigger starts.
func (g *Graph) Actions(trigger engine.ID) []engine.Action {
	if t := g.Trigger(trigger); t != nil {
		return t.Actions
	}
	return nil
}

// Action is that by which a trigger starts ref, or nil. It does not look through
// all that the trigger starts, which may be ten thousand.
func (g *Graph) Action(trigger engine.ID, ref engine.Ref) *engine.Action {
	if i := slices.Index(g.starters[ref], trigger); i >= 0 {
		return g.actions[ref][i]
	}
	return nil
}

// Conditions lists what a trigger waits for.
func (g *Graph) Conditions(trigger engine.ID) []engine.Condition {
	if t := g.Trigger(trigger); t != nil {
		return t.Predicate.Conditions
	}
	return nil
}

// Ends lists the end nodes: what some trigger starts and nothing waits for. A
// trigger that starts nothing yet does not count as waiting.
func (g *Graph) Ends() []engine.Ref {
	var ends []engine.Ref
	for _, ref := range g.refs {
		waits := slices.ContainsFunc(g.watchers[ref], func(w Watch) bool {
			return len(g.Actions(w.Trigger)) > 0
		})
		if len(g.starters[ref]) > 0 && !waits {
			ends = append(ends, ref)
		}
	}
	return ends
}

// Next lists the cards that card has an edge to.
func (g *Graph) Next(card string) []string { return g.names(g.next, card) }

// Prev lists the cards that have an edge to card.
func (g *Graph) Prev(card string) []string { return g.names(g.prev, card) }

func (g *Graph) names(edges [][]int, card string) []string {
	i, ok := g.index[card]
	if !ok {
		return nil
	}
	names := make([]string, len(edges[i]))
	for k, j := range edges[i] {
		names[k] = g.cards[j]
	}
	return names
}

// Compact reports whether t is drawn as a pill on its edges and not as a card:
// it waits for one node and starts at least one.
func Compact(t *engine.Trigger) bool {
	return t.Type == engine.Conditional && len(t.Predicate.Conditions) == 1 && len(t.Actions) > 0
}
