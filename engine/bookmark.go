package engine

import (
	"encoding/json"
	"time"
)

// Object is one thing found in a source: a file or an S3 object, as its
// listing shows it, or a range of the keys of a table.
type Object struct {
	Key       string `json:"key"` // relative to the root of the source, or the full S3 key
	Size      int64  `json:"size"`
	ModNS     int64  `json:"mod_ns"` // last modification, nanoseconds since 1970
	ETag      string `json:"etag,omitempty"`
	VersionID string `json:"version_id,omitempty"`
	Inode     uint64 `json:"inode,omitempty"`
	// Range, where it is set, is the KeyRange of a table that this object
	// stands for. It is packed so that objects can be compared.
	Range string `json:"range,omitempty"`
}

// Mod is the time of the last modification.
func (o Object) Mod() time.Time { return time.Unix(0, o.ModNS).UTC() }

// EntryState is what the ledger says of an object.
type EntryState uint8

// The states of a ledger entry. The numbers are stored; never change them.
const (
	EntryRead    EntryState = 1
	EntrySkipped EntryState = 2
	EntryHeld    EntryState = 3
	EntryGone    EntryState = 4
	// EntryReopened is an object that a person wants read again.
	EntryReopened EntryState = 5
)

// Entry is one line of the ledger: an object and what became of it.
type Entry struct {
	Object
	Run   ID         `json:"run"` // that read it, or judged it
	State EntryState `json:"state"`
	Hash  string     `json:"hash,omitempty"` // of the content, where it was taken
	Note  string     `json:"note,omitempty"` // why it is held, in words
}

// Reason says why a plan takes an object or leaves it.
type Reason string

// The reasons (bookmarks.md, The plan).
const (
	ReasonNew         Reason = "new"
	ReasonChanged     Reason = "changed"
	ReasonTouched     Reason = "touched"
	ReasonAlreadyRead Reason = "already_read"
	ReasonTooYoung    Reason = "too_young"
	ReasonOverBound   Reason = "over_bound"
	ReasonOutside     Reason = "outside_range"
	ReasonReopened    Reason = "reopened"
	ReasonFiltered    Reason = "filtered"
	ReasonHeld        Reason = "held"
	ReasonGone        Reason = "gone"
	ReasonUnreadable  Reason = "unreadable"
)

// Planned is one object of a plan with its reason.
type Planned struct {
	Object
	Taken  bool   `json:"taken"`
	Reason Reason `json:"reason"`
	Note   string `json:"note,omitempty"`
	Prior  *Entry `json:"prior,omitempty"` // what the ledger knew of it
}

// Tally counts objects of one reason. Of a table, Files are ranges of keys and
// Bytes an estimate; Rows are known.
type Tally struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
	Rows  int64 `json:"rows,omitempty"`
}

// SourcePlan is what one source contributes to a plan. Taken and Exceptions
// hold every object whose reason is neither already_read nor filtered; those
// two are only counted, and worked out again when somebody pages through them.
type SourcePlan struct {
	// Spec is the source as it was resolved: a catalog table has become the
	// path, format and columns it stood for.
	Spec   Source   `json:"spec"`
	Source string   `json:"source"` // its name in SQL
	Ctx    string   `json:"ctx"`
	Read   ReadMode `json:"read"`
	Root   string   `json:"root"`
	// Moves says whether success moves this source's bookmark: it is read by
	// one, and neither the bookmark nor the job is paused.
	Moves         bool             `json:"moves"`
	LedgerVersion int              `json:"ledger_version"`
	LedgerRoot    string           `json:"ledger_root"`
	Fingerprint   string           `json:"fingerprint"`
	Digest        string           `json:"digest"`   // of the listing
	Complete      bool             `json:"complete"` // the listing reached its end
	Taken         []Planned        `json:"taken,omitempty"`
	Exceptions    []Planned        `json:"exceptions,omitempty"`
	Counts        map[Reason]Tally `json:"counts,omitempty"`
	Schema        []Column         `json:"schema,omitempty"`
	// Compared is set where every row was compared: what they are taken by.
	Compared *Compared `json:"compared,omitempty"`
	Notices  []string  `json:"notices,omitempty"` // what a person should know, in sentences
}

// Plan is everything one attempt will read, made before it reads and executed
// exactly.
type Plan struct {
	ID      ID           `json:"id"`
	Job     ID           `json:"job"`
	Sources []SourcePlan `json:"sources"`
	At      time.Time    `json:"at"`
}

// Empty reports that no source that is read by bookmark has anything to read.
func (p *Plan) Empty() bool {
	var news, taken int
	for _, s := range p.Sources {
		if s.Read != ReadAll {
			news++
			taken += len(s.Taken)
		}
	}
	return news > 0 && taken == 0
}

// Taken counts what p reads: files with their bytes, and rows of tables.
func (p *Plan) Taken() Tally {
	var sum Tally
	for _, s := range p.Sources {
		for _, o := range s.Taken {
			if r, ok := o.KeyRange(); ok {
				sum.Rows += r.Rows
				continue
			}
			sum.Files++
			sum.Bytes += o.Size
		}
	}
	return sum
}

// MoveKind says what made a version of a bookmark.
type MoveKind string

