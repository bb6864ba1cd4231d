package page_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/auth"
	rules "dogear/engine/bookmark"
	"dogear/engine/portable"
	"dogear/handlers/page"
	"dogear/handlers/web"
	"dogear/static"
)

// noon is the time of every test.
var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// odd is a name that breaks careless pages.
const odd = `<script>alert("1")</script> & 'two' 🦊`

func TestEveryScreenShowsAndEscapes(t *testing.T) {
	t.Parallel()
	site := serve(t)
	screens := map[string]string{
		"/workflows":                   "Last runs",
		"/runs":                        "Outcome",
		"/runs?outcome=failed":         "Outcome",
		site.run("log"):                "following live",
		site.run("inputs"):             "Changed in place",
		site.run("outputs"):            "b212-0.parquet",
		site.run("bookmark"):           "No bookmark",
		site.run("arguments"):          "TargetDate",
		site.run("attempts"):           "Attempt",
		"/bookmarks":                   "Newest file read",
		"/bookmarks/" + string(markID): "History",
		"/bookmarks/" + string(markID) + "/source":                            "Progress through the source",
		"/bookmarks/" + string(markID) + "/story?key=" + url.QueryEscape(odd): "year=2026/b212-0.parquet",
		"/catalog":                                "sales_curated",
		"/catalog/" + string(tableID):             "Sample rows",
		"/catalog/" + string(tableID) + "/sample": "order_id",
		"/query":                            "sales_curated.sales",
		"/jobs":                             "New job",
		"/jobs/" + string(site.job):         "Save and publish",
		"/crawlers":                         "Last crawl",
		"/crawlers/" + string(site.crawler): "Looks into",
		"/connections":                      "Signs in as",
		"/connections/new?type=postgres":    "Password",
		"/connections/new?type=sqlite":      "Database file",
		"/tables?for=source.0.table":        "public.orders",
		"/tables/columns?for=source.0.table&source.0.connection=x&source.0.table=public.orders": "Primary key: id.",
		"/tables/columns?for=source.0.table&source.0.connection=x&source.0.table=nowhere":       "There is no table nowhere.",
		"/connections/new":                        "Secret key",
		"/connections/" + string(site.connection): "Test connection",
		"/browse?for=source.0.path&at=":           "sales",
		"/find?q=script":                          "Workflow",
	}
	for path, says := range screens {
		status, body := site.get(t, path)

		if status != http.StatusOK || !strings.Contains(body, says) {
			t.Errorf("GET %s = %d, want 200 saying %q", path, status, says)
		}
		if strings.Contains(body, "<script>alert") {
			t.Errorf("GET %s holds a name as markup", path)
		}
	}
}

func TestSignInLinkWorksOnceAndNotByLooking(t *testing.T) {
	t.Parallel()
	site := serve(t)
	token, err := site.auth.NewLink(t.Context())
	must(t, err)
	jar, err := cookiejar.New(nil)
	must(t, err)
	site.client = &http.Client{Jar: jar}

	_, preview := site.get(t, "/signin?token="+token)
	before, _ := site.get(t, "/workflows")
	first, _ := site.post(t, "/signin", url.Values{"token": {token}})
	after, _ := site.get(t, "/workflows")
	second, text := site.post(t, "/signin", url.Values{"token": {token}})

	if !strings.Contains(preview, "Sign in") || before != 401 || first != 200 || after != 200 {
		t.Errorf("before, first, after = %d, %d, %d, want 401, 200, 200", before, first, after)
	}
	if second != 403 || !strings.Contains(text, "dogear signin") {
		t.Errorf("second use = %d, want 403 that says what to do", second)
	}
}

func TestAFormWithAMistakeKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	site := serve(t)

	status, body := site.change(t, "/jobs/"+string(site.job), url.Values{
		"name": {"typed"}, "bookmark": {"enabled"}, "timeout": {"soon"}, "memory_mb": {"64"},
		"source.3.name": {"raw"}, "source.3.path": {"/data/" + odd}, "source.3.format": {"csv"},
		"step.0.name": {"raw"}, "step.0.sql": {"SELECT 'kept'"},
		"sink.0.from": {"nobody"}, "sink.0.mode": {"merge"}, "sink.0.path": {"/out"},
	})

	if status != http.StatusUnprocessableEntity {
		t.Fatalf("POST = %d, want 422", status)
	}
	for _, want := range []string{
		`value="typed"`, "SELECT &#39;kept&#39;", "Write a number of minutes", "At least 1024 MB", "Another source or step has this name",
		"Choose the step or source", "A merge needs the columns", `value="/data/&lt;script&gt;`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the form lacks %q", want)
		}
	}
	if draft, err := site.store.JobDraft(t.Context(), site.job); err != nil || draft.Name == "typed" {
		t.Errorf("draft = %+v, %v: something was saved", draft.Name, err)
	}
}

func TestAJobMayNotWriteOutsideTheFoldersOfItsServer(t *testing.T) {
	t.Parallel()
	site := serve(t)

	status, body := site.change(t, "/jobs/"+string(site.job), url.Values{
		"name": {"typed"}, "bookmark": {"enabled"}, "source.0.name": {"raw"}, "source.0.path": {"/data/*.csv"},
		"sink.0.from": {"raw"}, "sink.0.path": {"/etc/out"}, "sink.0.mode": {"append"},
	})

	if status != http.StatusUnprocessableEntity || !strings.Contains(body, "/etc/out may not be used: it is not below /data.") {
		t.Errorf("POST = %d, want 422 with the folder that may not be written:\n%s", status, body)
	}
}

func TestSavingAJobKeepsWhatTheFormDoesNotShow(t *testing.T) {
	t.Parallel()
	site := serve(t)
	_, form := site.get(t, "/jobs/"+string(site.job))
	values := url.Values{
		"name": {"renamed"}, "bookmark": {"enabled"}, "then": {"publish"}, "base": {value(t, form, "base")},
		"source.0.rest": {value(t, form, "source.0.rest")}, "source.0.name": {"sales"}, "source.0.path": {"/data/sales/*.csv"}, "source.0.format": {"csv"},
		"step.0.name": {"out"}, "step.0.sql": {"SELECT * FROM sales"}, "sink.0.from": {"out"}, "sink.0.path": {"/out"}, "sink.0.mode": {"append"},
	}

	status, _ := site.change(t, "/jobs/"+string(site.job), values)

	saved, err := site.store.Job(t.Context(), site.job)
	must(t, err)
	if status != http.StatusOK || saved.Name != "renamed" || saved.Version != 2 {
		t.Errorf("POST = %d, job %q v%d, want 200, renamed v2", status, saved.Name, saved.Version)
	}
	if source := saved.SQL.Sources[0]; source.Ctx != "sales_csv" || len(source.Schema) != 1 {
		t.Errorf("source = %+v, want its context and columns kept", source)
	}
	again, _ := site.change(t, "/jobs/"+string(site.job), values)
	if again != http.StatusConflict {
		t.Errorf("saving from an older page = %d, want 409", again)
	}
}

// The policy for files that are gone is chosen in the form, and refused where
// there is no such one.
func TestTheFormChoosesWhatBecomesOfFilesThatAreGone(t *testing.T) {
	t.Parallel()
	site := serve(t)
	_, form := site.get(t, "/jobs/"+string(site.job))
	values := url.Values{
		"name": {"renamed"}, "bookmark": {"enabled"}, "then": {"draft"}, "base": {value(t, form, "base")},
		"source.0.rest": {value(t, form, "source.0.rest")}, "source.0.name": {"sales"}, "source.0.path": {"/data/sales/*.csv"}, "source.0.format": {"csv"},
		"step.0.name": {"out"}, "step.0.sql": {"SELECT * FROM sales"}, "sink.0.from": {"out"}, "sink.0.path": {"/out"}, "sink.0.mode": {"append"},
	}

	values.Set("source.0.gone", "burn")
	wrong, refused := site.change(t, "/jobs/"+string(site.job), values)
	values.Set("source.0.gone", "drop")
	status, _ := site.change(t, "/jobs/"+string(site.job), values)
	_, saved := site.get(t, "/jobs/"+string(site.job))

	contains(t, "the form", form, "A file that is gone", "Where its partition is written anew.")
	contains(t, "the refusal", refused, "There is no policy for files that are gone &#34;burn&#34;.")
	contains(t, "the saved form", saved, `<option value="drop" selected>Let its rows go</option>`)
	if wrong != http.StatusUnprocessableEntity || status != http.StatusOK {
		t.Errorf("a policy that is none = %d, drop = %d; want 422, 200", wrong, status)
	}
}

