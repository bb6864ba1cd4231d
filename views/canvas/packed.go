package canvas

import (
	"dogear/engine"
	"dogear/views/show"
)

// A graph of a run with more cards than a screen can show is packed: the page
// holds what differs from card to card, and the browser's module draws the cards
// and lines from its templates (static/src/canvas/packed.ts). As markup such a
// page would be five times as long (docs/adr/0029).

// mostDrawn is how many cards of a run the server draws.
const mostDrawn = 200

// listed is how many rows the list shows at once.
const listed = 200

// packed reports whether the browser draws the graph.
func (v *View) packed() bool { return v.Mode == Run && len(v.Cards) > mostDrawn }

// packedCard is a card but for what all cards of its state share.
type packedCard struct {
	Key     string       `json:"key"`
	Kind    string       `json:"kind"`
	Shape   string       `json:"shape,omitempty"` // "" is node
	Name    string       `json:"name"`
	Icon    string       `json:"icon"`
	At      [2]int       `json:"at"`
	State   engine.State `json:"state"`
	Sub     string       `json:"sub,omitempty"` // "" is the word of the state
	Started string       `json:"started,omitempty"`
	Ended   string       `json:"ended,omitempty"`
	Note    string       `json:"note,omitempty"`
	Fact    string       `json:"fact,omitempty"`
	Before  int          `json:"before,omitempty"`
	After   int          `json:"after,omitempty"`
	Off     bool         `json:"off,omitempty"`
	Said    string       `json:"said,omitempty"` // the word of its sign, where that is not the one of its state
	Mark    string       `json:"mark,omitempty"` // the icon of that sign
	Kept    bool         `json:"kept,omitempty"`
}

// packedEdge is a line between two of the packed cards, by their numbers.
type packedEdge struct {
	From    int          `json:"from"`
	To      int          `json:"to"`
	Key     string       `json:"key,omitempty"` // "" is made of what the line joins
	Trigger engine.ID    `json:"trigger,omitempty"`
	State   engine.State `json:"state,omitempty"`
	Word    string       `json:"word,omitempty"`
	Title   string       `json:"title,omitempty"`
	Taken   bool         `json:"taken,omitempty"`
	Back    bool         `json:"back,omitempty"`
}

// pack is the drawing without its markup.
func (v *View) pack() *packedGraph {
	g := &packedGraph{}
	at := make(map[string]int, len(v.Cards))
	for i := range v.Cards {
		c := &v.Cards[i]
		at[c.Key] = i
		p := packedCard{
			Key: c.Key, Kind: c.Kind, Name: c.Name, Icon: c.Icon, At: [2]int{c.At.X, c.At.Y}, State: c.State, Started: c.Started, Ended: c.Ended,
			Fact: c.Fact, Before: c.Before, After: c.After, Off: c.Disabled, Kept: c.Kept,
		}
		if look := c.sign(); look != c.plain() {
			p.Said, p.Mark = look.Word, look.Icon
		}
		if c.Shape != "node" {
			p.Shape = c.Shape
		}
		if c.Sub != show.OfState(c.State).Word {
			p.Sub = c.Sub
		}
		if c.Started == "" { // else the browser counts it
			p.Note = c.Note
		}
		g.Cards = append(g.Cards, p)
	}
	for i := range v.Edges {
		e := &v.Edges[i]
		p := packedEdge{From: at[e.From], To: at[e.To], Trigger: e.Trigger, State: e.State, Word: e.Word, Title: e.Title, Taken: e.Taken, Back: e.Back}
		if e.Key != e.joins() {
			p.Key = e.Key
		}
		g.Edges = append(g.Edges, p)
	}
	return g
}

// packedGraph is what the browser draws a large graph from.
type packedGraph struct {
	Cards []packedCard `json:"cards"`
	Edges []packedEdge `json:"edges"`
}

// joins is the key that most edges have.
func (e *Edge) joins() string {
	if e.Trigger != "" {
		return string(e.Trigger) + ">" + e.To
	}
	return e.From + ">" + e.To
}
