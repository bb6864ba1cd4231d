// Package duck is the only user of DuckDB. DuckDB runs in a worker process of
// this same binary, never in the server: Do starts one and Main is what it
// runs. A worker reads the files it is given, writes where it is told, and ends
// with its parent. It has no credentials, but for those of the databases whose
// tables it reads or writes, which come by its pipe; the SQL of a job runs in a
// session that has neither them nor a network.
package duck

import (
	"fmt"

	"dogear/engine"
	"dogear/engine/table"
)

// The file descriptors of a worker, beside stdin (which tells it that its
// parent lives) and stderr (its log).
const (
	requestFD = 3 // one Request as JSON, then the end
	eventFD   = 4 // Events, one JSON object a line
)

// Request is what a worker does: exactly one of its tasks.
type Request struct {
	Limits   Limits    `json:"limits"`
	Run      *Run      `json:"run,omitempty"`
	Query    *Query    `json:"query,omitempty"`
	Describe *Describe `json:"describe,omitempty"`
	Parse    *Parse    `json:"parse,omitempty"`
	Bind     *Bind     `json:"bind,omitempty"`
}

// Limits bounds a worker.
type Limits struct {
	Threads  int    `json:"threads"`   // 0: as many as there are processors
	MemoryMB int    `json:"memory_mb"` // the whole grant; 0 is the default
	SpillMB  int    `json:"spill_mb"`  // at once on disk; 0 is the default
	Scratch  string `json:"scratch"`   // a folder of the worker's own
}

// Input is one source of a job: files of one format under one name.
type Input struct {
	Name string `json:"name"`
	// Database, where it is set, is the schema that the view stands in, so that
	// a query names a table of the catalog as database.table.
	Database string `json:"database,omitempty"`
	// Folders name the folders below Root that are partitions without a key in
	// their own name, such as 2026/03/02, outermost first.
	Folders []string        `json:"folders,omitempty"`
	Format  engine.Format   `json:"format"`
	Dialect engine.Dialect  `json:"dialect,omitzero"`
	Schema  []engine.Column `json:"schema,omitempty"` // empty: worked out from the files
	// Inferred says that Schema was worked out from these very files before,
	// and nobody has frozen it.
	Inferred bool   `json:"inferred,omitempty"`
	Root     string `json:"root"`
	Files    []File `json:"files,omitempty"`
	Hold     bool   `json:"hold,omitempty"`  // leave out what cannot be read instead of failing
	Limit    int64  `json:"limit,omitempty"` // rows, for a sample
	// Table, where it is set, is read instead of files: it is landed first, as
	// the one file of the input.
	Table *table.Select `json:"table,omitempty"`
	// landed says that the one file holds the rows of a table.
	landed bool
}

// File is a file that a worker may read.
type File struct {
	Key  string `json:"key"` // by which people know it
	Path string `json:"path"`
}

// Run is a SQL job.
type Run struct {
	Inputs     []Input           `json:"inputs,omitempty"`
	Steps      []engine.Step     `json:"steps,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
	Outputs    []Output          `json:"outputs,omitempty"`
	MaxRejects int64             `json:"max_rejects,omitempty"`
	// Batch and Tag name the files: the batch's number, which tells people
	// which run wrote a file, and a text that no other batch of any job has.
	Batch int64  `json:"batch"`
	Tag   string `json:"tag"`
}

// Output is one sink of a job.
type Output struct {
	Sink  engine.Sink `json:"sink"`
	Stage string      `json:"stage"` // an empty folder
	// Existing are the files that the target holds, where the mode may replace
	// them; only a merge reads them, and only its have a path.
	Existing []Existing `json:"existing,omitempty"`
	// Like is the file of the target whose columns the result must fit.
	Like Existing `json:"like,omitzero"`
	// Table, where it is set, takes the rows instead of files: the worker fills
	// a table beside it, and whoever asked publishes that.
	Table *table.Target `json:"table,omitempty"`
}

// Existing is a file that a target holds already.
type Existing struct {
	Key       string `json:"key,omitempty"` // by which people know it
	Path      string `json:"path,omitempty"`
	Partition string `json:"partition"`
}

// Query asks for rows.
type Query struct {
	Inputs     []Input           `json:"inputs,omitempty"`
	Steps      []engine.Step     `json:"steps,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
	SQL        string            `json:"sql"`
	MaxRows    int               `json:"max_rows"`
	// Export, where it is set, is a file that gets every row instead.
	Export string        `json:"export,omitempty"`
	Format engine.Format `json:"format,omitempty"` // of the export
}