func TestASecretNeverComesBack(t *testing.T) {
	t.Parallel()
	site := serve(t)
	status, _ := site.change(t, "/connections/"+string(site.connection), url.Values{
		"name": {"minio"}, "endpoint": {"http://127.0.0.1:9000"}, "access_key": {"AK"}, "secret": {"tell-nobody"},
	})
	if status != http.StatusOK {
		t.Fatalf("POST = %d, want 200", status)
	}

	_, kept := site.get(t, "/connections/"+string(site.connection))
	_, broken := site.change(t, "/connections/"+string(site.connection), url.Values{"name": {""}, "secret": {"tell-nobody"}})

	for name, body := range map[string]string{"page": kept, "form with a mistake": broken} {
		if strings.Contains(body, "tell-nobody") {
			t.Errorf("the %s shows the secret", name)
		}
	}
	if secret, err := site.store.Secret(t.Context(), site.connection); err != nil || secret != "tell-nobody" {
		t.Errorf("the store keeps %q, %v", secret, err)
	}
}

// The log is opened at any moment and read on from where the last answer
// ended; every line is shown once, and the end only after the last line.
func TestE13LogOpenedAtAnyMomentShowsEveryLineOnce(t *testing.T) {
	t.Parallel()
	next := regexp.MustCompile(`hx-get="([^"]*/log\?[^"]*)"`)
	line := regexp.MustCompile(`line (\d{5})`)
	for _, opened := range []int{0, 250, 490, 500} {
		site := serve(t)
		site.log.Reset()
		site.write(0, opened)
		path, seen := site.node()+"/log?start=1&attempt=1&from=0", []string{}
		for tries := 0; path != "" && tries < 60; tries++ {
			_, body := site.get(t, path)
			for _, m := range line.FindAllStringSubmatch(body, -1) {
				seen = append(seen, m[1])
			}
			path = ""
			if m := next.FindStringSubmatch(body); m != nil {
				path = strings.ReplaceAll(m[1], "&amp;", "&")
			}
			if opened < 500 {
				site.write(opened, min(opened+77, 500))
				opened = min(opened+77, 500)
			} else {
				site.nodes[0].State = engine.Succeeded
			}
		}

		if path != "" {
			t.Error("the log never ended")
		}
		if len(seen) != 500 {
			t.Errorf("%d lines were shown, want 500", len(seen))
			continue
		}
		for i, n := range seen {
			if want := fmt.Sprintf("%05d", i+1); n != want {
				t.Errorf("line %d is %s, want %s", i+1, n, want)
				break
			}
		}
	}
}

func TestAMoveSaysWhatItWouldDoBeforeItIsMade(t *testing.T) {
	t.Parallel()
	site := serve(t)

	_, dialog := site.get(t, "/bookmarks/"+string(markID)+"/preview/rewind?to=208")
	unknown, _ := site.get(t, "/bookmarks/"+string(markID)+"/preview/explode")
	status, _ := site.change(t, "/bookmarks/"+string(markID)+"/rewind", url.Values{"to": {"208"}, "why": {"wrong prices"}})

	for _, want := range []string{"Rewind to v208", "The next run reads 1 file", "would double", "Reason"} {
		if !strings.Contains(dialog, want) {
			t.Errorf("the dialog lacks %q: %s", want, dialog)
		}
	}
	if unknown != http.StatusNotFound {
		t.Errorf("an unknown move = %d, want 404", unknown)
	}
	if want := "rewind 208 owner wrong prices"; status != 200 || site.moved != want {
		t.Errorf("POST = %d moved %q, want 200 %q", status, site.moved, want)
	}
}

