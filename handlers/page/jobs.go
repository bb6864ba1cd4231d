package page

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/job"
	"dogear/views/layout"
	"dogear/views/query"
	"dogear/views/show"
)

// jobStore is what the screens of jobs read and write.
type jobStore interface {
	JobDrafts(ctx context.Context) ([]engine.Draft[engine.JobBody], error)
	Jobs(ctx context.Context) ([]engine.Job, error)
	Job(ctx context.Context, id engine.ID) (engine.Job, error)
	JobDraft(ctx context.Context, id engine.ID) (engine.Draft[engine.JobBody], error)
	JobVersion(ctx context.Context, id engine.ID, version int) (engine.Job, error)
	CreateJob(ctx context.Context, name string, body engine.JobBody, by string, now time.Time) (engine.ID, error)
	SaveJobDraft(ctx context.Context, id engine.ID, body engine.JobBody, base int64, by string, now time.Time) (int64, error)
	// DiscardDraft makes a job or crawler again what is published of it.
	DiscardDraft(ctx context.Context, ref engine.Ref, base int64) error
	PublishJob(ctx context.Context, id engine.ID, by string, now time.Time) (engine.Job, error)
	Versions(ctx context.Context, id engine.ID) ([]engine.Head, error)
	RenameObject(ctx context.Context, kind engine.Kind, id engine.ID, name string) error
	NodeHistory(ctx context.Context, ref engine.Ref, limit int) ([]engine.NodeRun, error)
}

// Syntax looks at the texts of jobs before they run.
type Syntax interface {
	// Faults says, for each of jobs, what its next run would fail of, as far as
	// that is seen without running anything.
	Faults(ctx context.Context, jobs []*engine.JobBody) [][]engine.Fault
	// Known reports whether the columns of the sources of a job are known. Those that
	// are not, somebody must read before a misspelt one is seen.
	Known(ctx context.Context, job *engine.JobBody) bool
}

// readPatience is how long somebody who opens a dialog waits for the columns of
// sources. Of what is not read by then, less is said.
const readPatience = 4 * time.Second

// historyLen is how many attempts the page of a job or crawler shows.
const historyLen = 12

func (p *Pages) jobRoutes() []web.Route {
	return []web.Route{
		get("/jobs", p.jobs),
		post("/jobs", p.createJob),
		get("/jobs/:id", p.job),
		post("/jobs/:id", p.saveJob),
		post("/jobs/:id/form/:word", p.growJob),
		post("/jobs/:id/preview/:n", p.previewJob),
		post("/jobs/:id/fails", p.jobFails),
		get("/jobs/:id/words", p.jobWords),
		get("/jobs/:id/compare", p.compareJob),
		post("/jobs/:id/run", p.runJob),
		post("/jobs/:id/duplicate", p.duplicateJob),
	}
}

// jobs answers GET /jobs; htmx gets the table alone.
func (p *Pages) jobs(c web.Ctx) error {
	ctx := c.Request().Context()
	drafts, err := p.Store.JobDrafts(ctx)
	if err != nil {
		return err
	}
	used, err := p.usedBy(ctx)
	if err != nil {
		return err
	}
	list := job.Listing{Now: p.Now(), CSRF: p.Sessions.Token(c), All: len(drafts), Filter: strings.TrimSpace(c.QueryParam("name"))}
	for _, d := range drafts {
		if !strings.Contains(strings.ToLower(d.Name), strings.ToLower(list.Filter)) {
			continue
		}
		ref := engine.Ref{Kind: engine.KindJob, ID: d.ID}
		last, err := p.Store.NodeHistory(ctx, ref, 1)
		if err != nil {
			return err
		}
		list.Items = append(list.Items, job.Item{Draft: d, Last: last, Used: used[ref]})
	}
	if web.IsFragment(c) {
		return web.Render(c, http.StatusOK, job.Table(list))
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Jobs", Crumbs: []layout.Crumb{{Label: "Jobs"}}, Actions: job.ListActions(), Live: []string{"changed:runs"},
	}, job.List(list))
}

// usedBy are the workflows that have a job or crawler on their canvas.
func (p *Pages) usedBy(ctx context.Context) (map[engine.Ref][]engine.Head, error) {
	workflows, err := p.Store.Workflows(ctx)
	if err != nil {
		return nil, err
	}
	used := map[engine.Ref][]engine.Head{}
	for _, w := range workflows {
		for _, ref := range w.Refs() {
			used[ref] = append(used[ref], w.Head)
		}
	}
	return used, nil
}

// createJob answers POST /jobs with the page of a new job.
func (p *Pages) createJob(c web.Ctx) error {
	id, err := p.Store.CreateJob(c.Request().Context(), c.FormValue("name"), newJob(engine.JobKind(c.FormValue("kind"))), user(c), p.Now())
	if err != nil {
		return err
	}
	return web.Go(c, "/jobs/"+string(id))
}

// firstScript is what a new script job begins with.
const firstScript = `import sys

# Arguments come as --Name value, as in AWS Glue. What is printed is the log.
print("arguments:", sys.argv[1:])
`

