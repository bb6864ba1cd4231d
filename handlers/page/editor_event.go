package page

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/draft"
	"dogear/handlers/web"
	"dogear/views/editor"
)

// eventStore is what the screens need of event triggers.
type eventStore interface {
	EventTrigger(ctx context.Context, trigger engine.ID) (engine.EventTrigger, error)
	EventTriggers(ctx context.Context) ([]engine.EventTrigger, error)
	RecentEvents(ctx context.Context, trigger engine.ID, limit int) ([]engine.TriggerEvent, error)
	EventsOf(ctx context.Context, run engine.ID) ([]engine.TriggerEvent, error)
	DiscardEvents(ctx context.Context, trigger engine.ID, why string) (int64, error)
	HasSecret(ctx context.Context, id engine.ID) (bool, error)
	NewTriggerSecret(ctx context.Context, trigger engine.ID, secret string, now time.Time) error
}

// lastEvents is how many of the newest events a panel shows.
const lastEvents = 12

// eventsOf is what came for an event trigger.
func (p *Pages) eventsOf(ctx context.Context, id engine.ID) (*editor.Events, error) {
	e := &editor.Events{Address: p.Address() + "/hooks/" + string(id)}
	state, err := p.Store.EventTrigger(ctx, id)
	switch {
	case err == nil:
		e.State = &state
	case engine.CodeOf(err) != engine.NotFound:
		return nil, err
	}
	if e.HasSecret, err = p.Store.HasSecret(ctx, id); err != nil {
		return nil, err
	}
	e.Recent, err = p.Store.RecentEvents(ctx, id, lastEvents)
	return e, err
}

// eventPanel is the panel of a card that is an event trigger.
func (p *Pages) eventPanel(c web.Ctx) (editor.Panel, error) {
	desk, err := p.desk(c)
	if err != nil {
		return editor.Panel{}, err
	}
	panel, err := p.panelOf(c, desk, c.Param("card"))
	if err == nil && panel.Events == nil {
		err = engine.Errorf(engine.NotFound, "This event trigger was deleted meanwhile.")
	}
	return panel, err
}

// cardEvents answers GET /workflows/:id/cards/:card/events.
func (p *Pages) cardEvents(c web.Ctx) error {
	panel, err := p.eventPanel(c)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, editor.EventState(panel))
}

// discardEvents answers POST /workflows/:id/cards/:card/discard.
func (p *Pages) discardEvents(c web.Ctx) error {
	panel, err := p.eventPanel(c)
	if err != nil {
		return err
	}
	ctx, id := c.Request().Context(), panel.Trigger.ID
	if _, err := p.Store.DiscardEvents(ctx, id, "discarded by "+user(c)); err != nil {
		return err
	}
	p.Came(id)
	if panel.Events, err = p.eventsOf(ctx, id); err != nil {
		return err
	}
	if !web.IsFragment(c) {
		return web.Go(c, "/workflows/"+string(panel.Workflow)+"?node="+panel.Card)
	}
	return web.Render(c, http.StatusOK, editor.EventState(panel))
}

// newSecret answers POST /workflows/:id/cards/:card/secret with the panel that
// shows the secret, this once.
func (p *Pages) newSecret(c web.Ctx) error {
	panel, err := p.eventPanel(c)
	if err != nil {
		return err
	}
	secret := arrival.NewSecret()
	if err := p.Store.NewTriggerSecret(c.Request().Context(), panel.Trigger.ID, secret, p.Now()); err != nil {
		return err
	}
	panel.Events.HasSecret, panel.Events.Secret = true, secret
	return web.Render(c, http.StatusOK, editor.Details(panel))
}

// eventOp makes the operation of a trigger's form change its rule, too, where
// the person changed it; t becomes what was typed. It returns what is wrong, by
// field.
func eventOp(t *engine.Trigger, op draft.Op, values url.Values) map[string]string {
	if !values.Has("event.source") {
		return nil
	}
	now := t.Event
	typed, wrong := readEvent(now, values, "")
	seen, _ := readEvent(now, values, "seen.")
	was := now
	merge(&was, &typed, seen, now)
	t.Event = typed
	for _, fault := range arrival.Faults(typed) {
		wrong["event."+fault.Field] = fault.Message
	}
	if typed != now {
		op.Patch.Event, op.Prev.Event = &typed, &was
	}
	return wrong
}

// merge keeps in typed what the person left as it was seen, though somebody
// else has changed it since, and leaves in was what must still hold of the rest.
func merge(was, typed *engine.EventRule, seen, now engine.EventRule) {
	keep(&was.Source, &typed.Source, seen.Source, now.Source)
	keep(&was.Size, &typed.Size, seen.Size, now.Size)
	keep(&was.Window, &typed.Window, seen.Window, now.Window)
	keep(&was.Path, &typed.Path, seen.Path, now.Path)
	keep(&was.Connection, &typed.Connection, seen.Connection, now.Connection)
	keep(&was.Queue, &typed.Queue, seen.Queue, now.Queue)
	keep(&was.Every, &typed.Every, seen.Every, now.Every)
	keep(&was.Settle, &typed.Settle, seen.Settle, now.Settle)
}

func keep[T comparable](was, typed *T, seen, now T) {
	if *typed == seen {
		*typed = now
		return
	}
	*was = seen
}

// readEvent reads the fields of a rule whose names begin with prefix; a field
// that was not sent stays as it is in r.
func readEvent(r engine.EventRule, values url.Values, prefix string) (engine.EventRule, map[string]string) {
	wrong := map[string]string{}
	text := func(field string, set func(string)) {
		if values.Has(prefix + "event." + field) {
			set(strings.TrimSpace(values.Get(prefix + "event." + field)))
		}
	}
	number := func(field string, into *int) {
		text(field, func(typed string) {
			n, err := strconv.Atoi(typed)
			if err != nil && typed != "" {
				wrong["event."+field] = "Write a whole number."
			}
			*into = n
		})
	}
	text("source", func(s string) { r.Source = engine.EventSource(s) })
	text("path", func(s string) { r.Path = s })
	text("connection", func(s string) { r.Connection = engine.ID(s) })
	text("queue", func(s string) { r.Queue = s })
	number("size", &r.Size)
	number("window", &r.Window)
	number("every", &r.Every)
	number("settle", &r.Settle)
	return r, wrong
}
