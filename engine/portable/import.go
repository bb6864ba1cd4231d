package portable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/schedule"
)

// Verb is what an import does with one object.
type Verb string

// The verbs.
const (
	Make   Verb = "make"   // there is none of this name
	Change Verb = "change" // there is one, and it differs
	Keep   Verb = "keep"   // there is one, and it is the same
)

// Part is one object of an import.
type Part[B any] struct {
	ID      engine.ID
	Name    string
	Verb    Verb
	Version int   // the published version that was compared; 0 for a new one
	Seq     int64 // of its draft then
	Was     B     // before; empty where it is new
	Body    B
}

// Set is everything that an import writes, all or nothing.
type Set struct {
	Workflow Part[engine.WorkflowBody]
	Jobs     []Part[engine.JobBody]
	Crawlers []Part[engine.CrawlerBody]
	// Was is the workflow before; empty where it is new.
	Was   engine.WorkflowBody
	Names draft.Names // of everything that the bodies speak of
	// Paused are triggers that the file enables and the import does not.
	Paused []Paused
}

// Here is what a server has: objects as they are being edited. Workflow is nil
// where there is none of the document's name.
type Here struct {
	Workflow    *engine.Draft[engine.WorkflowBody]
	Workflows   []engine.Workflow // as they are published
	Jobs        []engine.Draft[engine.JobBody]
	Crawlers    []engine.Draft[engine.CrawlerBody]
	Connections []engine.Connection
	Pools       map[string]int // places by name
	Schedules   schedule.Rules // what the server asks of schedules
	// MayUse says why a path may not be used by the server; nil allows every one.
	MayUse func(path string) error
}

// reader turns names into ids and collects what is wrong.
type reader struct {
	refs  map[engine.Ref]string // by the id they have or will have
	jobs  map[string]engine.ID
	crawl map[string]engine.ID
	links map[string]engine.ID
	pools map[string]int
	rules schedule.Rules
	may   func(path string) error // nil: all
	wrong []string                // whole sentences
}

// maxWrong is how many sentences one answer holds.
const maxWrong = 20

// Resolve finds out what importing d would make and change on a server, at
// time now, or says everything that is wrong with it. Nothing is written.
func Resolve(d Document, here Here, now time.Time) (Set, error) {
	r := &reader{rules: here.Schedules, may: here.MayUse, pools: here.Pools, refs: map[engine.Ref]string{}, jobs: map[string]engine.ID{}, crawl: map[string]engine.ID{}, links: map[string]engine.ID{}}
	for _, c := range here.Connections {
		r.links[c.Name] = c.ID
		r.refs[engine.Ref{Kind: engine.KindConnection, ID: c.ID}] = c.Name
	}
	r.names(d, here, now)
	set := Set{Names: r.refs}
	for i := range d.Jobs {
		j := &d.Jobs[i]
		set.Jobs = append(set.Jobs, compare(r, engine.KindJob, r.jobs[j.Name], j.Name, r.job(j), here.Jobs))
	}
	for i := range d.Crawlers {
		c := &d.Crawlers[i]
		set.Crawlers = append(set.Crawlers, compare(r, engine.KindCrawler, r.crawl[c.Name], c.Name, r.crawler(c), here.Crawlers))
	}
	var was []engine.Draft[engine.WorkflowBody]
	id := engine.NewID(now)
	if here.Workflow != nil {
		was, id, set.Was = append(was, *here.Workflow), here.Workflow.ID, here.Workflow.Body
	}
	body := r.workflow(&d.Workflow, &set.Was, now)
	if err := engine.CheckName("workflow", d.Workflow.Name); err != nil {
		r.say("%s", engine.MessageOf(err))
	}
	r.check(&body, set.Jobs, here.Jobs, now)
	set.Paused = r.pause(&body, &set.Was, id, here.Workflows)
	set.Workflow = compare(r, engine.KindWorkflow, id, d.Workflow.Name, body, was)
	return set, r.verdict()
}

