package arrival

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
)

// Batch says how many of the waiting events start a run now, the oldest first.
// Where that is none, at is when it will be otherwise though no other event
// comes; zero where nothing waits. A batch is complete with its size, or a
// window after its first event (glue-semantics 2.7).
func Batch(r engine.EventRule, waiting int, first, now time.Time) (n int, at time.Time) {
	if waiting == 0 {
		return 0, time.Time{}
	}
	size := max(r.Size, 1)
	if waiting >= size {
		return size, now
	}
	if end := first.Add(Window(r)); now.Before(end) {
		return 0, end
	}
	return waiting, now
}

// IDsProperty is the run property in which Glue hands over the ids of the
// events that started a run.
const IDsProperty = "aws:eventIds"

// IDs writes ids as Glue does: "[a, b]", which is no JSON.
func IDs(ids []string) string { return "[" + strings.Join(ids, ", ") + "]" }

// EventsProperty is the run property in which a run that events started is told what
// came: a list in JSON, the oldest first. Glue has none; there a script asks other
// services for its events by their ids.
const EventsProperty = "dogear:events"

// Tells reports whether a property is one by which a run is told of its events, and
// that nobody else may set.
func Tells(property string) bool { return property == IDsProperty || property == EventsProperty }

// MostTold is how many bytes of details a run is told: a script gets its properties as
// arguments, of which Linux takes 128 KiB each.
const MostTold = 64 << 10

// Telling is what a run is told of its events: of each its id, when it came, and its
// detail, which of a file that arrived says its path, size and time. A detail that
// would make the whole too long is left out.
func Telling(events []engine.TriggerEvent) string {
	type told struct {
		ID     string          `json:"id"`
		At     time.Time       `json:"at"`
		Detail json.RawMessage `json:"detail,omitempty"`
	}
	list, size := make([]told, len(events)), 0
	for i := range events {
		e := &events[i]
		list[i] = told{ID: e.ID, At: e.At.UTC()}
		if size+len(e.Detail) <= MostTold && json.Valid([]byte(e.Detail)) {
			list[i].Detail, size = json.RawMessage(e.Detail), size+len(e.Detail)
		}
	}
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	if to.Encode(list) != nil {
		return "[]" // ids, times and valid JSON always encode
	}
	return strings.TrimSpace(text.String())
}

// maxID is the longest id of an event.
const maxID = 128

// CheckID refuses an id that could not stand in a list of ids, in a log, or before
// the point that ends it in what is signed.
func CheckID(id string) error {
	if id == "" || len(id) > maxID {
		return engine.Errorf(engine.Invalid, "The id of an event has 1 to %d characters.", maxID)
	}
	for _, r := range id {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_:/+=", r)
		if !ok {
			return engine.Errorf(engine.Invalid, "The id of an event holds letters, digits and -_:/+= only.")
		}
	}
	return nil
}

// Mark tells one content of an object from another: a file that is written anew
// has arrived anew.
func Mark(o engine.Object) string {
	if o.ETag != "" {
		return o.ETag + " " + strconv.FormatInt(o.Size, 10)
	}
	return strconv.FormatInt(o.ModNS, 10) + " " + strconv.FormatInt(o.Size, 10)
}
