package sql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/bucket"
	"dogear/engine/duck"
	"dogear/engine/place"
	"dogear/engine/runner"
	"dogear/engine/sink"
	"dogear/engine/source"
)

var (
	_ runner.Runner = (*Runner)(nil)
	_ Planner       = (*bookmark.Planner)(nil)
)

// TestMain lets this binary be its own worker.
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

// ledger keeps pages and bookmarks in memory, by their rules.
type ledger struct {
	pages map[string][]byte
	marks map[string]*engine.Bookmark
}

func (l *ledger) Page(_ context.Context, id string) ([]byte, error) {
	body, ok := l.pages[id]
	if !ok {
		return nil, engine.Errorf(engine.NotFound, "There is no page %s.", id)
	}
	return body, nil
}

func (l *ledger) PutPages(_ context.Context, pages map[string][]byte) error {
	maps.Copy(l.pages, pages)
	return nil
}

func (l *ledger) BookmarkOf(_ context.Context, _ engine.ID, ctx string) (*engine.Bookmark, error) {
	return l.marks[ctx], nil
}

type store struct{ url string }

func (s store) S3(context.Context, engine.ID) (bucket.Config, error) {
	return bucket.Config{Endpoint: s.url, AccessKey: "key", Secret: "secret", PathStyle: true}, nil
}

// house is a job with its folders and ledger.
type house struct {
	t        *testing.T
	dir      string
	job      engine.Job
	runner   *Runner
	ledger   *ledger
	client   *s3.Client
	number   int64
	attempts string // where attempts have their scratch

	mu      sync.Mutex
	log     []string
	started int
	onStart func()
	taken   bool // by another server
}

func newHouse(t *testing.T, sql engine.SQLJob) *house {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	server := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(server.Close)
	self, err := os.Executable()
	must(t, err)
	buckets := bucket.New(store{server.URL})
	client, err := buckets.Client(t.Context(), "c")
	must(t, err)
	_, err = client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("lake")})
	must(t, err)
	roots := place.Roots{Base: dir, Allowed: []string{dir}}
	h := &house{t: t, dir: dir, attempts: filepath.Join(dir, "attempts"), client: client, ledger: &ledger{pages: map[string][]byte{}, marks: map[string]*engine.Bookmark{}}}
	settled := int64(0)
	for i := range sql.Sources {
		sql.Sources[i].Options.SettleMS = &settled
	}
	h.job = engine.Job{JobBody: engine.JobBody{Kind: engine.JobSQL, SQL: &sql, Bookmark: engine.BookmarkOn, MemoryMB: 1024}}
	h.job.ID, h.job.Name = engine.NewID(time.Now()), "raw-to-curated"
	src := source.New(roots, buckets)
	h.runner = &Runner{
		Planner: &bookmark.Planner{Ledger: h.ledger, Lister: src, Hasher: src},
		Source:  src, Sink: sink.New(roots, buckets), Command: []string{self, "worker"}, Threads: 1, Now: time.Now,
	}
	return h
}

func (h *house) Planned(_ context.Context, plan engine.Plan) (engine.Batch, error) {
	h.number++
	return engine.Batch{ID: engine.NewID(time.Now()), Job: h.job.ID, Number: h.number, State: engine.BatchPlanned, Plan: plan, Body: h.job.JobBody}, nil
}

func (h *house) Started(_ context.Context, p engine.Process) error {
	h.started++
	if p.PID == 0 || p.Boot == "" || p.Started == 0 {
		h.t.Errorf("started: got %+v, want a process", p)
	}
	if h.onStart != nil {
		h.onStart()
	}
	return nil
}

func (h *house) Mine(context.Context) bool { return !h.taken }

func (h *house) Staged(context.Context, engine.ID, engine.Manifest) error { return nil }
func (h *house) Progress(runner.Progress)                                 {}

func (h *house) Log(level runner.Level, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, string(level)+" "+text)
}

// run works on one attempt, and commits and publishes it where it succeeded.
func (h *house) run(ctx context.Context) runner.Result {
	h.t.Helper()
	result, err := h.try(ctx, nil)
	must(h.t, err)
	if result.State == engine.Succeeded && result.Batch != nil {
		h.commit(result)
	}
	return result
}

func (h *house) try(ctx context.Context, again *engine.Batch) (runner.Result, error) {
	return h.runner.Run(ctx, runner.Attempt{
		Job: &h.job, Run: engine.Run{ID: engine.NewID(time.Now()), Properties: map[string]string{"least": "0"}},
		Dir: filepath.Join(h.attempts, string(engine.NewID(time.Now()))), Recover: again,
	}, h)
}

