package sink

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/place"
)

// dieAt makes this binary publish a manifest and kill itself at a step.
const dieAt = "DOGEAR_TEST_DIE_AT"

func TestMain(m *testing.M) {
	if step := os.Getenv(dieInTable); step != "" {
		os.Exit(publishTableAndDie(step, os.Args[len(os.Args)-1]))
	}
	if step := os.Getenv(dieAt); step != "" {
		os.Exit(publishAndDie(step, os.Args[len(os.Args)-1]))
	}
	os.Exit(m.Run())
}

// job is what a dying process is told.
type job struct {
	Root     string
	Endpoint string
	Sink     engine.Sink
	Manifest engine.SinkManifest
}

func publishAndDie(step, text string) int {
	var j job
	at, err := strconv.Atoi(step)
	if err != nil || json.Unmarshal([]byte(text), &j) != nil {
		return 2
	}
	s := j.open()
	n := 0
	s.step = func() {
		if n == at {
			_ = exec.Command("kill", "-9", strconv.Itoa(os.Getpid())).Run()
			time.Sleep(time.Minute)
		}
		n++
	}
	if err := s.Publish(context.Background(), j.Sink, j.Manifest); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (j job) open() *Sink {
	return New(place.Roots{Allowed: []string{j.Root}}, bucket.New(store{j.Endpoint}))
}

type store struct{ url string }

func (s store) S3(context.Context, engine.ID) (bucket.Config, error) {
	return bucket.Config{Endpoint: s.url, AccessKey: "key", Secret: "secret", PathStyle: true}, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// batchID names the batch of every test.
const batchID = "01J0000000000000000000TEST"

// target is a folder or bucket under test.
type target struct {
	t *testing.T
	job
	client  *s3.Client
	scratch string
	batches Batches
}

func folderTarget(t *testing.T) *target {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return &target{t: t, job: job{Root: root, Sink: engine.Sink{Path: filepath.Join(root, "out")}}, scratch: t.TempDir()}
}

func bucketTarget(t *testing.T) *target {
	t.Helper()
	server := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(server.Close)
	client, err := bucket.New(store{server.URL}).Client(t.Context(), "c")
	must(t, err)
	_, err = client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("curated")})
	must(t, err)
	return &target{t: t, job: job{Endpoint: server.URL, Sink: engine.Sink{Path: "s3://curated/out", Connection: "c"}}, client: client, scratch: t.TempDir()}
}

// put lays a file of somebody into the target.
func (g *target) put(key, text string) {
	g.t.Helper()
	if g.client != nil {
		_, err := g.client.PutObject(g.t.Context(), &s3.PutObjectInput{Bucket: aws.String("curated"), Key: aws.String("out/" + key), Body: strings.NewReader(text)})
		must(g.t, err)
		return
	}
	path := filepath.Join(g.Sink.Path, key)
	must(g.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(g.t, os.WriteFile(path, []byte(text), 0o644))
}

// stage writes files ("key=text" by a colon) and stages them.
func (g *target) stage(touched []string, files ...string) {
	g.t.Helper()
	s := g.open()
	s.Batches = g.batches
	stage, err := s.Prepare(g.t.Context(), g.Sink, 0, batchID, 1, g.scratch)
	must(g.t, err)
	m := engine.SinkManifest{Touched: touched}
	for _, f := range files {
		key, text, _ := strings.Cut(f, ":")
		path := filepath.Join(stage.Data, key)
		must(g.t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(g.t, os.WriteFile(path, []byte(text), 0o644))
		m.Files = append(m.Files, engine.OutFile{Path: key, Partition: partitionOf(key), Rows: 1, Bytes: int64(len(text))})
	}
	g.Manifest, err = s.Stage(g.t.Context(), g.Sink, 0, stage, m)
	must(g.t, err)
}

func (g *target) publish() {
	g.t.Helper()
	must(g.t, g.open().Publish(g.t.Context(), g.Sink, g.Manifest))
}

// dies publishes in another process that is killed at step; it reports
// whether the process got that far.
func (g *target) dies(step int) bool {
	g.t.Helper()
	text, err := json.Marshal(g.job)
	must(g.t, err)
	self, err := os.Executable()
	must(g.t, err)
	cmd := exec.Command(self, string(text))
	cmd.Env = append(os.Environ(), dieAt+"="+strconv.Itoa(step))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if cmd.ProcessState.ExitCode() != -1 {
		g.t.Fatalf("publish in a process of its own: %v: %s", err, out)
	}
	return true
}

// holds lists everything in the target as key:text.
func (g *target) holds() []string {
	g.t.Helper()
	var all []string
	if g.client != nil {
		page, err := g.client.ListObjectsV2(g.t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("curated")})
		must(g.t, err)
		for _, o := range page.Contents {
			answer, err := g.client.GetObject(g.t.Context(), &s3.GetObjectInput{Bucket: aws.String("curated"), Key: o.Key})
			must(g.t, err)
			text := make([]byte, aws.ToInt64(o.Size))
			_, err = answer.Body.Read(text)
			if err != nil && err.Error() != "EOF" {
				must(g.t, err)
			}
			all = append(all, strings.TrimPrefix(aws.ToString(o.Key), "out/")+":"+string(text))
		}
		return all
	}
	err := filepath.WalkDir(g.Sink.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		key, _ := filepath.Rel(g.Sink.Path, path)
		all = append(all, key+":"+string(text))
		return err
	})
	must(g.t, err)
	return all
}

