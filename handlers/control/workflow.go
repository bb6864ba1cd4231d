package control

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/draft"
	"dogear/engine/exec"
	"dogear/engine/portable"
)

// Workflow is a workflow as the command line shows it.
type Workflow struct {
	engine.Head
	Description string            `json:"description,omitempty"`
	Properties  map[string]string `json:"properties,omitempty"`
	Triggers    []Trigger         `json:"triggers,omitempty"`
	Nodes       []Node            `json:"nodes,omitempty"`
	// NextStart is when the first of its schedules is due next; never a time
	// that has passed.
	NextStart time.Time `json:"next_start,omitzero"`
	// OverdueSeconds is how long a due time that has come waits for its run.
	OverdueSeconds float64     `json:"overdue_seconds,omitempty"`
	Last           *engine.Run `json:"last_run,omitempty"`
}

// Trigger is a trigger with its nodes by name.
type Trigger struct {
	Name      string             `json:"name"`
	Type      engine.TriggerType `json:"type"`
	Disabled  bool               `json:"disabled,omitempty"`
	Schedule  string             `json:"schedule,omitempty"`
	Zone      string             `json:"zone,omitempty"`
	Event     string             `json:"event,omitempty"`     // what events start a run, in words
	WaitsFor  string             `json:"waits_for,omitempty"` // ends of jobs and crawlers, in words
	Starts    []string           `json:"starts,omitempty"`
	NextStart time.Time          `json:"next_start,omitzero"`

	OverdueSeconds float64 `json:"overdue_seconds,omitempty"`
}

// Node is a job or crawler on the canvas.
type Node struct {
	Kind engine.Kind `json:"kind"`
	Name string      `json:"name"`
}

// Start asks for a run of a workflow.
type Start struct {
	Workflow   string            `json:"workflow"`
	Trigger    string            `json:"trigger,omitempty"` // name of the start trigger; "" is the first
	Properties map[string]string `json:"properties,omitempty"`
	Token      string            `json:"token,omitempty"` // as in StartJob
}

// workflows answers GET /workflows.
func (c *control) workflows(w http.ResponseWriter, r *http.Request) error {
	found, err := c.Store.Workflows(r.Context())
	if err != nil {
		return err
	}
	schedules, err := c.Store.Schedules(r.Context())
	if err != nil {
		return err
	}
	list := make([]Workflow, 0, len(found))
	for _, f := range found {
		item, err := c.view(r, f, schedules)
		if err != nil {
			return err
		}
		list = append(list, item)
	}
	return answer(w, list)
}

// workflow answers GET /workflow?name=…&version=… ; without a version with the one
// that runs.
func (c *control) workflow(w http.ResponseWriter, r *http.Request) error {
	found, err := c.Store.WorkflowNamed(r.Context(), r.FormValue("name"))
	if err != nil {
		return err
	}
	if text := r.FormValue("version"); text != "" {
		return c.earlier(w, r, found.ID, text)
	}
	schedules, err := c.Store.Schedules(r.Context())
	if err != nil {
		return err
	}
	view, err := c.view(r, found, schedules)
	if err != nil {
		return err
	}
	return answer(w, view)
}

// earlier answers with a version of a workflow as it was published, without what is so
// now: its last run and its next start.
func (c *control) earlier(w http.ResponseWriter, r *http.Request, id engine.ID, version string) error {
	n, err := strconv.Atoi(version)
	if err != nil {
		return engine.Errorf(engine.Invalid, "%q is not a version. Write its number, as workflow versions shows it.", version)
	}
	found, err := c.Store.WorkflowVersion(r.Context(), id, n)
	if err != nil {
		return err
	}
	view, err := c.view(r, found, nil)
	if err != nil {
		return err
	}
	view.Last = nil
	return answer(w, view)
}

