package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"dogear/engine"
	"dogear/handlers/control"
)

// Event are the commands about events.
type Event struct {
	Send eventSend `cmd:"" help:"Send an event to an event trigger of a workflow."`
}

type eventSend struct {
	target
	Workflow string `required:"" help:"Name of the workflow."`
	Trigger  string `help:"Name of the event trigger; needed where the workflow has several."`
	ID       string `name:"id" help:"Id of the event. A second one with the same id changes nothing."`
	Detail   string `placeholder:"JSON" help:"What the event says, as JSON."`
}

// Run sends the event and says what it waits for.
func (c *eventSend) Run(ctx context.Context, term Terminal) error {
	event := control.Event{Workflow: c.Workflow, Trigger: c.Trigger, ID: c.ID}
	if c.Detail != "" {
		if !json.Valid([]byte(c.Detail)) {
			return engine.Errorf(engine.Invalid, `The detail is no JSON. Quote it for the shell: --detail '{"day": "2026-03-01"}'`)
		}
		event.Detail = json.RawMessage(c.Detail)
	}
	taken, err := post[control.Event](ctx, c.Data, "/event", event)
	if err != nil {
		return err
	}
	return c.print(term, taken, func(t *table) {
		t.row("Event", taken.ID)
		t.row("Trigger", taken.Trigger)
		if taken.Duplicate {
			t.row("Kept", "before; this id was known")
			return
		}
		t.row("Waiting", fmt.Sprintf("%d of %d", taken.Waiting, taken.Size))
		t.field("Because", taken.Held)
	})
}