// scenarios are a publish of each mode: what is there, what the batch brings,
// and what must be there in the end.
var scenarios = []struct {
	name    string
	mode    engine.WriteMode
	format  engine.Format
	by      []string // columns of its partitions
	before  []string
	touched []string
	files   []string
	late    []string // arrive after the batch has listed the target
	want    []string
}{
	{
		name: "append", mode: engine.Append,
		before: []string{"p=1/part-000001-0.parquet:old", "other.txt:theirs"},
		files:  []string{"p=1/part-000002-0.parquet:new", "p=2/part-000002-0.parquet:new"},
		want:   []string{"other.txt:theirs", "p=1/part-000001-0.parquet:old", "p=1/part-000002-0.parquet:new", "p=2/part-000002-0.parquet:new"},
	},
	{
		name: "overwrite partitions", mode: engine.OverwritePartitions, by: []string{"p"},
		before:  []string{"p=0/a.parquet:keep", "p=1/a.parquet:old", "p=2/a.parquet:old"},
		touched: []string{"p=1", "p=3"},
		files:   []string{"p=1/part-000002-0.parquet:new", "p=3/part-000002-0.parquet:new"},
		late:    []string{"p=1/late.parquet:stranger"},
		want:    []string{"p=0/a.parquet:keep", "p=1/late.parquet:stranger", "p=1/part-000002-0.parquet:new", "p=2/a.parquet:old", "p=3/part-000002-0.parquet:new"},
	},
	{
		name: "merge that empties a partition", mode: engine.Merge, by: []string{"p", "x"},
		before:  []string{"p=1/x=1/a.parquet:old", "p=2/x=1/a.parquet:old"},
		touched: []string{"p=1/x=1", "p=2/x=1"},
		files:   []string{"p=2/x=1/part-000002-0.parquet:new"},
		want:    []string{"p=2/x=1/part-000002-0.parquet:new"},
	},
	{
		name: "replace", mode: engine.Replace, format: engine.CSV,
		before:  []string{"a.csv:old", "b.csv:old"},
		touched: []string{""},
		files:   []string{"part-000002-0.csv:new"},
		want:    []string{"part-000002-0.csv:new"},
	},
	{
		name: "replace of one file", mode: engine.Replace, format: engine.CSV,
		before:  []string{"part-000001-0.csv:old"},
		touched: []string{""},
		files:   []string{"part-000002-0.csv:new"},
		late:    []string{"theirs.csv:stranger"},
		want:    []string{"part-000002-0.csv:new", "theirs.csv:stranger"},
	},
	{
		name: "replace of partitions", mode: engine.Replace, format: engine.CSV, by: []string{"p"},
		before:  []string{"a.csv:old", "p=1/b.csv:old", "p=2/b.csv:old"},
		touched: []string{"p=1"},
		files:   []string{"p=1/part-000002-0.csv:new"},
		want:    []string{"p=1/part-000002-0.csv:new"},
	},
	{
		name: "replace among files of others", mode: engine.Replace,
		before:  []string{"curated/x.parquet:theirs", "notes.txt:theirs", "old.parquet:old", "p=1/x.parquet:theirs", "raw/a.csv:theirs"},
		touched: []string{""},
		files:   []string{"part-000002-0.parquet:new"},
		want:    []string{"curated/x.parquet:theirs", "notes.txt:theirs", "p=1/x.parquet:theirs", "part-000002-0.parquet:new", "raw/a.csv:theirs"},
	},
	{
		name: "partitions among files of others", mode: engine.OverwritePartitions, by: []string{"p"},
		before:  []string{"p=1/_SUCCESS:theirs", "p=1/a.parquet:old", "p=1/notes.txt:theirs", "p=1/sub/a.parquet:theirs", "p=2/a.parquet:old"},
		touched: []string{"p=1", "p=2"},
		files:   []string{"p=1/part-000002-0.parquet:new", "p=1/part-000002-1.parquet:new", "p=2/part-000002-0.parquet:new"},
		late:    []string{"p=2/_SUCCESS:stranger", "p=2/sub/b.parquet:stranger"},
		want: []string{
			"p=1/_SUCCESS:theirs", "p=1/notes.txt:theirs", "p=1/part-000002-0.parquet:new", "p=1/part-000002-1.parquet:new", "p=1/sub/a.parquet:theirs",
			"p=2/_SUCCESS:stranger", "p=2/part-000002-0.parquet:new", "p=2/sub/b.parquet:stranger",
		},
	},
	{
		name: "merge among files of others", mode: engine.Merge, by: []string{"p"},
		before:  []string{"p=1/a.csv:theirs", "p=1/a.parquet:old", "q=1/a.parquet:theirs", "x/p=1/a.parquet:theirs"},
		touched: []string{"p=1"},
		files:   []string{"p=1/part-000002-0.parquet:new"},
		want:    []string{"p=1/a.csv:theirs", "p=1/part-000002-0.parquet:new", "q=1/a.parquet:theirs", "x/p=1/a.parquet:theirs"},
	},
}

