package exec

import (
	"cmp"
	"context"
	"slices"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/graph"
)

// Resume is how a run goes on from one that has ended.
type Resume struct {
	// Nodes are done again; empty are those that did not succeed.
	Nodes []engine.Ref
	// Marks are nodes that count as marked, Succeeded or Failed, and are not
	// done again.
	Marks map[engine.Ref]engine.State
	// Why is the reason that a person gives for the marks; it may be empty.
	Why string
	// Properties are laid over those of the earlier run, to the letter.
	Properties map[string]string
	// Newest takes the workflow as it is published now, instead of as it was
	// when the run began.
	Newest bool
	// Token is that of an Order.
	Token string
}

// asked is everything that how asks for.
func (how *Resume) asked() []any {
	marks := map[string]engine.State{}
	for ref, state := range how.Marks {
		marks[ref.String()] = state
	}
	asked := []any{how.Nodes, marks, how.Why, how.Newest}
	if len(how.Properties) > 0 { // without any, tokens of older versions still count
		asked = append(asked, how.Properties)
	}
	return asked
}

// Resume starts a new run of a workflow that goes on from one that has ended:
// what flow.Redo keeps is copied, bookmarks stay as they are, properties are
// those of the earlier run but for what how changes (glue-semantics.md 1.7).
func (e *Exec) Resume(ctx context.Context, id engine.ID, how Resume, by string) (engine.Run, error) {
	old, err := e.Store.Run(ctx, id)
	if err != nil {
		return engine.Run{}, err
	}
	switch {
	case old.Kind != engine.RunWorkflow:
		return engine.Run{}, engine.Errorf(engine.Invalid, "This run is of one job or crawler alone; start it again instead.")
	case old.Open():
		return engine.Run{}, engine.Errorf(engine.Conflict, "This run has not ended. Stop it or wait for its end, then go on from it.")
	}
	if err := checkGiven(how.Properties); err != nil {
		return engine.Run{}, err
	}
	token, err := e.token(how.Token, old.ID, how.asked())
	if err != nil {
		return engine.Run{}, err
	}
	return e.once(ctx, old.Object, token, func() (engine.Run, error) { return e.resume(ctx, &old, how, token, by) })
}

func (e *Exec) resume(ctx context.Context, old *engine.Run, how Resume, token *flow.Token, by string) (engine.Run, error) {
	w, err := e.Store.Workflow(ctx, old.Object)
	if err != nil {
		return engine.Run{}, err
	}
	body, version := old.Body, old.Version
	if how.Newest {
		body, version = w.WorkflowBody, w.Version
	}
	properties, err := engine.ChangeProperties(old.Properties, how.Properties)
	if err != nil {
		return engine.Run{}, err
	}
	if len(how.Properties) > 0 {
		drawn := engine.Workflow{Head: w.Head, WorkflowBody: body}
		jobs, err := e.published(ctx, drawn.Refs())
		if err != nil {
			return engine.Run{}, err
		}
		if err := checkDeclared(&drawn, jobs, properties, how.Properties); err != nil {
			return engine.Run{}, err
		}
	}
	again, err := e.againOf(ctx, old, how, by)
	if err != nil {
		return engine.Run{}, err
	}
	g := graph.New(&body)
	if err := check(g, again); err != nil {
		return engine.Run{}, err
	}
	now := e.Now().UTC()
	run := engine.Run{
		ID: engine.NewID(now), Kind: engine.RunWorkflow, Object: w.ID, Name: w.Name, Version: version, Body: body, Properties: properties,
		By: by, Trigger: old.Trigger, Due: old.Due, Previous: old.ID, Started: now, Deadline: deadline(&body, now),
	}
	return e.doStart(ctx, pin{run, g}, func(run engine.Run, st flow.State) (flow.Writes, error) {
		if err := mayStart(st, &w); err != nil {
			return flow.Writes{}, err
		}
		writes := flow.Resume(g, st, run, again, now)
		writes.Token = token
		return writes, nil
	})
}

// againOf reads what the earlier run came to.
func (e *Exec) againOf(ctx context.Context, old *engine.Run, how Resume, by string) (flow.Again, error) {
	again := flow.Again{Start: how.Nodes, Marks: how.Marks, By: by, Why: how.Why, Fired: map[engine.ID]engine.TriggerRun{}}
	var err error
	if again.Nodes, err = e.Store.NodeRuns(ctx, old.ID); err != nil {
		return again, err
	}
	triggers, err := e.Store.TriggerRuns(ctx, old.ID)
	if err != nil {
		return again, err
	}
	for _, t := range triggers {
		again.Fired[t.Trigger] = t
	}
	if len(again.Start) == 0 && len(again.Marks) == 0 {
		again.Start = flow.Unfinished(again.Nodes)
	}
	return again, nil
}

// check refuses nodes that cannot be done again or marked.
func check(g *graph.Graph, again flow.Again) error {
	ran, names := map[engine.Ref]bool{}, map[engine.Ref]string{}
	for _, n := range again.Nodes {
		ran[n.Ref] = ran[n.Ref] || n.State != engine.Skipped || n.PassedOver()
		names[n.Ref] = n.Name
	}
	of := func(ref engine.Ref) string { return cmp.Or(names[ref], string(ref.ID)) }
	if len(again.Start) == 0 && len(again.Marks) == 0 {
		return engine.Errorf(engine.Invalid, "Everything in this run succeeded; there is nothing to go on with. Choose the nodes to do again, or start a new run.")
	}
	for _, ref := range again.Start {
		switch {
		case !slices.Contains(g.Refs(), ref):
			return engine.Errorf(engine.Invalid, "The %s %s is not part of this workflow.", ref.Kind, of(ref))
		case !ran[ref]:
			return engine.Errorf(engine.Invalid, "The %s %s never ran in the earlier run, so there is nothing to do again. Choose what comes before it.", ref.Kind, of(ref))
		}
	}
	for ref, state := range again.Marks {
		switch {
		case !ran[ref] || !slices.Contains(g.Refs(), ref):
			return engine.Errorf(engine.Invalid, "The %s %s did not run in the earlier run and cannot be marked.", ref.Kind, of(ref))
		case state != engine.Succeeded && state != engine.Failed:
			return engine.Errorf(engine.Invalid, "A node can be marked succeeded or failed, not %s.", state)
		case slices.Contains(again.Start, ref):
			return engine.Errorf(engine.Invalid, "A node is either done again or marked, not both.")
		}
	}
	return nil
}

// mayStart refuses a run beyond the limit of its workflow, from within the
// transaction that would make it.
func mayStart(st flow.State, w *engine.Workflow) error {
	if w.MaxRuns <= 0 {
		return nil
	}
	if open := st.OpenRuns(w.ID, w.MaxRuns); open >= w.MaxRuns {
		return engine.Errorf(engine.LimitHit, "Concurrent runs exceeded for workflow %s: %d are under way and its limit is %d.", w.Name, open, w.MaxRuns)
	}
	return nil
}

// Pause keeps everything of a run that has not started from starting.
func (e *Exec) Pause(ctx context.Context, id engine.ID, by string) (engine.Run, error) {
	written, err := e.do(ctx, flow.Step{Run: id, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		return flow.Pause(run, by, e.Now().UTC())
	}})
	return written.Run, err
}

// GoOn lets a paused run start what waits.
func (e *Exec) GoOn(ctx context.Context, id engine.ID, by string) (engine.Run, error) {
	written, err := e.do(ctx, flow.Step{Run: id, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		return flow.GoOn(run, by, e.Now().UTC())
	}})
	return written.Run, err
}
