// Package s3_test runs the sample pipeline with its input and output on a real
// S3 server, through a whole Dogear server.
package s3_test

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"dogear/cmd/server/app"
	"dogear/cmd/server/sample"
	"dogear/db"
	"dogear/db/secret"
	"dogear/engine"
	"dogear/engine/duck"
)

// TestMain lets this binary be the server's worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(duck.Main(context.Background()))
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// house is a Dogear server whose sample pipeline lies on S3.
type house struct {
	t          *testing.T
	store      *db.Store
	workflow   engine.Workflow
	connection engine.ID
	address    string
	client     *http.Client
}

// startHouse makes the sample pipeline on the lake and starts a server for it.
func startHouse(t *testing.T, l *lake) *house {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(data, 0o700))
	key, err := secret.Load("", data+".key")
	must(t, err)
	store, err := db.Open(t.Context(), filepath.Join(data, "dogear.db"), key)
	must(t, err)
	h := &house{t: t, store: store}
	h.connect(l.endpoint, secretKey)
	h.workflow, err = sample.Make(t.Context(), store, time.Now().UTC())
	must(t, err)
	h.move()
	h.serve(data)
	return h
}

// connect saves the connection to the lake.
func (h *house) connect(endpoint, secret string) {
	h.t.Helper()
	made, err := h.store.SaveConnection(h.t.Context(), h.connection, "lake", engine.ConnectionBody{
		Type: engine.ConnectionS3, Endpoint: endpoint, PathStyle: true, AccessKey: accessKey,
	}, &secret, "owner", time.Now().UTC())
	must(h.t, err)
	h.connection = made.ID
}

// move puts the paths of the sample's jobs and of its crawler onto the lake.
func (h *house) move() {
	h.t.Helper()
	ctx, now := h.t.Context(), time.Now().UTC()
	on := func(path string) string { return "s3://" + bucketName + "/" + path }
	jobs, err := h.store.Jobs(ctx)
	must(h.t, err)
	for _, job := range jobs {
		for i := range job.SQL.Sources {
			job.SQL.Sources[i].Path, job.SQL.Sources[i].Connection = on(job.SQL.Sources[i].Path), h.connection
		}
		for i := range job.SQL.Sinks {
			job.SQL.Sinks[i].Path, job.SQL.Sinks[i].Connection = on(job.SQL.Sinks[i].Path), h.connection
		}
		draft, err := h.store.JobDraft(ctx, job.ID)
		must(h.t, err)
		_, err = h.store.SaveJobDraft(ctx, job.ID, job.JobBody, draft.Seq, "owner", now)
		must(h.t, err)
		_, err = h.store.PublishJob(ctx, job.ID, "owner", now)
		must(h.t, err)
	}
	crawlers, err := h.store.Crawlers(ctx)
	must(h.t, err)
	for _, crawler := range crawlers {
		crawler.Targets[0].Path, crawler.Targets[0].Connection = on(crawler.Targets[0].Path)+"/", h.connection
		draft, err := h.store.CrawlerDraft(ctx, crawler.ID)
		must(h.t, err)
		_, err = h.store.SaveCrawlerDraft(ctx, crawler.ID, crawler.CrawlerBody, draft.Seq, "owner", now)
		must(h.t, err)
		_, err = h.store.PublishCrawler(ctx, crawler.ID, "owner", now)
		must(h.t, err)
	}
}

// serve starts the server and signs in.
func (h *house) serve(data string) {
	h.t.Helper()
	self, err := os.Executable()
	must(h.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	var log strings.Builder
	go func() {
		ended <- app.Run(ctx, app.Config{
			Options: app.Options{Addr: "127.0.0.1:0", Slots: 2, Drain: time.Second}, Data: data, Out: &log, Worker: []string{self, "worker"},
			Ready: func(address, link string) { h.address = address; ready <- link },
		})
	}()
	h.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			h.t.Errorf("the server ended with %v", err)
		}
		if err := h.store.Close(); err != nil {
			h.t.Error(err)
		}
		if h.t.Failed() {
			h.t.Logf("server: %s", log.String())
		}
	})
	var link string
	select {
	case link = <-ready:
	case err := <-ended:
		h.t.Fatalf("the server did not start: %v", err)
	}
	jar, err := cookiejar.New(nil)
	must(h.t, err)
	h.client = &http.Client{Jar: jar}
	where, err := url.Parse(link)
	must(h.t, err)
	h.post("/signin", url.Values{"token": {where.Query().Get("token")}})
}

func (h *house) post(path string, form url.Values) {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.address+path, strings.NewReader(form.Encode()))
	must(h.t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	h.send(request)
}

func (h *house) send(request *http.Request) string {
	h.t.Helper()
	answer, err := h.client.Do(request)
	must(h.t, err)
	defer answer.Body.Close()
	var body strings.Builder
	must(h.t, answer.Write(&body))
	if answer.StatusCode >= http.StatusBadRequest {
		h.t.Fatalf("%s %s: got %s\n%s", request.Method, request.URL, answer.Status, body.String())
	}
	return body.String()
}

var csrf = regexp.MustCompile(`name="_csrf" value="([^"]+)"`)