func TestWrongSQLSaysWhere(t *testing.T) {
	t.Parallel()
	site := serve(t)

	status, body := site.change(t, "/query", url.Values{"sql": {"SELEC 1"}})

	if status != 422 || !strings.Contains(body, `data-fault-line="1"`) || !strings.Contains(body, "line 1, column 3") {
		t.Errorf("POST /query = %d %s, want 422 with line 1, column 3", status, body)
	}
}

const (
	markID  = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P4A")
	tableID = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P4B")
	runID   = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P4C")
	batchID = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P4D")
)

// site is the screens over a real store. What only a run can make, the runs,
// their logs and what they read, is given by the test.
type site struct {
	store                              *db.Store
	auth                               *auth.Service
	server                             *httptest.Server
	client                             *http.Client
	workflow, job, crawler, connection engine.ID
	nodes                              []engine.NodeRun
	log                                strings.Builder
	moved                              string
	shape                              func(*engine.Run) // makes the one run another
}

// world is the store with the runs of the test before it.
type world struct {
	*db.Store
	s *site
}

func serve(t *testing.T) *site {
	t.Helper()
	ctx := t.Context()
	s := &site{store: dbtest.SQLite(t)}
	now := func() time.Time { return noon }
	s.auth = auth.New(s.store, now)
	var err error
	s.job, err = s.store.CreateJob(ctx, "raw-to-curated "+odd, engine.JobBody{Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, SQL: &engine.SQLJob{
		Sources: []engine.Source{{Name: "sales", Path: "/data/sales/*.csv", Format: engine.CSV, Ctx: "sales_csv", Schema: []engine.Column{{Name: "order_id", Type: "BIGINT"}}}},
		Steps:   []engine.Step{{Name: "out", SQL: "SELECT * FROM sales"}},
		Sinks:   []engine.Sink{{From: "out", Path: "/out", Mode: engine.Merge, Keys: []string{"order_id"}}},
	}}, "owner", noon)
	must(t, err)
	_, err = s.store.PublishJob(ctx, s.job, "owner", noon)
	must(t, err)
	s.crawler, err = s.store.CreateCrawler(ctx, "curated-crawler", engine.CrawlerBody{Database: "sales_curated", Targets: []engine.CrawlerTarget{{Path: "/out"}}}, "owner", noon)
	must(t, err)
	connection, err := s.store.SaveConnection(ctx, "", "minio", engine.ConnectionBody{Type: engine.ConnectionS3, Endpoint: "http://127.0.0.1:9000"}, nil, "owner", noon)
	must(t, err)
	s.connection = connection.ID
	s.workflow, err = s.store.CreateWorkflow(ctx, "daily "+odd, engine.WorkflowBody{}, "owner", noon)
	must(t, err)
	ref := engine.Ref{Kind: engine.KindJob, ID: s.job}
	crawl := engine.Ref{Kind: engine.KindCrawler, ID: s.crawler}
	s.nodes = []engine.NodeRun{
		{
			Run: runID, Ref: ref, Name: "raw-to-curated " + odd, Start: 1, Attempt: 1, State: engine.Running, Version: 1, Batch: batchID,
			Arguments: map[string]string{"TargetDate": "2026-11-28"}, Counts: engine.Counts{Files: 4, RowsIn: 612440, RowsOut: 612440, BytesOut: 27_400_000},
			ReadyAt: noon.Add(-41 * time.Second), Started: noon.Add(-40 * time.Second),
		},
		{
			Run: runID, Ref: crawl, Name: "curated-crawler", Start: 1, Attempt: 1, State: engine.Failed, Version: 1, Error: "The folder /out cannot be listed.",
			ReadyAt: noon.Add(-30 * time.Second), Started: noon.Add(-28 * time.Second), Ended: noon.Add(-20 * time.Second),
		},
	}
	s.write(0, 3)
	s.open(t, page.Config{
		Store: world{s.store, s}, Exec: nil, Remover: s.store, Bookmarks: moves{s: s}, Logs: s, SQL: data{}, Places: places{},
		Portable: &portable.Service{Store: s.store, Now: now, Next: func(engine.Trigger, time.Time) time.Time { return time.Time{} }},
	})
	return s
}