func (r *reader) say(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *reader) verdict() error {
	if len(r.wrong) == 0 {
		return nil
	}
	shown := r.wrong
	if more := len(shown) - maxWrong; more > 0 {
		shown = append(slices.Clone(shown[:maxWrong]), fmt.Sprintf("And %d more.", more))
	}
	return engine.Errorf(engine.Invalid, "%s", strings.Join(shown, "\n"))
}

// names gives every job and crawler its id: the one it has here, or a new one.
// A workflow may also name those that are here and not in the document.
func (r *reader) names(d Document, here Here, now time.Time) {
	for _, j := range here.Jobs {
		r.name(engine.KindJob, j.Name, j.ID)
	}
	for _, c := range here.Crawlers {
		r.name(engine.KindCrawler, c.Name, c.ID)
	}
	seen := map[string]bool{}
	add := func(kind engine.Kind, name string, known map[string]engine.ID) {
		if err := engine.CheckName(string(kind), name); err != nil {
			r.say("%s", engine.MessageOf(err))
		}
		if key := string(kind) + " " + name; seen[key] {
			r.say("The file holds two %ss named %q.", kind, name)
		} else {
			seen[key] = true
		}
		if known[name] == "" {
			r.name(kind, name, engine.NewID(now))
		}
	}
	for _, j := range d.Jobs {
		add(engine.KindJob, j.Name, r.jobs)
	}
	for _, c := range d.Crawlers {
		add(engine.KindCrawler, c.Name, r.crawl)
	}
}

func (r *reader) name(kind engine.Kind, name string, id engine.ID) {
	if kind == engine.KindCrawler {
		r.crawl[name] = id
	} else {
		r.jobs[name] = id
	}
	r.refs[engine.Ref{Kind: kind, ID: id}] = name
}

// compare says what becomes of one object. One with unpublished changes is
// refused: an import would throw away what somebody has typed.
func compare[B any](r *reader, kind engine.Kind, id engine.ID, name string, body B, here []engine.Draft[B]) Part[B] {
	part := Part[B]{ID: id, Name: name, Verb: Make, Body: body}
	i := slices.IndexFunc(here, func(d engine.Draft[B]) bool { return d.ID == id })
	if i < 0 {
		return part
	}
	was := here[i]
	part.Verb, part.Version, part.Seq, part.Was = Change, was.Version, was.Seq, was.Body
	if same(was.Body, body) {
		part.Verb = Keep
	}
	if was.Open {
		r.say("The %s %s has unpublished changes here, which an import would throw away. Publish or discard them first.", kind, name)
	}
	return part
}

