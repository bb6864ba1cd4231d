package bucket

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dogear/engine"
)

// TestAStoreThatSendsNothingIsGivenUp: a server that was halted takes
// connections, and may halt in the middle of an answer.
func TestAStoreThatSendsNothingIsGivenUp(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("list-type") == "" && r.Method == http.MethodGet {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
			w.(http.Flusher).Flush()
		}
		<-over
	}))
	defer server.Close()
	defer close(over)
	client, err := open(t.Context(), Config{Endpoint: server.URL, AccessKey: "key", Secret: "secret", PathStyle: true}, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	lake, key := aws.String("lake"), aws.String("a")
	asks := map[string]func() error{
		"list": func() error {
			_, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: lake})
			return err
		},
		"head": func() error {
			_, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: lake, Key: key})
			return err
		},
		"body": func() error {
			answer, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: lake, Key: key})
			if err != nil {
				return err
			}
			_, err = io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			return err
		},
	}
	for name, ask := range asks {
		err := Explain(ask(), "s3://lake/a")

		want := "The object store at " + strings.TrimPrefix(server.URL, "http://") + " sent nothing for 50ms while s3://lake/a was read"
		if engine.CodeOf(err) != engine.Invalid || !strings.HasPrefix(engine.MessageOf(err), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}
