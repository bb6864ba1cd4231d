// Package hook takes the events that other systems send. Every call is signed
// with the secret of its trigger, and nothing is taken without: a route of this
// package needs no session because it needs a signature. An event is in the
// database before its sender hears that it was taken.
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/failpoint"
	"dogear/handlers/web"
)

// Store keeps events.
type Store interface {
	WorkflowNamed(ctx context.Context, name string) (engine.Workflow, error)
	// Secret is the secret of a trigger; "" where it has none.
	Secret(ctx context.Context, id engine.ID) (string, error)
	// AddEvent keeps an event and reports whether its id is new.
	AddEvent(ctx context.Context, e engine.TriggerEvent) (fresh bool, err error)
}

// Hooks answers senders.
type Hooks struct {
	Store Store
	Now   func() time.Time
	// Came is told that an event came for a trigger.
	Came func(trigger engine.ID)
}

// perSecond is how many calls one address may send for long.
const perSecond = 50

// Routes are the addresses for senders.
func (h *Hooks) Routes() []web.Route {
	return []web.Route{
		{Method: http.MethodPost, Path: "/hooks/:id", Handler: h.hook, Public: true, Rate: perSecond},
		{Method: http.MethodPost, Path: "/api/events", Handler: h.event, Public: true, Rate: perSecond},
	}
}

// Taken is the answer to an event that was kept.
type Taken struct {
	ID        string `json:"id"`
	Duplicate bool   `json:"duplicate,omitempty"` // it had been kept before
}

// hook answers POST /hooks/:id, whose body is the event's detail.
func (h *Hooks) hook(c web.Ctx) error {
	call, err := read(c, engine.MaxDetail)
	if err != nil {
		return refuse(c, err)
	}
	return h.take(c, web.ID(c), call, call.Body)
}

// Sent is the body of POST /api/events.
type Sent struct {
	Workflow string          `json:"workflow"`
	Trigger  string          `json:"trigger,omitempty"` // the only event trigger where it is empty
	Detail   json.RawMessage `json:"detail,omitempty"`
}

// event answers POST /api/events, which names the workflow instead of an id.
// Whether a workflow exists is said only to who can sign for it.
func (h *Hooks) event(c web.Ctx) error {
	call, err := read(c, engine.MaxDetail+4<<10)
	if err != nil {
		return refuse(c, err)
	}
	var sent Sent
	if err := json.Unmarshal(call.Body, &sent); err != nil {
		return refuse(c, engine.Errorf(engine.Invalid, `The body is no JSON of the form {"workflow": "…", "trigger": "…", "detail": …}.`))
	}
	if len(sent.Detail) > engine.MaxDetail {
		return refuse(c, errTooLarge)
	}
	w, err := h.Store.WorkflowNamed(c.Request().Context(), sent.Workflow)
	var id engine.ID
	if err == nil {
		var t *engine.Trigger
		if t, err = w.EventTrigger(sent.Trigger); err == nil {
			id = t.ID
		}
	}
	if err != nil && engine.CodeOf(err) == engine.Internal {
		return refuse(c, err)
	}
	return h.take(c, id, call, sent.Detail)
}

// take keeps the event of a call that is signed for the trigger id.
func (h *Hooks) take(c web.Ctx, id engine.ID, call arrival.Call, detail []byte) error {
	ctx, now := c.Request().Context(), h.Now().UTC()
	secret, err := h.Store.Secret(ctx, id)
	if err != nil {
		return refuse(c, err)
	}
	if err := call.Verify(secret, now); err != nil {
		return refuse(c, err)
	}
	if len(detail) > 0 && !json.Valid(detail) {
		return refuse(c, engine.Errorf(engine.Invalid, "The body is no JSON."))
	}
	failpoint.Hit("hook.event.before")
	fresh, err := h.Store.AddEvent(ctx, engine.TriggerEvent{Trigger: id, ID: call.ID, At: now, Detail: string(detail)})
	failpoint.Hit("hook.event.after")
	if err != nil {
		return refuse(c, err)
	}
	h.Came(id)
	return c.JSON(http.StatusAccepted, Taken{ID: call.ID, Duplicate: !fresh})
}

var errTooLarge = errors.New("too large")

// read reads a call with a body of up to most bytes.
func read(c web.Ctx, most int64) (arrival.Call, error) {
	r := c.Request()
	call := arrival.Call{ID: r.Header.Get(arrival.HeaderID), Time: r.Header.Get(arrival.HeaderTime), Signature: r.Header.Get(arrival.HeaderSignature)}
	if r.ContentLength > most {
		return call, errTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	if err != nil {
		return call, engine.Errorf(engine.Invalid, "The body was not sent whole: %w", err)
	}
	if int64(len(body)) > most {
		return call, errTooLarge
	}
	call.Body = body
	return call, nil
}

// refuse answers what has a status of its own here, and leaves the rest to the
// answers that every route has.
func refuse(c web.Ctx, err error) error {
	switch {
	case errors.Is(err, errTooLarge):
		return c.JSON(http.StatusRequestEntityTooLarge, map[string]string{
			"code": "too_large", "message": "The detail of an event has at most 256 KiB. Send where the data lies instead.",
		})
	case engine.CodeOf(err) == engine.Forbidden:
		return c.JSON(http.StatusUnauthorized, map[string]string{"code": "unsigned", "message": engine.MessageOf(err)})
	}
	return err
}