// run starts the workflow as its button does, waits for its end, and returns
// it with its nodes by name.
func (h *house) run() (engine.Run, map[string]engine.NodeRun) {
	h.t.Helper()
	page, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.address+"/workflows", nil)
	must(h.t, err)
	token := csrf.FindStringSubmatch(h.send(page))
	if token == nil {
		h.t.Fatal("the page of workflows has no token for a form")
	}
	h.post("/workflows/"+string(h.workflow.ID)+"/run", url.Values{"_csrf": {token[1]}})
	var run engine.Run
	eventually(h.t, "the run to end", func(ctx context.Context) bool {
		runs, err := h.store.Runs(ctx, engine.RunFilter{Object: h.workflow.ID})
		must(h.t, err)
		run = runs[0]
		return !run.Open()
	})
	nodes, err := h.store.NodeRuns(h.t.Context(), run.ID)
	must(h.t, err)
	byName := map[string]engine.NodeRun{}
	for _, n := range nodes {
		byName[n.Name] = n
	}
	return run, byName
}

const header = "order_id,ordered_at,customer_id,country,product,quantity,unit_price,note,updated_at\n"

func TestTheSamplePipelineRunsOnS3(t *testing.T) {
	t.Parallel()
	l := startGateway(t)
	h := startHouse(t, l)
	l.put("raw/sales/2026-03-01.csv", header+"1,2026-03-01 10:00:00,c1,DE,kettle,1,10.00,,2026-03-01 10:00:00\n2,2026-03-01 11:00:00,c2,FR,\"scale, small\",2,5.00,\"two\nlines\",2026-03-01 11:00:00\n")
	l.put("raw/sales/2026-04-01.csv", header+"3,2026-04-01 10:00:00,c1,DE,kettle,3,10.00,,2026-04-01 10:00:00\n")

	first, nodes := h.run()

	if first.Outcome != engine.RunSucceeded || nodes["raw-to-curated"].Counts.Files != 2 || nodes["raw-to-curated"].Counts.RowsOut != 3 {
		t.Fatalf("the first run: got %s and %+v", first.Outcome, nodes)
	}
	if got := strings.Join(l.keys("curated/"), " "); !regexp.MustCompile(`^curated/sales/year=2026/month=03/part-000001-\S+ curated/sales/year=2026/month=04/part-000001-\S+$`).MatchString(got) {
		t.Errorf("curated: got %s", got)
	}
	table, err := h.store.TableNamed(t.Context(), "sales_curated.sales")
	must(t, err)
	if table.Partitions != 2 || table.Location != "s3://lake/curated/sales" || len(table.Keys) != 2 {
		t.Errorf("catalog: got %+v", table)
	}

	// A late correction of order 2, and one that is older than what stands.
	l.put("raw/sales/2026-04-02.csv", header+"4,2026-04-02 10:00:00,c3,IT,cup,1,7.50,,2026-04-02 10:00:00\n2,2026-03-01 11:00:00,c2,FR,scale,4,5.00,,2026-04-02 09:00:00\n")
	l.put("raw/sales/2026-03-01_late.csv", header+"1,2026-03-01 10:00:00,c1,DE,kettle,9,10.00,,2026-02-28 10:00:00\n")

	second, nodes := h.run()

	if second.Outcome != engine.RunSucceeded || nodes["raw-to-curated"].Counts.Files != 2 || nodes["raw-to-curated"].Counts.RowsIn != 3 {
		t.Fatalf("the second run: got %s and %+v, want the two new files read", second.Outcome, nodes)
	}
	exports := l.keys("export/")
	if len(exports) != 1 {
		t.Fatalf("export: got %v, want one file", exports)
	}
	want := "day,country,orders,revenue\n2026-03-01,DE,1,10.00\n2026-03-01,FR,1,20.00\n2026-04-01,DE,1,30.00\n2026-04-02,IT,1,7.50\n"
	if got := l.get(exports[0]); got != want {
		t.Errorf("export: got\n%s\nwant\n%s", got, want)
	}

	third, nodes := h.run()

	if third.Outcome != engine.RunSucceeded || nodes["raw-to-curated"].Counts.Files != 0 || l.uploads() != 0 {
		t.Errorf("nothing new: got %s, %d files read, %d uploads left open", third.Outcome, nodes["raw-to-curated"].Counts.Files, l.uploads())
	}
}

func TestARefusedBucketFailsClearlyAndNothingIsLost(t *testing.T) {
	t.Parallel()
	l := startGateway(t)
	h := startHouse(t, l)
	l.put("raw/sales/2026-03-01.csv", header+"1,2026-03-01 10:00:00,c1,DE,kettle,1,10.00,,2026-03-01 10:00:00\n")
	h.connect(l.endpoint, "wrong")

	refused, nodes := h.run()
	h.connect(l.endpoint, secretKey)
	again, after := h.run()

	job := nodes["raw-to-curated"]
	if refused.Outcome != engine.RunFailed || job.State != engine.Failed || !strings.Contains(job.Error, "does not accept the access key for s3://lake/raw/sales/") {
		t.Errorf("refused: got %s, and of the job %s: %s", refused.Outcome, job.State, job.Error)
	}
	if strings.Contains(job.Error, "wrong") || strings.Contains(job.Error, secretKey) {
		t.Errorf("the error shows the secret: %s", job.Error)
	}
	if again.Outcome != engine.RunSucceeded || after["raw-to-curated"].Counts.Files != 1 {
		t.Errorf("with the right secret: got %s and %+v, want the file read", again.Outcome, after)
	}
}