func TestPublishEndsAlikeWhereverItIsKilled(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"folder", "bucket"} {
		for _, c := range scenarios {
			t.Run(kind+" "+c.name, func(t *testing.T) {
				t.Parallel()
				for step := 0; ; step++ {
					g := folderTarget(t)
					if kind == "bucket" {
						g = bucketTarget(t)
					}
					g.Sink.Mode, g.Sink.Format, g.Sink.PartitionBy = c.mode, c.format, c.by
					for _, f := range c.before {
						key, text, _ := strings.Cut(f, ":")
						g.put(key, text)
					}
					g.stage(c.touched, c.files...)
					for _, f := range c.late {
						key, text, _ := strings.Cut(f, ":")
						g.put(key, text)
					}

					died := g.dies(step)
					g.publish()
					g.publish() // once more changes nothing

					if got := g.holds(); !slices.Equal(got, c.want) {
						t.Errorf("killed at step %d: got %v, want %v", step, got, c.want)
					}
					if !died {
						if step < 2 {
							t.Errorf("the publish had %d steps, want more", step)
						}
						return
					}
				}
			})
		}
	}
}

func TestReadersOfOneFileNeverSeeBothNorNone(t *testing.T) {
	t.Parallel()
	g := folderTarget(t)
	g.Sink.Mode, g.Sink.Format = engine.Replace, engine.CSV
	g.put("old.csv", "old")
	g.stage([]string{""}, "new.csv:new")
	s := g.open()
	steps := 0
	s.step = func() {
		steps++
		var seen []string
		for _, f := range g.holds() {
			if _, text, _ := strings.Cut(f, ":"); !strings.HasPrefix(f, ".dogear/") {
				seen = append(seen, text)
			}
		}
		if len(seen) != 1 || seen[0] != "old" && seen[0] != "new" {
			t.Errorf("before step %d: got %v, want the old file or the new one", steps, seen)
		}
	}

	must(t, s.Publish(t.Context(), g.Sink, g.Manifest))

	if got := g.holds(); !slices.Equal(got, []string{"new.csv:new"}) || steps < 3 {
		t.Errorf("got %v after %d steps", got, steps)
	}
}

