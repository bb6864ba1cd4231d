package engine

import (
	"maps"
	"time"
)

// Workflow is one version of a workflow. Its graph is derived from its
// triggers; it keeps no list of its parts.
type Workflow struct {
	Head
	WorkflowBody
}

// WorkflowBody is what a version of a workflow, or its draft, holds.
type WorkflowBody struct {
	Description string            `json:"description,omitempty"`
	Triggers    []Trigger         `json:"triggers,omitempty"`
	Layout      map[string]Point  `json:"layout,omitempty"` // by card: Ref.String() or trigger id
	Cards       []Ref             `json:"cards,omitempty"`  // jobs and crawlers on the canvas that no trigger names yet
	Properties  map[string]string `json:"properties,omitempty"`
	MaxRuns     int               `json:"max_runs,omitempty"` // 0: no limit
	Timeout     Minutes           `json:"timeout,omitempty"`  // of a run as a whole; 0: no limit
}

// Point is the upper left corner of a card in canvas pixels at 100 %.
type Point struct {
	X int `json:"x"`
	Y int `json:"y"`
}

// TriggerType says what makes a trigger fire.
type TriggerType string

// The types of triggers.
const (
	OnDemand    TriggerType = "on_demand"
	Scheduled   TriggerType = "scheduled"
	Conditional TriggerType = "conditional"
	OnEvent     TriggerType = "event"
)

// Trigger starts jobs and crawlers.
type Trigger struct {
	ID        ID          `json:"id"`
	Name      string      `json:"name"`
	Type      TriggerType `json:"type"`
	Disabled  bool        `json:"disabled,omitempty"`
	Schedule  string      `json:"schedule,omitempty"` // cron(…) in Glue's six fields
	Zone      string      `json:"zone,omitempty"`     // IANA name; "" is UTC
	Missed    Missed      `json:"missed,omitempty"`   // of a schedule
	Overlap   Overlap     `json:"overlap,omitempty"`  // of a schedule
	Event     EventRule   `json:"event,omitzero"`     // of an event trigger
	Predicate Predicate   `json:"predicate,omitzero"`
	Actions   []Action    `json:"actions,omitempty"`
}

// Switched reports whether t has a switch on the screen: all but a person's start,
// which is a press of Run (A05). That of an event trigger says whether it takes
// events (ADR 0040).
func (t *Trigger) Switched() bool { return t.Type != OnDemand }

// Missed says what becomes of due times that passed while no server ran.
type Missed string

// The ways with missed times. Skipping is Glue's.
const (
	MissedSkip   Missed = ""
	MissedLatest Missed = "latest" // one run, for the last of them
	MissedAll    Missed = "all"    // a run for each, the last MostMissed at most
)

// MostMissed bounds how many missed times are made up for.
const MostMissed = 10

// Overlap says what becomes of a due time at which the workflow has as many
// runs as it may.
type Overlap string

// The ways with an overlap. Skipping is Glue's; the tick says why it started
// nothing.
const (
	OverlapSkip  Overlap = ""
	OverlapQueue Overlap = "queue" // it waits, one at most
)

// Logic joins the conditions of a predicate.
type Logic string

// The two logics of Glue.
const (
	All Logic = "all"
	Any Logic = "any"
)

// Predicate is what a conditional trigger waits for.
type Predicate struct {
	Logic      Logic       `json:"logic,omitempty"` // "" is All
	Conditions []Condition `json:"conditions,omitempty"`
}

// Condition is met when the watched node ends in State. State is one of
// Succeeded, Failed, TimedOut, Stopped; EndedAny for any end.
type Condition struct {
	Ref   Ref   `json:"ref"`
	State State `json:"state"`
}

// EndedAny is the condition state that every end of a node meets. It is not
// Glue's; the wire shows such a trigger as one condition for each state.
const EndedAny State = "any"

// Meets reports whether an end in state meets c.
func (c Condition) Meets(state State) bool {
	return c.State == state || c.State == EndedAny && state.Done() && state != Skipped
}

// Action starts one job or crawler.
type Action struct {
	Ref       Ref               `json:"ref"`
	Arguments map[string]string `json:"arguments,omitempty"`
	// Timeout and Retries, where they are set, count for this start of the job
	// instead of the job's own.
	Timeout Minutes `json:"timeout,omitempty"`
	Retries *int    `json:"retries,omitempty"`
}

// Passed lists, for each job and crawler, the arguments that every start of it is
// given: a job may read them though the workflow does not declare them.
func (w *WorkflowBody) Passed() map[Ref]map[string]string {
	passed := map[Ref]map[string]string{}
	for i := range w.Triggers {
		for _, a := range w.Triggers[i].Actions {
			before, seen := passed[a.Ref]
			if !seen {
				passed[a.Ref] = maps.Clone(a.Arguments)
				continue
			}
			maps.DeleteFunc(before, func(name, _ string) bool { _, also := a.Arguments[name]; return !also })
		}
	}
	return passed
}

