package source

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/bucket"
	"dogear/engine/place"
)

var _ bookmark.Lister = (*Source)(nil)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// folder returns a new folder and a Source that may read it.
func folder(t *testing.T) (string, *Source) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir, New(place.Roots{Allowed: []string{dir}}, bucket.New(nil))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

// list returns the keys that src takes and why it leaves out the others.
func list(t *testing.T, s *Source, src engine.Source) (taken []string, left map[string]string) {
	t.Helper()
	left = map[string]string{}
	for o, err := range s.List(context.Background(), src) {
		must(t, err)
		if o.Filtered != "" {
			left[o.Key] = o.Filtered
			continue
		}
		taken = append(taken, o.Key)
	}
	return taken, left
}

func TestC16MarkersHiddenAndEmptyFilesAreLeftOutWithAReason(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("testdata/C16")
	must(t, err)
	s := New(place.Roots{Allowed: []string{root}}, bucket.New(nil))

	taken, left := list(t, s, engine.Source{Path: root, Options: engine.SourceOptions{Exclude: []string{"expect.json"}}})

	if want := []string{"t/a.csv", "t/broken.csv.gz", "t/empty.csv.gz"}; !slices.Equal(taken, want) {
		t.Errorf("taken: got %v, want %v", taken, want)
	}
	for _, key := range []string{"t/_SUCCESS", "t/.a.csv.crc", "t/_temporary/0/part-0.csv", "t/.DS_Store", "t/empty.csv"} {
		if left[key] == "" {
			t.Errorf("%s: got no reason, want it left out", key)
		}
	}
}

