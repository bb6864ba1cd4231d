package app

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/secret"
	"dogear/engine"
	"dogear/engine/duck"
	doer "dogear/engine/exec"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// The test binary is also a worker and, for the tests that kill one, a server.
const (
	roleEnv  = "DOGEAR_TEST_ROLE"
	dataEnv  = "DOGEAR_TEST_DATA"
	crashEnv = "DOGEAR_TEST_CRASH" // "before 3": SIGKILL itself before its third commit
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(duck.Main(context.Background()))
	}
	if os.Getenv(roleEnv) == "server" {
		if err := serveForTest(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(roleEnv) == "replica" {
		if err := serveReplica(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serveForTest is a server that kills itself where it is told to, and ends
// when no run is open any more.
func serveForTest() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ctx, end := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer end()
	when, at, _ := strings.Cut(os.Getenv(crashEnv), " ")
	n, _ := strconv.Atoi(at)
	cfg := Config{
		Data: os.Getenv(dataEnv), Out: os.Stderr,
		Options: Options{Addr: "127.0.0.1:0", Slots: 2, Drain: time.Second},
		store:   func(s doer.Store) doer.Store { return &doomed{Store: s, when: when, at: n, done: cancel} },
	}
	return Run(ctx, cfg)
}

// doomed is a store whose process dies before or after its nth commit.
type doomed struct {
	doer.Store
	when string
	at   int
	n    int
	done func()
}

func (d *doomed) Commit(ctx context.Context, steps []flow.Step) []flow.Written {
	d.n++
	if d.when == "before" && d.n == d.at {
		die()
	}
	written := d.Store.Commit(ctx, steps)
	if d.when == "after" && d.n == d.at {
		die()
	}
	for _, w := range written {
		if w.Err == nil && !w.Run.Open() {
			d.done()
		}
	}
	return written
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// pipelineForTest makes a workflow of two jobs and a crawler over a few files:
// one job appends, the other merges what it wrote, which needs no time to settle.
func pipelineForTest(t *testing.T, data string) {
	t.Helper()
	raw := filepath.Join(data, "files", "raw")
	must(t, os.MkdirAll(raw, 0o700))
	old := time.Now().Add(-time.Hour)
	for day := range 3 {
		text := "id,day,amount\n"
		for row := range 10 {
			text += fmt.Sprintf("%d,d%d,%d\n", day*10+row, day, row)
		}
		name := filepath.Join(raw, fmt.Sprintf("%d.csv", day))
		must(t, os.WriteFile(name, []byte(text), 0o600))
		must(t, os.Chtimes(name, old, old))
	}
	store := openForTest(t, data)
	now := time.Now().UTC()
	sql := func(source engine.Source, sink engine.Sink) engine.JobBody {
		source.Read, sink.From = engine.ReadNew, source.Name
		return engine.JobBody{Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, MemoryMB: engine.MinMemoryMB, SQL: &engine.SQLJob{Sources: []engine.Source{source}, Sinks: []engine.Sink{sink}}}
	}
	schema := []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "day", Type: "VARCHAR"}, {Name: "amount", Type: "BIGINT"}}
	load := sql(engine.Source{Name: "raw", Path: "raw/*.csv", Format: engine.CSV, Schema: schema},
		engine.Sink{Path: "loaded", Format: engine.Parquet, Mode: engine.Append})
	merge := sql(engine.Source{Name: "loaded", Path: "loaded/*.parquet", Format: engine.Parquet},
		engine.Sink{Path: "merged", Format: engine.Parquet, Mode: engine.Merge, Keys: []string{"id"}, PartitionBy: []string{"day"}})
	ref := func(name string, body engine.JobBody) engine.Ref {
		id, err := store.CreateJob(t.Context(), name, body, "test", now)
		must(t, err)
		_, err = store.PublishJob(t.Context(), id, "test", now)
		must(t, err)
		return engine.Ref{Kind: engine.KindJob, ID: id}
	}
	first, second := ref("load", load), ref("merge", merge)
	crawler, err := store.CreateCrawler(t.Context(), "crawl", engine.CrawlerBody{Database: "lake", Targets: []engine.CrawlerTarget{{Path: "merged"}}}, "test", now)
	must(t, err)
	_, err = store.PublishCrawler(t.Context(), crawler, "test", now)
	must(t, err)
	after := func(what, then engine.Ref) engine.Trigger {
		return engine.Trigger{
			ID: engine.NewID(now), Name: "after", Type: engine.Conditional, Actions: []engine.Action{{Ref: then}},
			Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: what, State: engine.Succeeded}}},
		}
	}
	body := engine.WorkflowBody{Triggers: []engine.Trigger{
		{ID: engine.NewID(now), Name: "start", Type: engine.OnDemand, Actions: []engine.Action{{Ref: first}}},
		after(first, second), after(second, engine.Ref{Kind: engine.KindCrawler, ID: crawler}),
	}}
	id, err := store.CreateWorkflow(t.Context(), "w", body, "test", now)
	must(t, err)
	_, err = store.PublishWorkflow(t.Context(), id, 0, nil, "test", now, func(engine.Trigger) time.Time { return time.Time{} })
	must(t, err)
	startForTest(t, store, id)
	must(t, store.Close())
}

