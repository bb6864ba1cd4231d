// Package draft holds the rules of editing a workflow: the operations that a
// canvas or a form sends, what each does to the draft, when it is refused and in
// which words, how it is undone, and what still stands between the draft and a
// workflow that runs.
//
// Nobody saves a whole graph. A client sends operations with the sequence it
// has seen; they are applied to the newest draft, whatever came in between. So
// two people who edit at the same time both keep their edits, and an operation
// is refused only where it is no longer possible.
package draft

import (
	"dogear/engine"
)

// Kind says what an operation does.
type Kind string

// The operations.
const (
	AddNode       Kind = "add_node"       // puts the job or crawler Card on the canvas
	DelNode       Kind = "del_node"       // takes it off the canvas; the job itself stays
	Move          Kind = "move"           // places cards
	Connect       Kind = "connect"        // from Card to To
	Disconnect    Kind = "disconnect"     // the edge from Card to To
	AddTrigger    Kind = "add_trigger"    // puts New on the canvas
	DelTrigger    Kind = "del_trigger"    // deletes the trigger Card
	SetTrigger    Kind = "set_trigger"    // changes fields of the trigger Card
	SetCondition  Kind = "set_condition"  // changes the state that the trigger Card waits for
	SetStart      Kind = "set_start"      // changes what the trigger Card passes to To, and the limits of that start
	SetProperties Kind = "set_properties" // changes the workflow's properties
	SetWorkflow   Kind = "set_workflow"   // changes its description and limit of runs
	Tidy          Kind = "tidy"           // places every card anew
	Restore       Kind = "restore"        // applies Delta: an undo or a redo
	Earlier       Kind = "earlier"        // applies Delta, which makes it what an earlier version was
	Import        Kind = "import"         // replaced the whole by a file; no client sends it
	Switch        Kind = "switch"         // turned a trigger in what runs and here, at once; no client sends it
)

// Op is one operation. ID makes a repeated request harmless; operations with
// the same Act are one act of a person and are undone together.
type Op struct {
	ID   string `json:"id"`
	Act  string `json:"act,omitempty"` // "" is ID
	Kind Kind   `json:"op"`

	Card string                  `json:"card,omitempty"`
	To   string                  `json:"to,omitempty"`
	At   *engine.Point           `json:"at,omitempty"`
	Move map[string]engine.Point `json:"move,omitempty"`
	// Cards are the conditions that Tidy gives a place, though they are lines
	// once they are built.
	Cards []string `json:"cards,omitempty"`

	// Trigger is the id that a connection of two nodes gives to the trigger it
	// makes; with Join it adds the condition to that trigger instead.
	Trigger engine.ID    `json:"trigger,omitempty"`
	Join    bool         `json:"join,omitempty"`
	Logic   engine.Logic `json:"logic,omitempty"`
	Name    string       `json:"name,omitempty"`

	New   *engine.Trigger `json:"new,omitempty"`
	Patch *Fields         `json:"patch,omitempty"`
	Prev  *Fields         `json:"prev,omitempty"` // what the person saw before the change

	Delta *Delta `json:"delta,omitempty"`
	Of    Of     `json:"of,omitempty"`
}

// Of says what a Restore is.
type Of string

// The two restores.
const (
	Undo Of = "undo"
	Redo Of = "redo"
)

// act is what o is undone with.
func (o *Op) act() string {
	if o.Act != "" {
		return o.Act
	}
	return o.ID
}

// Fields are the values that a form changes. A nil field is left as it is.
type Fields struct {
	Name        *string            `json:"name,omitempty"`
	Schedule    *string            `json:"schedule,omitempty"`
	Zone        *string            `json:"zone,omitempty"`
	Missed      *engine.Missed     `json:"missed,omitempty"`
	Overlap     *engine.Overlap    `json:"overlap,omitempty"`
	Event       *engine.EventRule  `json:"event,omitempty"`
	Disabled    *bool              `json:"disabled,omitempty"`
	Logic       *engine.Logic      `json:"logic,omitempty"`
	State       *engine.State      `json:"state,omitempty"`
	Description *string            `json:"description,omitempty"`
	MaxRuns     *int               `json:"max_runs,omitempty"`
	Timeout     *engine.Minutes    `json:"timeout,omitempty"`   // of a run
	Arguments   *map[string]string `json:"arguments,omitempty"` // of a start
	Limits      *Limits            `json:"limits,omitempty"`    // of a start
	// Properties holds the properties to set; a nil value removes one.
	Properties map[string]*string `json:"properties,omitempty"`
}

// Limits are what counts for one start of a job instead of its own limits. A
// timeout of 0 and retries of nil are the job's.
type Limits struct {
	Timeout engine.Minutes `json:"timeout,omitempty"`
	Retries *int           `json:"retries,omitempty"`
}

// LimitsOf are the limits that an action sets.
func LimitsOf(a engine.Action) Limits { return Limits{Timeout: a.Timeout, Retries: a.Retries} }

// Equal reports whether l says the same as other.
func (l Limits) Equal(other Limits) bool {
	if l.Retries == nil || other.Retries == nil {
		return l == other
	}
	return l.Timeout == other.Timeout && *l.Retries == *other.Retries
}

// Names knows the jobs and crawlers that exist, by the name they have now.
type Names map[engine.Ref]string

// Of returns the name of ref, or a word for what it was.
func (n Names) Of(ref engine.Ref) string {
	if name, ok := n[ref]; ok {
		return name
	}
	return "a deleted " + string(ref.Kind)
}

// connection is the name of a connection, or its id where nobody has told the name;
// "" is this machine.
func (n Names) connection(id engine.ID) string {
	if name, ok := n[engine.Ref{Kind: engine.KindConnection, ID: id}]; ok {
		return name
	}
	return string(id)
}

// MaxCards is the most cards a workflow may have.
const MaxCards = 2000

// Apply returns body after op and the change that op made, leaving body as it
// was. A refusal is a *Refusal.
func Apply(body engine.WorkflowBody, op Op, names Names) (engine.WorkflowBody, Delta, error) {
	next := clone(body)
	e := &edit{body: &next, names: names}
	if err := e.do(op); err != nil {
		return body, Delta{}, err
	}
	e.settle(body)
	delta := Between(body, next)
	if err := check(body, next, delta, names); err != nil {
		return body, Delta{}, err
	}
	return next, delta, nil
}
