package flow

import (
	"time"

	"dogear/engine"
)

// State is what flow asks about a run besides its graph. The store answers
// from the rows of the transaction it has open, so that two nodes that end at
// once can't both see the other as open: the run is locked first.
type State interface {
	// TriggerRun returns how far a trigger of the run has come, as it was written
	// last; zero where it was not. What it has started may say more.
	TriggerRun(id engine.ID) engine.TriggerRun
	// NodeRuns returns every start and attempt of a node in the run.
	NodeRuns(ref engine.Ref) []engine.NodeRun
	// Head returns what is known of a job or crawler as it is now. The version of
	// a deleted one is 0, and its name says so.
	Head(ref engine.Ref) Head
	// OpenRuns is how many runs of a workflow have not ended. Nobody else
	// starts one until the transaction ends. The step goes on only where they are
	// fewer than most.
	OpenRuns(workflow engine.ID, most int) int
	// Room reports whether the servers beside this one leave room for a node run,
	// where so many of its job and, if it has one, of its pool may be under way
	// at once. Where it says yes nobody else takes that room until the
	// transaction ends.
	Room(n *engine.NodeRun, ofJob, ofPool int) bool
	// OpenNodes is how many node runs of the run have not ended.
	OpenNodes() int
	// All returns every node run of the run. It is asked once, at its end.
	All() []engine.NodeRun
}

// Head is what a transition knows of a job or crawler.
type Head struct {
	Name    string
	Version int
	MaxRuns int // at once; 0 is 1
	engine.Lane
}

// Writes is what one transition writes, all of it in one transaction.
type Writes struct {
	Run      engine.Run
	Nodes    []engine.NodeRun
	Triggers []engine.TriggerRun
	Events   []engine.Event
	// OpenNodes is by how much the number of open node runs changes.
	OpenNodes int

	Batch     *engine.Batch        // its new state, plan or manifest
	Bookmarks []Move               // compared and set
	Tables    []engine.TableChange // of the catalog
	Fire      *Fire                // the due time or the events that this run uses up
	Inputs    []Input              // lines of batch_input
	Token     *Token               // by which this run was asked for, where it begins
	// Properties is set where the step changes the properties of the run: who
	// changes them. What they are from now on stands in Run.
	Properties *ChangedBy
}

// Step is one thing that happened to a run. The store calls Decide inside a
// transaction that holds the run, or on what it remembers of it, and writes what it returns. Decide may
// be called again should the transaction fail, so it changes nothing itself.
type Step struct {
	Run engine.ID
	// New is set for the first step of a run: the run to make.
	New *engine.Run
	// Ends says that the step ends a node, whose slot is then free for another.
	Ends   bool
	Decide func(run engine.Run, st State) (Writes, error)
}

// Written is what became of a step: what was written, with numbers that only
// the store can give, or why nothing was.
type Written struct {
	Writes
	Err error
}

// Move is one new version of a bookmark with its line of history.
type Move struct {
	Bookmark engine.Bookmark
	Move     engine.BookmarkMove
	// From is the version that the plan was made from.
	From int
	// FromRoot is its ledger.
	FromRoot string
}

// Fire uses up one due time of one schedule, or one batch of events of one event
// trigger.
type Fire struct {
	Trigger engine.ID
	Events  []string // ids, the oldest first; nil for a schedule
	Told    string   // what the run is told of them (arrival.Telling)
	Due     time.Time
	Next    time.Time // zero: never again
	Note    string    // why no run was started, where none was
}

// Input is what one batch read by one context, as the root of a packed list.
type Input struct {
	Batch engine.ID
	Ctx   string
	Root  string
	Files int64
	Bytes int64
}

// Token is what a run was asked for by, so that asking again starts no second
// one.
type Token struct {
	Text  string
	Asked string    // a sum of everything that was asked for
	Since time.Time // one that was used before counts no more
}

// ChangedBy says who changed something, and when.
type ChangedBy struct {
	By string
	At time.Time
}