// open serves the screens over cfg, to somebody who has signed in.
func (s *site) open(t *testing.T, cfg page.Config) {
	t.Helper()
	files, err := static.Load()
	must(t, err)
	log, now := slog.New(slog.DiscardHandler), func() time.Time { return noon }
	sessions := web.NewSessions(s.store, s.auth, false, log)
	cfg.Auth, cfg.Sessions, cfg.Files, cfg.Log, cfg.Now = s.auth, sessions, files, log, now
	if cfg.Syntax == nil {
		cfg.Syntax = texts{}
	}
	cfg.Came, cfg.Address = func(engine.ID) {}, func() string { return "https://dogear.example" }
	handler, err := web.New(web.Config{Routes: page.New(cfg).Routes(), Files: files, Sessions: sessions, Hosts: web.LoopbackHosts, Log: log, Now: now})
	must(t, err)
	s.server = httptest.NewServer(handler)
	t.Cleanup(s.server.Close)
	jar, err := cookiejar.New(nil)
	must(t, err)
	s.client = &http.Client{Jar: jar}
	token, err := s.auth.NewLink(t.Context())
	must(t, err)
	if status, _ := s.post(t, "/signin", url.Values{"token": {token}}); status != http.StatusOK {
		t.Fatalf("sign-in = %d, want 200", status)
	}
}

// texts looks at texts as the checker of a server does, but knows one mistake alone.
type texts struct{}

// mistake is the word that is wrong in every language here.
const mistake = "FORM"

func (texts) Faults(_ context.Context, jobs []*engine.JobBody) [][]engine.Fault {
	found := make([][]engine.Fault, len(jobs))
	for i, job := range jobs {
		if job.SQL == nil {
			continue
		}
		for n, step := range job.SQL.Steps {
			if strings.Contains(step.SQL, mistake) {
				found[i] = append(found[i], engine.Fault{Field: fmt.Sprintf("step.%d.sql", n), Message: "The step " + step.Name + " at line 1: " + mistake + "."})
			}
		}
	}
	return found
}

func (texts) Known(context.Context, *engine.JobBody) bool { return true }

func (s *site) run(tab string) string {
	return "/runs/" + string(runID) + "?node=job-" + string(s.job) + "&tab=" + tab
}

func (s *site) node() string { return "/runs/" + string(runID) + "/nodes/job-" + string(s.job) }

// write adds the lines from..to to the log of the first node.
func (s *site) write(from, to int) {
	for i := from; i < to; i++ {
		fmt.Fprintf(&s.log, "2026-11-28T11:59:20.%03dZ info line %05d\n", i, i+1)
	}
}

// Log implements page.Logs.
func (s *site) Log(_ context.Context, _ engine.NodeKey, offset, limit int64) ([]byte, int64, error) {
	text := s.log.String()
	size := int64(len(text))
	offset = min(offset, size)
	return []byte(text[offset:min(offset+limit, size)]), size, nil
}

func (s *site) get(t *testing.T, path string) (int, string) {
	t.Helper()
	return s.send(t, http.MethodGet, path, nil)
}

func (s *site) post(t *testing.T, path string, form url.Values) (int, string) {
	t.Helper()
	return s.send(t, http.MethodPost, path, form)
}

// change posts a form as htmx does, with the token of the session.
func (s *site) change(t *testing.T, path string, form url.Values) (int, string) {
	t.Helper()
	_, body := s.get(t, "/workflows")
	form.Set("_csrf", value(t, body, "_csrf"))
	return s.send(t, http.MethodPost, path, form)
}

func (s *site) send(t *testing.T, method, path string, form url.Values) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.server.URL+path, strings.NewReader(form.Encode()))
	must(t, err)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if form.Has("_csrf") {
		request.Header.Set("HX-Request", "true")
	}
	return s.do(t, request)
}

