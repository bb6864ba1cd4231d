package control

import (
	"encoding/json"
	"net/http"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/failpoint"
)

// Event is an event that the command line sends, or what became of it.
type Event struct {
	Workflow string          `json:"workflow"`
	Trigger  string          `json:"trigger,omitempty"` // the only event trigger where it is empty
	ID       string          `json:"id,omitempty"`      // made up where it is empty
	Detail   json.RawMessage `json:"detail,omitempty"`
	// Of the answer.
	Duplicate bool   `json:"duplicate,omitempty"`
	Waiting   int    `json:"waiting,omitempty"` // events that wait with it
	Size      int    `json:"size,omitempty"`    // that start a run
	Held      string `json:"held,omitempty"`    // why a complete batch waits
}

// sendEvent answers POST /event: it keeps an event without a signature, for
// only the owner can open the socket.
func (c *control) sendEvent(w http.ResponseWriter, r *http.Request) error {
	sent, err := read[Event](w, r)
	if err != nil {
		return err
	}
	if len(sent.Detail) > engine.MaxDetail {
		return engine.Errorf(engine.Invalid, "The detail of an event has at most 256 KiB. Send where the data lies instead.")
	}
	ctx, now := r.Context(), c.Now().UTC()
	found, err := c.Store.WorkflowNamed(ctx, sent.Workflow)
	if err != nil {
		return err
	}
	trigger, err := found.EventTrigger(sent.Trigger)
	if err != nil {
		return err
	}
	if sent.ID == "" {
		sent.ID = string(engine.NewID(now))
	}
	if err := arrival.CheckID(sent.ID); err != nil {
		return err
	}
	failpoint.Hit("control.event.before")
	fresh, err := c.Store.AddEvent(ctx, engine.TriggerEvent{Trigger: trigger.ID, ID: sent.ID, At: now, Detail: string(sent.Detail)})
	failpoint.Hit("control.event.after")
	if err != nil {
		return err
	}
	state, err := c.Store.EventTrigger(ctx, trigger.ID)
	if err != nil {
		return err
	}
	c.Came(trigger.ID)
	sent.Trigger, sent.Duplicate, sent.Waiting, sent.Size, sent.Held = trigger.Name, !fresh, state.Waiting, max(state.Rule.Size, 1), state.Held
	return answer(w, sent)
}
