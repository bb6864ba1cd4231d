package engine

import (
	"time"

	"github.com/oklog/ulid/v2"
)

// TwinWindow is how long after a run another one that asks for the same is taken
// for a possible mistake: a second click, or a client that asked again because
// it had no answer (A20).
const TwinWindow = 5 * time.Minute

// Twin is an earlier run of the same workflow, job or crawler with the same
// properties; where a run goes on from another, one that goes on from that one as
// well and does the same nodes again.
type Twin struct {
	Run    ID
	Before time.Duration // by how much it started earlier
}

// ByHand reports whether somebody asked for r, and not as a repeat of an earlier run:
// no schedule and no event did. A run that goes on from one of a schedule keeps its
// due time, and was asked for.
func (r *Run) ByHand() bool {
	return r.Repeats == "" && (r.Due.IsZero() || r.Previous != "") && r.By != "schedule" && r.By != "event"
}

// LeastID is not greater than any id that is made at that time or later.
func LeastID(at time.Time) ID {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at)) // fails after the year 10889 only
	return ID(id.String())
}