// same compares two bodies as the store would keep them.
func same(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

func (r *reader) connection(about, name string) engine.ID {
	id, ok := r.links[name]
	if name != "" && !ok {
		r.say("%s uses the connection %q, which is not here. Make it under Connections with its secret, then import again.", about, name)
	}
	return id
}

func (r *reader) pool(about, name string) string {
	if _, ok := r.pools[name]; name != "" && !ok {
		r.say("%s waits in the pool %q, which is not here. Make it under Pools, then import again.", about, name)
	}
	return name
}

func (r *reader) faults(about string, faults []engine.Fault) {
	for _, f := range faults {
		r.say("%s, %s: %s", about, f.Field, f.Message)
	}
}

func (r *reader) crawler(c *Crawler) engine.CrawlerBody {
	about := "Crawler " + c.Name
	body := engine.CrawlerBody{
		Description: c.Description, Database: c.Database, TablePrefix: c.TablePrefix, MaxTables: c.MaxTables, Timeout: c.Timeout,
		Targets: each(c.Targets, func(t Target) engine.CrawlerTarget {
			return engine.CrawlerTarget{Connection: r.connection(about, t.Connection), Path: t.Path, Exclude: t.Exclude}
		}),
	}
	r.faults(about, body.Faults())
	return body
}

func (r *reader) ref(about string, n Node) engine.Ref {
	kind, name, known := engine.KindJob, n.Job, r.jobs
	switch {
	case (n.Job == "") == (n.Crawler == ""):
		r.say("%s must name either a job or a crawler.", about)
		return engine.Ref{}
	case n.Crawler != "":
		kind, name, known = engine.KindCrawler, n.Crawler, r.crawl
	}
	id, ok := known[name]
	if !ok {
		r.say("%s names the %s %q, which is neither in the file nor here.", about, kind, name)
		return engine.Ref{}
	}
	return engine.Ref{Kind: kind, ID: id}
}

// workflow makes the body. A trigger that is here under the same name keeps
// its id, and with it what a schedule knows of its last time.
func (r *reader) workflow(w *Workflow, was *engine.WorkflowBody, now time.Time) engine.WorkflowBody {
	body := engine.WorkflowBody{Description: w.Description, Properties: w.Properties, MaxRuns: w.MaxRuns, Timeout: w.Timeout}
	place := func(card string, at *Place) {
		if at == nil {
			return
		}
		if body.Layout == nil {
			body.Layout = map[string]engine.Point{}
		}
		body.Layout[card] = engine.Point{X: at[0], Y: at[1]}
	}
	named := map[engine.Ref]bool{}
	for i := range w.Triggers {
		t := r.trigger(&w.Triggers[i], was, now)
		for _, c := range t.Predicate.Conditions {
			named[c.Ref] = true
		}
		for _, a := range t.Actions {
			named[a.Ref] = true
		}
		place(string(t.ID), w.Triggers[i].At)
		body.Triggers = append(body.Triggers, t)
	}
	for _, c := range w.Cards {
		ref := r.ref("A card", c.Node)
		if !named[ref] {
			body.Cards = append(body.Cards, ref)
		}
		named[ref] = true
		place(ref.String(), c.At)
	}
	return body
}

func (r *reader) trigger(t *Trigger, was *engine.WorkflowBody, now time.Time) engine.Trigger {
	about := "Trigger " + t.Name
	made := engine.Trigger{
		ID: engine.NewID(now), Name: t.Name, Type: t.Type, Disabled: t.Disabled, Schedule: t.Schedule, Zone: t.Zone, Missed: t.Missed, Overlap: t.Overlap,
		Predicate: engine.Predicate{Logic: t.Logic},
	}
	if i := slices.IndexFunc(was.Triggers, func(old engine.Trigger) bool { return old.Name == t.Name }); i >= 0 {
		made.ID = was.Triggers[i].ID
	}
	if t.Event != nil {
		made.Event = engine.EventRule{
			Source: t.Event.Source, Size: t.Event.Size, Window: t.Event.Window, Path: t.Event.Path, Connection: r.connection(about, t.Event.Connection),
			Queue: t.Event.Queue, Every: t.Event.Every, Settle: t.Event.Settle,
		}
	}
	r.kind(about, t)
	made.Predicate.Conditions = r.conditions(about, t.When)
	made.Actions = r.starts(about, t.Start)
	return made
}

// check applies the rules of drafts and of publishing to the body. With names
// that are wrong already it would only say the same again.
func (r *reader) check(body *engine.WorkflowBody, jobs []Part[engine.JobBody], here []engine.Draft[engine.JobBody], now time.Time) {
	if len(r.wrong) > 0 {
		return
	}
	if err := draft.Check(engine.WorkflowBody{}, *body, r.refs); err != nil {
		r.say("%s", engine.MessageOf(err))
		return
	}
	if err := engine.CheckProperties(body.Properties); err != nil {
		r.say("%s", engine.MessageOf(err))
	}
	uses := map[engine.Ref][]string{}
	for i := range here {
		uses[engine.Ref{Kind: engine.KindJob, ID: here[i].ID}] = engine.Undeclared(&here[i].Body, nil)
	}
	for i := range jobs {
		uses[engine.Ref{Kind: engine.KindJob, ID: jobs[i].ID}] = engine.Undeclared(&jobs[i].Body, nil)
	}
	for _, p := range draft.Problems(body, draft.Facts{
		Names:    r.refs,
		Schedule: func(text, zone string) error { return r.rules.Check(text, zone, now) },
		Uses:     func(ref engine.Ref) []string { return uses[ref] },
	}) {
		if !p.Soft {
			r.say("%s", p.Message)
		}
	}
}
