package cli

import (
	"context"

	"dogear/engine"
	"dogear/handlers/control"
)

type runAgain struct {
	target
	wait
	ID       string            `arg:"" help:"The run, as run list shows it."`
	Property map[string]string `placeholder:"K=V" mapsep:"none" help:"A property of the new run, over that of the earlier one. May be repeated."`
	token
}

// Run starts a run that does the work of another once more.
func (c *runAgain) Run(ctx context.Context, term Terminal) error {
	run, err := c.start(ctx, c.Data, "/again", func(token string) any {
		return control.Again{ID: engine.ID(c.ID), Properties: c.Property, Token: token}
	})
	if err != nil {
		return err
	}
	return c.started(ctx, term, c.target, run)
}
