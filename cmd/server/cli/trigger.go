package cli

import (
	"context"

	"dogear/handlers/control"
)

// Trigger are the commands about triggers.
type Trigger struct {
	On  triggerOn  `cmd:"" help:"Turn a trigger on: it starts runs by itself from now on."`
	Off triggerOff `cmd:"" help:"Turn a trigger off: it starts nothing until it is turned on. Events that wait for it are kept."`
}

// which names a trigger.
type which struct {
	target
	Workflow string `arg:"" help:"Name of the workflow."`
	Name     string `arg:"" help:"Name of the trigger, as workflow show lists it."`
}

type triggerOn struct{ which }

// Run turns a trigger on.
func (c *triggerOn) Run(ctx context.Context, term Terminal) error { return c.turn(ctx, term, true) }

type triggerOff struct{ which }

// Run turns a trigger off.
func (c *triggerOff) Run(ctx context.Context, term Terminal) error { return c.turn(ctx, term, false) }

func (c *which) turn(ctx context.Context, term Terminal, on bool) error {
	made, err := post[control.Trigger](ctx, c.Data, "/trigger", control.SwitchTrigger{Workflow: c.Workflow, Trigger: c.Name, On: on})
	if err != nil {
		return err
	}
	return c.print(term, made, func(t *table) { t.row("Trigger", made.Name, triggerWords(made)) })
}
