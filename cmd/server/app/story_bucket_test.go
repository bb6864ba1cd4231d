package app

import (
	"context"
	"crypto/md5" //nolint:gosec // SQS sends the sum of a message by it
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/bucket"
)

// shelf is an object store with one bucket, named lake.
type shelf struct {
	url    string
	client *s3.Client
	// read is told of each file that is asked for, and returns when it may be
	// read; nil lets it be read at once.
	read func(ctx context.Context)
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	l := &shelf{}
	objects := gofakes3.New(s3mem.New()).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".csv") && l.read != nil {
			l.read(r.Context())
		}
		objects.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	l.url = server.URL
	var err error
	l.client, err = bucket.Open(t.Context(), bucket.Config{Endpoint: l.url, AccessKey: "key", Secret: "secret", PathStyle: true})
	must(t, err)
	_, err = l.client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("lake")})
	must(t, err)
	return l
}

// put puts a file of ids into the bucket.
func (l *shelf) put(t *testing.T, key string, first, rows int) {
	t.Helper()
	text := "id\n"
	for row := range rows {
		text += fmt.Sprintln(first + row)
	}
	_, err := l.client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("lake"), Key: aws.String(key), Body: strings.NewReader(text)})
	must(t, err)
}

// copyJob makes the job "copy" from in/ to out/.
func (l *shelf) copyJob(t *testing.T, store *db.Store, mode engine.WriteMode) {
	t.Helper()
	word, now := "secret", time.Now().UTC()
	made, err := store.SaveConnection(t.Context(), "", "shelf", engine.ConnectionBody{Type: engine.ConnectionS3, Endpoint: l.url, Region: "us-east-1", PathStyle: true, AccessKey: "key"}, &word, "test", now)
	must(t, err)
	sink := engine.Sink{From: "raw", Connection: made.ID, Path: "s3://lake/out/", Format: engine.Parquet, Mode: mode}
	if mode == engine.Merge {
		sink.Keys = []string{"id"}
	}
	id, err := store.CreateJob(t.Context(), "copy", engine.JobBody{
		Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, MemoryMB: engine.MinMemoryMB,
		SQL: &engine.SQLJob{
			Sources: []engine.Source{{Name: "raw", Connection: made.ID, Path: "s3://lake/in/*.csv", Format: engine.CSV, Read: engine.ReadNew, Schema: []engine.Column{{Name: "id", Type: "BIGINT"}}}},
			Sinks:   []engine.Sink{sink},
		},
	}, "test", now)
	must(t, err)
	_, err = store.PublishJob(t.Context(), id, "test", now)
	must(t, err)
}

// holds checks which rows stand in out/, once each, and that no upload is open.
func (l *shelf) holds(t *testing.T, rows int) {
	t.Helper()
	dir := t.TempDir()
	listed, err := l.client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("lake"), Prefix: aws.String("out/")})
	must(t, err)
	for i, o := range listed.Contents {
		got, err := l.client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("lake"), Key: o.Key})
		must(t, err)
		body, err := io.ReadAll(got.Body)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.parquet", i)), body, 0o600))
	}
	if got := idsIn(t, dir); len(got) != rows {
		t.Errorf("the bucket holds %d different rows, want %d", len(got), rows)
	}
	open, err := l.client.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: aws.String("lake")})
	must(t, err)
	if len(open.Uploads) > 0 {
		t.Errorf("%d uploads are left open", len(open.Uploads))
	}
}

// bucketStory is a job that merges into a bucket, twice.
func bucketStory(t *testing.T, data, _ string) telling {
	l := newShelf(t)
	store := openForTest(t, data)
	defer store.Close()
	l.copyJob(t, store, engine.Merge)
	l.put(t, "in/a.csv", 0, 10)
	more := sync.OnceFunc(func() { l.put(t, "in/b.csv", 5, 10) })
	return telling{act: func(ctx context.Context, p *product) bool {
		if !p.allEnded(ctx, 1) {
			orders("copy", 1)(ctx, p)
			return false
		}
		more()
		return orders("copy", 2)(ctx, p)
	}, check: func(t *testing.T) {
		t.Helper()
		allSucceeded(t, data, 2)
		l.holds(t, 15)
	}}
}

// queueStory is a notification of a bucket that lies in a queue until it is
// deleted.
func queueStory(t *testing.T, data, _ string) telling {
	l, q := newShelf(t), newLetters(t, "in/a.csv")
	store := openForTest(t, data)
	defer store.Close()
	l.copyJob(t, store, engine.Append) // it makes the connection
	connections, err := store.Connections(t.Context())
	must(t, err)
	rule := engine.EventRule{Source: engine.EventFiles, Connection: connections[0].ID, Path: "s3://lake/in/*.csv", Queue: q.address, Size: 1}
	trigger := crawlOn(t, store, data, engine.Trigger{Type: engine.OnEvent, Event: rule}, time.Time{})
	state, err := store.EventTrigger(t.Context(), trigger.ID)
	must(t, err)
	must(t, store.EndLook(t.Context(), state, "s3://lake/in/", time.Now().UTC())) // nothing lay there
	return telling{act: func(ctx context.Context, p *product) bool { return q.empty() && p.allEnded(ctx, 1) }, check: func(t *testing.T) {
		t.Helper()
		allSucceeded(t, data, 1)
	}}
}

