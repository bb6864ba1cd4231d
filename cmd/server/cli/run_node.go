package cli

import (
	"context"

	"dogear/engine"
	"dogear/handlers/control"
)

type runStop struct {
	target
	ID   string `arg:"" help:"The run, as run list shows it."`
	Node string `help:"Stop only this job or crawler; the run goes on."`
}

// Run stops a run, or a node of it.
func (c *runStop) Run(ctx context.Context, term Terminal) error {
	run, err := post[control.Run](ctx, c.Data, "/stop", control.Stop{ID: engine.ID(c.ID), Node: c.Node})
	if err != nil {
		return err
	}
	return c.print(term, run, func(t *table) { runRows(t, &run) })
}

type runSkip struct {
	target
	ID   string `arg:"" help:"The run, as run list shows it."`
	Node string `arg:"" help:"The job or crawler."`
	Why  string `help:"The reason, which is kept with it."`
	Undo bool   `help:"Let it run after all, as long as it has not had its turn."`
}

// Run lets a run skip a node.
func (c *runSkip) Run(ctx context.Context, term Terminal) error {
	run, err := post[control.Run](ctx, c.Data, "/skip", control.Skip{ID: engine.ID(c.ID), Node: c.Node, Why: c.Why, Undo: c.Undo})
	if err != nil {
		return err
	}
	return c.print(term, run, func(t *table) { runRows(t, &run) })
}
