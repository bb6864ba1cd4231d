package engine

import "time"

// Table is one version of a table of the catalog.
type Table struct {
	ID         ID                `json:"id"`
	Database   string            `json:"database"` // lower case
	Name       string            `json:"name"`     // lower case
	Version    int               `json:"version"`
	Location   string            `json:"location"`
	Connection ID                `json:"connection,omitempty"`
	Format     Format            `json:"format"`
	Dialect    Dialect           `json:"dialect,omitzero"`
	Columns    []Column          `json:"columns"`
	Keys       []Column          `json:"keys,omitempty"` // partition columns
	Parameters map[string]string `json:"parameters,omitempty"`
	OwnerJob   ID                `json:"owner_job,omitempty"` // the job whose sink owns it
	By         string            `json:"by"`                  // job, crawler or user
	Run        ID                `json:"run,omitempty"`
	At         time.Time         `json:"at"`
	Partitions int64             `json:"partitions"`
	Rows       int64             `json:"rows"` // 0 where nobody counted
	Bytes      int64             `json:"bytes"`
}

// FullName is database.table.
func (t *Table) FullName() string { return t.Database + "." + t.Name }

// Partition is one partition of a table.
type Partition struct {
	Table    ID        `json:"table"`
	Values   []string  `json:"values"`
	Location string    `json:"location"`
	Files    int64     `json:"files"`
	Rows     int64     `json:"rows"`
	Bytes    int64     `json:"bytes"`
	Run      ID        `json:"run,omitempty"`
	At       time.Time `json:"at"`
}

// TableChange is what an attempt found out about one table. It is written once,
// in the transaction that ends the attempt.
type TableChange struct {
	Table Table `json:"table"`
	// Partitions are those that were added or changed. One without files is
	// dropped.
	Partitions []Partition `json:"partitions,omitempty"`
	// Adds says that the files, rows and bytes of Partitions are those of this
	// batch alone and come on top of what is there: an append.
	Adds bool `json:"adds,omitempty"`
	// Whole says that Table and Partitions are all there is: other partitions
	// are dropped, and columns that Table does not name are too.
	Whole bool `json:"whole"`
}
