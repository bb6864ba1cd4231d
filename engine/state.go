package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// State is where a node run stands. The stored text is the constant's.
type State string

// The states of a node run. Waiting is never stored: a node of an open run
// that has no node run yet is waiting.
const (
	Waiting    State = "waiting"
	Ready      State = "ready"
	Starting   State = "starting"
	Running    State = "running"
	Publishing State = "publishing"
	Stopping   State = "stopping"
	Succeeded  State = "succeeded"
	Failed     State = "failed"
	TimedOut   State = "timed_out"
	Stopped    State = "stopped"
	Skipped    State = "skipped"
	Lost       State = "lost"
)

// moves lists every move a node may make (model.md, Node states). What is not
// here is a bug.
var moves = map[State][]State{
	Waiting:    {Ready, Skipped, Stopped},
	Ready:      {Starting, Stopped, Skipped, Failed},
	Starting:   {Running, Succeeded, Stopped, Failed, Lost},
	Running:    {Publishing, Succeeded, Failed, TimedOut, Stopping, Lost},
	Publishing: {Succeeded, Failed},
	Stopping:   {Stopped, Succeeded, Failed},
	Lost:       {Ready, Failed},
}

// Done reports whether a node in state s has ended.
func (s State) Done() bool {
	switch s {
	case Succeeded, Failed, TimedOut, Stopped, Skipped:
		return true
	case Waiting, Ready, Starting, Running, Publishing, Stopping, Lost:
		return false
	}
	return false
}

// CanMove reports whether a node may go from s to next.
func (s State) CanMove(next State) bool { return slices.Contains(moves[s], next) }

// Outcome is how a run as a whole ended; "" while it is open.
type Outcome string

// The outcomes of a run, worst last.
const (
	RunSucceeded    Outcome = "succeeded"
	RunPartlyFailed Outcome = "partly_failed"
	RunFailed       Outcome = "failed"
	RunStopped      Outcome = "stopped"
)

// NodeRun is one attempt of one start of a node in a run.
type NodeRun struct {
	Run     ID     `json:"run"`
	Ref     Ref    `json:"ref"`
	Name    string `json:"name"` // of the job or crawler when the node started
	Start   int    `json:"start"`
	Attempt int    `json:"attempt"`
	// By is the trigger that started it; "" for a job or crawl started alone.
	By ID `json:"by,omitempty"`
	// Copied is the run that this node run comes from, where its run goes on
	// from that one without doing it again.
	Copied ID     `json:"copied,omitempty"`
	State  State  `json:"state"`
	Why    string `json:"why,omitempty"` // why it waits, or who has marked, skipped or stopped it, in words
	// Held says that what it waited for last, until it was started, a person has set
	// (HeldBack).
	Held    bool  `json:"held,omitempty"`
	Fence   int64 `json:"fence"`
	Version int   `json:"version"` // of the job or crawler that ran
	// Owner is the server that works on it, "" while none does.
	Owner ID `json:"owner,omitempty"`

	Lane

	Arguments map[string]string `json:"arguments,omitempty"`
	Process   Process           `json:"process,omitzero"`
	Batch     ID                `json:"batch,omitempty"`
	Counts    Counts            `json:"counts"`
	Error     string            `json:"error,omitempty"`

	ReadyAt   time.Time `json:"ready_at,omitzero"`
	NotBefore time.Time `json:"not_before,omitzero"`
	Deadline  time.Time `json:"deadline,omitzero"`
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
}

// markedLead begins the reason of a node run that a person has marked.
const markedLead = "marked "

// MarkWords is the reason of a node run that counts as state because a person,
// by, says so; why is what the person says of it and may be empty.
func MarkWords(state State, by, why string) string {
	return strings.TrimSuffix(markedLead+string(state)+" by "+by+": "+why, ": ")
}

// Marked reports whether n counts as it does because a person has marked it. Its
// Why says who did and for what reason, also in the runs that go on from there.
func (n *NodeRun) Marked() bool { return n.Copied != "" && strings.HasPrefix(n.Why, markedLead) }

