package engine

import "time"

// Replica is one server of a database. Several may work on one PostgreSQL;
// each holds a lease that it renews, and whose work others take up once it has
// run out.
type Replica struct {
	ID      ID        `json:"id"` // another one each time a server starts
	Host    string    `json:"host"`
	Process Process   `json:"process"`
	Address string    `json:"address,omitempty"` // at which people reach it
	Started time.Time `json:"started"`
	// Left is how long its lease still holds, by the database's clock; not
	// above zero once it has run out.
	Left time.Duration `json:"left"`
	// Silent is how long ago it was last heard of, by the same clock; below zero
	// where that is not known, of a server of an earlier version.
	Silent time.Duration `json:"silent"`
}

// Alive reports whether the lease of r holds.
func (r *Replica) Alive() bool { return r.Left > 0 }
