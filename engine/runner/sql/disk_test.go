package sql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/sys/unix"

	"dogear/engine"
)

// smallDisk makes dir a disk of two megabytes, where this user may do so.
func smallDisk(t *testing.T, dir string) bool {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o755))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		return false
	}
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return true
}

// large is a job whose rows need more room than a small disk has.
func large(t *testing.T, sink engine.Sink) *house {
	t.Helper()
	job := sales(sink)
	job.Steps[0].SQL = "SELECT id, n % 3 AS day, sha256(r::VARCHAR) AS n FROM raw, range(200000) t(r)"
	h := newHouse(t, job)
	h.put("in/a.csv", "id,day,n\n1,mon,10\n")
	return h
}

func TestAFullTargetFailsClearlyAndKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	for _, sink := range []engine.Sink{
		{Mode: engine.Append}, {Mode: engine.Replace, PartitionBy: []string{"day"}}, {Mode: engine.Merge, Keys: []string{"id", "n"}}, {Format: engine.CSV},
	} {
		h := large(t, sink)
		out := filepath.Join(h.dir, "out")
		if !smallDisk(t, out) { // a limit of the size of files stands in for it
			h.runner.Command = append([]string{"prlimit", "--fsize=1000000"}, h.runner.Command...)
		}

		result := h.run(t.Context())

		if result.State != engine.Failed || !strings.Contains(result.Error, "The disk is full. Nothing was published.") {
			t.Errorf("%s: got %s: %s, want that the disk is full", sink.Mode, result.State, result.Error)
		}
		if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
			t.Errorf("%s: got %v and %v left, want nothing", sink.Mode, left, err)
		}
		if len(h.ledger.marks) > 0 {
			t.Errorf("%s: the bookmark has moved: %v", sink.Mode, h.ledger.marks)
		}
	}
}

func TestAFullScratchDiskFailsClearly(t *testing.T) {
	t.Parallel()
	job := sales(engine.Sink{})
	job.Sources[0].Connection, job.Sources[0].Path, job.Sources[0].Policy.Unreadable = "c", "s3://lake/raw/*.csv", "hold"
	h := newHouse(t, job)
	if !smallDisk(t, h.attempts) {
		t.Skip("only root may make a small disk for this test")
	}
	_, err := h.client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String("lake"), Key: aws.String("raw/a.csv"), Body: strings.NewReader("id,day,n\n" + strings.Repeat("1,mon,10\n", 400_000)),
	})
	must(t, err)

	result := h.run(t.Context())

	if result.State != engine.Failed || !strings.Contains(result.Error, "is full") || len(result.Ledger) > 0 {
		t.Errorf("got %s: %s, want that the disk is full", result.State, result.Error)
	}
}

func TestAFileInAnotherEncodingIsNotBlamedForAFullDisk(t *testing.T) {
	t.Parallel()
	h := newHouse(t, sales(engine.Sink{}))
	h.job.SQL.Sources[0].Policy.Unreadable = "hold"
	h.job.SQL.Sources[0].Options.CSV.Encoding = "latin-1"
	if !smallDisk(t, h.attempts) {
		t.Skip("only root may make a small disk for this test")
	}
	h.put("in/a.csv", "id,day,n\n"+strings.Repeat("1,M\xe4rz,10\n", 400_000))

	result := h.run(t.Context())

	if result.State != engine.Failed || !strings.Contains(result.Error, "The disk is full.") || len(result.Ledger) > 0 {
		t.Errorf("got %s: %s and %+v, want that the disk is full and no file held", result.State, result.Error, result.Ledger)
	}
}