func (h *house) commit(result runner.Result) []engine.TableChange {
	h.t.Helper()
	for _, change := range result.Ledger {
		mark := h.ledger.marks[change.Ctx]
		if mark == nil {
			mark = &engine.Bookmark{ID: engine.NewID(time.Now()), Job: h.job.ID, Ctx: change.Ctx, Fingerprint: change.Fingerprint}
		}
		moved, _, err := bookmark.Advance(h.t.Context(), h.ledger, *mark, change.Entries, change.Rows, bookmark.By{Who: "test", At: time.Now()})
		must(h.t, err)
		h.ledger.marks[change.Ctx] = &moved
	}
	changes, err := h.runner.Publish(h.t.Context(), *result.Batch, h)
	must(h.t, err)
	return changes
}

func (h *house) put(key, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, key)
	must(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(h.t, os.WriteFile(path, []byte(text), 0o644))
}

// rows reads a target in a worker.
func (h *house) rows(src engine.Source, sql string) string {
	h.t.Helper()
	src.Name = "t"
	objects, err := h.runner.Source.Peek(h.t.Context(), src, 1000)
	must(h.t, err)
	fetched, err := h.runner.Source.Fetch(h.t.Context(), src, objects, filepath.Join(h.t.TempDir(), "in"))
	must(h.t, err)
	got, err := duck.Worker{Command: h.runner.Command}.Do(h.t.Context(), duck.Request{
		Limits: duck.Limits{Threads: 1, Scratch: filepath.Join(h.t.TempDir(), "scratch")},
		Query:  &duck.Query{Inputs: []duck.Input{input(engine.SourcePlan{Spec: src}, fetched)}, SQL: sql, MaxRows: 1000},
	})
	must(h.t, err)
	var rows []string
	for _, row := range got.Table.Rows {
		var cells []string
		for _, cell := range row {
			if cell == nil {
				cells = append(cells, "NULL")
				continue
			}
			cells = append(cells, *cell)
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return strings.Join(rows, " ")
}

func (h *house) out() engine.Source {
	return engine.Source{Path: filepath.Join(h.dir, "out"), Format: engine.Parquet}
}

func (h *house) said(text string) bool {
	return slices.ContainsFunc(h.log, func(line string) bool { return strings.Contains(line, text) })
}

// sales is a job over CSV files that writes into out.
func sales(out engine.Sink) engine.SQLJob {
	out.From, out.Path = "clean", "out"
	return engine.SQLJob{
		Sources: []engine.Source{{Name: "raw", Path: "in/**/*.csv", Format: engine.CSV}},
		Steps:   []engine.Step{{Name: "clean", SQL: "SELECT id, day, n FROM raw WHERE n > getvariable('least')::BIGINT"}},
		Sinks:   []engine.Sink{out},
	}
}

// TestAJobThatIsKeptFromItsFilesSaysSo, and not that there is nothing new.
func TestAJobThatIsKeptFromItsFilesSaysSo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{PartitionBy: []string{"day"}}))
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")
	h.run(t.Context())
	h.put("in/a.csv", "id,day,n\n1,mon,10\n2,tue,20\n")

	result := h.run(t.Context())

	if got, want := result.Counts.Idle(), "1 file is held"; got != want || result.State != engine.Succeeded {
		t.Errorf("got %q of one that %s, want %q", got, result.State, want)
	}
	if !h.said("listed 1 object of ") || !h.said("read 1 row") || h.said("1 rows") {
		t.Error("the log counts one as if it were several")
	}
	if !h.said("held: ") || !h.said("would double its rows") || !h.said("nothing to do: no source has anything new but what is held, 1 file") {
		t.Error("the log does not say which file is held, and why")
	}
}

