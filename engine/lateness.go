package engine

import (
	"slices"
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

// HeldBack reports that words say of a node run that it waits, or waited, for such a
// thing.
func HeldBack(words string) bool {
	return slices.ContainsFunc(SetByPeople(), func(lead string) bool { return strings.HasPrefix(words, lead) })
}

// Beginning is what is known of how a run of a schedule began.
type Beginning struct {
	Due, Made time.Time
	Began     time.Time // when the first of its nodes did; zero while none has
	Ended     time.Time // zero while it has not
	// Held says that its first work waits, or waited, for what a person has set.
	Held bool
}

// Late is how long after its due time the run began to work, or has been waited for until
// now. One that is held back is as late as it was made. Pages, Health, the command line
// and the metrics all go by this.
func (b Beginning) Late(now time.Time) time.Duration {
	at := now
	switch {
	case b.Held:
		at = b.Made
	case !b.Began.IsZero():
		at = b.Began
	case !b.Ended.IsZero():
		at = b.Ended
	}
	return max(0, at.Sub(b.Due))
}

// Waits reports that such a run has not begun to work, and could.
func (b Beginning) Waits() bool { return b.Began.IsZero() && b.Ended.IsZero() && !b.Held }

// Late is how late r began, as Beginning has it, with its nodes. Without nodes it is how
// long after the due time r was made. A run that no schedule was due for, or that goes on
// from another one, is not late.
func (r *Run) Late(nodes []NodeRun, now time.Time) time.Duration {
	if !r.Scheduled() {
		return 0
	}
	b := Beginning{Due: r.Due, Made: r.Started, Ended: r.Ended, Held: len(nodes) == 0}
	for i := range nodes {
		n := &nodes[i]
		switch {
		case n.Started.IsZero() && b.Began.IsZero():
			b.Held = b.Held || HeldBack(n.Waits())
		case !n.Started.IsZero() && (b.Began.IsZero() || n.Started.Before(b.Began)):
			b.Began, b.Held = n.Started, n.Held
		}
	}
	return b.Late(now)
}

// Scheduled reports whether r is the run of a due time, and goes on from no other.
func (r *Run) Scheduled() bool { return !r.Due.IsZero() && r.Previous == "" }

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
