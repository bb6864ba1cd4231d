package exec

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/flow"
	"dogear/engine/graph"
)

// orderWorkflow starts a run of the published version of a workflow, as if the
// start trigger that o names had fired.
func (e *Exec) orderWorkflow(ctx context.Context, o Order, token *flow.Token) (engine.Run, error) {
	d, err := e.drawn(ctx, o.Object)
	if err != nil {
		return engine.Run{}, err
	}
	start, err := d.workflow.StartTrigger(o.Trigger)
	if err != nil {
		return engine.Run{}, err
	}
	return e.startWorkflow(ctx, &d, start, begin{given: o.Properties, by: o.By, repeats: o.Again, token: token})
}

// begin is how a run of a workflow begins: by a person, by the due time of a
// schedule, or by a batch of events.
type begin struct {
	given   map[string]string // properties
	by      string
	repeats engine.ID // a run that is run once more
	token   *flow.Token
	fire    *flow.Fire
}

// Due starts the run that a schedule is due for or that a batch of events is
// complete for, and uses the due time or the events up in the same transaction,
// so that nothing ever starts two.
func (e *Exec) Due(ctx context.Context, workflow engine.ID, fire flow.Fire) (engine.Run, error) {
	d, err := e.drawn(ctx, workflow)
	if err != nil {
		return engine.Run{}, err
	}
	trigger := d.workflow.Trigger(fire.Trigger)
	if trigger == nil {
		return engine.Run{}, engine.Errorf(engine.NotFound, "Workflow %s has no such trigger any more.", d.workflow.Name)
	}
	by := "schedule"
	if fire.Events != nil {
		by = "event"
	}
	return e.startWorkflow(ctx, &d, trigger, begin{by: by, fire: &fire})
}

// drawn is a published workflow with what a start needs of it. Runs share it, so
// nobody changes it.
type drawn struct {
	workflow engine.Workflow
	graph    *graph.Graph
	jobs     []engine.Job // its published ones
}

// drawn reads a workflow, once for all that start it at one moment.
func (e *Exec) drawn(ctx context.Context, id engine.ID) (drawn, error) {
	return e.starts.ask(id, func() (d drawn, err error) {
		ctx := context.WithoutCancel(ctx) // others wait for the answer, too
		if d.workflow, err = e.Store.Workflow(ctx, id); err != nil {
			return d, err
		}
		d.graph = graph.New(&d.workflow.WorkflowBody)
		d.jobs, err = e.published(ctx, d.workflow.Refs())
		return d, err
	})
}

func (e *Exec) startWorkflow(ctx context.Context, d *drawn, start *engine.Trigger, b begin) (engine.Run, error) {
	w, g := &d.workflow, d.graph
	if loop := g.Cycle(); loop != nil {
		return engine.Run{}, engine.Errorf(engine.Invalid, "Workflow %s goes round in a circle and cannot run. Cut one of the connections of the loop.", w.Name)
	}
	now := e.Now().UTC()
	run := engine.Run{
		ID: engine.NewID(now), Kind: engine.RunWorkflow, Object: w.ID, Name: w.Name, Version: w.Version, Body: w.WorkflowBody,
		By: b.by, Trigger: start.ID, Repeats: b.repeats, Started: now,
	}
	if b.fire != nil {
		run.Due = b.fire.Due
	}
	run.Deadline = deadline(&w.WorkflowBody, now)
	zone, err := zoneOf(start)
	if err != nil {
		return engine.Run{}, err
	}
	run.Properties, err = engine.ResolveProperties(w.Properties, b.given, engine.Moment{Run: run.ID, Started: now, Due: run.Due, Zone: zone})
	if err != nil {
		return engine.Run{}, err
	}
	if b.fire != nil && b.fire.Events != nil {
		run.Properties[arrival.IDsProperty], run.Properties[arrival.EventsProperty] = arrival.IDs(b.fire.Events), b.fire.Told
	}
	if err := checkDeclared(w, d.jobs, run.Properties, b.given); err != nil {
		return engine.Run{}, err
	}
	return e.doStart(ctx, pin{run, g}, func(run engine.Run, st flow.State) (flow.Writes, error) {
		if err := mayStart(st, w); err != nil {
			return flow.Writes{}, err
		}
		writes := flow.Begin(g, st, run, start.ID, now)
		writes.Fire, writes.Token = b.fire, b.token
		return writes, nil
	})
}

// deadline is when a run that starts now is over its time; zero is never.
func deadline(w *engine.WorkflowBody, now time.Time) time.Time {
	if w.Timeout <= 0 {
		return time.Time{}
	}
	return now.Add(w.Timeout.Duration())
}

func zoneOf(t *engine.Trigger) (*time.Location, error) {
	zone, err := time.LoadLocation(t.Zone)
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "The time zone %q is not known. Use an IANA name such as Europe/Berlin.", t.Zone)
	}
	return zone, nil
}

