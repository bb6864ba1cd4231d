package page

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/handlers/web"
	"dogear/views/editor"
	"dogear/views/form"
)

// saveTrigger changes what the person changed and leaves the rest, so that two
// people who edit different fields keep both.
func (p *Pages) saveTrigger(c web.Ctx, panel editor.Panel, values url.Values) error {
	t := *panel.Trigger
	panel.Trigger, panel.Seen, panel.Typed = &t, panel.Trigger, form.TypedOf(values)
	ops := triggerOps(&t, values, panel.Card)
	set, wrong := startOps(panel.Starts, values)
	if len(wrong) > 0 {
		panel.Seen = seenTrigger(*panel.Seen, values)
		panel.Errors = wrong
		return web.Render(c, http.StatusUnprocessableEntity, editor.Details(panel))
	}
	if t.Type == engine.Scheduled {
		if err := p.Schedules.Check(t.Schedule, t.Zone, p.Now()); err != nil {
			panel.Seen = seenTrigger(*panel.Seen, values)
			panel.Errors = map[string]string{scheduleField(err): engine.MessageOf(err)}
			return web.Render(c, http.StatusUnprocessableEntity, editor.Details(panel))
		}
	}
	if t.Type == engine.OnEvent {
		wrong := eventOp(&t, ops[0], values)
		if len(wrong) > 0 {
			panel.Seen = seenTrigger(*panel.Seen, values)
			panel.Errors = wrong
			return web.Render(c, http.StatusUnprocessableEntity, editor.Details(panel))
		}
	}
	return p.saveOps(c, panel, append(ops, set...), "name")
}

// switchCard answers POST /workflows/:id/cards/:card/switch with how the trigger runs
// now: on, or off, whatever the draft holds of it and of others.
func (p *Pages) switchCard(c web.Ctx) error {
	id, card := web.ID(c), c.Param("card")
	if _, err := p.Publisher.Switch(c.Request().Context(), id, draft.Turn{Trigger: engine.ID(card), On: c.FormValue("on") == "yes"}, user(c)); err != nil {
		return err
	}
	if !web.IsFragment(c) {
		return web.Go(c, "/workflows/"+string(id)+"?node="+card)
	}
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, editor.Runs(editor.Panel{
		CSRF: p.Sessions.Token(c), Workflow: id, Card: card, Running: desk.running(engine.ID(card)), Saved: true,
	}))
}

// running is how a trigger runs now; nil where no version has it.
func (d *desk) running(trigger engine.ID) *editor.Running {
	runs := d.published.Trigger(trigger)
	if d.published.Version == 0 || runs == nil || !runs.Switched() {
		return nil
	}
	return &editor.Running{Version: d.published.Version, On: !runs.Disabled}
}

// seenTrigger is t as the person saw it who sent values: a form that is shown
// again keeps that, so that its next save tells what the person changed.
func seenTrigger(t engine.Trigger, values url.Values) *engine.Trigger {
	t.Name, t.Schedule, t.Zone = values.Get("seen.name"), values.Get("seen.schedule"), values.Get("seen.zone")
	t.Missed, t.Overlap = engine.Missed(values.Get("seen.missed")), engine.Overlap(values.Get("seen.overlap"))
	t.Event, _ = readEvent(t.Event, values, "seen.")
	t.Disabled = seenDisabled(&t, values)
	return &t
}

// scheduleField is the field that a refused schedule is about.
func scheduleField(err error) string {
	if strings.Contains(engine.MessageOf(err), "zone") {
		return "zone"
	}
	return "schedule"
}

// triggerOps are the operations that make t what the form says; t becomes it.
func triggerOps(t *engine.Trigger, values url.Values, card string) []draft.Op {
	patch, seen := &draft.Fields{}, &draft.Fields{}
	change := func(field string, value *string, into, prev **string) {
		typed, was := strings.TrimSpace(values.Get(field)), values.Get("seen."+field)
		if !values.Has(field) || typed == was {
			return
		}
		*value, *into, *prev = typed, &typed, &was
	}
	change("name", &t.Name, &patch.Name, &seen.Name)
	change("schedule", &t.Schedule, &patch.Schedule, &seen.Schedule)
	change("zone", &t.Zone, &patch.Zone, &seen.Zone)
	if missed := engine.Missed(values.Get("missed")); values.Has("missed") && missed != engine.Missed(values.Get("seen.missed")) {
		was := engine.Missed(values.Get("seen.missed"))
		t.Missed, patch.Missed, seen.Missed = missed, &missed, &was
	}
	if overlap := engine.Overlap(values.Get("overlap")); values.Has("overlap") && overlap != engine.Overlap(values.Get("seen.overlap")) {
		was := engine.Overlap(values.Get("seen.overlap"))
		t.Overlap, patch.Overlap, seen.Overlap = overlap, &overlap, &was
	}
	if disabled, was := values.Get("enabled") != "yes", seenDisabled(t, values); t.Switched() && values.Has("seen.enabled") && disabled != was {
		t.Disabled, patch.Disabled, seen.Disabled = disabled, &disabled, &was
	}
	if logic := engine.Logic(values.Get("logic")); values.Has("logic") && logic != t.Predicate.Logic {
		patch.Logic = &logic
	}
	return append([]draft.Op{{Kind: draft.SetTrigger, Card: card, Patch: patch, Prev: seen}}, conditionOps(values, card)...)
}

// seenDisabled reports whether the person saw that t is turned off.
func seenDisabled(t *engine.Trigger, values url.Values) bool {
	if !values.Has("seen.enabled") {
		return t.Disabled
	}
	return values.Get("seen.enabled") != "yes"
}

// conditionOps are the operations that change the states of conditions which the
// form changed, each told by the node and the state that the person saw.
func conditionOps(values url.Values, card string) []draft.Op {
	var ops []draft.Op
	for _, field := range slices.Sorted(maps.Keys(values)) {
		ref, was, ok := editor.ConditionOf(field)
		if state := engine.State(values.Get(field)); ok && state != was {
			ops = append(ops, draft.Op{
				Kind: draft.SetCondition, Card: card, To: ref,
				Patch: &draft.Fields{State: &state}, Prev: &draft.Fields{State: &was},
			})
		}
	}
	return ops
}
