package page

import (
	"context"
	"net/http"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/portable"
	"dogear/handlers/web"
	"dogear/views/layout"
	"dogear/views/show"
	"dogear/views/workflow"
)

// workflowStore is what the list of workflows needs.
type workflowStore interface {
	Workflows(ctx context.Context) ([]engine.Workflow, error)
	Workflow(ctx context.Context, id engine.ID) (engine.Workflow, error)
	// WorkflowVersion is a version that was published, NotFound where there is none.
	WorkflowVersion(ctx context.Context, id engine.ID, version int) (engine.Workflow, error)
	// Schedules lists when each schedule is due next.
	Schedules(ctx context.Context) (map[engine.ID]engine.Schedule, error)
	// StartedBy returns the run that a token has started; NotFound where there is
	// none since then.
	StartedBy(ctx context.Context, object engine.ID, token string, since time.Time) (run engine.ID, asked string, err error)
	// Ticks lists the newest due times of a schedule that were used up.
	Ticks(ctx context.Context, trigger engine.ID, limit int) ([]engine.Tick, error)
	CreateWorkflow(ctx context.Context, name string, body engine.WorkflowBody, by string, now time.Time) (engine.ID, error)
}

// Exec starts, stops and steers runs.
type Exec interface {
	Start(ctx context.Context, o exec.Order) (engine.Run, error)
	SetProperties(ctx context.Context, run engine.ID, change map[string]string, by string) (engine.Run, error)
	Stop(ctx context.Context, run engine.ID, by string) (engine.Run, error)
	Pause(ctx context.Context, run engine.ID, by string) (engine.Run, error)
	GoOn(ctx context.Context, run engine.ID, by string) (engine.Run, error)
	Skip(ctx context.Context, run engine.ID, ref engine.Ref, by, why string) (engine.Run, error)
	Unskip(ctx context.Context, run engine.ID, ref engine.Ref, by string) (engine.Run, error)
	StopNode(ctx context.Context, run engine.ID, ref engine.Ref, start int, by string) (engine.Run, error)
	Resume(ctx context.Context, run engine.ID, how exec.Resume, by string) (engine.Run, error)
	// PoolsChanged makes the places of pools count that were just written.
	PoolsChanged(ctx context.Context) error
}

// Portable reads and writes workflows as YAML.
type Portable interface {
	Export(ctx context.Context, name string) ([]byte, error)
	Import(ctx context.Context, ask portable.Ask) (portable.Report, error)
}

// lastRuns is how many runs the bars of a workflow show.
const lastRuns = 14

func (p *Pages) workflowRoutes() []web.Route {
	return []web.Route{
		get("/", p.home),
		get("/workflows", p.workflows),
		post("/workflows", p.createWorkflow),
		post("/workflows/import", p.importWorkflow),
		post("/workflows/import/preview", p.previewImport),
		get("/workflows/:id/runs", p.workflowRuns),
		get("/workflows/:id/versions", p.workflowVersions),
		post("/workflows/:id/versions", p.bringBack),
		get("/workflows/:id/export", p.exportWorkflow),
		get("/workflows/:id/run", p.askRun),
		post("/workflows/:id/run", p.runWorkflow),
	}
}

func (p *Pages) home(c web.Ctx) error { return c.Redirect(http.StatusSeeOther, "/workflows") }

// workflows answers GET /workflows; htmx gets the table alone.
func (p *Pages) workflows(c web.Ctx) error {
	list, err := p.workflowList(c)
	if err != nil {
		return err
	}
	if web.IsFragment(c) {
		return web.Render(c, http.StatusOK, workflow.Table(list))
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Workflows",
		Crumbs:  []layout.Crumb{{Label: "Workflows"}},
		Actions: workflow.Actions(),
		Live:    []string{"changed:runs", "changed:workflows"},
	}, workflow.List(list))
}

