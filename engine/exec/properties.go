package exec

import (
	"context"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/flow"
)

// SetProperties changes properties of a run of a workflow that goes on, and
// leaves the others (Glue's PutWorkflowRunProperties). Jobs that start from now
// on are told them; one that has started keeps what it was told.
func (e *Exec) SetProperties(ctx context.Context, id engine.ID, change map[string]string, by string) (engine.Run, error) {
	run, err := e.Store.Run(ctx, id)
	switch {
	case err != nil:
		return engine.Run{}, err
	case run.Kind != engine.RunWorkflow:
		return engine.Run{}, engine.Errorf(engine.Invalid, "This run is of one job or crawler alone, which was told its properties when it began.")
	case len(change) == 0:
		return engine.Run{}, engine.Errorf(engine.Invalid, "Give at least one property a value.")
	}
	if err := checkGiven(change); err != nil {
		return engine.Run{}, err
	}
	changed, err := engine.ChangeProperties(run.Properties, change)
	if err != nil {
		return engine.Run{}, err
	}
	w := engine.Workflow{Head: engine.Head{ID: run.Object, Name: run.Name}, WorkflowBody: run.Body}
	jobs, err := e.published(ctx, w.Refs())
	if err != nil {
		return engine.Run{}, err
	}
	if err := checkDeclared(&w, jobs, changed, change); err != nil {
		return engine.Run{}, err
	}
	written, err := e.do(ctx, flow.Step{Run: id, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		return flow.SetProperties(run, change, by, e.Now().UTC())
	}})
	return written.Run, err
}

// checkGiven refuses properties that nobody may make up, since a job takes the events of
// its run for what has really come, those without a name, and values that look as if
// something would be filled in.
func checkGiven(properties map[string]string) error {
	for name := range properties {
		switch {
		case name == "":
			return engine.Errorf(engine.Invalid, "A property has no name. Write NAME=VALUE.")
		case arrival.Tells(name):
			return engine.Errorf(engine.Invalid, "Only events that start a run set its property %s. Leave it out; to do the work of the same events once more, run their run again or go on from it.", name)
		}
	}
	return engine.CheckGiven(properties)
}