func (c *control) view(r *http.Request, w engine.Workflow, schedules map[engine.ID]engine.Schedule) (Workflow, error) {
	view := Workflow{Head: w.Head, Description: w.Description, Properties: w.Properties}
	names, err := c.Store.Names(r.Context())
	if err != nil {
		return view, err
	}
	last, err := c.Store.Runs(r.Context(), engine.RunFilter{Object: w.ID, Limit: 1})
	if err != nil {
		return view, err
	}
	if len(last) > 0 {
		last[0].Body = engine.WorkflowBody{} // the run's own copy says nothing new here
		view.Last = &last[0]
	}
	for i := range w.Triggers {
		made := c.viewTrigger(&w.Triggers[i], names, schedules)
		view.OverdueSeconds = max(view.OverdueSeconds, made.OverdueSeconds)
		if !made.NextStart.IsZero() && (view.NextStart.IsZero() || made.NextStart.Before(view.NextStart)) {
			view.NextStart = made.NextStart
		}
		view.Triggers = append(view.Triggers, made)
	}
	for _, ref := range w.Refs() {
		view.Nodes = append(view.Nodes, Node{Kind: ref.Kind, Name: names.Of(ref)})
	}
	return view, nil
}

// viewTrigger is a trigger of a published workflow as it is answered.
func (c *control) viewTrigger(t *engine.Trigger, names draft.Names, schedules map[engine.ID]engine.Schedule) Trigger {
	made := Trigger{Name: t.Name, Type: t.Type, Disabled: t.Disabled, Schedule: t.Schedule, Zone: t.Zone}
	if row, ok := schedules[t.ID]; ok {
		coming := t.Comes(&row, c.Now(), c.Next)
		made.NextStart, made.OverdueSeconds = coming.At, coming.Overdue.Seconds()
	}
	switch t.Type {
	case engine.OnEvent:
		made.Event = arrival.Words(t.Event)
	case engine.Conditional:
		made.WaitsFor = draft.WaitsFor(t, names)
	case engine.OnDemand, engine.Scheduled:
	}
	for _, a := range t.Actions {
		made.Starts = append(made.Starts, names.Of(a.Ref))
	}
	return made
}

// startWorkflow answers POST /workflow with the run that was started.
func (c *control) startWorkflow(w http.ResponseWriter, r *http.Request) error {
	start, err := read[Start](w, r)
	if err != nil {
		return err
	}
	found, err := c.Store.WorkflowNamed(r.Context(), start.Workflow)
	if err != nil {
		return err
	}
	by, err := c.byCommand(r.Context())
	if err != nil {
		return err
	}
	wanted := exec.Order{Kind: engine.RunWorkflow, Object: found.ID, Properties: start.Properties, By: by, Token: start.Token}
	if start.Trigger != "" {
		chosen, err := found.StartNamed(start.Trigger)
		if err != nil {
			return err
		}
		wanted.Trigger = chosen.ID
	}
	run, err := c.Exec.Start(r.Context(), wanted)
	if err != nil {
		return err
	}
	return c.answerRun(w, r, run)
}

// deleteWorkflow answers POST /workflow/delete with what is deleted. What is in
// use is refused.
func (c *control) deleteWorkflow(w http.ResponseWriter, r *http.Request) error {
	found, err := c.asked(w, r)
	if err != nil {
		return err
	}
	if err := c.Remover.Delete(r.Context(), engine.KindWorkflow, found.ID, c.Now()); err != nil {
		return err
	}
	return answer(w, found.Head)
}

// Name names what is asked about.
type Name struct {
	Name string `json:"name"`
}

// asked is the workflow that a request is about.
func (c *control) asked(w http.ResponseWriter, r *http.Request) (engine.Workflow, error) {
	ask, err := read[Name](w, r)
	if err != nil {
		return engine.Workflow{}, err
	}
	return c.Store.WorkflowNamed(r.Context(), ask.Name)
}

// export answers GET /export?name=… with YAML.
func (c *control) export(w http.ResponseWriter, r *http.Request) error {
	text, err := c.Portable.Export(r.Context(), r.FormValue("name"))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(text) // who does not wait for the answer does not get it
	return nil
}

// importFile answers POST /import?dry_run=… with what was, or would be, done.
func (c *control) importFile(w http.ResponseWriter, r *http.Request) error {
	dry, err := strconv.ParseBool(r.URL.Query().Get("dry_run"))
	if err != nil {
		return engine.Errorf(engine.Invalid, "The request does not say whether it is a dry run.")
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, portable.MaxSize+1))
	if err != nil {
		return engine.Errorf(engine.Invalid, "The file was not sent whole: %w", err)
	}
	by, err := c.by(r.Context())
	if err != nil {
		return err
	}
	report, err := c.Portable.Import(r.Context(), portable.Ask{Text: text, Dry: dry, By: by})
	if err != nil {
		return err
	}
	return answer(w, report)
}
