package engine

import (
	"strings"
	"time"
)

// TooLate is from when on the lateness of a schedule is worth a look.
const TooLate = time.Minute

// What a node run begins to say that waits because of what a person has set: the places
// of a pool, how often a job may run at once, or that its run is paused.
const (
	WaitsForPool  = "waits for the pool "
	WaitsForPlace = "waits for a place in the pool "
	WaitsForOther = "waits until another " // run of it has ended, here or on another server
	WaitsToGoOn   = "waits until its run goes on"
)

// SetByPeople are those beginnings. Whoever waits so is not late: the engine does what
// it was told.
func SetByPeople() []string {
	return []string{WaitsForPool, WaitsForPlace, WaitsForOther, WaitsToGoOn}
}

// heldBack reports a node run that waits for such a thing.
func (n *NodeRun) heldBack() bool {
	for _, lead := range SetByPeople() {
		if strings.HasPrefix(n.Waits(), lead) {
			return true
		}
	}
	return false
}

// Late is how long after the due time of its schedule the first job or crawler
// of r began to work, or has been waited for until now. Without nodes it is how
// long after it r was made, and so it is while the first of them waits for what a
// person has set. A run that no schedule was due for, or that goes on from another
// one, is not late.
func (r *Run) Late(nodes []NodeRun, now time.Time) time.Duration {
	if r.Due.IsZero() || r.Previous != "" {
		return 0
	}
	began, held := time.Time{}, len(nodes) == 0
	for i := range nodes {
		held = held || nodes[i].heldBack()
		if at := nodes[i].Started; !at.IsZero() && (began.IsZero() || at.Before(began)) {
			began = at
		}
	}
	switch {
	case !began.IsZero():
	case held:
		began = r.Started
	case r.Open():
		began = now
	default:
		began = r.Ended
	}
	return max(0, began.Sub(r.Due))
}

// Coming says when a schedule starts its next run.
type Coming struct {
	// At is the next due time after now; zero is never.
	At time.Time
	// Paused says that the schedule is turned off.
	Paused bool
	// Overdue is how long a due time that has come waits for its run to start.
	Overdue time.Duration
}

// Comes says when a scheduled trigger of a published workflow starts its next
// run. s is its row in the database, nil where there is none; after says when
// the trigger is due after a time. What is shown is never in the past: a due
// time that has come waits, and the one after it is the next.
func (t *Trigger) Comes(s *Schedule, now time.Time, after func(Trigger, time.Time) time.Time) Coming {
	switch {
	case t.Disabled || s == nil:
		return Coming{Paused: t.Disabled}
	case s.Next.IsZero() || s.Next.After(now):
		return Coming{At: s.Next}
	}
	return Coming{At: after(*t, now), Overdue: now.Sub(s.Next)}
}

// LateStart is a due time of a schedule whose run began to work too late, or
// does not yet.
type LateStart struct {
	Workflow ID
	Name     string // of the workflow
	Run      ID     // "" where none was made yet
	Due      time.Time
	Late     time.Duration
	Waits    bool // until now
}
