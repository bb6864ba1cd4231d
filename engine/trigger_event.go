package engine

import "time"

// EventSource says where the events of an event trigger come from.
type EventSource string

// The sources of events.
const (
	EventCalls EventSource = "calls" // signed calls over HTTP
	EventFiles EventSource = "files" // files that arrive in a folder or bucket
)

// EventRule is what an event trigger waits for and how much of it starts a run:
// Glue's EventBatchingCondition, and the source, which Glue leaves to
// EventBridge. It is comparable.
type EventRule struct {
	Source EventSource `json:"source,omitempty"` // "" is EventCalls
	// Size is how many events start a run, 1 to 100 (Glue's BatchSize).
	Size int `json:"size,omitempty"`
	// Window is after how many seconds a smaller batch starts a run, counted from
	// its first event, 1 to 900 (Glue's BatchWindow); 0 is 900.
	Window int `json:"window,omitempty"`

	// Of files that arrive.
	Connection ID     `json:"connection,omitempty"` // of a bucket; "" is this machine or the ordinary AWS chain
	Path       string `json:"path,omitempty"`       // folder or s3:// address, with a pattern where it has one
	Every      int    `json:"every,omitempty"`      // seconds between two looks; 0: a minute, with a queue an hour
	Settle     int    `json:"settle,omitempty"`     // seconds that a file lies unchanged first; 0: 3 in a folder, none in a bucket
	// Queue is the address of an SQS queue that the bucket's notifications go
	// to; with one, looks are only made to miss nothing.
	Queue string `json:"queue,omitempty"`
}

// EventTrigger is an event trigger of a published workflow and what waits for
// it.
type EventTrigger struct {
	Trigger  ID
	Workflow ID
	Rule     EventRule
	Active   bool      // a disabled one takes no events and starts nothing
	Since    time.Time // when it began to look at its place
	// Based is when its place had been looked through for the first time; zero
	// before that. What lay there already is no arrival.
	Based   time.Time
	Looked  time.Time // when its place was last looked at
	Trouble string    // why the last look failed
	Held    string    // why a batch that is complete waits
	Waiting int       // events that wait for a run
	First   time.Time // when the first of them came
}

// TriggerEvent is one event of an event trigger. It is kept before it is
// acknowledged, and used up by the transaction that starts its run.
type TriggerEvent struct {
	Trigger ID        `json:"trigger"`
	ID      string    `json:"id"` // unique for a trigger; the sender's where there is one
	At      time.Time `json:"at"`
	Detail  string    `json:"detail,omitempty"` // JSON, as it was sent
	Run     ID        `json:"run,omitempty"`    // that it started; "" while it waits
	Note    string    `json:"note,omitempty"`   // why it will never start one
}

// Waits reports whether e still waits for a run.
func (e *TriggerEvent) Waits() bool { return e.Run == "" && e.Note == "" }

// Sighting is one file that a look or a notification found at the place of an
// event trigger.
type Sighting struct {
	Key   string        // relative to the place
	Mark  string        // what tells one content from another
	Event *TriggerEvent // nil where the file is only to be remembered
}

// MostWaiting is how many events of one trigger may wait; beyond it the sender
// keeps them.
const MostWaiting = 10_000

// MaxDetail is the most bytes of an event's detail.
const MaxDetail = 256 << 10