func (s *site) do(t *testing.T, request *http.Request) (int, string) {
	t.Helper()
	response, err := s.client.Do(request)
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(body)
}

// value is what an input of the page holds.
func value(t *testing.T, body, name string) string {
	t.Helper()
	m := regexp.MustCompile(`name="` + regexp.QuoteMeta(name) + `" value="([^"]*)"`).FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("the page has no field %s", name)
	}
	return strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(m[1])
}

func (w world) aRun() engine.Run {
	body := engine.WorkflowBody{Triggers: []engine.Trigger{
		{ID: "01KBA5ZC9J6Q0V5W3D8M7N2P4E", Name: "Daily", Type: engine.Scheduled, Schedule: "cron(0 2 * * ? *)", Actions: []engine.Action{{Ref: w.s.nodes[0].Ref}}},
		{
			ID: "01KBA5ZC9J6Q0V5W3D8M7N2P4F", Name: "after", Type: engine.Conditional, Actions: []engine.Action{{Ref: w.s.nodes[1].Ref}},
			Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: w.s.nodes[0].Ref, State: engine.Succeeded}}},
		},
	}}
	return engine.Run{ID: runID, Kind: engine.RunWorkflow, Object: w.s.workflow, Name: "daily " + odd, By: "owner", Started: noon.Add(-41 * time.Second), Seq: 7, Body: body}
}