func (p *Pages) workflowList(c web.Ctx) (workflow.Listing, error) {
	ctx, now := c.Request().Context(), p.Now()
	list := workflow.Listing{Now: now, CSRF: p.Sessions.Token(c), Filter: strings.TrimSpace(c.QueryParam("name"))}
	if p.Sample != nil {
		folder, err := p.Sample.Folder(ctx)
		if err != nil {
			return list, err
		}
		list.SampleFolder = folder
	}
	workflows, err := p.Store.Workflows(ctx)
	if err != nil {
		return list, err
	}
	schedules, err := p.Store.Schedules(ctx)
	if err != nil {
		return list, err
	}
	list.All = len(workflows)
	for _, w := range workflows {
		if !strings.Contains(strings.ToLower(w.Name), strings.ToLower(list.Filter)) {
			continue
		}
		runs, err := p.Store.Runs(ctx, engine.RunFilter{Object: w.ID, Limit: lastRuns})
		if err != nil {
			return list, err
		}
		list.Items = append(list.Items, workflow.Item{Workflow: w, Runs: runs, Next: p.nextStart(w, schedules)})
	}
	return list, nil
}

// comes says when a trigger of a published workflow starts its next run, by its
// row in the database.
func (p *Pages) comes(t *engine.Trigger, schedules map[engine.ID]engine.Schedule) engine.Coming {
	row, ok := schedules[t.ID]
	if !ok {
		return engine.Coming{Paused: t.Disabled}
	}
	return t.Comes(&row, p.Now(), p.Next)
}

// comesWords says on a card when a schedule starts its next run.
func comesWords(coming engine.Coming, now time.Time) string {
	switch {
	case coming.Overdue > engine.TooLate:
		return "overdue by " + show.Length(coming.Overdue)
	case coming.At.IsZero():
		return ""
	}
	return "next start " + show.Ago(coming.At, now)
}

// nextStart says when the first of the schedules of w starts its next run. It is
// paused where all that starts w by itself is, by schedule or by events.
func (p *Pages) nextStart(w engine.Workflow, schedules map[engine.ID]engine.Schedule) engine.Coming {
	var first engine.Coming
	paused, active := false, false
	for i := range w.Triggers {
		t := &w.Triggers[i]
		if t.Type != engine.Scheduled && t.Type != engine.OnEvent {
			continue
		}
		paused, active = paused || t.Disabled, active || !t.Disabled
		if t.Type == engine.OnEvent {
			continue
		}
		coming := p.comes(t, schedules)
		if !coming.At.IsZero() && (first.At.IsZero() || coming.At.Before(first.At)) {
			first.At = coming.At
		}
		first.Overdue = max(first.Overdue, coming.Overdue)
	}
	first.Paused = paused && !active
	return first
}

// createWorkflow answers POST /workflows.
func (p *Pages) createWorkflow(c web.Ctx) error {
	id, err := p.Store.CreateWorkflow(c.Request().Context(), c.FormValue("name"), engine.WorkflowBody{}, user(c), p.Now())
	if err != nil {
		return err
	}
	return web.Go(c, "/workflows/"+string(id))
}

// exportWorkflow answers GET /workflows/:id/export with a file.
func (p *Pages) exportWorkflow(c web.Ctx) error {
	w, err := p.Store.Workflow(c.Request().Context(), web.ID(c))
	if err != nil {
		return err
	}
	text, err := p.Portable.Export(c.Request().Context(), w.Name)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Content-Disposition", `attachment; filename="workflow-`+string(w.ID)+`.yaml"`)
	return c.Blob(http.StatusOK, "application/yaml", text)
}

// order asks for a run in the name of whoever sent c. A browser that asks again,
// because it had no answer, sends the same token.
func order(c web.Ctx, kind engine.RunKind, object engine.ID, properties map[string]string) exec.Order {
	return exec.Order{Kind: kind, Object: object, Properties: properties, By: user(c), Token: tokenOf(c)}
}

// tokenOf is the token of a start that a browser sends.
func tokenOf(c web.Ctx) string { return c.Request().Header.Get("Idempotency-Key") }