// startForTest starts a workflow. The start is a transition like any other: it
// is written before the first server comes up, so that the servers only have to
// go on.
func startForTest(t *testing.T, store *db.Store, workflow engine.ID) {
	t.Helper()
	start := doer.New(doer.Config{
		Store: store, Now: time.Now, Dir: t.TempDir(), Slots: 1, Log: slog.New(slog.DiscardHandler),
		Runners: map[engine.Kind]runner.Runner{engine.KindJob: idle{}},
	})
	ctx, cancel := context.WithCancel(t.Context())
	run := make(chan error, 1)
	go func() { run <- start.Run(ctx) }()
	_, err := start.StartWorkflow(t.Context(), workflow, nil, "test")
	must(t, err)
	cancel()
	must(t, <-run)
}

// idle is a runner that leaves its node for the next server.
type idle struct{ runner.Runner }

func (idle) Run(ctx context.Context, _ runner.Attempt, _ runner.Host) (runner.Result, error) {
	<-ctx.Done()
	return runner.Result{}, context.Cause(ctx)
}

func openForTest(t *testing.T, data string) *db.Store {
	t.Helper()
	key, err := secret.Load("", data+".key")
	must(t, err)
	store, err := db.Open(t.Context(), filepath.Join(data, "dogear.db"), key)
	must(t, err)
	return store
}

// serve runs a server on data until it ends or dies, and says whether it was
// killed.
func serveOn(t *testing.T, data, crash string) (killed bool) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), roleEnv+"=server", dataEnv+"="+data, crashEnv+"="+crash)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			return true
		}
	}
	if err != nil {
		t.Fatalf("the server ended badly: %v\n%s", err, out.String())
	}
	return false
}

// TestServerKilledAtEveryStep kills the server before and after each of its
// commits in turn, starts another, and wants every row exactly once.
func TestServerKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a minute")
	}
	kills := 0
	for _, when := range []string{"before", "after"} {
		for n := 1; ; n++ {
			data := filepath.Join(t.TempDir(), "data")
			must(t, os.MkdirAll(data, 0o700))
			pipelineForTest(t, data)

			killed := serveOn(t, data, fmt.Sprintf("%s %d", when, n))
			if killed {
				kills++
				serveOn(t, data, "")
			}

			assertOnce(t, data, fmt.Sprintf("killed %s commit %d", when, n))
			if !killed {
				break // the run has no such commit
			}
		}
	}
	if kills < 20 {
		t.Errorf("the server was killed %d times, want it killed at each of some twenty commits", kills)
	}
	t.Logf("%d kills", kills)
}

// assertOnce checks that the run succeeded and each row stands once in both
// targets, with nothing staged left over.
func assertOnce(t *testing.T, data, what string) {
	t.Helper()
	store := openForTest(t, data)
	defer store.Close()
	runs, err := store.Runs(t.Context(), engine.RunFilter{})
	must(t, err)
	if len(runs) != 1 || runs[0].Outcome != engine.RunSucceeded {
		t.Fatalf("%s: runs = %+v, want one that succeeded", what, runs)
	}
	nodes, err := store.NodeRuns(t.Context(), runs[0].ID)
	must(t, err)
	for _, n := range nodes {
		if n.Attempt != 1 || n.State != engine.Succeeded {
			t.Errorf("%s: %s is %s in attempt %d, want the first attempt to succeed", what, n.Name, n.State, n.Attempt)
		}
	}
	for _, target := range []string{"loaded", "merged"} {
		if got := idsOf(t, data, target); len(got) != 30 {
			t.Errorf("%s: %s holds %d rows, want 30 different ones", what, target, len(got))
		}
		left, err := filepath.Glob(filepath.Join(data, "files", target, ".dogear", "*"))
		must(t, err)
		if len(left) > 0 {
			t.Errorf("%s: %v is left over in %s", what, left, target)
		}
	}
	table, err := store.TableNamed(t.Context(), "lake.merged")
	must(t, err)
	if table.Partitions != 3 {
		t.Errorf("%s: the catalog shows %d partitions, want 3", what, table.Partitions)
	}
}

// idsOf reads the ids in a target and fails where one stands twice.
func idsOf(t *testing.T, data, target string) map[string]bool {
	t.Helper()
	return idsIn(t, filepath.Join(data, "files", target))
}

func idsIn(t *testing.T, root string) map[string]bool {
	t.Helper()
	input := duck.Input{Name: "t", Format: engine.Parquet, Root: root}
	must(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".parquet") && !strings.Contains(path, ".dogear") {
			key, err := filepath.Rel(root, path)
			must(t, err)
			input.Files = append(input.Files, duck.File{Key: key, Path: path})
		}
		return err
	}))
	out := filepath.Join(t.TempDir(), "ids.csv")
	_, err := duck.Worker{}.Do(t.Context(), duck.Request{
		Limits: duck.Limits{Scratch: t.TempDir()},
		Query:  &duck.Query{Inputs: []duck.Input{input}, SQL: "SELECT id FROM t", Export: out, Format: engine.CSV},
	})
	must(t, err)
	file, err := os.Open(out)
	must(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	must(t, err)
	ids := map[string]bool{}
	for _, row := range rows[1:] {
		if ids[row[0]] {
			t.Errorf("the id %s stands twice in %s", row[0], root)
		}
		ids[row[0]] = true
	}
	return ids
}
