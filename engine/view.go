package engine

import "fmt"

// RunFilter says which runs a list shows. The zero value is all of them,
// newest first.
type RunFilter struct {
	Object  ID // runs of this workflow, job or crawler
	Outcome Outcome
	Open    bool   // only runs that have not ended
	Name    string // part of the name, in any case
	ID      string // part of the id, in any case
	Before  ID     // only runs older than this one
	Limit   int    // 0 is 50
}

// Totals count what the navigation shows.
type Totals struct {
	Workflows   int64
	Jobs        int64
	Crawlers    int64
	Connections int64
	OpenRuns    int64
	Bookmarks   int64
	Tables      int64
}

// Level is one level of a folder or bucket, for the path picker.
type Level struct {
	Address string // of this level; "" is the top
	Parent  string
	Folders []string // names; whole addresses at the top
	Files   []Object // keys are names
	More    bool     // there are more than are shown
}

// Rows are rows as DuckDB prints them, so that no number is rounded on its way
// to a screen. A nil cell is NULL.
type Rows struct {
	Columns []Column
	Cells   [][]*string
	More    bool // there are more than were asked for
	// Notices say what a reader of the rows should know, such as a file that
	// could not be read and whose rows are missing.
	Notices []string
}

// SQLFault is where SQL is wrong. It is the cause of an Invalid error, so that
// a screen can put the cursor there.
type SQLFault struct {
	Step         string // whose SQL it is; "" for a query
	Line, Column int    // from 1; 0 is unknown
}

func (f *SQLFault) Error() string {
	return fmt.Sprintf("%s line %d column %d", f.Step, f.Line, f.Column)
}
