package page

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
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
		panel.Body = &d.draft.Body
		return panel, nil
	}
	if panel.Trigger = d.draft.Body.Trigger(engine.ID(card)); panel.Trigger != nil {
		panel.Next, panel.Warning = p.nextTimes(*panel.Trigger), p.Schedules.Warn(panel.Trigger.Schedule)
		panel.Planned = d.planned(panel.Trigger)
		panel.Info = d.infoOfTrigger(panel.Trigger)
		panel.Running = d.running(panel.Trigger.ID)
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
		panel.Unread = !p.Syntax.Known(c.Request().Context(), &panel.JobState.Body)
		panel.Bookmarks, err = p.Store.BookmarksOf(c.Request().Context(), ref.ID)
	}
	return panel, err
}

// planned reports whether the schedule of t is another one than is published.
func (d *desk) planned(t *engine.Trigger) bool {
	now := d.published.Trigger(t.ID)
	return d.published.Version == 0 || now == nil || now.Disabled || now.Schedule != t.Schedule || now.Zone != t.Zone
}

// describe fills in what a panel shows of a job or crawler.
func (d *desk) describe(panel *editor.Panel, ref engine.Ref) {
	panel.Info, panel.Used = d.infos[ref.String()], d.used[ref]
	for _, made := range d.jobs {
		if ref.Kind == engine.KindJob && made.ID == ref.ID {
			made.Body = job.Whole(made.Body)
			form := job.FormOf(made)
			form.Fails = fieldsOf(d.fails[ref])
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