func TestStagedFilesAreSeenByNobody(t *testing.T) {
	t.Parallel()
	for _, g := range []*target{folderTarget(t), bucketTarget(t)} {
		batch := engine.Batch{ID: batchID, Number: 1}
		g.stage(nil, engine.PartName(1, batch.Tag(), 0)+"0.parquet:new", "p=1/"+engine.PartName(1, batch.Tag(), 0)+"0.parquet:new")

		for _, f := range g.holds() {
			if !strings.HasPrefix(f, ".dogear/") {
				t.Errorf("got %s, want nothing before the publish", f)
			}
		}
		must(t, g.open().Discard(t.Context(), g.Sink, 0, batch)) // as after a crash, without a manifest
		if got := g.holds(); len(got) > 0 {
			t.Errorf("after discarding: got %v, want nothing", got)
		}
		if g.client == nil {
			continue
		}
		open, err := g.client.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: aws.String("curated")})
		must(t, err)
		if len(open.Uploads) > 0 {
			t.Errorf("after discarding: got %d uploads, want none", len(open.Uploads))
		}
	}
}

func TestAppendNeverWritesOverAFileOfSomebodyElse(t *testing.T) {
	t.Parallel()
	g := folderTarget(t)
	g.put("part-000001-0.parquet", "theirs")
	g.stage(nil, "part-000001-0.parquet:ours")

	err := g.open().Publish(t.Context(), g.Sink, g.Manifest)

	text, read := os.ReadFile(filepath.Join(g.Sink.Path, "part-000001-0.parquet"))
	must(t, read)
	if engine.CodeOf(err) != engine.Conflict || string(text) != "theirs" {
		t.Errorf("got %v and %q, want a conflict and their file", err, text)
	}
}

func TestAPartitionThatIsNotInTheManifestIsRefused(t *testing.T) {
	t.Parallel()
	g := folderTarget(t)
	m := engine.SinkManifest{Root: g.Sink.Path, Touched: []string{"p=1"}, Files: []engine.OutFile{{Path: "p=2/a.parquet", Partition: "p=2"}}}

	err := g.open().Publish(t.Context(), g.Sink, m)

	if engine.CodeOf(err) != engine.Conflict {
		t.Errorf("got %v, want a refusal", err)
	}
	m = engine.SinkManifest{Root: g.Sink.Path, Files: []engine.OutFile{{Path: "../a.parquet"}}}
	if err := g.open().Publish(t.Context(), g.Sink, m); err == nil {
		t.Error("a path that climbs out: got no error")
	}
}

func TestATargetOutsideTheRootsIsRefused(t *testing.T) {
	t.Parallel()
	g := folderTarget(t)
	g.Sink.Path = filepath.Join(t.TempDir(), "elsewhere")

	_, err := g.open().Prepare(t.Context(), g.Sink, 0, batchID, 1, g.scratch)

	if engine.CodeOf(err) != engine.Forbidden {
		t.Errorf("got %v, want a refusal", err)
	}
	// No stage was made, so that there is nothing to complain of afterwards.
	if err := g.open().Discard(t.Context(), g.Sink, 0, engine.Batch{ID: batchID, Number: 1}); err != nil {
		t.Errorf("discard: got %v, want nothing to do", err)
	}
}

func TestExistingFilesOfAMergeCanBeRead(t *testing.T) {
	t.Parallel()
	for _, g := range []*target{folderTarget(t), bucketTarget(t)} {
		g.Sink.Mode, g.Sink.PartitionBy = engine.Merge, []string{"p"}
		g.put("p=1/a.parquet", "old")
		g.put("_SUCCESS", "")
		g.put("notes.txt", "theirs")

		stage, err := g.open().Prepare(t.Context(), g.Sink, 0, batchID, 1, g.scratch)
		must(t, err)

		if len(stage.Existing) != 1 || stage.Existing[0].Partition != "p=1" {
			t.Fatalf("got %+v, want the one Parquet file", stage.Existing)
		}
		if stage.Left != (Left{1, "notes.txt"}) {
			t.Errorf("left: got %+v, want notes.txt", stage.Left)
		}
		if text, err := os.ReadFile(stage.Existing[0].Path); err != nil || string(text) != "old" {
			t.Errorf("got %q and %v, want old", text, err)
		}
	}
}

func TestADroppedUploadIsSentAgain(t *testing.T) {
	t.Parallel()
	g := bucketTarget(t)
	batch := engine.Batch{ID: batchID, Number: 1}
	name := engine.PartName(1, batch.Tag(), 0) + "0.parquet"
	g.stage(nil, name+":new")
	must(t, g.open().Discard(t.Context(), g.Sink, 0, batch))

	g.publish()

	if got := g.holds(); !slices.Equal(got, []string{name + ":new"}) {
		t.Errorf("got %v, want the file", got)
	}
}