func TestOnlyNewFilesAreReadAndAppended(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{PartitionBy: []string{"day"}, CatalogTable: "Curated.Sales"}))
	h.put("in/1/a.csv", "id,day,n\n1,mon,10\n2,tue,20\n3,tue,0\n")
	first := h.run(t.Context())
	h.put("in/2/b.csv", "id,day,n\n4,tue,40\n")

	second, err := h.try(t.Context(), nil)
	must(t, err)
	changes := h.commit(second)
	third := h.run(t.Context())

	if got := h.rows(h.out(), "SELECT id, day, n FROM t ORDER BY id"); got != "1|mon|10 2|tue|20 4|tue|40" {
		t.Errorf("target: got %s", got)
	}
	if first.Counts.RowsIn != 3 || first.Counts.RowsOut != 2 || second.Counts.Files != 1 || second.Counts.RowsOut != 1 {
		t.Errorf("counts: got %+v and %+v", first.Counts, second.Counts)
	}
	if third.Batch != nil || third.State != engine.Succeeded || !third.Counts.NothingNew || second.Counts.NothingNew || h.started != 2 || !h.said("nothing to do") {
		t.Errorf("nothing new: got %+v after %d workers, want a success without one", third, h.started)
	}
	if len(changes) != 1 || changes[0].Table.FullName() != "curated.sales" || fmt.Sprint(changes[0].Table.Keys) != "[{day VARCHAR}]" ||
		len(changes[0].Partitions) != 1 || changes[0].Partitions[0].Values[0] != "tue" || changes[0].Partitions[0].Rows != 1 {
		t.Errorf("catalog: got %+v", changes)
	}
	if second.Ledger[0].Entries[0].Hash == "" {
		t.Error("the ledger has no hash of the file's content")
	}
}

func TestAFileChangedInPlaceIsMerged(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{PartitionBy: []string{"day"}, Mode: engine.Merge, Keys: []string{"id"}}))
	h.put("in/a.csv", "id,day,n\n1,mon,10\n2,tue,20\n")
	h.run(t.Context())
	h.put("in/a.csv", "id,day,n\n1,wed,11\n2,tue,20\n5,tue,50\n")

	result := h.run(t.Context())

	if got := h.rows(h.out(), "SELECT id, day, n FROM t ORDER BY id"); got != "1|wed|11 2|tue|20 5|tue|50" {
		t.Errorf("target: got %s", got)
	}
	if !h.said("changed in place: a.csv size 27 → ") || !h.said("merge: 1 inserted, 2 updated, 0 kept") {
		t.Errorf("log: got %s", strings.Join(h.log, "\n"))
	}
	if result.State != engine.Succeeded {
		t.Errorf("got %s: %s", result.State, result.Error)
	}
}

func TestOverwritingPartitionsOfABookmarkedReadNeedsAMapping(t *testing.T) {
	t.Parallel()
	job := sales(engine.Sink{PartitionBy: []string{"day"}, Mode: engine.OverwritePartitions})
	h := newHouse(t, job)
	h.put("in/mon/a.csv", "id,day,n\n1,mon,10\n")

	refused := h.run(t.Context())
	h.job.SQL.Sources[0].Options.Partition = "{day}/*.csv"
	first := h.run(t.Context())
	h.put("in/mon/late.csv", "id,day,n\n2,mon,20\n")
	h.put("in/tue/b.csv", "id,day,n\n3,tue,30\n")
	second := h.run(t.Context())
	got := h.rows(h.out(), "SELECT id, day FROM t ORDER BY id")
	h.put("in/wed/c.csv", "id,day,n\n4,mon,40\n")
	outside := h.run(t.Context())

	if refused.State != engine.Failed || !strings.Contains(refused.Error, "a late file would leave its partition with that file alone") {
		t.Errorf("without a mapping: got %+v", refused)
	}
	if first.State != engine.Succeeded || second.State != engine.Succeeded || got != "1|mon 2|mon 3|tue" {
		t.Errorf("with a mapping: got %s", got)
	}
	if outside.State != engine.Failed || !strings.Contains(outside.Error, "day=mon") {
		t.Errorf("a row outside the plan's partitions: got %+v", outside)
	}
	if left := h.rows(h.out(), "SELECT count(*) FROM t"); left != "3" {
		t.Errorf("after the refusal: got %s rows, want the 3 that were there", left)
	}
}

func TestAnUnreadableFileFailsTheJobOrIsHeld(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{}))
	h.job.SQL.Sources[0].Schema = []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "day", Type: "VARCHAR"}, {Name: "n", Type: "BIGINT"}}
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")
	h.put("in/b.csv", "id,day,n\n2,mon,20,oops\n")

	failed := h.run(t.Context())
	h.job.SQL.Sources[0].Policy.Unreadable = "hold"
	held := h.run(t.Context())

	if failed.State != engine.Failed || !strings.Contains(failed.Error, "b.csv line 2") {
		t.Errorf("got %s: %s, want a failure at b.csv line 2", failed.State, failed.Error)
	}
	entries := held.Ledger[0].Entries
	if len(entries) != 2 || entries[0].State != engine.EntryRead || entries[1].State != engine.EntryHeld || entries[1].Note == "" {
		t.Errorf("ledger: got %+v, want a.csv read and b.csv held", entries)
	}
	if left := held.Batch.Manifest.Left; len(left) != 1 || left[0].Key != "b.csv" || left[0].Source != h.job.SQL.Sources[0].Name || !left[0].Held || left[0].Note == "" {
		t.Errorf("the manifest leaves %+v, want b.csv, which is held", left)
	}
	if got := h.rows(h.out(), "SELECT id FROM t"); got != "1" || held.Counts.Files != 1 {
		t.Errorf("target: got %s from %d files, want row 1 from one", got, held.Counts.Files)
	}
	if stages, _ := filepath.Glob(filepath.Join(h.dir, "out", ".dogear", "*")); len(stages) > 0 {
		t.Errorf("stages left: %v", stages)
	}
}

