package exec

import (
	"context"

	"dogear/engine"
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
	changed, err := engine.ChangeProperties(run.Properties, change)
	if err != nil {
		return engine.Run{}, err
	}
	w := engine.Workflow{Head: engine.Head{ID: run.Object, Name: run.Name}, WorkflowBody: run.Body}
	if err := e.checkDeclared(ctx, &w, changed, change); err != nil {
		return engine.Run{}, err
	}
	written, err := e.do(ctx, flow.Step{Run: id, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		return flow.SetProperties(run, change, by, e.Now().UTC())
	}})
	return written.Run, err
}
