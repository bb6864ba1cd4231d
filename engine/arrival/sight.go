package arrival

import (
	"encoding/json"
	"time"

	"dogear/engine"
)

// Verdict is what a look makes of a file that it does not know as it is.
type Verdict int

// The verdicts.
const (
	Arrived  Verdict = iota
	Old              // it lay there before the trigger began to look
	TooYoung         // it may still be being written
)

// Sight judges an object at the place of t, and says after what time to look
// again where it is too young. whole says that it got its name when it was
// complete.
func Sight(t *engine.EventTrigger, o engine.Object, whole bool, now time.Time) (Verdict, time.Duration) {
	if t.Based.IsZero() && before(o.Mod(), t.Since) {
		return Old, 0
	}
	settle := Settle(t.Rule)
	if whole {
		settle = 0
	}
	if age := now.Sub(o.Mod()); age >= 0 && age < settle {
		return TooYoung, settle - age
	}
	return Arrived, 0
}

// before reports whether a file was there when its trigger began to look. Object
// stores know times by the second.
func before(at, since time.Time) bool { return at.Before(since.Truncate(time.Second)) }

// Seen is the sighting of an object that List names key, which lies at address.
// It has an event where event is set.
func Seen(t *engine.EventTrigger, o engine.Object, address string, event bool, now time.Time) engine.Sighting {
	found := engine.Sighting{Key: o.Key, Mark: Mark(o)}
	if !event {
		return found
	}
	detail := struct {
		Path     string    `json:"path"`
		Size     int64     `json:"size"`
		Modified time.Time `json:"modified"`
		ETag     string    `json:"etag,omitempty"`
	}{address, o.Size, o.Mod(), o.ETag}
	text, err := json.Marshal(detail)
	if err != nil {
		text = nil // texts, numbers and times always encode
	}
	found.Event = &engine.TriggerEvent{Trigger: t.Trigger, ID: string(engine.NewID(now)), At: now, Detail: string(text)}
	return found
}

// Told is the sighting of an object that a notification tells of. What was made
// before the trigger began to look is remembered and no event.
func Told(t *engine.EventTrigger, o Object, key, address string, now time.Time) engine.Sighting {
	object := engine.Object{Key: key, Size: o.Size, ETag: o.ETag, ModNS: o.At.UnixNano()}
	return Seen(t, object, address, !before(o.At, t.Since), now)
}

// Message is one message of a queue.
type Message struct {
	Handle string // by which it is deleted
	Body   []byte
}
