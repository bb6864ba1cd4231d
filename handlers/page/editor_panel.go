package page

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/handlers/web"
	"dogear/views/crawler"
	"dogear/views/editor"
	"dogear/views/job"
)

// nextStarts is how many of the next starts of a schedule are shown.
const nextStarts = 5

// lastTicks is how many of the last due times of a schedule are shown.
const lastTicks = 8

// zones are what the field of a zone offers; any IANA name is taken.
var zones = [...]string{
	"UTC", "America/Chicago", "America/Los_Angeles", "America/New_York", "America/Sao_Paulo", "Asia/Kolkata", "Asia/Shanghai",
	"Asia/Tokyo", "Australia/Sydney", "Europe/Berlin", "Europe/London", "Europe/Madrid", "Europe/Paris",
}

// cardPanel answers GET /workflows/:id/cards/:card.
func (p *Pages) cardPanel(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	panel, err := p.panelOf(c, desk, c.Param("card"))
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, editor.Details(panel))
}

// workflowPanel answers GET /workflows/:id/panel.
func (p *Pages) workflowPanel(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	panel, err := p.panelOf(c, desk, "")
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, editor.Details(panel))
}

// panelOf is the panel of a card, or of the workflow where card is empty. A
// job or crawler that was deleted has an empty one.
func (p *Pages) panelOf(c web.Ctx, d *desk, card string) (editor.Panel, error) {
	panel := editor.Panel{CSRF: p.Sessions.Token(c), Workflow: d.draft.Workflow, Published: d.draft.Version > 0, Seq: d.draft.Seq, Card: card, Names: d.names, Zones: zones[:]}
	var err error
	if panel.Connections, err = p.Store.Connections(c.Request().Context()); err != nil {
		return panel, err
	}
	if card == "" {
		panel.Body, panel.Text = &d.draft.Body, editor.PropertiesText(d.draft.Body.Properties)
		return panel, nil
	}
	if panel.Trigger = d.draft.Body.Trigger(engine.ID(card)); panel.Trigger != nil {
		panel.Next, panel.Warning = p.nextTimes(*panel.Trigger), p.Schedules.Warn(panel.Trigger.Schedule)
		panel.Info = infoOfTrigger(panel.Trigger)
		panel.Starts = d.starts(func(t *engine.Trigger, _ engine.Ref) bool { return t.ID == panel.Trigger.ID })
		if panel.Trigger.Type == engine.OnEvent {
			panel.Events, err = p.eventsOf(c.Request().Context(), panel.Trigger.ID)
			return panel, err
		}
		panel.Ticks, err = p.Store.Ticks(c.Request().Context(), panel.Trigger.ID, lastTicks)
		return panel, err
	}
	ref, err := engine.ParseRef(card)
	if err != nil {
		return panel, engine.Errorf(engine.NotFound, "This card was deleted meanwhile.")
	}
	d.describe(&panel, ref)
	if panel.Job != nil {
		panel.Starts = d.starts(func(_ *engine.Trigger, of engine.Ref) bool { return of == ref })
		panel.Bookmarks, err = p.Store.BookmarksOf(c.Request().Context(), ref.ID)
	}
	return panel, err
}

// describe fills in what a panel shows of a job or crawler.
func (d *desk) describe(panel *editor.Panel, ref engine.Ref) {
	panel.Info, panel.Used = d.infos[ref.String()], d.used[ref]
	for _, made := range d.jobs {
		if ref.Kind == engine.KindJob && made.ID == ref.ID {
			made.Body = job.Whole(made.Body)
			form := job.FormOf(made)
			panel.Job, panel.JobState = &form, made
		}
	}
	for _, made := range d.crawlers {
		if ref.Kind == engine.KindCrawler && made.ID == ref.ID {
			form := crawler.FormOf(made)
			panel.Crawler = &form
		}
	}
}

func (p *Pages) nextTimes(t engine.Trigger) []time.Time {
	var times []time.Time
	at := p.Now()
	for range nextStarts {
		if at = p.Next(t, at); at.IsZero() {
			break
		}
		times = append(times, at)
	}
	return times
}