// checkDeclared refuses a run in which a job would read a property that nobody
// declares, and one that is given a property that nobody knows: it would be a
// slip of the pen that changes nothing. The jobs are the published ones of w.
func checkDeclared(w *engine.Workflow, jobs []engine.Job, properties, given map[string]string) error {
	strangers := maps.Clone(given)
	maps.DeleteFunc(strangers, func(name, _ string) bool {
		_, declared := w.Properties[name]
		return declared || arrival.Tells(name) // of a run that is run again
	})
	passed := w.Passed()
	for i := range jobs {
		job, ref := &jobs[i], engine.Ref{Kind: engine.KindJob, ID: jobs[i].ID}
		for _, name := range engine.PropertiesOf(&job.JobBody) {
			delete(strangers, name)
		}
		told := map[string]string{}
		maps.Copy(told, properties)
		maps.Copy(told, passed[ref])
		if missing := engine.Undeclared(&job.JobBody, told); len(missing) > 0 {
			return engine.Errorf(engine.Invalid, "Job %s reads the property %s, which workflow %s does not declare. Add it to the workflow's properties, or give it at the start.",
				job.Name, strings.Join(missing, ", "), w.Name)
		}
	}
	if len(strangers) > 0 {
		return engine.Errorf(engine.Invalid, "Workflow %s has no property %s. %s",
			w.Name, strings.Join(slices.Sorted(maps.Keys(strangers)), ", "), declares(w.Properties))
	}
	return nil
}

// declares says which properties there are.
func declares(properties map[string]string) string {
	if len(properties) == 0 {
		return "It declares none; add the property to the workflow first."
	}
	return "It declares: " + strings.Join(slices.Sorted(maps.Keys(properties)), ", ") + "."
}

// orderJob starts a run of one job alone.
func (e *Exec) orderJob(ctx context.Context, o Order, token *flow.Token) (engine.Run, error) {
	job, err := e.Store.Job(ctx, o.Object)
	if err != nil {
		return engine.Run{}, err
	}
	if job.Version == 0 {
		return engine.Run{}, engine.Errorf(engine.Invalid, "Job %s has never been published. Publish it, then run it.", job.Name)
	}
	if missing := engine.Undeclared(&job.JobBody, o.Properties); len(missing) > 0 {
		return engine.Run{}, engine.Errorf(engine.Invalid, "Job %s reads the property %s. Give it a value to run the job alone.", job.Name, strings.Join(missing, ", "))
	}
	if o.Pick != nil && job.Kind == engine.JobPython {
		return engine.Run{}, engine.Errorf(engine.Invalid, "Job %s is a script: it has no bookmark, so nothing of it can be read again. Pass what it shall do as a property.", job.Name)
	}
	if o.Pick != nil && o.Pick.Empty() {
		return engine.Run{}, engine.Errorf(engine.Invalid, "Choose what is read again: files by name, a path pattern, or when they were written.")
	}
	e.keepJob(job)
	return e.startAlone(ctx, job.Head, o, token)
}

// orderCrawl starts one crawler alone.
func (e *Exec) orderCrawl(ctx context.Context, o Order, token *flow.Token) (engine.Run, error) {
	crawler, err := e.Store.Crawler(ctx, o.Object)
	if err != nil {
		return engine.Run{}, err
	}
	if crawler.Version == 0 {
		return engine.Run{}, engine.Errorf(engine.Invalid, "Crawler %s has never been published. Publish it, then run it.", crawler.Name)
	}
	return e.startAlone(ctx, crawler.Head, o, token)
}

// startAlone starts a run of the job or crawler that head names.
func (e *Exec) startAlone(ctx context.Context, head engine.Head, o Order, token *flow.Token) (engine.Run, error) {
	now := e.Now().UTC()
	run := engine.Run{
		ID: engine.NewID(now), Kind: o.Kind, Object: head.ID, Name: head.Name, Version: head.Version,
		Properties: o.Properties, Pick: o.Pick, Repeats: o.Again, By: o.By, Started: now,
	}
	ref := engine.Ref{Kind: engine.KindJob, ID: head.ID}
	if run.Kind == engine.RunCrawl {
		ref.Kind = engine.KindCrawler
	}
	return e.doStart(ctx, pin{run: run}, func(run engine.Run, st flow.State) (flow.Writes, error) {
		writes := flow.BeginAlone(st, run, ref, now)
		writes.Token = token
		return writes, nil
	})
}

// doStart writes the run that decide begins. What it has pinned is kept before
// that, for its nodes start with the commit; one that is refused keeps nothing.
func (e *Exec) doStart(ctx context.Context, p pin, decide func(engine.Run, flow.State) (flow.Writes, error)) (engine.Run, error) {
	e.keep(p)
	written, err := e.do(ctx, flow.Step{Run: p.run.ID, New: &p.run, Decide: decide})
	if err != nil {
		e.forget(p.run.ID) // should it exist after all, pinned reads it again
	}
	return written.Run, err
}

// Stop asks a run to end. Nothing new starts, running work is told to stop,
// and a publish under way is finished.
func (e *Exec) Stop(ctx context.Context, id engine.ID, by string) (engine.Run, error) {
	p, err := e.pinned(ctx, id)
	if err != nil {
		return engine.Run{}, err
	}
	written, err := e.do(ctx, flow.Step{Run: id, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		return flow.Stop(p.graph, st, run, openOf(st), by, e.Now().UTC())
	}})
	return written.Run, err
}