// newJob is a job with the defaults of model.md: a script, or a SQL job with one
// place for each part.
func newJob(kind engine.JobKind) engine.JobBody {
	if kind == engine.JobPython {
		return engine.JobBody{
			Kind: engine.JobPython, Bookmark: engine.BookmarkOff, Timeout: engine.DefaultTimeout, MemoryMB: engine.DefaultMemoryMB,
			Script: &engine.ScriptJob{Body: firstScript},
		}
	}
	return engine.JobBody{
		Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, Timeout: engine.DefaultTimeout, MemoryMB: engine.DefaultMemoryMB,
		SQL: &engine.SQLJob{
			Sources: []engine.Source{{Name: "input", Format: engine.CSV, Read: engine.ReadNew}},
			Steps:   []engine.Step{{Name: "output", SQL: "SELECT *\nFROM input"}},
			Sinks:   []engine.Sink{{From: "output", Format: engine.Parquet, Mode: engine.Append}},
		},
	}
}

// jobView reads what the page of a job shows beside its form.
func (p *Pages) jobView(c web.Ctx) (job.View, error) {
	ctx := c.Request().Context()
	v := job.View{Now: p.Now(), CSRF: p.Sessions.Token(c), Editor: p.Files.URL("editor-sql.js")}
	var err error
	if v.Draft, err = p.Store.JobDraft(ctx, web.ID(c)); err != nil {
		return v, err
	}
	v.Draft.Body = job.Whole(v.Draft.Body)
	if v.Draft.Body.Kind == engine.JobPython {
		v.Editor = p.Files.URL("editor-python.js")
	}
	if v.Versions, err = p.Store.Versions(ctx, v.Draft.ID); err != nil {
		return v, err
	}
	if v.Connections, err = p.Store.Connections(ctx); err != nil {
		return v, err
	}
	pools, err := p.Store.Pools(ctx)
	if err != nil {
		return v, err
	}
	for i := range pools {
		v.Pools = append(v.Pools, pools[i].Name)
	}
	ref := engine.Ref{Kind: engine.KindJob, ID: v.Draft.ID}
	if v.History, err = p.Store.NodeHistory(ctx, ref, historyLen); err != nil {
		return v, err
	}
	if v.Bookmarks, err = p.Store.BookmarksOf(ctx, v.Draft.ID); err != nil {
		return v, err
	}
	used, err := p.usedBy(ctx)
	v.Used = used[ref]
	v.Form = job.FormOf(v.Draft)
	return v, err
}

// job answers GET /jobs/:id; with ?version=N the form holds that version, which
// saving brings back.
func (p *Pages) job(c web.Ctx) error {
	v, err := p.jobView(c)
	if err != nil {
		return err
	}
	if n := int(number(c, "version", 0)); n > 0 {
		old, err := p.Store.JobVersion(c.Request().Context(), v.Draft.ID, n)
		if err != nil {
			return err
		}
		v.Form.Body, v.Form.Shown = old.JobBody, n
	}
	v.Form.Fails = p.fails(c.Request().Context(), &v.Form.Body)
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Jobs",
		Crumbs:  []layout.Crumb{{Label: "Jobs", Href: "/jobs"}, {Label: v.Draft.Name}},
		Actions: job.Actions(v),
		Live:    []string{"changed:runs", "changed:bookmarks"},
	}, job.Page(v))
}

