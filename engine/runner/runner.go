// Package runner holds the port between the engine's doer (engine/exec) and
// what does the work of one node: SQL workers, crawls, and later scripts.
package runner

import (
	"context"

	"dogear/engine"
)

// Attempt is everything a runner needs to know of the node run it works on.
type Attempt struct {
	Node    engine.NodeRun
	Run     engine.Run // its properties are resolved
	Job     *engine.Job
	Crawler *engine.Crawler
	// Dir is the attempt's own for scratch and spill. The runner makes it where
	// it needs it; whoever called Run removes it when the node has ended.
	Dir string
	// Recover is the batch of this very attempt that an earlier process left
	// PLANNED or STAGED; its stage is discarded and its plan is run again.
	Recover *engine.Batch
	// Waits says that the process of Node was made by Ahead for this very attempt
	// and waits to be released.
	Waits bool
	// Left is what an earlier server left of this very attempt, where its
	// process goes on without a server; nil otherwise.
	Left *Left
}

// Left is a process that may still live, and how much of what it wrote stands
// in the attempt's log.
type Left struct {
	Process engine.Process
	Logged  map[Level]Logged
}

// Logged counts the lines of one level in a log, and their bytes with their
// stamps.
type Logged struct{ Lines, Bytes int64 }

// Result is how an attempt ended. A nil Batch means that nothing is to be
// published: a crawl, or nothing to do.
type Result struct {
	State engine.State // Succeeded, Failed, TimedOut or Stopped
	Error string       // a whole sentence where it did not succeed
	// InLog says that the log has the lines of Error already, but for the first.
	InLog  bool
	Batch  *engine.Batch
	Counts engine.Counts
	Tables []engine.TableChange
	// Ledger holds what the ledger says of objects from now on, by context,
	// sorted by key. It is committed only with State Succeeded, but for
	// entries that are held: those are kept whatever the state.
	Ledger []LedgerChange
}

// LedgerChange is the part of a result that moves one bookmark.
type LedgerChange struct {
	Ctx         string
	Fingerprint string
	Version     int    // the version the plan was made from
	Root        string // and its manifest: compared when it is written
	Entries     []engine.Entry
	Rows        int64
}

// Runner does the work of one kind of node.
type Runner interface {
	// Run works until the attempt has ended or ctx is cancelled; its cause is
	// then ErrStop, ErrTimeout or ErrDrain. It returns an error only where the
	// machine failed; what the job did wrong is a Result in state Failed.
	Run(ctx context.Context, a Attempt, h Host) (Result, error)

	// Publish makes the output of a committed batch visible. It may be called
	// again after it succeeded or was cut off, and then ends in the same state.
	// It returns the changes for the catalog.
	Publish(ctx context.Context, b engine.Batch, h Host) ([]engine.TableChange, error)

	// Discard removes what a batch that will not be committed has staged.
	Discard(ctx context.Context, b engine.Batch) error
}

// Ahead is a Runner that keeps processes which wait for work, so that the claim
// of a node can record its process and nothing else has to be written before the
// process begins.
type Ahead interface {
	Runner

	// Reserve returns the process that waits for an attempt from now on, and makes
	// itself ready for it meanwhile; false where there is none, or the attempt has
	// something to do first. Asked twice it gives the same one. It must be quick:
	// a transaction waits for it.
	Reserve(a *Attempt) (engine.Process, bool)

	// Return ends the process that was reserved for an attempt, whose claim was
	// not written.
	Return(key engine.NodeKey)
}

// Keeper is a Runner of processes that have folders of their own, which outlive
// the server.
type Keeper interface {
	Runner

	// KeepOnly is told at the start of the server of the processes that are taken up,
	// and removes the folders of all others.
	KeepOnly(left []engine.Process) error

	// Tidy removes from the folder of a process that has ended what may fill the
	// disk.
	Tidy(p engine.Process)

	// Reuse keeps the process and its folder for another attempt, once the end of its
	// own is written. Where it is false, Clean follows in a moment.
	Reuse(p engine.Process) bool

	// Clean removes the folder of a process once the end of its attempt is written.
	Clean(p engine.Process) error
}

// Host is what the engine does for a runner. Every call but Progress and Log
// is durable before it returns.
type Host interface {
	// Planned stores the plan and returns the batch made for it, in state
	// PLANNED.
	Planned(ctx context.Context, plan engine.Plan) (engine.Batch, error)
	// Started records the process of the attempt and moves the node to
	// running. The process must not do anything before this returns.
	Started(ctx context.Context, p engine.Process) error
	// Staged stores the manifest of a batch, which moves it to STAGED.
	Staged(ctx context.Context, batch engine.ID, m engine.Manifest) error
	// Mine reports whether the attempt is still this server's. Where it is not,
	// another server may be doing it again: nothing may be removed then, for it
	// would be what that one has made in the same place.
	Mine(ctx context.Context) bool
	// Progress tells how far the work is; done of 0 total is unknown.
	Progress(p Progress)
	// Log writes one line to the attempt's log.
	Log(level Level, text string)
}

// Progress is what a card shows while its node runs. It lives in memory only.
type Progress struct {
	Percent float64 `json:"percent"` // 0 to 100; below 0 is unknown
	Rows    int64   `json:"rows,omitempty"`
	Note    string  `json:"note,omitempty"`
}

// Level is the weight of a log line.
type Level string

// The levels.
const (
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
	Out   Level = "out" // what a script wrote to its output
	Err   Level = "err" // and to its errors
)

// stop is why a context was cancelled.
type stop string

func (s stop) Error() string { return string(s) }

// The causes with which exec cancels the context of a running attempt. At
// ErrDrain a process that goes on by itself is left to the next server.
const (
	ErrStop    = stop("stopped on request")
	ErrTimeout = stop("timed out")
	ErrDrain   = stop("the server is stopping")
	// ErrFence is an ErrDrain at which nothing may go on: the work is about to
	// be somebody else's.
	ErrFence = stop("the work goes to another server")
)

// Is lets ErrFence pass for ErrDrain.
func (s stop) Is(target error) bool { return s == target || s == ErrFence && target == ErrDrain }
