package arrival

import (
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
