package engine

import "time"

// TooLate is from when on the lateness of a schedule is worth a look.
const TooLate = time.Minute

// Late is how long after the due time of its schedule the first job or crawler
// of r began to work, or has been waited for until now. Without nodes it is how
// long after it r was made. A run that no schedule was due for, or that goes on
// from another one, is not late.
func (r *Run) Late(nodes []NodeRun, now time.Time) time.Duration {
	if r.Due.IsZero() || r.Previous != "" {
		return 0
	}
	began := r.Started
	if len(nodes) > 0 {
		began = now
		if !r.Open() {
			began = r.Ended
		}
	}
	for i := range nodes {
		if at := nodes[i].Started; !at.IsZero() && at.Before(began) {
			began = at
		}
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