// letters is a queue with one message, which speaks the JSON protocol of SQS.
type letters struct {
	address string
	mu      sync.Mutex
	body    string // "" once it was deleted
}

func newLetters(t *testing.T, key string) *letters {
	t.Helper()
	// What came before the trigger was published is no arrival: it is said to come later.
	q := &letters{body: fmt.Sprintf(`{"Records":[{"eventSource":"aws:s3","eventName":"ObjectCreated:Put","eventTime":%q,"s3":{"bucket":{"name":"lake"},"object":{"key":%q,"size":9,"eTag":"e"}}}]}`, time.Now().UTC().Add(time.Minute).Format(time.RFC3339), key)}
	server := httptest.NewServer(q)
	t.Cleanup(server.Close)
	q.address = server.URL + "/123456789012/arrivals"
	return q
}

func (q *letters) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.body == ""
}

func (q *letters) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	var answer any = map[string]any{}
	switch _, act, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); {
	case act == "ReceiveMessage" && q.body != "":
		sum := md5.Sum([]byte(q.body)) //nolint:gosec // see above
		answer = map[string]any{"Messages": []map[string]string{{"MessageId": "m", "ReceiptHandle": "h", "Body": q.body, "MD5OfBody": hex.EncodeToString(sum[:])}}}
	case act == "DeleteMessageBatch":
		q.body = ""
		answer = map[string]any{"Successful": []map[string]string{{"Id": "0"}}, "Failed": []string{}}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// leaseInStory is how long a server of a story may be silent.
const leaseInStory = 1500 * time.Millisecond

// shared makes a PostgreSQL with the job "copy" over a slow shelf, and a server
// of it that works on the first run of that job.
func shared(t *testing.T, data, binary string) (other *product, l *shelf, store *db.Store, args []string) {
	t.Helper()
	database := dbtest.PostgresAddress(t)
	store = dbtest.Open(t, database)
	l = newShelf(t)
	l.copyJob(t, store, engine.Append)
	l.put(t, "in/a.csv", 0, 10)
	asked := make(chan struct{})
	first := sync.OnceFunc(func() { close(asked) })
	l.read = func(ctx context.Context) {
		select {
		case <-asked:
			time.Sleep(leaseInStory / 2) // the store is slow: leases are renewed meanwhile
		default:
			first()
			<-ctx.Done() // until the server that asked is gone
		}
	}
	args = []string{"--database", database, "--secret-key", keyForTest, "--lease", leaseInStory.String()}
	other = startProduct(t, binary, data+"-other", "", "", args...)
	t.Cleanup(other.kill)
	ctx, cancel := context.WithTimeout(t.Context(), patienceForTest)
	defer cancel()
	other.until(ctx, func() bool {
		runs, err := other.runs(ctx)
		return err == nil && (len(runs) > 0 || orders("copy", 1)(ctx, other))
	})
	select {
	case <-asked:
	case <-ctx.Done():
		t.Fatalf("the other server does not begin:\n%s", other.said)
	}
	return other, l, store, args
}

// sharedCheck is what must hold after a story of two servers.
func sharedCheck(l *shelf, store *db.Store) func(t *testing.T) {
	return func(t *testing.T) {
		t.Helper()
		runs, err := store.Runs(t.Context(), engine.RunFilter{Limit: 9})
		must(t, err)
		if len(runs) != 1 || runs[0].Outcome != engine.RunSucceeded {
			t.Errorf("the runs are %+v, want one that succeeded", runs)
		}
		l.holds(t, 10)
	}
}

// buriedStory is the work of a server that was killed just before another
// begins on the same machine.
func buriedStory(t *testing.T, data, binary string) telling {
	other, l, store, args := shared(t, data, binary)
	other.kill()
	return telling{args: args, act: ended(1), check: sharedCheck(l, store)}
}

// takeoverStory is the work of a server that is killed while another looks on.
func takeoverStory(t *testing.T, data, binary string) telling {
	other, l, store, args := shared(t, data, binary)
	return telling{args: args, act: func(ctx context.Context, p *product) bool {
		// A server that has renewed its lease has begun, and looks on.
		if servers, err := store.Replicas(ctx); err == nil && len(servers) > 1 {
			if last := servers[len(servers)-1]; last.Left+time.Since(last.Started) > leaseInStory*5/4 {
				other.kill()
			}
		}
		return p.allEnded(ctx, 1)
	}, check: sharedCheck(l, store)}
}