func (w world) Runs(_ context.Context, f engine.RunFilter) ([]engine.Run, error) {
	var runs []engine.Run
	if f.ID != "" { // of one run alone
		f.Limit = strings.Count(string(runID), strings.ToUpper(f.ID))
	}
	for i := range min(f.Limit, 12) {
		r := w.aRun()
		r.Started = r.Started.Add(-time.Duration(i) * 24 * time.Hour)
		if i > 0 {
			r.Ended = r.Started.Add(time.Duration(30+(i*37)%50) * time.Second)
			r.Outcome = []engine.Outcome{engine.RunSucceeded, engine.RunSucceeded, engine.RunPartlyFailed, engine.RunFailed, engine.RunStopped}[i%5]
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func (w world) Run(context.Context, engine.ID) (engine.Run, error) {
	r := w.aRun()
	if w.s.shape != nil {
		w.s.shape(&r)
	}
	return r, nil
}

func (w world) NodeRuns(context.Context, engine.ID) ([]engine.NodeRun, error) { return w.s.nodes, nil }

func (w world) NodeHistory(_ context.Context, ref engine.Ref, _ int) ([]engine.NodeRun, error) {
	for _, n := range w.s.nodes {
		if n.Ref == ref {
			return []engine.NodeRun{n}, nil
		}
	}
	return nil, nil
}

func (w world) Batch(context.Context, engine.ID) (engine.Batch, error) {
	file := func(key string) engine.Object {
		return engine.Object{Key: key, Size: 13_009_870, ModNS: noon.UnixNano()}
	}
	prior := engine.Entry{Object: engine.Object{Size: 13_004_112}}
	return engine.Batch{
		ID: batchID, Number: 212, State: engine.BatchStaged, Node: w.s.nodes[0].Key(), Job: w.s.job, At: noon,
		Plan: engine.Plan{Sources: []engine.SourcePlan{{
			Source: "sales", Ctx: "sales_csv",
			Taken:      []engine.Planned{{Object: file("2026-11-28.csv"), Taken: true, Reason: engine.ReasonNew}, {Object: file("2026-11-24.csv"), Taken: true, Reason: engine.ReasonChanged, Prior: &prior}},
			Exceptions: []engine.Planned{{Object: file(odd), Reason: engine.ReasonTooYoung}},
			Counts:     map[engine.Reason]engine.Tally{engine.ReasonAlreadyRead: {Files: 1201, Bytes: 9_800_000_000}},
		}}},
		Manifest: engine.Manifest{Sinks: []engine.SinkManifest{{Root: "/out", Files: []engine.OutFile{{Path: "year=2026/b212-0.parquet", Rows: 612440, Bytes: 9_100_000}}}}},
	}, nil
}

func aMark(job engine.ID) engine.Bookmark {
	return engine.Bookmark{
		ID: markID, Job: job, Ctx: "sales_csv", Version: 212, Files: 1204, Bytes: 9_840_000_000, At: noon.Add(-2 * time.Hour), By: "run",
		Newest: engine.Object{Key: "raw/sales_0012.csv", ModNS: noon.Add(-3 * time.Hour).UnixNano()},
	}
}

func (w world) Bookmarks(context.Context) ([]engine.Bookmark, error) {
	return []engine.Bookmark{aMark(w.s.job)}, nil
}

func (w world) Bookmark(context.Context, engine.ID) (engine.Bookmark, error) {
	return aMark(w.s.job), nil
}

func (w world) BookmarkMoves(context.Context, engine.ID) ([]engine.BookmarkMove, error) {
	return []engine.BookmarkMove{
		{Version: 212, Kind: engine.MoveAdvance, Added: 3, Again: 1, InBytes: 54_200_000, Rows: 612440, Run: runID, At: noon.Add(-2 * time.Hour)},
		{Version: 211, Kind: engine.MovePause, By: "owner", At: noon.Add(-20 * time.Hour), Why: odd},
		{Version: 211, Kind: engine.MoveAdvance, Added: 2, InBytes: 38_000_000, Rows: 566012, Run: runID, At: noon.Add(-26 * time.Hour)},
		{Version: 210, Kind: engine.MoveRewind, To: 205, Removed: 9, By: "owner", At: noon.Add(-40 * time.Hour)},
	}, nil
}

func aTable() engine.Table {
	return engine.Table{
		ID: tableID, Database: "sales_curated", Name: "sales", Version: 2, Location: "/out", Format: engine.Parquet, Partitions: 412, Rows: 1_000_000, Bytes: 80_000_000,
		Columns: []engine.Column{{Name: "order_id", Type: "BIGINT"}, {Name: "price", Type: "DECIMAL(18,2)"}}, Keys: []engine.Column{{Name: "year", Type: "INTEGER"}}, At: noon.Add(-time.Hour), By: "curated-crawler",
	}
}

func (w world) Tables(context.Context) ([]engine.Table, error) { return []engine.Table{aTable()}, nil }

func (w world) Table(context.Context, engine.ID) (engine.Table, error) { return aTable(), nil }

func (w world) Partitions(context.Context, engine.ID, int64, int64) ([]engine.Partition, error) {
	return []engine.Partition{{Values: []string{"2026"}, Location: "/out/year=2026", Files: 3, Rows: 1000, Bytes: 9_000_000, At: noon}}, nil
}

// moves records what is asked of the rules; their own tests are theirs.
type moves struct {
	page.Bookmarks
	s *site
}

func (m moves) Make(_ context.Context, _ engine.ID, move rules.Move, who string) (engine.Bookmark, error) {
	m.s.moved = fmt.Sprintf("%s %d %s %s%s", move.Kind, move.To, who, move.Pick.Words(), move.Why)
	return aMark(m.s.job), nil
}

func (m moves) Preview(_ context.Context, _ engine.ID, move rules.Move, _ string) (rules.Preview, error) {
	plan := engine.SourcePlan{Taken: []engine.Planned{{Object: engine.Object{Key: "a.csv", Size: 1000}, Taken: true}}}
	return rules.Preview{Kind: move.Kind, To: move.To, Plan: plan, Again: engine.Tally{Files: 1, Bytes: 1000}, Estimate: 14 * time.Second, Alarm: "The target appends: about 1,000 rows would double."}, nil
}

func (m moves) Progress(context.Context, engine.ID) ([]rules.Day, engine.SourcePlan, error) {
	var days []rules.Day
	for i := range 60 {
		d := rules.Day{Date: noon.Truncate(24*time.Hour).AddDate(0, 0, i-57), Read: engine.Tally{Files: 3, Bytes: int64(22 + (i*37)%61)}}
		switch {
		case i > 57:
			d.Waiting, d.Read = d.Read, engine.Tally{}
		case i == 53:
			d.Changed = engine.Tally{Files: 1, Bytes: 20}
		}
		days = append(days, d)
	}
	return days, engine.SourcePlan{Taken: []engine.Planned{{Object: engine.Object{Key: "b.csv", Size: 41_000_000, ModNS: noon.Add(-2 * time.Hour).UnixNano()}, Reason: engine.ReasonNew}}}, nil
}

func (m moves) Lookup(context.Context, engine.ID, string) ([]engine.Entry, error) { return nil, nil }

func (m moves) Story(_ context.Context, _ engine.ID, key string) (rules.Story, error) {
	return rules.Story{Key: key, Readings: []rules.Reading{{Batch: batchID, Object: engine.Object{Key: key, Size: 13_004_112, ModNS: noon.UnixNano()}}}}, nil
}

// data answers SQL with one row, or with a fault.
type data struct{}

func oneRow() engine.Rows {
	n, price := "10000000000000000001", "12.50"
	return engine.Rows{Columns: aTable().Columns, Cells: [][]*string{{&n, &price}, {&n, nil}}}
}

func (data) Query(_ context.Context, sql string, _ int) (engine.Rows, error) {
	if !strings.HasPrefix(sql, "SELECT") {
		return engine.Rows{}, &engine.Error{Code: engine.Invalid, Message: "Syntax error at SELEC.", Err: &engine.SQLFault{Line: 1, Column: 3}}
	}
	return oneRow(), nil
}

func (data) Export(_ context.Context, _ string, _ engine.Format, to io.Writer) error {
	_, err := io.WriteString(to, "order_id\n1\n")
	return err
}

func (data) SampleFile(context.Context, engine.ID, string, engine.Format) (engine.Rows, error) {
	return oneRow(), nil
}

func (data) SampleTable(context.Context, engine.ID) (engine.Rows, error) { return oneRow(), nil }

func (data) Preview(context.Context, engine.JobBody, string) (engine.Rows, error) {
	return oneRow(), nil
}

func (data) Columns(context.Context, engine.JobBody) (map[string][]engine.Column, error) {
	return map[string][]engine.Column{"sales": aTable().Columns}, nil
}

// places is one folder.
type places struct{}

func (places) Browse(context.Context, engine.ID, string) (engine.Level, error) {
	return engine.Level{Folders: []string{"/data/sales"}}, nil
}

func (places) MayUse(path string) error {
	if strings.HasPrefix(path, "/etc") {
		return engine.Errorf(engine.Forbidden, "%s may not be used: it is not below /data.", path)
	}
	return nil
}

func (places) Tables(context.Context, engine.ID) ([]string, error) {
	return []string{"public.orders"}, nil
}

func (places) TableColumns(_ context.Context, connection engine.ID, table string) ([]engine.TableColumn, error) {
	if connection == "" || table != "public.orders" {
		return nil, engine.Errorf(engine.NotFound, "There is no table %s.", table)
	}
	return []engine.TableColumn{{Name: "id", Type: "bigint", Key: 1}, {Name: "note", Type: "text", Nullable: true}}, nil
}

func (places) TestConnection(context.Context, engine.ID) (string, error) {
	return "It answers; there are 2 buckets.", nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheNavigationFollowsWhatIsCounted: every page listens, and the fragment
// keeps the entry of its page.
func TestTheNavigationFollowsWhatIsCounted(t *testing.T) {
	t.Parallel()
	s := serve(t)

	_, page := s.get(t, "/query")
	status, nav := s.get(t, "/nav?section=Query")

	contains(t, "a page", page, "changed:runs", "dogear:runs-changed from:body", `hx-get="/nav?section=Query"`)
	contains(t, "the navigation", nav, `href="/query" aria-current="page"`, `<span class="n">1</span>`)
	if status != http.StatusOK || strings.Contains(nav, "<html") {
		t.Errorf("GET /nav = %d, want the navigation alone", status)
	}
}
