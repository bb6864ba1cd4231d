package draft

import (
	"fmt"
	"strings"

	"dogear/engine"
	"dogear/engine/graph"
)

// Why is the kind of a refusal; the canvas acts on it.
type Why string

// The refusals.
const (
	Cycle   Why = "cycle"   // it would close a loop; Path is the way that leads back
	Rule    Why = "rule"    // it is never allowed
	Same    Why = "same"    // it is there already
	Gone    Why = "gone"    // what it speaks of was deleted
	Changed Why = "changed" // somebody changed what it changes
)

// Refusal says why an operation was not applied.
type Refusal struct {
	Why     Why      `json:"code"`
	Message string   `json:"message"`
	Path    []string `json:"path,omitempty"` // cards, in order
	Index   int      `json:"index"`          // of the operation in its request
	Op      string   `json:"op,omitempty"`   // its id
}

func (r *Refusal) Error() string { return string(r.Why) + ": " + r.Message }

// Unwrap makes a refusal an engine.Error: Conflict where another person came
// first, Invalid where it is never possible.
func (r *Refusal) Unwrap() error {
	code := engine.Invalid
	if r.Why == Gone || r.Why == Changed {
		code = engine.Conflict
	}
	return &engine.Error{Code: code, Message: r.Message}
}

func refuse(why Why, format string, args ...any) *Refusal {
	return &Refusal{Why: why, Message: fmt.Sprintf(format, args...)}
}

// loops is the refusal of an edge from one card to another that way, which
// leads from the second back to the first, would close.
func (e *edit) loops(from, to string, way []string) *Refusal {
	r := refuse(Cycle, "%s already runs before %s: %s.", e.title(to), e.title(from), e.spell(way))
	r.Path = way
	return r
}

// spell writes a way through the graph: at most five names, the pills between
// them left out, as they are drawn.
func (e *edit) spell(way []string) string {
	const most = 5
	var names []string
	for _, card := range way {
		if t := e.body.Trigger(engine.ID(card)); t != nil && graph.Compact(t) {
			continue
		}
		names = append(names, e.title(card))
	}
	if len(names) <= most {
		return strings.Join(names, " → ")
	}
	return fmt.Sprintf("%s … %d more", strings.Join(names[:most], " → "), len(names)-most)
}

// title is the name on a card.
func (e *edit) title(card string) string {
	if t := e.body.Trigger(engine.ID(card)); t != nil {
		return t.Name
	}
	ref, ok := refOf(card)
	if !ok {
		return "This card"
	}
	return e.names.Of(ref)
}

// refOf reads a card's key without asking whether its id is one: what is in a
// draft has been checked when it came in.
func refOf(card string) (engine.Ref, bool) {
	kind, id, ok := strings.Cut(card, "-")
	ref := engine.Ref{Kind: engine.Kind(kind), ID: engine.ID(id)}
	return ref, ok && (ref.Kind == engine.KindJob || ref.Kind == engine.KindCrawler)
}
