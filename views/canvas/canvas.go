// Package canvas draws a workflow: cards, the edges between them with their
// conditions, the palette, and the same graph as a table. The browser's module
// of the same name adopts what is drawn here; without scripts it is a picture
// with a list.
package canvas

import (
	"time"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/graph"
	"dogear/views/show"
)

// Mode says what a canvas is for.
type Mode string

// The modes. Look shows a workflow that its reader may not change.
const (
	Edit Mode = "edit"
	Run  Mode = "run"
	Look Mode = "look"
)

// Info is what a card says of its job or crawler beyond the name.
type Info struct {
	Name string `json:"name"`
	Sub  string `json:"sub"`            // what it is: "SQL transform", "Crawler · sales"
	Note string `json:"note,omitempty"` // at the foot, left: "Bookmark on"
	Fact string `json:"fact,omitempty"` // at the foot, right: "3 new · 41 MB"
	// Fires is the published version in which a trigger is turned on; 0 for none. Where
	// the draft has it off, that version fires until the draft is published.
	Fires int    `json:"fires,omitempty"`
	Icon  string `json:"icon"`
}

// Infos knows the jobs and crawlers of a workflow by Ref.String().
type Infos map[string]Info

func (i Infos) names() draft.Names {
	names := make(draft.Names, len(i))
	for key, info := range i {
		if ref, err := engine.ParseRef(key); err == nil {
			names[ref] = info.Name
		}
	}
	return names
}

// Progress is how far the node of a card has come in a run.
type Progress struct {
	State   engine.State
	As      engine.State // as which conditions see it
	Sub     string       // "Succeeded · attempt 2"
	Note    string       // "4.1 s"
	Fact    string       // "612,440 rows"
	Percent float64
	Marked  bool // by a person
	Kept    bool // of an earlier run: nothing more becomes of it in this one
	ToSkip  bool // it waits, and is skipped when its turn comes
	// Started and Ended let the browser count the time of a node that runs.
	Started, Ended time.Time
}

// View is everything that a canvas shows.
type View struct {
	Mode     Mode
	Workflow engine.ID
	Name     string
	Run      engine.ID // in mode Run
	Seq      int64     // of the draft or the run that this view shows
	Selected string    // the card whose panel is open
	Cards    []Card
	Edges    []Edge
	Width    int
	Height   int
	Body     *engine.WorkflowBody // in mode Edit
	Infos    Infos
	History  draft.History // what the reader can undo
	ByHand   engine.ID     // the trigger whose run a person has started instead of it
	Base     string        // address of the pages of this workflow: "/workflows/ID"
	Panel    string        // address of a card's panel but for the card: "/workflows/ID/cards/"
}

// Card is one job, crawler or trigger on the canvas.
type Card struct {
	Key      string
	Kind     string // job, crawler, or the type of a trigger
	Shape    string // node for jobs and crawlers, start or gate for triggers
	Icon     string
	Name     string
	Sub      string
	SubTitle string // more of Sub; "" is Sub itself
	Note     string
	Fact     string
	At       engine.Point
	Width    int
	Height   int
	Problem  string // hinders a publish
	Warning  string // the next run would fail of it
	Disabled bool
	Before   int // edges that lead here
	After    int // edges that lead on
	Waits    string
	Starts   string

	State   engine.State // "" outside of a run
	Marked  bool
	Kept    bool
	ToSkip  bool // it waits, and is skipped when its turn comes
	ByHand  bool // a trigger whose run a person has started
	Percent float64
	Started string
	Ended   string
}

// Edge is one line between two cards; a pill where it stands for a trigger.
type Edge struct {
	Key     string
	From    string
	To      string
	Trigger engine.ID    // of a pill
	State   engine.State // that a pill or a watch waits for
	Word    string       // on the pill
	Title   string
	Path    string
	Middle  engine.Point
	Taken   bool
	Back    bool // closes a stored loop
	Tight   bool // has no room for its word between the cards
}

// Input is what New draws from.
type Input struct {
	Mode     Mode
	Body     *engine.WorkflowBody
	Infos    Infos
	Problems []draft.Problem
	// Runs holds, in a run, how far each node has come, by card; Fired the
	// triggers that have fired.
	Runs  map[string]Progress
	Fired map[engine.ID]time.Time
	// Dead are the triggers that can no longer fire in the run.
	Dead map[engine.ID]bool
	// ByHand is the trigger whose run a person has started instead of it.
	ByHand engine.ID
	// NextStart says when a start trigger fires next, in words; nil knows not.
	NextStart func(t *engine.Trigger) string
}

// New places and words every card and edge of a workflow.
func New(in Input) View {
	d := drawing{Input: in, graph: graph.New(in.Body), problems: map[string]string{}, warnings: map[string]string{}, loop: map[string]bool{}, names: in.Infos.names()}
	for _, p := range in.Problems {
		if p.Card != "" && !p.Soft && d.problems[p.Card] == "" {
			d.problems[p.Card] = p.Message
		}
		if p.Card != "" && p.Fails && d.warnings[p.Card] == "" {
			d.warnings[p.Card] = p.Message
		}
	}
	for _, card := range d.graph.Cycle() {
		d.loop[card] = true
	}
	d.places = graph.Place(d.graph, in.Body.Layout)
	v := View{Mode: in.Mode, Infos: in.Infos, ByHand: in.ByHand, Cards: d.cards(), Edges: d.edges()}
	for _, c := range v.Cards {
		v.Width, v.Height = max(v.Width, c.At.X+c.Width), max(v.Height, c.At.Y+c.Height)
	}
	if in.Mode == Edit {
		v.Body = d.placedBody()
	}
	return v
}