// Describe asks for the columns of inputs, steps and, where it is given, SQL.
type Describe struct {
	Inputs     []Input           `json:"inputs,omitempty"`
	Steps      []engine.Step     `json:"steps,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
	SQL        string            `json:"sql,omitempty"`
}

// Parse asks whether statements are what a step may be, without running or even
// binding them: the tables and columns that they name need not exist.
type Parse struct {
	Steps []engine.Step `json:"steps"`
}

// Bind asks which names the steps and sinks of jobs use that are not there, without
// reading anything.
type Bind struct {
	Jobs []Bound `json:"jobs"`
}

// Bound is a job over sources whose columns are known.
type Bound struct {
	Sources    []Relation    `json:"sources"`
	Sure       bool          `json:"sure,omitempty"` // the sources have no other columns
	Steps      []engine.Step `json:"steps,omitempty"`
	Sinks      []engine.Sink `json:"sinks,omitempty"`
	Properties []string      `json:"properties,omitempty"` // by name
}

// Event is one line from a worker. Exactly one field is set; Result or
// Failure is the last.
type Event struct {
	Progress *Progress `json:"progress,omitempty"`
	Notice   *Notice   `json:"notice,omitempty"`
	Result   *Result   `json:"result,omitempty"`
	Failure  *Failure  `json:"failure,omitempty"`
}

// Progress tells how far a worker is.
type Progress struct {
	Percent float64 `json:"percent"` // below 0 is unknown
	Note    string  `json:"note,omitempty"`
}

// Notice is something a person should see in the log.
type Notice struct {
	Warn bool   `json:"warn,omitempty"`
	Text string `json:"text"`
}

// Result is what a worker found or wrote.
type Result struct {
	RowsIn    int64      `json:"rows_in"`
	Rejects   int64      `json:"rejects"`
	Held      []Held     `json:"held,omitempty"`
	Landed    []Landing  `json:"landed,omitempty"`    // by input that is a table
	Written   []Written  `json:"written,omitempty"`   // by index of the output
	Relations []Relation `json:"relations,omitempty"` // of Describe, and of a Run's inputs
	Table     *Table     `json:"table,omitempty"`
	Wrong     []*Failure `json:"wrong,omitempty"` // of Parse, by index of the step; nil where nothing is
	// Lacking is, of Bind by index of the job, what each step and then each sink
	// lacks; nil where that is nothing.
	Lacking [][]*Failure `json:"lacking,omitempty"`
}

// Held is a file that could not be read and was left out.
type Held struct {
	Input string `json:"input"`
	Key   string `json:"key"`
	Note  string `json:"note"`
}

// Written is what one output got.
type Written struct {
	Files    []engine.OutFile `json:"files,omitempty"`
	Touched  []string         `json:"touched,omitempty"`
	Columns  []engine.Column  `json:"columns,omitempty"`
	Rows     int64            `json:"rows"` // of the result, not those rewritten beside it
	Inserted int64            `json:"inserted,omitempty"`
	Updated  int64            `json:"updated,omitempty"`
	// Kept counts rows of the result that are older than the target's and were
	// not written.
	Kept int64 `json:"kept,omitempty"`
}

// Relation is a name and its columns.
type Relation struct {
	Name    string          `json:"name"`
	Columns []engine.Column `json:"columns"`
	Dialect engine.Dialect  `json:"dialect,omitzero"` // of a CSV input
	Notes   []string        `json:"notes,omitempty"`
}

// Table holds rows as DuckDB prints them, so that no number is rounded on its
// way to a screen. A nil cell is NULL.
type Table struct {
	Columns []engine.Column `json:"columns"`
	Rows    [][]*string     `json:"rows"`
	More    bool            `json:"more"` // there are more rows than were asked for
	Written int64           `json:"written,omitempty"`
}

// FailureKind is the class of a failure.
type FailureKind string

// The kinds of failures.
const (
	FailSQL        FailureKind = "sql"        // the job's SQL is wrong
	FailUnreadable FailureKind = "unreadable" // a file cannot be read
	FailData       FailureKind = "data"       // the rows break a rule of the sink
	FailRefused    FailureKind = "refused"    // the sandbox said no
	FailMemory     FailureKind = "memory"     // the grant or the disk was too small
	FailCrash      FailureKind = "crash"      // the worker ended without an answer
	FailInternal   FailureKind = "internal"   // a defect of ours
)

// Failure is why a worker did not succeed. Message is a whole sentence.
type Failure struct {
	Kind    FailureKind `json:"kind"`
	Message string      `json:"message"`
	Step    string      `json:"step,omitempty"` // whose SQL is wrong
	Line    int         `json:"line,omitempty"` // in that SQL, from 1
	Column  int         `json:"column,omitempty"`
	// File is the input and key of a file that cannot be read.
	Input string `json:"input,omitempty"`
	File  string `json:"file,omitempty"`
	// Lacks is a column or table that is not there, and Near are those it may
	// stand for.
	Lacks string   `json:"lacks,omitempty"`
	Near  []string `json:"near,omitempty"`
}

func (f *Failure) Error() string { return string(f.Kind) + ": " + f.Message }

func failf(kind FailureKind, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Message: fmt.Sprintf(format, args...)}
}
