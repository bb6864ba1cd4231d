// Package arrival holds the rules of event triggers: what a rule may say, when
// a batch of events starts a run, how a call proves who sent it, and what a
// notification of a bucket means. It is pure.
package arrival

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"dogear/engine"
)

// The bounds of AWS Glue's EventBatchingCondition.
const (
	MaxSize       = 100
	MaxWindow     = 900 // seconds
	DefaultWindow = 900
)

const (
	maxText   = 2048
	maxEvery  = 86_400 // seconds
	maxSettle = 86_400

	defaultEvery  = time.Minute
	queueEvery    = time.Hour // a queue tells at once; a look finds what it lost
	defaultSettle = 3 * time.Second
)

// Faults lists what is wrong in a rule, by the field of the form: "size". Whether
// it is complete is said by Missing: a draft may lack its path.
func Faults(r engine.EventRule) []engine.Fault {
	var found []engine.Fault
	wrong := func(is bool, field, format string, args ...any) {
		if is {
			found = append(found, engine.Fault{Field: field, Message: fmt.Sprintf(format, args...)})
		}
	}
	wrong(r.Source != "" && r.Source != engine.EventCalls && r.Source != engine.EventFiles, "source",
		"Events are calls over HTTP or files that arrive; there is no %q.", r.Source)
	wrong(r.Size < 0 || r.Size > MaxSize, "size", "A batch has 1 to %d events.", MaxSize)
	wrong(r.Window < 0 || r.Window > MaxWindow, "window", "A batch waits 1 to %d seconds after its first event.", MaxWindow)
	wrong(r.Every < 0 || r.Every > maxEvery, "every", "Look every 1 to %d seconds.", maxEvery)
	wrong(r.Settle < 0 || r.Settle > maxSettle, "settle", "A file settles for at most %d seconds.", maxSettle)
	wrong(len(r.Path) > maxText, "path", "The path is too long.")
	_, err := engine.ParseID(string(r.Connection))
	wrong(r.Connection != "" && err != nil, "connection", "The connection %q does not exist.", r.Connection)
	wrong(r.Queue != "" && !isQueue(r.Queue), "queue",
		"The address of a queue begins with https:// and ends with its name, such as https://sqs.eu-west-1.amazonaws.com/123456789012/arrivals.")
	wrong(r.Queue != "" && r.Path != "" && !IsBucket(r), "queue",
		"A queue tells of files in a bucket; give a path that begins with s3://, or no queue.")
	return found
}

// Check refuses a rule that no trigger may have.
func Check(r engine.EventRule) error {
	if found := Faults(r); len(found) > 0 {
		return engine.Errorf(engine.Invalid, "%s", found[0].Message)
	}
	return nil
}

func isQueue(address string) bool {
	at, err := url.Parse(address)
	return err == nil && len(address) <= maxText && (at.Scheme == "https" || at.Scheme == "http") && at.Host != "" &&
		strings.Trim(at.Path, "/") != "" && at.User == nil && at.RawQuery == ""
}

// Missing says what a rule lacks before it can be published, or nil.
func Missing(r engine.EventRule) error {
	if err := Check(r); err != nil {
		return err
	}
	switch {
	case r.Size == 0:
		return engine.Errorf(engine.Invalid, "Say how many events start a run.")
	case r.Source != engine.EventFiles:
		return nil
	case r.Path == "":
		return engine.Errorf(engine.Invalid, "Say in which folder or bucket the files arrive.")
	}
	return nil
}

// Window is how long a batch waits after its first event.
func Window(r engine.EventRule) time.Duration {
	if r.Window == 0 {
		return DefaultWindow * time.Second
	}
	return time.Duration(r.Window) * time.Second
}

// Every is how long it is from one look at the place of files to the next.
func Every(r engine.EventRule) time.Duration {
	switch {
	case r.Every > 0:
		return time.Duration(r.Every) * time.Second
	case r.Queue != "":
		return queueEvery
	}
	return defaultEvery
}

// Settle is how long a file lies unchanged before it has arrived. An object of
// a bucket appears whole.
func Settle(r engine.EventRule) time.Duration {
	switch {
	case r.Settle > 0:
		return time.Duration(r.Settle) * time.Second
	case IsBucket(r):
		return 0
	}
	return defaultSettle
}

// IsBucket reports whether the files of a rule arrive in a bucket.
func IsBucket(r engine.EventRule) bool { return strings.HasPrefix(r.Path, "s3://") }

// Place is the rule's place as a source that can be listed.
func Place(r engine.EventRule) engine.Source {
	return engine.Source{Name: "events", Connection: r.Connection, Path: r.Path}
}

// SamePlace reports whether two rules look at the same place, so that what was
// seen for one counts for the other.
func SamePlace(a, b engine.EventRule) bool {
	return a.Source == b.Source && a.Connection == b.Connection && a.Path == b.Path
}

// Words says what starts a run, for a card: "Each call", "10 files, or 15 min".
func Words(r engine.EventRule) string {
	what := "call"
	if r.Source == engine.EventFiles {
		what = "file"
	}
	if r.Size <= 1 {
		return "Each " + what
	}
	return fmt.Sprintf("%d %ss, or %s", r.Size, what, spell(Window(r)))
}

// spell writes a duration in its largest whole unit.
func spell(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}

// Sentence says the whole rule.
func Sentence(r engine.EventRule) string {
	what := "A run starts for each call."
	if r.Size > 1 {
		what = fmt.Sprintf("A run starts for %d calls, or %s after the first of fewer.", r.Size, spell(Window(r)))
	}
	if r.Source == engine.EventFiles {
		what = strings.Replace(strings.Replace(what, "calls", "files", 1), "call", "file", 1)
	}
	return what
}
