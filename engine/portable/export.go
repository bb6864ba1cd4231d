package portable

import (
	"cmp"

	"dogear/engine"
)

// Parts are the jobs, crawlers and connections that a workflow may name, as
// they are published.
type Parts struct {
	Jobs        []engine.Job
	Crawlers    []engine.Crawler
	Connections []engine.Connection
}

// exporter calls everything by its name.
type exporter struct {
	parts   Parts
	names   map[engine.Ref]string
	links   map[engine.ID]string
	missing string // the first thing that has no name
}

// Export writes w and the jobs and crawlers on its canvas by name.
func Export(w engine.Workflow, parts Parts) (Document, error) {
	x := &exporter{parts: parts, names: map[engine.Ref]string{}, links: map[engine.ID]string{}}
	if w.Version == 0 {
		return Document{}, engine.Errorf(engine.Invalid, "Workflow %s has never been published. Publish it, then export it.", w.Name)
	}
	for _, c := range parts.Connections {
		x.links[c.ID] = c.Name
	}
	d := Document{Format: Format}
	for i := range parts.Jobs {
		x.names[engine.Ref{Kind: engine.KindJob, ID: parts.Jobs[i].ID}] = parts.Jobs[i].Name
	}
	for i := range parts.Crawlers {
		x.names[engine.Ref{Kind: engine.KindCrawler, ID: parts.Crawlers[i].ID}] = parts.Crawlers[i].Name
	}
	d.Workflow = x.workflow(&w)
	on := map[engine.Ref]bool{}
	for _, ref := range w.Refs() {
		on[ref] = true
	}
	for i := range parts.Jobs {
		job := &parts.Jobs[i]
		if !on[engine.Ref{Kind: engine.KindJob, ID: job.ID}] {
			continue
		}
		x.published("job", job.Head)
		d.Jobs = append(d.Jobs, x.jobOf(job))
	}
	for i := range parts.Crawlers {
		crawler := &parts.Crawlers[i]
		if !on[engine.Ref{Kind: engine.KindCrawler, ID: crawler.ID}] {
			continue
		}
		x.published("crawler", crawler.Head)
		d.Crawlers = append(d.Crawlers, x.crawler(crawler))
	}
	if x.missing != "" {
		return Document{}, engine.Errorf(engine.Invalid, "Workflow %s cannot be exported: %s", w.Name, x.missing)
	}
	return d, nil
}

func (x *exporter) published(kind string, head engine.Head) {
	if head.Version == 0 {
		x.miss("its " + kind + " " + head.Name + " has never been published. Publish it first.")
	}
}

func (x *exporter) miss(sentence string) {
	if x.missing == "" {
		x.missing = sentence
	}
}

func (x *exporter) node(ref engine.Ref) Node {
	name, ok := x.names[ref]
	if !ok {
		x.miss("the " + string(ref.Kind) + " of one of its cards was deleted. Remove the card and publish first.")
	}
	if ref.Kind == engine.KindCrawler {
		return Node{Crawler: name}
	}
	return Node{Job: name}
}

func (x *exporter) connection(id engine.ID) string {
	if id == "" {
		return ""
	}
	name, ok := x.links[id]
	if !ok {
		x.miss("one of its triggers, jobs or crawlers uses a connection that was deleted. Choose another one first.")
	}
	return name
}

func (x *exporter) workflow(w *engine.Workflow) Workflow {
	out := Workflow{Name: w.Name, Description: w.Description, Properties: w.Properties, MaxRuns: w.MaxRuns, Timeout: w.Timeout}
	place := func(card string) *Place {
		at, ok := w.Layout[card]
		if !ok {
			return nil
		}
		return &Place{at.X, at.Y}
	}
	named := map[engine.Ref]bool{}
	for i := range w.Triggers {
		t := &w.Triggers[i]
		made := Trigger{
			Name: t.Name, Type: t.Type, Disabled: t.Disabled, Schedule: t.Schedule, Zone: t.Zone, Missed: t.Missed, Overlap: t.Overlap,
			Logic: t.Predicate.Logic, At: place(string(t.ID)),
		}
		if t.Type == engine.OnEvent {
			made.Event = x.event(t.Event)
		}
		for _, c := range t.Predicate.Conditions {
			named[c.Ref] = true
			made.When = append(made.When, Condition{Node: x.node(c.Ref), State: c.State})
		}
		for _, a := range t.Actions {
			named[a.Ref] = true
			made.Start = append(made.Start, Action{Node: x.node(a.Ref), Arguments: a.Arguments, Timeout: a.Timeout, Retries: a.Retries})
		}
		out.Triggers = append(out.Triggers, made)
	}
	for _, ref := range w.Refs() {
		if at := place(ref.String()); at != nil || !named[ref] {
			out.Cards = append(out.Cards, Card{Node: x.node(ref), At: at})
		}
	}
	return out
}

func (x *exporter) event(r engine.EventRule) *Event {
	return &Event{
		Source: cmp.Or(r.Source, engine.EventCalls), Size: r.Size, Window: r.Window, Path: r.Path, Connection: x.connection(r.Connection),
		Queue: r.Queue, Every: r.Every, Settle: r.Settle,
	}
}

func (x *exporter) crawler(c *engine.Crawler) Crawler {
	return Crawler{
		Name: c.Name, Description: c.Description, Database: c.Database, TablePrefix: c.TablePrefix, MaxTables: c.MaxTables, Timeout: c.Timeout,
		Targets: each(c.Targets, func(t engine.CrawlerTarget) Target {
			return Target{Connection: x.connection(t.Connection), Path: t.Path, Exclude: t.Exclude}
		}),
	}
}
