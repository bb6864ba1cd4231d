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

// switchTrigger answers POST /trigger with the trigger as it is then. It is
// published at once, and nothing else with it.
func (c *control) switchTrigger(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[SwitchTrigger](w, r)
	if err != nil {
		return err
	}
	found, err := c.Store.WorkflowNamed(r.Context(), ask.Workflow)
	if err != nil {
		return err
	}
	trigger, err := switchable(&found, ask.Trigger)
	if err != nil {
		return err
	}
	if trigger.Disabled == ask.On {
		if found, err = c.switched(r.Context(), found, trigger); err != nil {
			return err
		}
	}
	return c.answerTrigger(w, r, found, ask.Trigger)
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

// switched publishes w with its trigger turned round. A draft that holds other
// changes is not published along.
func (c *control) switched(ctx context.Context, w engine.Workflow, trigger *engine.Trigger) (engine.Workflow, error) {
	names, err := c.Store.Names(ctx)
	if err != nil {
		return w, err
	}
	by, err := c.by(ctx)
	if err != nil {
		return w, err
	}
	drawn, err := c.unchanged(ctx, &w, names, nil, "Publish or discard them first (workflow discard), or turn the trigger in the editor.")
	if err != nil {
		return w, err
	}
	was, turned := trigger.Disabled, !trigger.Disabled
	saved, err := c.Drafts.Save(ctx, w.ID, by, draft.Patch{Base: drawn.Seq, Client: draft.CommandLine, Ops: []draft.Op{{
		ID: string(engine.NewID(c.Now())), Kind: draft.SetTrigger, Card: string(trigger.ID),
		Patch: &draft.Fields{Disabled: &turned}, Prev: &draft.Fields{Disabled: &was},
	}}})
	if err != nil {
		return w, err
	}
	return c.Publisher.Publish(ctx, w.ID, saved.Seq, nil, by)
}

// answerTrigger answers with a trigger of w.
func (c *control) answerTrigger(w http.ResponseWriter, r *http.Request, found engine.Workflow, name string) error {
	schedules, err := c.Store.Schedules(r.Context())
	if err != nil {
		return err
	}
	view, err := c.view(r, found, schedules)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(view.Triggers, func(t Trigger) bool { return t.Name == name })
	if i < 0 {
		return engine.Errorf(engine.NotFound, "Trigger %s was deleted meanwhile.", name)
	}
	return answer(w, view.Triggers[i])
}
