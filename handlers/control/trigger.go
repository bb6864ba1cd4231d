package control

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/draft"
)

// ListedTrigger is a trigger of some workflow.
type ListedTrigger struct {
	Workflow string `json:"workflow"`
	Trigger
}

// triggers answers GET /triggers?workflow=… with the triggers of published workflows,
// or of that one.
func (c *control) triggers(w http.ResponseWriter, r *http.Request) error {
	found, err := c.workflowsNamed(r.Context(), r.FormValue("workflow"))
	if err != nil {
		return err
	}
	names, err := c.Store.Names(r.Context())
	if err != nil {
		return err
	}
	schedules, err := c.Store.Schedules(r.Context())
	if err != nil {
		return err
	}
	list := []ListedTrigger{}
	for i := range found {
		if found[i].Version == 0 {
			continue // a draft starts nothing
		}
		for n := range found[i].Triggers {
			list = append(list, ListedTrigger{found[i].Name, c.viewTrigger(&found[i].Triggers[n], names, schedules)})
		}
	}
	return answer(w, list)
}

// workflowsNamed is the workflow of that name, or all of them without one.
func (c *control) workflowsNamed(ctx context.Context, name string) ([]engine.Workflow, error) {
	if name == "" {
		return c.Store.Workflows(ctx)
	}
	found, err := c.Store.WorkflowNamed(ctx, name)
	return []engine.Workflow{found}, err
}

// SwitchTrigger asks to turn a trigger on or off.
type SwitchTrigger struct {
	Workflow string `json:"workflow"`
	Trigger  string `json:"trigger"`
	On       bool   `json:"on"`
}

// Switched is a trigger as it runs now.
type Switched struct {
	Trigger
	Workflow string         `json:"workflow"`
	Version  int            `json:"version"`         // of the workflow, that runs now
	Made     bool           `json:"made"`            // it was made for the switch; else it had the trigger so already
	Drawn    []draft.Change `json:"drawn,omitempty"` // what the draft holds that is still not published
}

// switchTrigger answers POST /trigger with the trigger as it is then. It is
// published at once, and nothing else with it.
func (c *control) switchTrigger(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[SwitchTrigger](w, r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	found, err := c.Store.WorkflowNamed(ctx, ask.Workflow)
	if err != nil {
		return err
	}
	trigger, err := switchable(&found, ask.Trigger)
	if err != nil {
		return err
	}
	by, err := c.by(ctx)
	if err != nil {
		return err
	}
	made, err := c.Publisher.Switch(ctx, found.ID, draft.Turn{Trigger: trigger.ID, On: ask.On}, by)
	if err != nil {
		return err
	}
	view, err := c.switched(ctx, &made, trigger.ID)
	if err != nil {
		return err
	}
	view.Made = made.Version != found.Version
	return answer(w, view)
}

// switchable finds the trigger of that name, which can be turned on and off.
func switchable(w *engine.Workflow, name string) (*engine.Trigger, error) {
	if w.Version == 0 {
		return nil, engine.Errorf(engine.Invalid, "Workflow %s has never been published, so its triggers start nothing yet.", w.Name)
	}
	i := slices.IndexFunc(w.Triggers, func(t engine.Trigger) bool { return t.Name == name })
	if i < 0 {
		var names []string
		for _, t := range w.Triggers {
			names = append(names, t.Name)
		}
		return nil, engine.Errorf(engine.NotFound, "Workflow %s has no trigger named %q. It has: %s.", w.Name, name, strings.Join(names, ", "))
	}
	if w.Triggers[i].Type == engine.OnDemand {
		return nil, engine.Errorf(engine.Invalid, "%s starts only when somebody runs the workflow, so it is neither turned on nor off.", name)
	}
	return &w.Triggers[i], nil
}

// switched is how a trigger of w stands, and what the draft holds beside.
func (c *control) switched(ctx context.Context, w *engine.Workflow, trigger engine.ID) (Switched, error) {
	view := Switched{Workflow: w.Name, Version: w.Version}
	schedules, err := c.Store.Schedules(ctx)
	if err != nil {
		return view, err
	}
	names, err := c.Store.Names(ctx)
	if err != nil {
		return view, err
	}
	drawn, err := c.Drafts.Draft(ctx, w.ID)
	if err != nil {
		return view, err
	}
	view.Trigger = c.viewTrigger(w.Trigger(trigger), names, schedules)
	view.Drawn = draft.Changes(&w.WorkflowBody, &drawn.Body, names)
	return view, nil
}
