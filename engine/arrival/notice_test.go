package arrival_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/arrival"
)

// s3 is a message as S3 writes it, cut to what matters.
const s3 = `{"Records":[
 {"eventVersion":"2.1","eventSource":"aws:s3","eventTime":"2026-03-01T12:00:00.000Z","eventName":"ObjectCreated:Put",
  "s3":{"bucket":{"name":"shop"},"object":{"key":"sales/a+b%2Bc%C3%A9.csv","size":7,"eTag":"d41d8cd98f","sequencer":"0A"}}},
 {"eventTime":"2026-03-01T12:00:01.000Z","eventName":"ObjectRemoved:Delete","s3":{"bucket":{"name":"shop"},"object":{"key":"sales/old.csv"}}}]}`

const bridge = `{"version":"0","id":"1","detail-type":"Object Created","source":"aws.s3","time":"2026-03-01T12:00:00Z",
 "detail":{"bucket":{"name":"shop"},"object":{"key":"sales/a b+cé.csv","size":7,"etag":"d41d8cd98f"},"reason":"PutObject"}}`

func TestEveryFormOfANotificationSaysTheSame(t *testing.T) {
	t.Parallel()
	wrapped, err := json.Marshal(map[string]string{"Type": "Notification", "TopicArn": "arn:aws:sns:eu-west-1:1:t", "Message": s3})
	must(t, err)
	want := []arrival.Object{{Bucket: "shop", Key: "sales/a b+cé.csv", Size: 7, ETag: "d41d8cd98f", At: noon}}

	for name, body := range map[string]string{"S3": s3, "EventBridge": bridge, "SNS": string(wrapped)} {
		got, err := arrival.Objects([]byte(body))
		must(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("%s: Objects = %+v, want %+v", name, got, want)
		}
	}
}

func TestWhatIsNoArrivalIsReadAndIsNone(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a test":                   `{"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"shop"}`,
		"a removal":                `{"Records":[{"eventName":"ObjectRemoved:Delete","s3":{"bucket":{"name":"shop"},"object":{"key":"x"}}}]}`,
		"a removal by EventBridge": `{"detail-type":"Object Deleted","detail":{"bucket":{"name":"shop"},"object":{"key":"x"}}}`,
	} {
		if got, err := arrival.Objects([]byte(body)); err != nil || len(got) != 0 {
			t.Errorf("%s: Objects = %v, %v, want none", name, got, err)
		}
	}
	deep, err := json.Marshal(map[string]string{"Type": "Notification", "Message": `{"Type":"Notification","Message":"{}"}`})
	must(t, err)
	for _, body := range []string{"", "{}", "hello", `[]`, string(deep), `{"Records":[{"eventName":"ObjectCreated:Put","s3":{"object":{"key":"%zz"}}}]}`} {
		if got, err := arrival.Objects([]byte(body)); engine.CodeOf(err) != engine.Invalid {
			t.Errorf("Objects(%q) = %v, %v, want it refused", body, got, err)
		}
	}
}

func TestAFileArrivesWhenItHasSettledAndWasNotThereBefore(t *testing.T) {
	t.Parallel()
	folder := engine.EventTrigger{Rule: engine.EventRule{Source: engine.EventFiles, Path: "in"}, Since: noon}
	based, bucket := folder, folder
	based.Based = noon.Add(time.Second)
	bucket.Rule.Path = "s3://b/in"
	tests := map[string]struct {
		trigger engine.EventTrigger
		mod     time.Duration // after noon
		whole   bool
		now     time.Duration
		want    arrival.Verdict
		wait    time.Duration
	}{
		"it lay there":                       {trigger: folder, mod: -time.Minute, now: time.Second, want: arrival.Old},
		"it came between publish and look":   {trigger: folder, mod: time.Second, now: time.Minute, want: arrival.Arrived},
		"it may still be written":            {trigger: folder, mod: time.Second, now: 2 * time.Second, want: arrival.TooYoung, wait: 2 * time.Second},
		"a file of ours is whole":            {trigger: folder, mod: time.Second, whole: true, now: 2 * time.Second, want: arrival.Arrived},
		"an object of a bucket is whole":     {trigger: bucket, mod: time.Second, now: time.Second, want: arrival.Arrived},
		"an old file that came later":        {trigger: based, mod: -time.Hour, now: time.Minute, want: arrival.Arrived},
		"of a clock that runs ahead":         {trigger: based, mod: time.Hour, now: time.Minute, want: arrival.Arrived},
		"times of buckets are whole seconds": {trigger: folder, mod: 0, now: time.Minute, want: arrival.Arrived},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, wait := arrival.Sight(&tt.trigger, engine.Object{ModNS: noon.Add(tt.mod).UnixNano()}, tt.whole, noon.Add(tt.now))

			if got != tt.want || wait != tt.wait {
				t.Errorf("Sight = %d, wait %s, want %d, wait %s", got, wait, tt.want, tt.wait)
			}
		})
	}
}
