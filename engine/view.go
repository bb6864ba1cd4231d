package engine

// RunFilter says which runs a list shows. The zero value is all of them,
// newest first.
type RunFilter struct {
	Object  ID // runs of this workflow, job or crawler
	Outcome Outcome
	Open    bool   // only runs that have not ended
	Name    string // part of the name, in any case
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
