package control

import (
	"context"
	"net/http"
	"slices"

	"dogear/engine"
)

// Run is a run with its node runs.
type Run struct {
	engine.Run
	Nodes []engine.NodeRun `json:"nodes,omitempty"`
	// Skipping are the nodes that wait for their turn and will then be skipped, by
	// name, with who said so.
	Skipping map[string]string `json:"skipping,omitempty"`
	// Start is the name of the trigger that started it, where the workflow had
	// more than one start.
	Start string `json:"start_trigger,omitempty"`
	// Like is an earlier run that asked for the same shortly before this one:
	// perhaps somebody asked twice.
	Like *Like `json:"like,omitempty"`
	// Waits says what nodes of the run wait for.
	Waits string `json:"waits,omitempty"`
	// Failed is the node that the run failed of, or that alone was stopped.
	Failed *Failed `json:"failed,omitempty"`
	// LateSeconds is how long after its due time the first job or crawler of a
	// scheduled run began to work, or has been waited for until now; in a list,
	// how long after it the run was made.
	LateSeconds float64 `json:"late_seconds,omitempty"`
}

// Like is an earlier run that asked for the same.
type Like struct {
	Run     engine.ID `json:"run"`
	Seconds float64   `json:"seconds"` // by which it started earlier
}

// Failed is the node that did not succeed first, and how many more did not.
type Failed struct {
	Node  string       `json:"node"`
	State engine.State `json:"state"`
	More  int          `json:"more,omitempty"`
}

// viewRuns is runs as they are answered.
func (c *control) viewRuns(ctx context.Context, runs []engine.Run) ([]Run, error) {
	twins, err := c.Store.Twins(ctx, runs)
	if err != nil {
		return nil, err
	}
	waits, err := c.Store.Waits(ctx, runs)
	if err != nil {
		return nil, err
	}
	fallen, err := c.Store.Fallen(ctx, runs)
	if err != nil {
		return nil, err
	}
	list := make([]Run, 0, len(runs))
	for _, run := range runs {
		start := startOf(&run)
		run.Body = engine.WorkflowBody{}
		view := Run{Run: run, Start: start, Waits: waits[run.ID], LateSeconds: run.Late(nil, c.Now()).Seconds()}
		if twin, ok := twins[run.ID]; ok {
			view.Like = &Like{Run: twin.Run, Seconds: twin.Before.Seconds()}
		}
		if f, ok := fallen[run.ID]; ok {
			view.Failed = &Failed{Node: f.Name, State: f.State, More: f.More}
		}
		list = append(list, view)
	}
	return list, nil
}

// startOf is the name of the trigger that started a run of a workflow with more
// than one start; "" of any other.
func startOf(run *engine.Run) string {
	t := run.Body.Trigger(run.Trigger)
	if t == nil || len(run.Body.StartTriggers()) < 2 {
		return ""
	}
	return t.Name
}

func (c *control) answerRun(w http.ResponseWriter, r *http.Request, run engine.Run) error {
	nodes, err := c.Store.NodeRuns(r.Context(), run.ID)
	if err != nil {
		return err
	}
	views, err := c.viewRuns(r.Context(), []engine.Run{run})
	if err != nil {
		return err
	}
	views[0].Nodes = nodes
	views[0].LateSeconds = run.Late(nodes, c.Now()).Seconds()
	if views[0].Skipping, err = c.skipping(r.Context(), &run, nodes); err != nil {
		return err
	}
	return answer(w, views[0])
}

// skipping are the nodes of an open run that will be skipped when their turn comes.
func (c *control) skipping(ctx context.Context, run *engine.Run, nodes []engine.NodeRun) (map[string]string, error) {
	if len(run.Skips) == 0 || !run.Open() {
		return nil, nil
	}
	names, err := c.Store.Names(ctx)
	if err != nil {
		return nil, err
	}
	waiting := map[string]string{}
	for card, why := range run.Skips {
		ref, err := engine.ParseRef(card)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(nodes, func(n engine.NodeRun) bool { return n.Ref == ref && n.PassedOver() }) {
			waiting[names.Of(ref)] = why
		}
	}
	return waiting, nil
}
