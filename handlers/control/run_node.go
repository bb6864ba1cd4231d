package control

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"dogear/engine"
)

// Stop asks for the end of a run, or of one of its nodes alone.
type Stop struct {
	ID   engine.ID `json:"id"`
	Node string    `json:"node,omitempty"` // its name; "" is the whole run
}

// stop answers POST /stop with the run.
func (c *control) stop(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[Stop](w, r)
	if err != nil {
		return err
	}
	return c.steer(w, r, ask.ID, ask.Node, func(ctx context.Context, id engine.ID, ref engine.Ref, by string) (engine.Run, error) {
		if ask.Node == "" {
			return c.Exec.Stop(ctx, id, by)
		}
		return c.Exec.StopNode(ctx, id, ref, 0, by)
	})
}

// Skip asks that a node of a run be not done.
type Skip struct {
	ID   engine.ID `json:"id"`
	Node string    `json:"node"` // its name
	Why  string    `json:"why,omitempty"`
	Undo bool      `json:"undo,omitempty"` // it is to be done after all
}

// skip answers POST /skip with the run.
func (c *control) skip(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[Skip](w, r)
	if err != nil {
		return err
	}
	if ask.Node == "" {
		return engine.Errorf(engine.Invalid, "Say which job or crawler of the run is to be skipped.")
	}
	return c.steer(w, r, ask.ID, ask.Node, func(ctx context.Context, id engine.ID, ref engine.Ref, by string) (engine.Run, error) {
		if ask.Undo {
			return c.Exec.Unskip(ctx, id, ref, by)
		}
		return c.Exec.Skip(ctx, id, ref, by, strings.TrimSpace(ask.Why))
	})
}

// steer does something with a run, or with its node of that name, and answers with
// the run.
func (c *control) steer(w http.ResponseWriter, r *http.Request, run engine.ID, node string, do func(context.Context, engine.ID, engine.Ref, string) (engine.Run, error)) error {
	id, err := c.runID(r.Context(), string(run))
	if err != nil {
		return err
	}
	var ref engine.Ref
	if node != "" {
		if ref, err = c.nodeNamed(r.Context(), id, node); err != nil {
			return err
		}
	}
	by, err := c.byCommand(r.Context())
	if err != nil {
		return err
	}
	steered, err := do(r.Context(), id, ref, by)
	if err != nil {
		return err
	}
	return c.answerRun(w, r, steered)
}

// nodeNamed is the job or crawler of that name in a run, or that may yet begin in it.
func (c *control) nodeNamed(ctx context.Context, id engine.ID, name string) (engine.Ref, error) {
	run, err := c.Store.Run(ctx, id)
	if err != nil {
		return engine.Ref{}, err
	}
	nodes, err := c.Store.NodeRuns(ctx, id)
	if err != nil {
		return engine.Ref{}, err
	}
	names, err := c.Store.Names(ctx)
	if err != nil {
		return engine.Ref{}, err
	}
	known := map[string]engine.Ref{}
	for _, ref := range run.Body.Refs() {
		known[names.Of(ref)] = ref
	}
	for i := range nodes { // by the name that it had then
		known[nodes[i].Name] = nodes[i].Ref
	}
	if ref, ok := known[name]; ok {
		return ref, nil
	}
	return engine.Ref{}, engine.Errorf(engine.NotFound, "Run %s has no job or crawler named %q. It has: %s.", id, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}

// unlogged is NotFound where a node of a run will never have a log there: it was kept
// from an earlier run, or skipped.
func (c *control) unlogged(ctx context.Context, id engine.ID, ref engine.Ref, name string) error {
	nodes, err := c.Store.NodeRuns(ctx, id)
	if err != nil {
		return err
	}
	var none error
	for i := range nodes {
		n := &nodes[i]
		switch {
		case n.Ref != ref:
		case n.Copied != "" && n.State == engine.Skipped:
			none = engine.Errorf(engine.NotFound, "%s was skipped in run %s, from which run %s goes on, so it has written no log in either.", name, n.Copied, id)
		case n.Copied != "":
			none = engine.Errorf(engine.NotFound, "%s was not done again in run %s. Its log is in the run that it was kept from: run log %s --node %q.", name, id, n.Copied, n.Name)
		case n.State == engine.Skipped:
			none = engine.Errorf(engine.NotFound, "%s was skipped in run %s, so it has written no log.", name, id)
		default:
			return nil
		}
	}
	return none
}
