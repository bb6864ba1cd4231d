package arrival

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"dogear/engine"
)

// Object is an object that a notification says was made.
type Object struct {
	Bucket, Key string
	Size        int64
	ETag        string
	At          time.Time
}

// notice holds the members of every form in which a bucket's notifications
// come: S3's own, EventBridge's, and either of them wrapped by SNS.
type notice struct {
	Records []record        `json:"Records"`
	Event   string          `json:"Event"` // s3:TestEvent
	Type    string          `json:"Type"`  // of SNS
	Message string          `json:"Message"`
	Kind    string          `json:"detail-type"`
	Time    time.Time       `json:"time"`
	Detail  json.RawMessage `json:"detail"`
}

type record struct {
	Name string    `json:"eventName"`
	Time time.Time `json:"eventTime"`
	S3   detail    `json:"s3"`
}

type detail struct {
	Bucket struct {
		Name string `json:"name"`
	} `json:"bucket"`
	Object struct {
		Key  string `json:"key"`
		Size int64  `json:"size"`
		ETag string `json:"eTag"` // "etag" in EventBridge; JSON in Go does not tell them apart
	} `json:"object"`
}

// Objects reads a notification: the objects that it says were made, none where
// it tells of something else, such as a removal or a test.
func Objects(body []byte) ([]Object, error) {
	return objects(body, 1)
}

func objects(body []byte, wraps int) ([]Object, error) {
	var n notice
	if err := json.Unmarshal(body, &n); err != nil {
		return nil, engine.Errorf(engine.Invalid, "A message of the queue is no JSON: %w", err)
	}
	switch {
	case n.Type == "Notification" && wraps > 0:
		return objects([]byte(n.Message), wraps-1)
	case n.Event == "s3:TestEvent":
		return nil, nil
	case n.Kind != "":
		return bridged(&n)
	case n.Records == nil:
		return nil, engine.Errorf(engine.Invalid, "A message of the queue is no notification of a bucket.")
	}
	var made []Object
	for _, r := range n.Records {
		if !strings.HasPrefix(strings.TrimPrefix(r.Name, "s3:"), "ObjectCreated:") {
			continue
		}
		key, err := url.QueryUnescape(r.S3.Object.Key) // blanks come as +
		if err != nil {
			return nil, engine.Errorf(engine.Invalid, "A notification names the object %q, which cannot be decoded.", r.S3.Object.Key)
		}
		made = append(made, Object{Bucket: r.S3.Bucket.Name, Key: key, Size: r.S3.Object.Size, ETag: r.S3.Object.ETag, At: r.Time})
	}
	return made, nil
}

// bridged reads the form of EventBridge, which encodes no keys.
func bridged(n *notice) ([]Object, error) {
	if n.Kind != "Object Created" {
		return nil, nil
	}
	var d detail
	if err := json.Unmarshal(n.Detail, &d); err != nil {
		return nil, engine.Errorf(engine.Invalid, "A notification of a bucket cannot be read: %w", err)
	}
	return []Object{{Bucket: d.Bucket.Name, Key: d.Object.Key, Size: d.Object.Size, ETag: d.Object.ETag, At: n.Time}}, nil
}
