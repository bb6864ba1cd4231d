package engine

import "time"

// Check is one of the things that must hold at any moment, whatever was killed
// between two steps (docs/adr/0024), and where it does not. A check reports and never repairs: what breaks a rule is a
// defect, and hiding it would keep it.
type Check struct {
	ID     string // I3, I4 … as in the tests
	Rule   string // a whole sentence
	Broken []Broken
}

// Broken is one place where a check fails.
type Broken struct {
	Run  ID     // "" where it is about no run
	What string // in words
}

// Health is what a look at all checks found.
type Health struct {
	At     time.Time
	Took   time.Duration
	Checks []Check
	// Servers are those of the database, those that work first, then the oldest.
	Servers []Replica
	// Late are the starts of schedules that were, or are, more than TooLate late.
	Late []LateStart
}

// Well reports that nothing is broken.
func (h *Health) Well() bool {
	for i := range h.Checks {
		if len(h.Checks[i].Broken) > 0 {
			return false
		}
	}
	return true
}