// skippedLead begins the reason of a node run that a person has skipped.
const skippedLead = "skipped by "

// SkipWords is the reason of a node run that is skipped because a person, by, says
// so; why is what the person says of it and may be empty.
func SkipWords(by, why string) string { return strings.TrimSuffix(skippedLead+by+": "+why, ": ") }

// StoppedLead begins what a node says that a person has stopped; the name goes on.
const StoppedLead = "stopped by "

// Waits is what n waits for although it is ready, in words; "" for what does not wait.
func (n *NodeRun) Waits() string {
	if n.State != Ready {
		return ""
	}
	return n.Why
}

// PassedOver reports whether n was skipped because a person said so when its turn
// came, and not because its branch was not taken. Its Why says who did.
func (n *NodeRun) PassedOver() bool {
	return n.State == Skipped && strings.HasPrefix(n.Why, skippedLead)
}

// As is the state as which conditions see n: one that a person has skipped counts
// as succeeded, so that what waits for it goes on (ADR 0030).
func (n *NodeRun) As() State {
	if n.PassedOver() {
		return Succeeded
	}
	return n.State
}

// NodeKey is what a node run is keyed by.
type NodeKey struct {
	Run     ID  `json:"run"`
	Ref     Ref `json:"ref"`
	Start   int `json:"start"`
	Attempt int `json:"attempt"`
}

// Key returns the key of n.
func (n *NodeRun) Key() NodeKey {
	return NodeKey{Run: n.Run, Ref: n.Ref, Start: n.Start, Attempt: n.Attempt}
}

// Process identifies an operating-system process beyond the reuse of its pid.
type Process struct {
	PID     int    `json:"pid,omitempty"`
	Started uint64 `json:"started,omitempty"` // clock ticks since boot, from /proc/PID/stat
	Boot    string `json:"boot,omitempty"`    // /proc/sys/kernel/random/boot_id
	// Apart says that it goes on without the server that started it: the next
	// one finds it again, or the exit code that it has left.
	Apart bool `json:"apart,omitempty"`
	// Folder is the name of the folder in which it leaves what it has to say.
	Folder string `json:"folder,omitempty"`
}

// Counts are the figures of a node run that people look at.
type Counts struct {
	Files    int64 `json:"files,omitempty"`
	BytesIn  int64 `json:"bytes_in,omitempty"`
	RowsIn   int64 `json:"rows_in,omitempty"`
	RowsOut  int64 `json:"rows_out,omitempty"`
	BytesOut int64 `json:"bytes_out,omitempty"`
	Rejects  int64 `json:"rejects,omitempty"`
	// Tables and Partitions are what a crawl found.
	Tables     int64 `json:"tables,omitempty"`
	Partitions int64 `json:"partitions,omitempty"`
	// NothingNew says that a job had nothing to read, so that it wrote nothing.
	NothingNew bool `json:"nothing_new,omitempty"`
	// AllChanged says that a job wrote nothing because each of its files changed between
	// its plan and the read; the next run reads them.
	AllChanged bool `json:"all_changed,omitempty"`
	// Held is how many files a job that found nothing new is kept from reading.
	Held int64 `json:"held,omitempty"`
	// Exit is the exit code of a script, nil while it has none.
	Exit *int `json:"exit,omitempty"`
}

// Idle says why a job that did well has read nothing; "" of any other.
func (c Counts) Idle() string {
	switch {
	case c.Held == 1:
		return "1 file is held"
	case c.Held > 0:
		return fmt.Sprintf("%d files are held", c.Held)
	case c.NothingNew:
		return "nothing new"
	case c.AllChanged:
		return "files changed"
	}
	return ""
}

// Move changes n to state to, at time now.
func (n *NodeRun) Move(to State, now time.Time) error {
	if !n.State.CanMove(to) {
		return Errorf(Conflict, "%s cannot go from %s to %s.", n.Name, n.State, to)
	}
	n.State = to
	switch {
	case to == Running:
		n.Started = now
	case to.Done():
		n.Ended = now
	}
	return nil
}
