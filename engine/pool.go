package engine

import "strings"

// Pool bounds how many node runs that share something work at once, over all
// workflows and servers: connections to a database, calls to a service.
type Pool struct {
	Name   string `json:"name"`
	Places int    `json:"places"`
	// Taken and Waiting are how many node runs hold a place and wait for one.
	Taken   int `json:"taken"`
	Waiting int `json:"waiting"`
	// Jobs are the published jobs that name it.
	Jobs []Head `json:"jobs,omitempty"`
}

// MostPlaces bounds the places of a pool: beyond it a slip of the keyboard would
// be taken for a wish.
const MostPlaces = 10_000

// Faults lists what is wrong with the name or the places of a pool.
func (p *Pool) Faults() []Fault {
	var f faults
	if err := CheckName("pool", p.Name); err != nil {
		f.add("name", "%s", MessageOf(err))
	} else if p.Name != strings.TrimSpace(p.Name) {
		f.add("name", "The name %q begins or ends with a blank, which nobody sees where a job names its pool. Leave it out.", p.Name)
	}
	if p.Places < 0 || p.Places > MostPlaces {
		f.add("places", "Write a number of places from 0 to %d; with 0 nothing of it starts.", MostPlaces)
	}
	return f
}

// Shut says that nothing starts in p because it has no places, which is a way to hold
// what shares it; "" where it has some.
func (p *Pool) Shut() string {
	if p.Places > 0 {
		return ""
	}
	return "Nothing starts in this pool until it has places."
}

// Refusal says why the pool cannot be deleted, or nil. What waits in it is no
// reason: it is then bounded by the slots alone.
func (p *Pool) Refusal() error {
	switch {
	case p.Name == Backfills:
		return Errorf(Conflict, "The pool %s is always there. Give it another number of places.", Backfills)
	case len(p.Jobs) > 0:
		return Errorf(Conflict, "The pool %s is used by job %s. Choose another pool there and publish, then delete it.", p.Name, someNames(p.Jobs))
	}
	return nil
}

// Backfills is the pool of runs that read old files again, where their job
// names no other: they must not crowd out what is due today. It is always
// there.
const Backfills = "backfills"

// InBackfills says what is in the pool Backfills.
const InBackfills = "Runs that read old files again, where their job is in no other pool."

// DefaultBackfills is how many places it has before anybody changes that.
const DefaultBackfills = 2

// Lane is where a node run waits.
type Lane struct {
	// Pool is the name of its pool, "" for none.
	Pool string `json:"pool,omitempty"`
	// Priority is how early its turn comes: of those that wait the highest
	// first, of equals that of the oldest run.
	Priority int `json:"priority,omitempty"`
}

// The bounds of a priority.
const (
	LeastPriority = -100
	MostPriority  = 100
)

// PoolFaults lists that the pool of l is none of those that places knows: a job
// in it would wait for nothing and be bounded by nothing.
func (l Lane) PoolFaults(places map[string]int) []Fault {
	var f faults
	if _, ok := places[l.Pool]; l.Pool != "" && !ok {
		f.add("pool", "There is no pool %s. Choose another one, or make it under Pools first.", l.Pool)
	}
	return f
}

// Behind is the lane of a run that reads old files again: behind everything
// else of its job.
func (l Lane) Behind() Lane {
	if l.Pool == "" {
		l.Pool = Backfills
	}
	l.Priority = max(LeastPriority, min(l.Priority, 0)-10)
	return l
}
