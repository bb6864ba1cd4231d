// Package run shows runs: the list, and the page of one with its graph, the
// panel of a node and the timeline.
package run

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"dogear/engine"
	"dogear/views/canvas"
	"dogear/views/show"
)

// Listing is what the list of runs shows.
type Listing struct {
	// Of is the address of the workflow within which the list stands, with its runs
	// alone; "" is the list of all.
	Of     string
	Runs   []engine.Run
	Filter engine.RunFilter
	Next   engine.ID // older runs follow this one; "" for none
	Twins  map[engine.ID]engine.Twin
	Waits  map[engine.ID]string // what nodes of open runs wait for
	Fallen map[engine.ID]engine.Fallen
	Now    time.Time
}

// NewListing keeps limit of the runs that were found.
func NewListing(found []engine.Run, filter engine.RunFilter, limit int, now time.Time) Listing {
	l := Listing{Runs: found, Filter: filter, Now: now}
	if len(found) > limit {
		l.Runs = found[:limit]
		l.Next = l.Runs[limit-1].ID
	}
	return l
}

// query is the address of this list with one parameter set anew.
func (l Listing) query(name, value string) string {
	q := url.Values{}
	set := func(k, v string) {
		if v != "" {
			q.Set(k, v)
		}
	}
	set("name", l.Filter.Name)
	if l.Of == "" {
		set("of", string(l.Filter.Object))
	}
	set("outcome", l.outcome())
	q.Del(name)
	set(name, value)
	if len(q) == 0 {
		return l.path()
	}
	return l.path() + "?" + q.Encode()
}

// follows is when the list asks for itself again: nothing is told of a run that no
// longer waits.
func (l Listing) follows() string {
	if len(l.Waits) > 0 {
		return "dogear:runs-changed from:body, every 5s"
	}
	return "dogear:runs-changed from:body"
}

// path is the address of the list without any filter.
func (l Listing) path() string { return l.Of + "/runs" }

func (l Listing) outcome() string {
	if l.Filter.Open {
		return "open"
	}
	return string(l.Filter.Outcome)
}

func (l Listing) filtered() bool {
	return l.outcome() != "" || l.Filter.Name != "" || l.Of == "" && l.Filter.Object != "" || l.Filter.Before != ""
}

type choice struct{ value, word string }

var outcomes = []choice{
	{"", "All"}, {"open", "Running"}, {"succeeded", "Succeeded"}, {"partly_failed", "Partly failed"}, {"failed", "Failed"}, {"stopped", "Stopped"},
}

// View is one run with all its parts.
type View struct {
	Run      engine.Run
	Nodes    []engine.NodeRun
	Claims   map[engine.NodeKey]time.Time // when each attempt was taken up, the last time
	Triggers []engine.TriggerRun
	Events   []engine.TriggerEvent // that started it
	Twin     *engine.Twin          // an earlier run that asked for the same
	// Origin is the earliest run that this one goes on from, over others maybe, as far
	// back as they are known; nil where it goes on from none.
	Origin  *engine.Run
	Skipped []string // what a person told it not to do, with who said so
	// Otherwise are the properties that a run which does another once more has not as
	// that one, by name.
	Otherwise []string
	// Properties are what the properties of the run were, if they were changed.
	Properties []engine.PropertySet
	Selected   string // the card whose panel is open
	// Bars are how many attempts the timeline shows at most; 0 is barsAtOnce.
	Bars int
	Now  time.Time
	CSRF string

	last map[engine.Ref]engine.NodeRun // by Index
}

// Index is v once its nodes are known, ready to be asked for the newest of each.
func (v View) Index() View {
	v.last = make(map[engine.Ref]engine.NodeRun, len(v.Nodes))
	for _, n := range v.Nodes {
		if was, ok := v.last[n.Ref]; !ok || newer(&n, &was) {
			v.last[n.Ref] = n
		}
	}
	return v
}

func newer(n, was *engine.NodeRun) bool {
	return n.Start > was.Start || n.Start == was.Start && n.Attempt >= was.Attempt
}

// Short names the run for people.
func (v View) Short() string { return show.Short(v.Run.ID) }

// Href is the address of the run.
func (v View) Href() string { return "/runs/" + string(v.Run.ID) }

// ObjectHref is the address of what ran.
func (v View) ObjectHref() string {
	kind := map[engine.RunKind]string{engine.RunWorkflow: "/workflows/", engine.RunJob: "/jobs/", engine.RunCrawl: "/crawlers/"}[v.Run.Kind]
	return kind + string(v.Run.Object)
}

// body is the graph that the run pinned; a job or crawl alone is one card.
func (v View) body() engine.WorkflowBody {
	body := v.Run.Body
	if v.Run.Kind != engine.RunWorkflow {
		body.Cards = v.Refs()
	}
	return body
}