// Trigger returns the trigger with that id, or nil.
func (w *WorkflowBody) Trigger(id ID) *Trigger {
	for i := range w.Triggers {
		if w.Triggers[i].ID == id {
			return &w.Triggers[i]
		}
	}
	return nil
}

// Refs lists every job and crawler on the canvas once, in the order of their
// first mention.
func (w *WorkflowBody) Refs() []Ref {
	var refs []Ref
	seen := map[Ref]bool{{}: true}
	add := func(r Ref) {
		if !seen[r] {
			seen[r] = true
			refs = append(refs, r)
		}
	}
	for _, t := range w.Triggers {
		for _, c := range t.Predicate.Conditions {
			add(c.Ref)
		}
		for _, a := range t.Actions {
			add(a.Ref)
		}
	}
	for _, r := range w.Cards {
		add(r)
	}
	return refs
}

// RunKind says what was started.
type RunKind string

// The kinds of runs.
const (
	RunWorkflow RunKind = "workflow"
	RunJob      RunKind = "job"
	RunCrawl    RunKind = "crawl"
)

// Run is one start of a workflow, a job or a crawler.
type Run struct {
	ID      ID      `json:"id"`
	Kind    RunKind `json:"kind"`
	Object  ID      `json:"object"` // the workflow, job or crawler
	Name    string  `json:"name"`   // of the object when the run started
	Version int     `json:"version"`
	// Body is the workflow's version that the run pinned; empty for a job or
	// crawl alone.
	Body       WorkflowBody      `json:"body,omitzero"`
	Properties map[string]string `json:"properties,omitempty"`
	By         string            `json:"by"`                // user name, "schedule" or "event"
	Trigger    ID                `json:"trigger,omitempty"` // the start trigger
	Due        time.Time         `json:"due,omitzero"`      // the schedule's instant
	// Pick, where it is set, are files read again beside the bookmark: nothing
	// else is read, and the bookmark stays where it is.
	Pick *Selection `json:"pick,omitempty"`
	// Previous is the run that this one goes on from.
	Previous ID `json:"previous,omitempty"`
	// Repeats is the run that somebody has run once more, as it was asked for.
	Repeats ID `json:"repeats,omitempty"`
	// Skips are the jobs and crawlers, by card, that a person has told not to run,
	// in words of who did and why. What has not had its turn is skipped when that
	// comes.
	Skips map[string]string `json:"skips,omitempty"`
	// Paused is when the run was paused; nothing of it starts until it goes on.
	Paused  time.Time `json:"paused,omitzero"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
	// Deadline is when the run is ended because it takes too long; zero: never.
	Deadline  time.Time `json:"deadline,omitzero"`
	StopAsked time.Time `json:"stop_asked,omitzero"`
	StopBy    string    `json:"stop_by,omitempty"`
	Outcome   Outcome   `json:"outcome,omitempty"`
	Error     string    `json:"error,omitempty"` // why it failed as a whole
	Seq       int64     `json:"seq"`             // of its newest event
}

// Open reports whether r has not ended.
func (r *Run) Open() bool { return r.Ended.IsZero() }

// TriggerRun is how far a trigger of a run has come.
type TriggerRun struct {
	Run     ID        `json:"run"`
	Trigger ID        `json:"trigger"`
	Met     int       `json:"met,omitempty"`  // conditions that are met
	Dead    int       `json:"dead,omitempty"` // conditions that can no longer be met
	FiredAt time.Time `json:"fired_at,omitzero"`
	DeadAt  time.Time `json:"dead_at,omitzero"`
}

// Decided reports whether t has fired or can no longer fire.
func (t *TriggerRun) Decided() bool { return !t.FiredAt.IsZero() || !t.DeadAt.IsZero() }

// Event is one line of a run's history. Seq is dense within a run, so that a
// reader who misses one knows it.
type Event struct {
	Run     ID        `json:"run"`
	Seq     int64     `json:"seq"`
	Kind    string    `json:"kind"`           // "run" | "node" | "trigger"
	Card    string    `json:"card,omitempty"` // Ref.String() or trigger id
	State   string    `json:"state"`          // the new state or outcome
	Start   int       `json:"start,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	At      time.Time `json:"at"`
	Text    string    `json:"text,omitempty"`
}

// Draft is an object as it is being edited: the open draft where there is one,
// else what is published.
type Draft[B any] struct {
	Head // of the published version
	Body B
	Open bool  // whether Body differs from what is published
	Seq  int64 // of the newest operation on the draft
}

// Schedule is a scheduled trigger of a published workflow and when it is due
// next; a zero Next never comes.
type Schedule struct {
	Trigger  ID
	Workflow ID
	Spec     string
	Zone     string
	Missed   Missed
	Overlap  Overlap
	Next     time.Time
	Last     time.Time
	// Held is the due time that waits for a run to end; zero where none does.
	Held time.Time
}

// Tick is what became of one due time.
type Tick struct {
	Due  time.Time
	Run  ID     // "" where none was started
	Note string // why not, or what was left out before it
}