func TestTwoJobsMayAppendToOneFolder(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{}))
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")
	first := h.run(t.Context())
	h.job.ID, h.number, h.ledger.marks = engine.NewID(time.Now()), 0, map[string]*engine.Bookmark{}

	second := h.run(t.Context())

	if first.State != engine.Succeeded || second.State != engine.Succeeded || first.Batch.Number != second.Batch.Number {
		t.Fatalf("got %s %s and %s %s, want two batches of one number", first.State, first.Error, second.State, second.Error)
	}
	if got := h.rows(h.out(), "SELECT count(*) FROM t"); got != "2" {
		t.Errorf("got %s rows, want one of each job", got)
	}
}

func TestAStoppedAttemptLeavesNothing(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]engine.State{runner.ErrStop: engine.Stopped, runner.ErrTimeout: engine.TimedOut} {
		h := newHouse(t, sales(engine.Sink{}))
		h.put("in/a.csv", "id,day,n\n1,mon,10\n")
		ctx, cancel := context.WithCancelCause(t.Context())
		h.onStart = func() { cancel(cause) }

		result, err := h.try(ctx, nil)
		must(t, err)

		if result.State != want || result.Batch != nil {
			t.Errorf("%v: got %+v, want %s without a batch", cause, result, want)
		}
		if stages, _ := filepath.Glob(filepath.Join(h.dir, "out", ".dogear", "*")); len(stages) > 0 {
			t.Errorf("stages left: %v", stages)
		}
	}
}

func TestRecoveryRunsTheSamePlanAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{}))
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")
	before, err := h.try(t.Context(), nil)
	must(t, err)
	h.put("in/b.csv", "id,day,n\n2,mon,20\n") // came after the plan

	again, err := h.try(t.Context(), before.Batch)
	must(t, err)
	h.commit(again)

	if got := h.rows(h.out(), "SELECT id FROM t ORDER BY id"); got != "1" || again.Batch.ID != before.Batch.ID {
		t.Errorf("got %s by batch %s, want row 1 by %s", got, again.Batch.ID, before.Batch.ID)
	}
}

// TestTheStageOfAnotherServerIsLeft: a server that hung wakes up when another one
// does its batch again. It removes its own stage, and not that of the other.
func TestTheStageOfAnotherServerIsLeft(t *testing.T) {
	t.Parallel()
	job := sales(engine.Sink{})
	job.Steps = append(job.Steps, engine.Step{Name: "broken", SQL: "SELECT error('it breaks') AS id"})
	job.Sinks[0].From = "broken"
	h := newHouse(t, job)
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")
	var theirs string
	h.onStart = func() {
		h.taken = true
		stages, err := filepath.Glob(filepath.Join(h.dir, "out", engine.OwnFolder, "stage-*"))
		if must(t, err); len(stages) != 1 {
			t.Fatalf("the stages are %v, want one", stages)
		}
		theirs = strings.TrimSuffix(stages[0], "0") + "1" // by the next fence
		must(t, os.MkdirAll(theirs, 0o755))
	}

	if result, err := h.try(t.Context(), nil); err == nil && result.State == engine.Succeeded {
		t.Fatal("the attempt succeeded, want it broken")
	}

	stages, err := filepath.Glob(filepath.Join(h.dir, "out", engine.OwnFolder, "stage-*"))
	must(t, err)
	if len(stages) != 1 || stages[0] != theirs {
		t.Errorf("the stages left are %v, want %s", stages, theirs)
	}
}

