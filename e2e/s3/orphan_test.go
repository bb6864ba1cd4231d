package s3_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/place"
	"dogear/engine/sink"
)

// connections is one connection, to the lake.
type connections struct{ lake *lake }

func (c connections) S3(context.Context, engine.ID) (bucket.Config, error) {
	return bucket.Config{Endpoint: c.lake.endpoint, AccessKey: accessKey, Secret: secretKey, PathStyle: true}, nil
}

// A process that dies after its uploads and before its manifest leaves uploads
// that only the batch's name tells from those of others.
func TestUploadsOfACrashBeforeTheManifestAreDropped(t *testing.T) {
	t.Parallel()
	l := startGateway(t)
	sinks := sink.New(place.Roots{}, bucket.New(connections{l}))
	out := engine.Sink{From: "t", Path: "s3://lake/out", Connection: "c"}
	crashed := engine.Batch{ID: engine.NewID(time.Now()), Number: 7}
	stage, err := sinks.Prepare(t.Context(), out, 0, crashed.ID, 1, t.TempDir())
	must(t, err)
	var files []engine.OutFile
	for _, partition := range []string{"", "p=1", "p=2"} {
		name := filepath.Join(partition, engine.PartName(7, crashed.Tag(), 0)+"0.parquet")
		must(t, os.MkdirAll(filepath.Join(stage.Data, partition), 0o755))
		must(t, os.WriteFile(filepath.Join(stage.Data, name), []byte("rows"), 0o644))
		files = append(files, engine.OutFile{Path: name, Partition: partition, Bytes: 4})
	}
	_, err = sinks.Stage(t.Context(), out, 0, stage, engine.SinkManifest{Files: files})
	must(t, err)
	others := "out/" + engine.PartName(7, "other", 0) + "0.parquet"
	_, err = l.client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: aws.String(bucketName), Key: aws.String(others)})
	must(t, err)
	if n := l.uploads(); n != 4 {
		t.Fatalf("before: got %d uploads, want the three of the batch and another's", n)
	}

	must(t, sinks.Discard(t.Context(), out, 0, crashed))

	if n := l.uploads(); n != 1 {
		t.Errorf("after: got %d uploads, want another's alone", n)
	}
	if keys := l.keys("out/"); len(keys) > 0 {
		t.Errorf("got the objects %v, want none", keys)
	}
}