// drawing is one canvas under way.
type drawing struct {
	Input
	graph    *graph.Graph
	places   map[string]engine.Point
	problems map[string]string
	warnings map[string]string
	loop     map[string]bool // the cards of a stored loop
	names    draft.Names
}

// placedBody is the body with a place for every card, so that the browser
// draws what the server drew.
func (d *drawing) placedBody() *engine.WorkflowBody {
	body := *d.Body
	body.Layout = d.places
	return &body
}

func (d *drawing) cards() []Card {
	var cards []Card
	for _, key := range d.graph.Cards() {
		at, drawn := d.places[key]
		if !drawn {
			continue
		}
		c := Card{Key: key, At: at, Problem: d.problems[key], Warning: d.warnings[key]}
		c.Width, c.Height = d.graph.Size(key)
		c.Before, c.After = len(d.graph.Prev(key)), len(d.graph.Next(key))
		if t := d.graph.Trigger(engine.ID(key)); t != nil {
			d.triggerCard(&c, t)
		} else {
			d.nodeCard(&c, key)
		}
		cards = append(cards, c)
	}
	return cards
}

func (d *drawing) triggerCard(c *Card, t *engine.Trigger) {
	c.Kind, c.Shape, c.Icon = string(t.Type), "start", TriggerIcon(t.Type)
	c.Name, c.Sub, c.Disabled = t.Name, TriggerSub(t), t.Disabled
	if fires := d.Infos[string(t.ID)].Fires; t.Disabled && fires > 0 {
		c.Sub, c.SubTitle = OffInDraft, StillFires(fires)
	}
	c.Waits, c.Starts = draft.WaitsFor(t, d.names), some(draft.Starts(t, d.names))
	if t.Type == engine.Conditional {
		c.Shape = "gate"
	} else if d.NextStart != nil && !t.Disabled {
		if next := d.NextStart(t); next != "" {
			c.Waits = next
		}
	}
	if d.Mode != Run {
		return
	}
	c.State = engine.Waiting
	if fired, ok := d.Fired[t.ID]; ok {
		c.State, c.Sub = engine.Succeeded, "fired "+fired.UTC().Format("15:04:05") // as all times, in the zone of who looks once the browser has it
		if c.ByHand = t.ID == d.ByHand; c.ByHand {
			c.Sub = "started by hand" // there is no room for the time, which its panel says
		}
		c.Started = machine(fired)
	} else if d.Dead[t.ID] {
		c.State, c.Sub = engine.Skipped, "did not fire"
	}
}

func (d *drawing) nodeCard(c *Card, key string) {
	info, known := d.Infos[key]
	ref, _ := engine.ParseRef(key)
	c.Kind, c.Shape = string(ref.Kind), "node"
	c.Icon, c.Name, c.Sub, c.Note, c.Fact = info.Icon, info.Name, info.Sub, info.Note, info.Fact
	if !known {
		c.Icon, c.Name, c.Sub = "triangle-alert", d.names.Of(ref), "Deleted"
	}
	c.Waits, c.Starts = d.nodeWaits(ref), d.nodeStarts(ref)
	if d.Mode != Run {
		return
	}
	p, ran := d.Runs[key]
	if !ran {
		p = Progress{State: engine.Waiting}
	}
	c.Marked, c.Kept, c.ToSkip = p.Marked, p.Kept, p.ToSkip
	c.State, c.Percent, c.Note, c.Fact = p.State, p.Percent, p.Note, p.Fact
	c.Started, c.Ended = machine(p.Started), machine(p.Ended)
	c.Sub = p.Sub
	if c.Sub == "" {
		c.Sub = show.OfState(p.State).Word
	}
}

func machine(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// edges draws every pill as a line to each node that it starts, every other
// watch and action as a line of its own.
func (d *drawing) edges() []Edge {
	var edges []Edge
	for i := range d.Body.Triggers {
		t := &d.Body.Triggers[i]
		if graph.Compact(t) {
			c := t.Predicate.Conditions[0]
			for _, a := range t.Actions {
				edges = append(edges, d.edge(Edge{
					Key: pillKey(t, a), From: c.Ref.String(), To: a.Ref.String(), Trigger: t.ID, State: c.State,
					Word: OnState(c.State), Title: t.Name, Taken: d.fired(t.ID),
				}))
			}
			continue
		}
		for _, c := range t.Predicate.Conditions {
			from := c.Ref.String()
			edges = append(edges, d.edge(Edge{
				Key: from + ">" + string(t.ID), From: from, To: string(t.ID), State: c.State,
				Word: watchWord(c.State), Taken: d.Mode == Run && c.Meets(d.Runs[from].As),
			}))
		}
		for _, a := range t.Actions {
			to := a.Ref.String()
			edges = append(edges, d.edge(Edge{Key: string(t.ID) + ">" + to, From: string(t.ID), To: to, Taken: d.fired(t.ID)}))
		}
	}
	return edges
}

// pillKey is the key of one edge of a pill.
func pillKey(t *engine.Trigger, a engine.Action) string {
	if len(t.Actions) == 1 {
		return string(t.ID)
	}
	return string(t.ID) + ">" + a.Ref.String()
}

func (d *drawing) fired(id engine.ID) bool {
	_, fired := d.Fired[id]
	return d.Mode == Run && fired
}

// edge fills in where the line runs.
func (d *drawing) edge(e Edge) Edge {
	from, to := d.box(e.From), d.box(e.To)
	line := Between(from, to)
	e.Path, e.Middle, e.Tight = line.Path, line.Middle, line.Tight
	e.Back = d.loop[e.From] && d.loop[e.To] && to.X < from.X+from.W
	return e
}

func (d *drawing) box(card string) Box {
	w, h := d.graph.Size(card)
	return Box{X: d.places[card].X, Y: d.places[card].Y, W: w, H: h}
}
