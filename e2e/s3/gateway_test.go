package s3_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dogear/engine/bucket"
)

// The key of the gateway's only user.
const (
	accessKey = "dogear"
	secretKey = "a secret of the test"
)

// lake is a bucket of an S3 server that runs for one test.
type lake struct {
	t        *testing.T
	endpoint string
	client   *s3.Client
}

const bucketName = "lake"

// startGateway starts an S3 server over a folder, on a free port.
func startGateway(t *testing.T) *lake {
	t.Helper()
	program, err := filepath.Abs("../../bin/versitygw")
	must(t, err)
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%s is missing; e2e/tools/README.md says how it is built", program)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := listener.Addr().String()
	must(t, listener.Close())
	root, sidecar := t.TempDir(), t.TempDir()
	var log bytes.Buffer
	cmd := exec.Command(program, "--port", address, "--access", accessKey, "--secret", secretKey, "--quiet", "posix", "--sidecar", sidecar, root)
	cmd.Stdout, cmd.Stderr = &log, &log
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		<-ended
		if t.Failed() {
			t.Logf("gateway: %s", log.String())
		}
	})
	client, err := bucket.Open(t.Context(), bucket.Config{Endpoint: "http://" + address, AccessKey: accessKey, Secret: secretKey, PathStyle: true})
	must(t, err)
	l := &lake{t: t, endpoint: "http://" + address, client: client}
	eventually(t, "the S3 server to answer", func(ctx context.Context) bool {
		_, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(bucketName)})
		return err == nil
	})
	return l
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !is(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

func (l *lake) put(key, text string) {
	l.t.Helper()
	_, err := l.client.PutObject(l.t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucketName), Key: aws.String(key), Body: strings.NewReader(text)})
	must(l.t, err)
}

// keys lists what lies below a prefix.
func (l *lake) keys(prefix string) []string {
	l.t.Helper()
	page, err := l.client.ListObjectsV2(l.t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucketName), Prefix: aws.String(prefix)})
	must(l.t, err)
	var keys []string
	for _, o := range page.Contents {
		keys = append(keys, aws.ToString(o.Key))
	}
	return keys
}

func (l *lake) get(key string) string {
	l.t.Helper()
	answer, err := l.client.GetObject(l.t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucketName), Key: aws.String(key)})
	must(l.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(l.t, err)
	return string(text)
}

// uploads counts uploads that were begun and neither completed nor dropped.
func (l *lake) uploads() int {
	l.t.Helper()
	open, err := l.client.ListMultipartUploads(l.t.Context(), &s3.ListMultipartUploadsInput{Bucket: aws.String(bucketName)})
	must(l.t, err)
	return len(open.Uploads)
}