// jobForm reads the form of a job as it was typed, with what is wrong in it.
func (p *Pages) jobForm(c web.Ctx) (job.View, error) {
	v, err := p.jobView(c)
	if err != nil {
		return v, err
	}
	values, err := c.FormParams()
	if err != nil {
		return v, engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	v.Form = job.ReadForm(values, v.Draft)
	return v, nil
}

// saveJob answers POST /jobs/:id. A form with something wrong comes back with
// everything that was typed.
func (p *Pages) saveJob(c web.Ctx) error {
	v, err := p.jobForm(c)
	if err != nil {
		return err
	}
	if err := p.refuse(c.Request().Context(), &v.Form); err != nil {
		return err
	}
	ctx, id, now, then := c.Request().Context(), v.Draft.ID, p.Now(), c.FormValue("then")
	v.Form.Fails = p.fails(ctx, &v.Form.Body)
	v.Form.Asks = then == "publish" && len(v.Form.Fails) > 0
	if len(v.Form.Errors) > 0 || v.Form.Asks {
		return web.Render(c, http.StatusUnprocessableEntity, job.Form(v))
	}
	err = p.rename(ctx, engine.KindJob, id, v.Draft.Name, v.Form.Name)
	if taken(err, v.Form.Errors) {
		return web.Render(c, http.StatusUnprocessableEntity, job.Form(v))
	}
	if err != nil {
		return err
	}
	if _, err := p.Store.SaveJobDraft(ctx, id, v.Form.Body, v.Form.Base, user(c), now); err != nil {
		return err
	}
	if then == "publish" || then == "publish-anyway" {
		if _, err := p.Store.PublishJob(ctx, id, user(c), now); err != nil {
			return err
		}
	}
	return web.Go(c, "/jobs/"+string(id))
}

// fails says by the field what the next run of a job would fail of.
func (p *Pages) fails(ctx context.Context, body *engine.JobBody) map[string]string {
	return fieldsOf(p.Syntax.Faults(ctx, []*engine.JobBody{body})[0])
}

// read learns the columns of the sources of jobs where they are not known yet. A source
// that cannot be read is one of which nothing is known.
func (p *Pages) read(ctx context.Context, jobs []*engine.JobBody) {
	// Whoever asked may have gone by then; what was learnt stays of use.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readPatience)
	defer cancel()
	for _, body := range jobs {
		if ctx.Err() == nil && !p.Syntax.Known(ctx, body) {
			_, _ = p.SQL.Columns(ctx, *body)
		}
	}
}

// jobFails answers POST /jobs/:id/fails with what a run of the job would fail of as it
// is typed. Nothing is saved.
func (p *Pages) jobFails(c web.Ctx) error {
	v, err := p.jobForm(c)
	if err != nil {
		return err
	}
	v.Form.Fails = p.fails(c.Request().Context(), &v.Form.Body)
	return web.Render(c, http.StatusOK, job.FailingNow(v.Form))
}

// fieldsOf are faults by their field.
func fieldsOf(faults []engine.Fault) map[string]string {
	fields := map[string]string{}
	for _, fault := range faults {
		fields[fault.Field] = fault.Message
	}
	return fields
}

// refuse says in a form which folders this server may not write, and that there
// is no such pool.
func (p *Pages) refuse(ctx context.Context, form *job.Fields) error {
	places, err := p.Store.PoolPlaces(ctx)
	if err != nil {
		return err
	}
	for _, fault := range form.Body.PoolFaults(places) {
		form.Errors[fault.Field] = fault.Message
	}
	if form.Body.SQL == nil {
		return nil
	}
	for i, s := range form.Body.SQL.Sinks {
		if wrong := p.outside([]string{s.Path}); len(wrong) > 0 {
			form.Errors["sink."+strconv.Itoa(i)+".path"] = wrong[0]
		}
	}
	return nil
}

// growJob answers POST /jobs/:id/form/source, /step and /sink with the form as
// it was typed and one part more.
func (p *Pages) growJob(c web.Ctx) error {
	v, err := p.jobForm(c)
	if err != nil {
		return err
	}
	v.Form.Errors = nil
	v.Form.Grow(c.Param("word"))
	return web.Render(c, http.StatusOK, job.Form(v))
}

// previewJob answers POST /jobs/:id/preview/:n with rows of step n, from a
// sample of the sources. Nothing is written and no bookmark moves.
func (p *Pages) previewJob(c web.Ctx) error {
	v, err := p.jobForm(c)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(c.Param("n"))
	if err != nil || v.Form.Body.SQL == nil || n >= len(v.Form.Body.SQL.Steps) {
		return engine.Errorf(engine.NotFound, "This job has no such step.")
	}
	steps := v.Form.Body.SQL.Steps
	rows, err := p.SQL.Preview(c.Request().Context(), v.Form.Body, steps[n].Name)
	if engine.CodeOf(err) == engine.Invalid {
		return web.Render(c, http.StatusUnprocessableEntity, query.Wrong(engine.MessageOf(err), faultOf(err)))
	}
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, show.Rows(rows))
}

// jobWords answers GET /jobs/:id/words with the names that completion offers.
// A source that cannot be looked at offers none, which is no reason to fail.
func (p *Pages) jobWords(c web.Ctx) error {
	ctx := c.Request().Context()
	draft, err := p.Store.JobDraft(ctx, web.ID(c))
	if err != nil {
		return err
	}
	columns, err := p.SQL.Columns(ctx, draft.Body)
	if engine.CodeOf(err) == engine.Internal {
		return err
	}
	return web.Render(c, http.StatusOK, job.Words(columns))
}

// runJob answers POST /jobs/:id/run.
func (p *Pages) runJob(c web.Ctx) error {
	run, err := p.Exec.Start(c.Request().Context(), order(c, engine.RunJob, web.ID(c), properties(c)))
	if err != nil {
		return err
	}
	return web.Go(c, "/runs/"+string(run.ID))
}

// duplicateJob answers POST /jobs/:id/duplicate with a new job of the same
// body. Its sources get bookmarks of their own, because it is another job.
func (p *Pages) duplicateJob(c web.Ctx) error {
	ctx := c.Request().Context()
	draft, err := p.Store.JobDraft(ctx, web.ID(c))
	if err != nil {
		return err
	}
	drafts, err := p.Store.JobDrafts(ctx)
	if err != nil {
		return err
	}
	name := draft.Name + " copy"
	for n := 2; slices.ContainsFunc(drafts, func(d engine.Draft[engine.JobBody]) bool { return d.Name == name }); n++ {
		name = draft.Name + " copy " + strconv.Itoa(n)
	}
	id, err := p.Store.CreateJob(ctx, name, draft.Body, user(c), p.Now())
	if err != nil {
		return err
	}
	return web.Go(c, "/jobs/"+string(id))
}
