package queue_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/bucket"
	"dogear/engine/queue"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// keys is a connection whose buckets lie elsewhere than its queues.
type keys struct{}

func (keys) S3(context.Context, engine.ID) (bucket.Config, error) {
	return bucket.Config{Endpoint: "http://buckets.invalid", Region: "eu-west-1", AccessKey: "AKIDEXAMPLE", Secret: "secret"}, nil
}

// speak is a server that speaks the JSON protocol of SQS for one queue. The
// whole way, with notifications that a bucket sends by itself, is tested
// against moto in e2e/python.
func speak(t *testing.T, answers map[string]string) (address string, asked map[string]map[string]any) {
	t.Helper()
	asked = map[string]map[string]any{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, act, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("%s: %v", act, err)
		}
		body["signed"] = r.Header.Get("Authorization")
		asked[act] = body
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		answer := answers[act]
		if strings.Contains(answer, "__type") {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/123456789012/arrivals", asked
}

func TestMessagesAreReceivedAndDeleted(t *testing.T) {
	t.Parallel()
	address, asked := speak(t, map[string]string{
		"ReceiveMessage":     `{"Messages":[{"MessageId":"m1","ReceiptHandle":"h1","Body":"{\"a\":1}","MD5OfBody":"bb6cb5c68df4652941caf652a366f2d8"}]}`,
		"DeleteMessageBatch": `{"Successful":[{"Id":"0"}],"Failed":[]}`,
	})
	q := queue.New(keys{})

	got, err := q.Receive(t.Context(), "c", address)
	must(t, err)
	must(t, q.Delete(t.Context(), "c", address, got))

	if len(got) != 1 || got[0].Handle != "h1" || string(got[0].Body) != `{"a":1}` {
		t.Errorf("Receive = %+v, want the one message", got)
	}
	if wait := asked["ReceiveMessage"]["WaitTimeSeconds"]; wait != float64(20) {
		t.Errorf("asked to wait %v s, want 20: a queue is not to be asked again and again", wait)
	}
	signed, _ := asked["ReceiveMessage"]["signed"].(string)
	if !strings.Contains(signed, "Credential=AKIDEXAMPLE/") || !strings.Contains(signed, "/eu-west-1/sqs/") {
		t.Errorf("signed by %q, want the connection's key and region", signed)
	}
	entries, err := json.Marshal(asked["DeleteMessageBatch"]["Entries"])
	must(t, err)
	if string(entries) != `[{"Id":"0","ReceiptHandle":"h1"}]` {
		t.Errorf("deleted %s, want the message that was received", entries)
	}
}

func TestWhatAQueueRefusesIsSaid(t *testing.T) {
	t.Parallel()
	address, _ := speak(t, map[string]string{
		"ReceiveMessage":     `{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"The specified queue does not exist."}`,
		"DeleteMessageBatch": `{"Successful":[],"Failed":[{"Id":"0","Code":"InternalError","SenderFault":false,"Message":"try later"}]}`,
	})
	q := queue.New(keys{})

	_, missing := q.Receive(t.Context(), "c", address)
	kept := q.Delete(t.Context(), "c", address, []arrival.Message{{Handle: "h1"}})

	if engine.CodeOf(missing) != engine.NotFound || !strings.Contains(engine.MessageOf(missing), address) {
		t.Errorf("Receive = %v, want that there is no such queue", missing)
	}
	if kept == nil || !strings.Contains(kept.Error(), "try later") {
		t.Errorf("Delete = %v, want what was not deleted", kept)
	}
}

func TestAQueueLivesInTheRegionOfItsAddress(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"sqs.ap-south-1.amazonaws.com":    "ap-south-1",
		"sqs.cn-north-1.amazonaws.com.cn": "cn-north-1",
		"127.0.0.1":                       "eu-west-1",
		"amazonaws.com":                   "eu-west-1",
	} {
		if got := queue.RegionOf(host, "eu-west-1"); got != want {
			t.Errorf("RegionOf(%s) = %s, want %s", host, got, want)
		}
	}
}