// saveCard answers POST /workflows/:id/cards/:card: a trigger is changed in the
// workflow's draft, a job or crawler in its own.
func (p *Pages) saveCard(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	values, err := c.FormParams()
	if err != nil {
		return engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	panel, err := p.panelOf(c, desk, c.Param("card"))
	if err != nil {
		return err
	}
	switch {
	case panel.Trigger != nil:
		return p.saveTrigger(c, panel, values)
	case panel.Job != nil:
		return p.saveJobCard(c, panel, values)
	case panel.Crawler != nil:
		return p.saveCrawlerCard(c, panel, values)
	}
	return engine.Errorf(engine.NotFound, "This job or crawler was deleted meanwhile.")
}

// saveTrigger changes what the person changed and leaves the rest, so that two
// people who edit different fields keep both.
func (p *Pages) saveTrigger(c web.Ctx, panel editor.Panel, values url.Values) error {
	t := *panel.Trigger
	panel.Trigger, panel.Seen = &t, panel.Trigger
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

// seenTrigger is t as the person saw it who sent values: a form that is shown
// again keeps that, so that its next save tells what the person changed.
func seenTrigger(t engine.Trigger, values url.Values) *engine.Trigger {
	t.Name, t.Schedule, t.Zone = values.Get("seen.name"), values.Get("seen.schedule"), values.Get("seen.zone")
	t.Missed, t.Overlap = engine.Missed(values.Get("seen.missed")), engine.Overlap(values.Get("seen.overlap"))
	t.Event, _ = readEvent(t.Event, values, "seen.")
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
	enabled := values.Get("enabled") == "yes"
	if disabled := !enabled; disabled != t.Disabled && (enabled || t.Switched()) {
		t.Disabled, patch.Disabled = disabled, &disabled
	}
	if logic := engine.Logic(values.Get("logic")); values.Has("logic") && logic != t.Predicate.Logic {
		patch.Logic = &logic
	}
	return append([]draft.Op{{Kind: draft.SetTrigger, Card: card, Patch: patch, Prev: seen}}, conditionOps(values, card)...)
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

// saveOps applies the operations of a form as one act and answers with the
// panel: as it is now, or with what was refused beside field.
func (p *Pages) saveOps(c web.Ctx, panel editor.Panel, ops []draft.Op, field string) error {
	err := p.apply(c, panel, ops)
	if refusal, ok := errors.AsType[*draft.Refusal](err); ok {
		panel.Errors = map[string]string{field: refusal.Message}
		seeStarts(panel.Starts)
		return web.Render(c, statusOf(refusal), editor.Details(panel))
	}
	if err != nil {
		return err
	}
	return p.answerPanel(c, panel.Card)
}

// apply applies the operations of a form as one act, of the tab that the form
// stands in.
func (p *Pages) apply(c web.Ctx, panel editor.Panel, ops []draft.Op) error {
	if len(ops) == 0 {
		return nil
	}
	act := string(engine.NewID(p.Now()))
	for i := range ops {
		ops[i].ID, ops[i].Act = act+"-"+strconv.Itoa(i), act
	}
	_, err := p.Drafts.Save(c.Request().Context(), panel.Workflow, user(c), draft.Patch{Base: panel.Seq, Client: cmp.Or(c.FormValue("client"), "form"), Ops: ops})
	return err
}

func (p *Pages) answerPanel(c web.Ctx, card string) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	panel, err := p.panelOf(c, desk, card)
	if err != nil {
		return err
	}
	panel.Saved = true
	return web.Render(c, http.StatusOK, editor.Details(panel))
}

func (p *Pages) saveJobCard(c web.Ctx, panel editor.Panel, values url.Values) error {
	form := job.ReadForm(values, panel.JobState)
	p.refuseTargets(&form)
	ops, wrong := startOps(panel.Starts, values)
	maps.Copy(form.Errors, wrong)
	panel.Job, panel.Errors = &form, form.Errors
	if len(form.Errors) > 0 {
		return web.Render(c, http.StatusUnprocessableEntity, editor.Details(panel))
	}
	// What is refused here leaves the job as it was, too.
	err := p.apply(c, panel, ops)
	if refusal, ok := errors.AsType[*draft.Refusal](err); ok {
		panel.Errors = map[string]string{"start": refusal.Message}
		seeStarts(panel.Starts)
		return web.Render(c, statusOf(refusal), editor.Details(panel))
	}
	if err != nil {
		return err
	}
	ctx, made := c.Request().Context(), panel.JobState
	if err := p.rename(ctx, engine.KindJob, made.ID, made.Name, form.Name); err != nil {
		return err
	}
	if _, err := p.Store.SaveJobDraft(ctx, made.ID, form.Body, form.Base, user(c), p.Now()); err != nil {
		return err
	}
	return p.answerPanel(c, panel.Card)
}

func (p *Pages) saveCrawlerCard(c web.Ctx, panel editor.Panel, values url.Values) error {
	ref, err := engine.ParseRef(panel.Card)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	made, err := p.Store.CrawlerDraft(ctx, ref.ID)
	if err != nil {
		return err
	}
	form := crawler.ReadForm(values, made)
	panel.Crawler, panel.Errors = &form, form.Errors
	if len(form.Errors) > 0 {
		return web.Render(c, http.StatusUnprocessableEntity, editor.Details(panel))
	}
	if err := p.rename(ctx, engine.KindCrawler, made.ID, made.Name, form.Name); err != nil {
		return err
	}
	if _, err := p.Store.SaveCrawlerDraft(ctx, made.ID, form.Body, form.Base, user(c), p.Now()); err != nil {
		return err
	}
	return p.answerPanel(c, panel.Card)
}

// rename gives an object another name. Its cards, runs and bookmarks go by its
// id and stay.
func (p *Pages) rename(ctx context.Context, kind engine.Kind, id engine.ID, from, to string) error {
	if from == to {
		return nil
	}
	return p.Store.RenameObject(ctx, kind, id, to)
}

// saveWorkflow answers POST /workflows/:id/panel.
func (p *Pages) saveWorkflow(c web.Ctx) error {
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	panel, err := p.panelOf(c, desk, "")
	if err != nil {
		return err
	}
	values, err := c.FormParams()
	if err != nil {
		return engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	ops, field, err := workflowOps(values)
	if err != nil {
		panel.Text = values.Get("properties")
		panel.Errors = map[string]string{field: engine.MessageOf(err)}
		return web.Render(c, http.StatusUnprocessableEntity, editor.Details(panel))
	}
	return p.saveOps(c, panel, ops, "properties")
}

// workflowOps are the operations that make the workflow what the form says, or
// the field that is wrong.
func workflowOps(values url.Values) (ops []draft.Op, field string, err error) {
	description, was := strings.TrimSpace(values.Get("description")), values.Get("seen.description")
	if description != was {
		ops = append(ops, draft.Op{Kind: draft.SetWorkflow, Patch: &draft.Fields{Description: &description}, Prev: &draft.Fields{Description: &was}})
	}
	if ops, field, err = numbersOp(ops, values); err != nil {
		return nil, field, err
	}
	typed, err := editor.ReadProperties(values.Get("properties"))
	if err == nil {
		err = engine.CheckProperties(typed)
	}
	if err != nil {
		return nil, "properties", err
	}
	before, err := editor.ReadProperties(values.Get("seen.properties"))
	if err != nil {
		return nil, "properties", err
	}
	if patch, seen := propertiesPatch(before, typed); len(patch) > 0 {
		ops = append(ops, draft.Op{Kind: draft.SetProperties, Patch: &draft.Fields{Properties: patch}, Prev: &draft.Fields{Properties: seen}})
	}
	return ops, "", nil
}

// numbersOp changes the limits of a workflow that are numbers, where the form
// says something else than it was shown. field names what is wrong.
func numbersOp(ops []draft.Op, values url.Values) (_ []draft.Op, field string, err error) {
	patch, prev := draft.Fields{}, draft.Fields{}
	if n, was, changed, err := numberOf(values, "max_runs"); err != nil {
		return ops, "max_runs", err
	} else if changed {
		patch.MaxRuns, prev.MaxRuns = &n, &was
	}
	if n, was, changed, err := numberOf(values, "timeout"); err != nil {
		return ops, "timeout", err
	} else if changed {
		to, from := engine.Minutes(n), engine.Minutes(was)
		patch.Timeout, prev.Timeout = &to, &from
	}
	if patch.MaxRuns == nil && patch.Timeout == nil {
		return ops, "", nil
	}
	return append(ops, draft.Op{Kind: draft.SetWorkflow, Patch: &patch, Prev: &prev}), "", nil
}

// numberOf reads a number of the form, and what it was when the form was shown.
func numberOf(values url.Values, field string) (n, was int, changed bool, err error) {
	text := strings.TrimSpace(values.Get(field))
	if text == "" {
		text = "0"
	}
	n, err = strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, 0, false, engine.Errorf(engine.Invalid, "Write a number, 0 or more.")
	}
	was, err = strconv.Atoi(values.Get("seen." + field))
	return n, was, err == nil && n != was, nil // a form that was tampered with says nothing new
}

// propertiesPatch is what leads from before to after, and what of it the person
// saw.
func propertiesPatch(before, after map[string]string) (patch, seen map[string]*string) {
	patch, seen = map[string]*string{}, map[string]*string{}
	names := make([]string, 0, len(before)+len(after))
	for name := range before {
		names = append(names, name)
	}
	for name := range after {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		was, had := before[name]
		is, has := after[name]
		if had == has && was == is {
			continue
		}
		patch[name], seen[name] = nil, nil
		if has {
			patch[name] = &is
		}
		if had {
			seen[name] = &was
		}
	}
	return patch, seen
}