func TestInferredColumnsStandInThePlan(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{}))
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")

	before, err := h.try(t.Context(), nil)
	must(t, err)
	h.job.SQL.Sources[0].Schema = []engine.Column{{Name: "id", Type: "BIGINT"}, {Name: "day", Type: "VARCHAR"}, {Name: "n", Type: "BIGINT"}}
	h.commit(before)
	h.log = nil
	h.put("in/b.csv", "id,day,extra\n2,tue,x\n")
	frozen := h.run(t.Context())

	if got := fmt.Sprint(before.Batch.Plan.Sources[0].Schema); got != "[{id BIGINT} {day VARCHAR} {n BIGINT}]" {
		t.Errorf("plan: got %s", got)
	}
	if frozen.State != engine.Succeeded || h.said("were inferred") {
		t.Errorf("with a frozen schema: got %s %s and the log\n%s", frozen.State, frozen.Error, strings.Join(h.log, "\n"))
	}
	for _, notice := range []string{"raw: the column extra is new; it is read as VARCHAR", "raw: the column n is missing in 1 file, such as b.csv"} {
		if !h.said(notice) {
			t.Errorf("log: got\n%s\nwant %q", strings.Join(h.log, "\n"), notice)
		}
	}
}

func TestB06ARenamedFileIsSaidToComeAgain(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(from, to string) error{
		"renamed": os.Rename,
		"copied": func(from, to string) error {
			text, err := os.ReadFile(from)
			return errors.Join(err, os.WriteFile(to, text, 0o644), os.Remove(from))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, sales(engine.Sink{}))
			h.put("in/a.csv", "id,day,n\n1,mon,10\n")
			h.put("in/other.csv", "id,day,n\n2,mon,10\n")
			h.commit(h.run(t.Context()))
			must(t, move(filepath.Join(h.dir, "in/a.csv"), filepath.Join(h.dir, "in/b.csv")))
			h.log = nil

			again := h.run(t.Context())

			if want := "A new file has the same content as one that was read before: b.csv as a.csv. Its rows come again."; !h.said(want) {
				t.Errorf("log: got\n%s\nwant %q", strings.Join(h.log, "\n"), want)
			}
			if taken := again.Batch.Plan.Sources[0].Taken; len(taken) != 1 || taken[0].Note != "the same content as a.csv, which was read before" {
				t.Errorf("inputs: got %+v, want b.csv with its note", taken)
			}
		})
	}
}

func TestARecoveredPlanReadsByItsOwnColumns(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{}))
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")
	before, err := h.try(t.Context(), nil)
	must(t, err)
	if !h.said("in the job, under Columns and their types") {
		t.Errorf("the log says not where inferred columns are fixed:\n%s", strings.Join(h.log, "\n"))
	}
	h.log = nil
	before.Batch.Plan.Sources[0].Schema[0].Type = "VARCHAR" // as if inferred otherwise

	again, err := h.try(t.Context(), before.Batch)
	must(t, err)
	h.commit(again)

	if got := h.rows(h.out(), "SELECT typeof(id) FROM t"); got != "VARCHAR" || h.said("were inferred") {
		t.Errorf("got %s and the log\n%s\nwant the columns of the plan, and nothing inferred", got, strings.Join(h.log, "\n"))
	}
}

func TestWrongSQLFailsWithItsPlace(t *testing.T) {
	t.Parallel()
	job := sales(engine.Sink{})
	job.Steps[0].SQL = "SELECT id,\n  nope FROM raw"
	h := newHouse(t, job)
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")

	result := h.run(t.Context())

	if result.State != engine.Failed || !strings.Contains(result.Error, "The step clean at line 2, column 3") {
		t.Errorf("got %s: %s", result.State, result.Error)
	}
}

func TestBucketsAreReadMergedAndWritten(t *testing.T) {
	t.Parallel()
	job := sales(engine.Sink{Connection: "c", PartitionBy: []string{"day"}, Mode: engine.Merge, Keys: []string{"id"}})
	job.Sources[0].Connection, job.Sources[0].Path = "c", "s3://lake/raw/**/*.csv"
	h := newHouse(t, job)
	h.job.SQL.Sinks[0].Path = "s3://lake/curated"
	object := func(key, text string) {
		_, err := h.client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("lake"), Key: aws.String(key), Body: strings.NewReader(text)})
		must(t, err)
	}
	object("raw/1/a.csv", "id,day,n\n1,mon,10\n2,tue,20\n")
	first := h.run(t.Context())
	object("raw/2/b.csv", "id,day,n\n2,mon,21\n3,wed,30\n")

	second := h.run(t.Context())

	if first.State != engine.Succeeded || second.State != engine.Succeeded || second.Counts.Files != 1 {
		t.Fatalf("got %s %s and %s %s", first.State, first.Error, second.State, second.Error)
	}
	got := h.rows(engine.Source{Connection: "c", Path: "s3://lake/curated/", Format: engine.Parquet}, "SELECT id, day, n FROM t ORDER BY id")
	if got != "1|mon|10 2|mon|21 3|wed|30" {
		t.Errorf("target: got %s", got)
	}
}