func TestListIsInBytewiseOrderOfKey(t *testing.T) {
	t.Parallel()
	dir, s := folder(t)
	want := []string{"a-b.csv", "a.csv", "a/b.csv", "a/b/c.csv", "a0.csv", "b.csv", "é.csv"}
	for _, key := range want {
		write(t, filepath.Join(dir, key), "x")
	}
	slices.Sort(want)

	got, _ := list(t, s, engine.Source{Path: dir})

	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestListAppliesGlobAndExclusions(t *testing.T) {
	t.Parallel()
	dir, s := folder(t)
	for _, key := range []string{"2026/a.csv", "2026/b.json", "2026/old/c.csv", "2025/d.csv"} {
		write(t, filepath.Join(dir, key), "x")
	}

	got, left := list(t, s, engine.Source{
		Path:    dir + "/20*/**/*.csv",
		Options: engine.SourceOptions{Exclude: []string{"2025/**"}},
	})

	if want := []string{"2026/a.csv", "2026/old/c.csv"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if left["2026/b.json"] != "does not match 20*/**/*.csv" || left["2025/d.csv"] != "is excluded by 2025/**" {
		t.Errorf("reasons: got %v", left)
	}
}

func TestAPathToOneFileListsThatFile(t *testing.T) {
	t.Parallel()
	dir, s := folder(t)
	write(t, filepath.Join(dir, "a.csv"), "x")
	write(t, filepath.Join(dir, "b.csv"), "x")
	src := engine.Source{Path: filepath.Join(dir, "a.csv")}

	got, _ := list(t, s, src)

	if !slices.Equal(got, []string{"a.csv"}) || s.Root(src) != dir {
		t.Errorf("got %v below %s, want a.csv below %s", got, s.Root(src), dir)
	}
}

func TestAMissingFolderIsAnErrorAndNeverEmpty(t *testing.T) {
	t.Parallel()
	dir, s := folder(t)

	var got error
	for _, err := range s.List(context.Background(), engine.Source{Path: filepath.Join(dir, "none")}) {
		got = err
	}

	if engine.CodeOf(got) != engine.NotFound {
		t.Errorf("got %v, want that the folder does not exist", got)
	}
}

func TestLinksThatLeaveTheRootsAreLeftOut(t *testing.T) {
	t.Parallel()
	dir, s := folder(t)
	outside := filepath.Join(t.TempDir(), "secret.csv")
	write(t, outside, "secret")
	write(t, filepath.Join(dir, "a.csv"), "x")
	must(t, os.Symlink(outside, filepath.Join(dir, "out.csv")))
	must(t, os.Symlink(filepath.Join(dir, "a.csv"), filepath.Join(dir, "in.csv")))
	must(t, os.Symlink(dir, filepath.Join(dir, "loop")))

	got, left := list(t, s, engine.Source{Path: dir})

	if !slices.Equal(got, []string{"a.csv", "in.csv"}) {
		t.Errorf("got %v, want a.csv and in.csv", got)
	}
	if !strings.Contains(left["out.csv"], "leaves") || !strings.Contains(left["loop"], "folder") {
		t.Errorf("reasons: got %v", left)
	}
	if _, err := s.Head(context.Background(), engine.Source{Path: dir}, engine.Object{Key: "out.csv"}, 9); engine.CodeOf(err) != engine.Forbidden {
		t.Errorf("head of a link out: got %v, want a refusal", err)
	}
}

func TestAHundredThousandFilesListFastInLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 100,000 files")
	}
	dir, s := folder(t)
	for d := range 100 {
		sub := filepath.Join(dir, fmt.Sprintf("day=%02d", d))
		must(t, os.MkdirAll(sub, 0o755))
		for f := range 1000 {
			must(t, os.WriteFile(filepath.Join(sub, fmt.Sprintf("part-%04d.csv", f)), []byte("x"), 0o644))
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()

	n, last := 0, ""
	for o, err := range s.List(context.Background(), engine.Source{Path: dir}) {
		must(t, err)
		if o.Key <= last {
			t.Fatalf("%s comes after %s", o.Key, last)
		}
		n, last = n+1, o.Key
	}

	took := time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("%d files in %v", n, took)
	if n != 100_000 || took > 15*time.Second {
		t.Errorf("got %d files in %v, want 100000 well under a second (15 s on a busy machine)", n, took)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 10<<20 {
		t.Errorf("the listing kept %s, want less than 10 MB", engine.Bytes(grown))
	}
}

func TestFetchLeavesOutWhatChangedSinceThePlan(t *testing.T) {
	t.Parallel()
	dir, s := folder(t)
	write(t, filepath.Join(dir, "a.csv"), "one")
	write(t, filepath.Join(dir, "b.csv"), "two")
	src := engine.Source{Path: dir}
	objects, err := s.Peek(context.Background(), src, 10)
	must(t, err)
	write(t, filepath.Join(dir, "b.csv"), "rewritten")

	got, err := s.Fetch(context.Background(), src, objects, t.TempDir())
	must(t, err)

	if len(got.Files) != 1 || got.Files[0].Key != "a.csv" || len(got.Changed) != 1 || got.Changed[0].Key != "b.csv" {
		t.Errorf("got files %v and changed %v, want a.csv and b.csv", got.Files, got.Changed)
	}
	must(t, os.Remove(filepath.Join(dir, "a.csv")))
	changed, err := s.Verify(context.Background(), src, got)
	must(t, err)
	if len(changed) != 1 {
		t.Errorf("after reading: got %v, want that a.csv changed", changed)
	}
}

// store is a connection to an object store in this process.
type store struct{ url string }

func (s store) S3(context.Context, engine.ID) (bucket.Config, error) {
	return bucket.Config{Endpoint: s.url, AccessKey: "key", Secret: "secret", PathStyle: true}, nil
}

func fakeStore(t *testing.T) (*s3.Client, *Source) {
	t.Helper()
	server := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(server.Close)
	buckets := bucket.New(store{server.URL})
	client, err := buckets.Client(context.Background(), "connection")
	must(t, err)
	_, err = client.CreateBucket(context.Background(), &s3.CreateBucketInput{Bucket: aws.String("raw")})
	must(t, err)
	return client, New(place.Roots{}, buckets)
}

func put(t *testing.T, client *s3.Client, key, text string) {
	t.Helper()
	_, err := client.PutObject(context.Background(), &s3.PutObjectInput{
		Bucket: aws.String("raw"), Key: aws.String(key), Body: strings.NewReader(text),
	})
	must(t, err)
}

func TestBucketsAreListedAndFetchedLikeFolders(t *testing.T) {
	t.Parallel()
	client, s := fakeStore(t)
	for _, key := range []string{"sales/day=1/a.csv", "sales/day=2/b.csv", "sales/_SUCCESS", "sales/n.json", "other/c.csv"} {
		put(t, client, key, "id\n1\n")
	}
	src := engine.Source{Connection: "connection", Path: "s3://raw/sales/**/*.csv"}

	keys, left := list(t, s, src)
	objects, err := s.Peek(context.Background(), src, 10)
	must(t, err)
	put(t, client, "sales/day=2/b.csv", "id\n1\n2\n")
	got, err := s.Fetch(context.Background(), src, objects, t.TempDir())
	must(t, err)

	if !slices.Equal(keys, []string{"day=1/a.csv", "day=2/b.csv"}) || left["_SUCCESS"] == "" || left["n.json"] == "" {
		t.Errorf("got %v, left out %v", keys, left)
	}
	if len(got.Files) != 1 || len(got.Changed) != 1 || got.Changed[0].Key != "day=2/b.csv" {
		t.Fatalf("got files %v and changed %v, want a.csv kept and b.csv changed", got.Files, got.Changed)
	}
	body, err := os.ReadFile(got.Files[0].Path)
	must(t, err)
	if string(body) != "id\n1\n" || !strings.Contains(got.Files[0].Path, "day=1/") {
		t.Errorf("got %q at %s, want the object below its partition", body, got.Files[0].Path)
	}
}

// TestLargeBucketsAreListedSideBySideInOrder: several folders at several depths,
// names that sort around a folder's, and a folder without folders.
func TestLargeBucketsAreListedSideBySideInOrder(t *testing.T) {
	t.Parallel()
	client, s := fakeStore(t)
	var want []string
	for i := range 1200 {
		want = append(want, fmt.Sprintf("year=%d/month=%02d/%04d.csv", 2024+i%3, i%12+1, i), fmt.Sprintf("flat/%04d.csv", i))
	}
	want = append(want, "year=2024.csv", "year=2024-old.csv", "a.csv", "zz/1.csv", "year=2025/month=01.csv")
	for _, key := range want {
		put(t, client, "big/"+key, "id\n")
	}
	slices.Sort(want)

	keys, _ := list(t, s, engine.Source{Connection: "connection", Path: "s3://raw/big/**"})

	if !slices.Equal(keys, want) {
		t.Errorf("listed %d keys, want %d in their order; the first that differs is %q", len(keys), len(want), firstDifference(keys, want))
	}
	n := 0
	for range s.List(context.Background(), engine.Source{Connection: "connection", Path: "s3://raw/big/**"}) {
		if n++; n == 10 {
			break // the folders ahead end with the reader
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var broken error
	for _, err := range s.List(ctx, engine.Source{Connection: "connection", Path: "s3://raw/big/**"}) {
		cancel(errors.New("the server stops"))
		broken = err
	}
	if broken == nil {
		t.Error("a listing that was cut off ended like a complete one")
	}
}

func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return got[i]
		}
	}
	return ""
}

func TestAMissingBucketIsNamed(t *testing.T) {
	t.Parallel()
	_, s := fakeStore(t)

	var got error
	for _, err := range s.List(context.Background(), engine.Source{Connection: "connection", Path: "s3://none/x/"}) {
		got = err
	}

	if engine.CodeOf(got) != engine.NotFound || !strings.Contains(engine.MessageOf(got), "s3://none/x/") {
		t.Errorf("got %v, want that the bucket does not exist", got)
	}
}

func TestBrowseShowsOneLevel(t *testing.T) {
	t.Parallel()
	client, s := fakeStore(t)
	put(t, client, "sales/day=1/a.csv", "x")
	put(t, client, "sales/b.csv", "x")

	level, err := s.Browse(context.Background(), "connection", "s3://raw/sales")
	must(t, err)

	if !slices.Equal(level.Folders, []string{"day=1"}) || len(level.Files) != 1 || level.Files[0].Key != "b.csv" || level.Parent != "s3://raw/" {
		t.Errorf("got %+v, want the folder day=1 and the file b.csv", level)
	}
	head, err := s.Head(context.Background(), engine.Source{Connection: "connection", Path: "s3://raw/sales/"}, level.Files[0], 64)
	if err != nil || string(head) != "x" {
		t.Errorf("head: got %q and %v, want x", head, err)
	}
}

func TestChangedObjectsHaveTheirOwnError(t *testing.T) {
	t.Parallel()
	client, _ := fakeStore(t)
	put(t, client, "a.csv", "x")

	err := downloadOne(context.Background(), client, place.Place{Bucket: "raw"},
		File{engine.Object{Key: "a.csv", ETag: "0", Size: 1}, filepath.Join(t.TempDir(), "a.csv")})

	if !errors.Is(err, errChanged) {
		t.Errorf("got %v, want %v", err, errChanged)
	}
}

// TestANameThatIsNoTextIsLeftOutAndBlocksNothing: keys are texts, and the files
// around it stay in order.
func TestANameThatIsNoTextIsLeftOutAndBlocksNothing(t *testing.T) {
	t.Parallel()
	dir, s := folder(t)
	for _, key := range []string{"a.csv", "bad\x80\xfe.csv", "bad\u00e9.csv", "bad\xff/in.csv", "c.csv"} {
		write(t, filepath.Join(dir, key), "x")
	}

	taken, left := list(t, s, engine.Source{Path: dir})

	if want := []string{"a.csv", "bad\u00e9.csv", "c.csv"}; !slices.Equal(taken, want) {
		t.Errorf("taken: got %q, want %q", taken, want)
	}
	if len(left) != 2 || !strings.Contains(left["bad\uFFFD.csv"], "not UTF-8") || !strings.Contains(left["bad\uFFFD/"], "not UTF-8") {
		t.Errorf("left out: got %q, want the file and the folder", left)
	}
}