// Refs lists the jobs and crawlers of the run.
func (v View) Refs() []engine.Ref {
	switch v.Run.Kind {
	case engine.RunJob:
		return []engine.Ref{{Kind: engine.KindJob, ID: v.Run.Object}}
	case engine.RunCrawl:
		return []engine.Ref{{Kind: engine.KindCrawler, ID: v.Run.Object}}
	case engine.RunWorkflow:
	}
	return v.Run.Body.Refs()
}

// NameOf is the name that ref had when it ran; "" where it has not.
func (v View) NameOf(ref engine.Ref) string {
	if v.Run.Kind != engine.RunWorkflow {
		return v.Run.Name
	}
	if n, ok := v.newest(ref); ok {
		return n.Name
	}
	return ""
}

// newest is the last attempt of the last start of ref.
func (v View) newest(ref engine.Ref) (engine.NodeRun, bool) {
	if v.last == nil {
		v = v.Index()
	}
	found, ok := v.last[ref]
	return found, ok
}

// Select chooses the card whose panel is open: the one that was asked for, else
// a node that failed, else one that runs, else one that was stopped, else the
// first that did something.
func (v *View) Select(asked string) {
	if v.Run.Body.Trigger(engine.ID(asked)) != nil {
		v.Selected = asked
		return
	}
	refs := v.Refs()
	best, rank := "", 9
	for _, ref := range refs {
		if ref.String() == asked {
			v.Selected = asked
			return
		}
		n, ok := v.newest(ref)
		r := 5
		switch {
		case ok && show.OfState(n.State).Hue == "bad":
			r = 0
		case ok && !n.State.Done():
			r = 1
		case ok && n.State == engine.Stopped:
			r = 2
		case ok && n.State != engine.Skipped:
			r = 3
		case ok:
			r = 4
		}
		if r < rank {
			best, rank = ref.String(), r
		}
	}
	v.Selected = best
}

// Graph is the run as the canvas draws it.
func (v View) Graph(infos canvas.Infos) canvas.View {
	body := v.body()
	in := canvas.Input{Mode: canvas.Run, Body: &body, Infos: infos, Runs: map[string]canvas.Progress{}, Fired: map[engine.ID]time.Time{}, Dead: map[engine.ID]bool{}}
	for _, ref := range v.Refs() {
		if n, ok := v.newest(ref); ok {
			in.Runs[ref.String()] = v.progress(n)
		}
	}
	for card := range v.Run.Skips {
		if v.waitsToBeSkipped(card) {
			in.Runs[card] = canvas.Progress{State: engine.Waiting, ToSkip: true, Sub: show.ToSkip().Word}
		}
	}
	in.ByHand = v.byHand()
	for _, t := range v.Triggers {
		if !t.FiredAt.IsZero() {
			in.Fired[t.Trigger] = t.FiredAt
		}
		in.Dead[t.Trigger] = !t.DeadAt.IsZero()
	}
	drawn := canvas.New(in)
	drawn.Run, drawn.Seq, drawn.Name, drawn.Selected = v.Run.ID, v.Run.Seq, v.Run.Name, v.Selected
	drawn.Base, drawn.Panel = v.Href(), v.Href()+"/nodes/"
	return drawn
}

func (v View) progress(n engine.NodeRun) canvas.Progress {
	p := canvas.Progress{State: n.State, As: n.As(), Started: n.Started, Ended: n.Ended, Sub: show.OfNode(&n).Word, Marked: n.Marked(), Kept: n.Copied != ""}
	if n.Attempt > 1 {
		p.Sub += fmt.Sprintf(" · attempt %d", n.Attempt)
	}
	if why := n.Waits(); why != "" {
		p.Sub += ", " + why
	}
	if n.Copied != "" && !n.Marked() {
		p.Sub += " · copied"
	}
	if !n.Started.IsZero() {
		p.Note = show.Length(show.Spent(n.Started, n.Ended, v.Now))
	}
	switch {
	case n.Counts.RowsOut > 0:
		p.Fact = show.Many(n.Counts.RowsOut, "row")
	case n.Counts.Partitions > 0:
		p.Fact = show.Many(n.Counts.Partitions, "partition")
	case n.Counts.Tables > 0:
		p.Fact = show.Many(n.Counts.Tables, "table")
	default:
		p.Fact = n.Counts.Idle()
	}
	return p
}

func nodeHref(n engine.NodeRun, tab Tab) string {
	q := url.Values{"node": {n.Ref.String()}, "start": {strconv.Itoa(n.Start)}, "attempt": {strconv.Itoa(n.Attempt)}}
	if tab != "" {
		q.Set("tab", string(tab))
	}
	return "/runs/" + string(n.Run) + "?" + q.Encode()
}