// The moves. Pause and resume stand in the history without making a version.
const (
	MoveAdvance MoveKind = "advance"
	MoveRewind  MoveKind = "rewind"
	MoveReset   MoveKind = "reset"
	MoveUndo    MoveKind = "undo"
	MovePause   MoveKind = "pause"
	MoveResume  MoveKind = "resume"
	// MoveReadAgain makes chosen objects count as not read.
	MoveReadAgain MoveKind = "read_again"
	// MoveHold keeps chosen objects from being read until they are released.
	MoveHold    MoveKind = "hold"
	MoveRelease MoveKind = "release"
	// MoveSetNow makes everything that the source holds now count as read.
	MoveSetNow MoveKind = "set_now"
	// MoveAdopt says that a source which has changed is the same thing.
	MoveAdopt  MoveKind = "adopt"
	MoveImport MoveKind = "import"
	// MoveBranch begins a branch; MovePromote makes what a branch counts as
	// read count for runs.
	MoveBranch  MoveKind = "branch"
	MovePromote MoveKind = "promote"
)

// Beside reports a move that stands in the history beside the versions and
// makes none.
func (k MoveKind) Beside() bool { return k == MovePause || k == MoveResume || k == MoveAdopt }

// Bookmark is the newest state of one context of a job.
type Bookmark struct {
	ID          ID        `json:"id"`
	Job         ID        `json:"job"`
	Ctx         string    `json:"ctx"`
	Fingerprint string    `json:"fingerprint"`
	Version     int       `json:"version"`
	Root        string    `json:"root"` // id of the manifest page
	Files       int64     `json:"files"`
	Bytes       int64     `json:"bytes"`
	Newest      Object    `json:"newest,omitzero"` // the newest file read
	Paused      bool      `json:"paused"`
	At          time.Time `json:"at"`
	By          string    `json:"by"`
	Run         ID        `json:"run,omitempty"`
	// Branch names a copy that moves on its own; "" is the bookmark that runs
	// read by.
	Branch string `json:"branch,omitempty"`
}

// BookmarkMove is one line of a bookmark's history.
type BookmarkMove struct {
	Bookmark ID        `json:"bookmark"`
	Seq      int64     `json:"seq"`
	Version  int       `json:"version"` // the version it made, or the one it stands beside
	Kind     MoveKind  `json:"kind"`
	To       int       `json:"to,omitempty"` // the version a rewind or undo restored
	Root     string    `json:"root"`
	Files    int64     `json:"files"` // in the ledger after it
	Bytes    int64     `json:"bytes"`
	Added    int64     `json:"added"` // objects that count as read now and did not before
	Again    int64     `json:"again"` // objects read again: changed in place
	Removed  int64     `json:"removed"`
	InBytes  int64     `json:"in_bytes"` // size of what the advance read
	Rows     int64     `json:"rows"`
	Newest   Object    `json:"newest,omitzero"`
	Run      ID        `json:"run,omitempty"`
	By       string    `json:"by"`
	Why      string    `json:"why,omitempty"`
	At       time.Time `json:"at"`
}

// BatchState is how far an attempt's write has come (bookmarks.md).
type BatchState string

// The states of a batch.
const (
	BatchPlanned   BatchState = "planned"
	BatchStaged    BatchState = "staged"
	BatchCommitted BatchState = "committed"
	BatchFinalized BatchState = "finalized"
	BatchDiscarded BatchState = "discarded"
)

// Batch is one attempt's read and write. Number is dense within a job and
// names the output files.
type Batch struct {
	ID       ID         `json:"id"`
	Node     NodeKey    `json:"node"`
	Job      ID         `json:"job"`
	Number   int64      `json:"number"`
	State    BatchState `json:"state"`
	Plan     Plan       `json:"plan"`
	Manifest Manifest   `json:"manifest,omitzero"`
	// Body is the job as it was when the plan was made, so that a recovery
	// publishes by it whatever was saved since.
	Body JobBody   `json:"body"`
	At   time.Time `json:"at"`
}

// Manifest is what a batch will publish.
type Manifest struct {
	Sinks  []SinkManifest `json:"sinks,omitempty"`
	Counts Counts         `json:"counts"`
	// Left are the objects that the plan takes and the run did not read.
	Left []InputLeft `json:"left,omitempty"`
}

// InputLeft is an object of a plan that was not read after all: it could not be, and
// is held, or it changed or went after the plan was made.
type InputLeft struct {
	Source string `json:"source"`
	Key    string `json:"key"`
	Held   bool   `json:"held,omitempty"`
	Note   string `json:"note,omitempty"` // why it is held
}

// SinkManifest is what one sink will publish.
type SinkManifest struct {
	Sink  int       `json:"sink"` // index in SQLJob.Sinks
	Root  string    `json:"root"`
	Stage string    `json:"stage"`
	Files []OutFile `json:"files,omitempty"`
	// Touched are the partitions that this batch replaces whole; empty for
	// append. "" is the root of an unpartitioned target.
	Touched []string        `json:"touched,omitempty"`
	Columns []Column        `json:"columns,omitempty"`
	Extra   json.RawMessage `json:"extra,omitempty"` // the sink's own: upload ids, old keys
	// What a batch does to a table, as it was tried before the commit.
	Inserted int64 `json:"inserted,omitempty"`
	Updated  int64 `json:"updated,omitempty"`
	Deleted  int64 `json:"deleted,omitempty"`
}

// Rows is how many rows of a table a batch changes or adds.
func (m SinkManifest) Rows() int64 { return m.Inserted + m.Updated }

// OutFile is one file of the output.
type OutFile struct {
	Path      string `json:"path"`      // below the root of the target
	Partition string `json:"partition"` // "year=2026/month=11", "" for none
	Rows      int64  `json:"rows"`
	Bytes     int64  `json:"bytes"`
}
