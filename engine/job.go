package engine

import (
	"cmp"
	"slices"
	"time"
)

// Job is one version of a job.
type Job struct {
	Head
	JobBody
}

// JobBody is what a version of a job, or its draft, holds.
type JobBody struct {
	Description string       `json:"description,omitempty"`
	Kind        JobKind      `json:"kind"`
	SQL         *SQLJob      `json:"sql,omitempty"`    // of kind JobSQL
	Script      *ScriptJob   `json:"script,omitempty"` // of kind JobPython
	Bookmark    BookmarkMode `json:"bookmark"`
	Timeout     Minutes      `json:"timeout"` // 0 is the default of 60
	Retries     int          `json:"retries"` // attempts after the first
	// RetryDelay is the least time between an attempt that failed and the next.
	// It doubles with each, up to five minutes or RetryDelay, and is spread at
	// random, so that many that fail together do not come back together. 0 is 1 s.
	RetryDelay Seconds `json:"retry_delay,omitempty"`
	MaxRuns    int     `json:"max_runs"` // at once; 0 is 1
	Lane
	MemoryMB int `json:"memory_mb"` // 0 is the default of 2048
	// SpillMB is the most that may lie on disk at once of what does not fit
	// into memory; 0 is the default of 20480.
	SpillMB   int               `json:"spill_mb,omitempty"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

// ReadsAll reports whether the job reads all of its sources whole each time: its
// bookmark, which is not off, then has nothing to say.
func (b *JobBody) ReadsAll() bool {
	return b.Bookmark != BookmarkOff && b.SQL != nil && len(b.SQL.Sources) > 0 &&
		!slices.ContainsFunc(b.SQL.Sources, func(s Source) bool { return s.Read != ReadAll })
}

// Seconds is a length of time as people write it in a job's form.
type Seconds int

// Duration converts s.
func (s Seconds) Duration() time.Duration { return time.Duration(s) * time.Second }

// Minutes is a length of time as people write it in a job's form.
type Minutes int

// Duration converts m.
func (m Minutes) Duration() time.Duration { return time.Duration(m) * time.Minute }

// The defaults of a new job (model.md, A SQL job).
const (
	DefaultTimeout  Minutes = 60
	DefaultMemoryMB         = 2048
	DefaultSpillMB          = 20 << 10
	MinMemoryMB             = 1024 // below it DuckDB fails at ordinary sorts (data-path.md 1.4)
)

// JobKind says what runs a job.
type JobKind string

// The kinds of jobs.
const (
	JobSQL    JobKind = "sql"    // steps of SQL that DuckDB runs in a worker process
	JobPython JobKind = "python" // a script in Python; AWS Glue's pythonshell
)

// BookmarkMode says whether a job remembers what it has read.
type BookmarkMode string

// The modes. Off reads everything and remembers nothing; Paused reads what is
// new and does not move the mark.
const (
	BookmarkOn     BookmarkMode = "enabled"
	BookmarkPaused BookmarkMode = "paused"
	BookmarkOff    BookmarkMode = "off"
)

// SQLJob reads sources, runs steps of SQL over them and writes sinks.
type SQLJob struct {
	Sources    []Source `json:"sources,omitempty"`
	Steps      []Step   `json:"steps,omitempty"`
	Sinks      []Sink   `json:"sinks,omitempty"`
	MaxRejects int64    `json:"max_rejects,omitempty"` // rows that may be refused before the job fails
}

// Step is a view over sources and earlier steps.
type Step struct {
	Name string `json:"name"`
	SQL  string `json:"sql"`
}

// Format is how a file is written.
type Format string

// The formats. JSON covers lines and arrays; which of the two a file is, its
// first character says.
const (
	CSV     Format = "csv"
	JSON    Format = "json"
	Parquet Format = "parquet"
)

// ReadMode says whether a source is read by bookmark.
type ReadMode string

// The read modes.
const (
	ReadNew ReadMode = "new" // what the bookmark has not seen
	ReadAll ReadMode = "all" // the whole source each time: a dimension
	// ReadCompare compares every row of a table with what was read of it before,
	// and reads those that are new or changed.
	ReadCompare ReadMode = "compare"
)

// Source is one thing that a job reads. Exactly one of Path, CatalogTable and
// Table is set.
type Source struct {
	Name         string        `json:"name"` // the view's name in SQL
	Connection   ID            `json:"connection,omitempty"`
	Path         string        `json:"path,omitempty"`          // folder or s3:// address with a glob
	CatalogTable string        `json:"catalog_table,omitempty"` // database.table
	Table        string        `json:"table,omitempty"`         // schema.table of the connection's database
	Keys         []string      `json:"keys,omitempty"`          // of Table, in order; empty: its primary key
	Format       Format        `json:"format,omitempty"`
	Options      SourceOptions `json:"options,omitzero"`
	Read         ReadMode      `json:"read,omitempty"` // "" is ReadNew
	// Ctx names the bookmark of this source within its job (Glue's
	// transformation_ctx). It is kept when Name changes.
	Ctx    string   `json:"ctx,omitempty"`
	Schema []Column `json:"schema,omitempty"` // frozen; empty: inferred at first plan
	Policy Policy   `json:"policy,omitzero"`
}

// Context names the bookmark of s within its job.
func (s *Source) Context() string { return cmp.Or(s.Ctx, s.Name) }

// SourceOptions are the options of a file source.
type SourceOptions struct {
	Exclude  []string `json:"exclude,omitempty"` // globs on the key below the root
	CSV      Dialect  `json:"csv,omitzero"`
	MaxFiles int      `json:"max_files,omitempty"` // Glue's boundedFiles
	MaxBytes int64    `json:"max_bytes,omitempty"` // Glue's boundedSize
	// From and To bound when a file was last written, from From on and before
	// To; what lies outside is left out and stays unread.
	From      time.Time `json:"from,omitzero"`
	To        time.Time `json:"to,omitzero"`
	SettleMS  *int64    `json:"settle_ms,omitempty"` // nil: 3 s for folders, 0 for S3
	Partition string    `json:"partition,omitempty"` // pattern that maps a key to target partition values, such as "{year}/{month}/*.csv"
	// Table are the options of a table source.
	Table TableOptions `json:"table,omitzero"`
}

// Dialect is how a CSV file is written. Empty fields are inferred once and
// then frozen.
type Dialect struct {
	Delimiter string `json:"delimiter,omitempty"`
	Quote     string `json:"quote,omitempty"`
	Escape    string `json:"escape,omitempty"`
	Header    *bool  `json:"header,omitempty"`
	Encoding  string `json:"encoding,omitempty"` // "", utf-8, latin-1, utf-16
	NullText  string `json:"null_text,omitempty"`
	Decimal   string `json:"decimal,omitempty"` // "" is "."
	// DateFormat is that of its dates, such as %d.%m.%Y; "" is 2026-11-28.
	DateFormat string `json:"date_format,omitempty"`
}

// Column is a name and a type in DuckDB's words.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Policy says what happens with objects that are not simply new. Empty fields
// are the defaults of bookmarks.md.
type Policy struct {
	Changed    string `json:"changed,omitempty"`    // "" by write mode | read | hold | skip
	Unreadable string `json:"unreadable,omitempty"` // "" is fail | hold
	// Gone is what happens where a partition is written anew and a file whose
	// rows it holds is no longer in the source: "" is fail, or drop, which lets
	// the rows go with their file.
	Gone string `json:"gone,omitempty"`
}

// WriteMode says what a sink does with rows that exist.
type WriteMode string

// The write modes (bookmarks.md, Safe writes).
const (
	Append              WriteMode = "append"
	OverwritePartitions WriteMode = "overwrite_partitions"
	Merge               WriteMode = "merge"
	Replace             WriteMode = "replace"
)

// Sink is one thing that a job writes.
type Sink struct {
	From         string    `json:"from"` // a step or source
	Connection   ID        `json:"connection,omitempty"`
	Path         string    `json:"path,omitempty"`
	Format       Format    `json:"format,omitempty"` // "" is Parquet
	PartitionBy  []string  `json:"partition_by,omitempty"`
	Table        string    `json:"table,omitempty"` // schema.table of the connection's database, instead of Path
	Mode         WriteMode `json:"mode,omitempty"`  // "" is Append
	Keys         []string  `json:"keys,omitempty"`
	LatestBy     string    `json:"latest_by,omitempty"`
	CatalogTable string    `json:"catalog_table,omitempty"` // database.table that this sink owns
}

// OwnFolder holds the stages of a folder target; nothing in it is ever an input.
const OwnFolder = ".dogear"

// Place is where s writes, for people.
func (s Sink) Place() string {
	if s.Table != "" {
		return "table " + s.Table
	}
	return s.Path
}

// Crawler is one version of a crawler.
type Crawler struct {
	Head
	CrawlerBody
}

// CrawlerBody is what a version of a crawler, or its draft, holds.
type CrawlerBody struct {
	Description string          `json:"description,omitempty"`
	Targets     []CrawlerTarget `json:"targets,omitempty"`
	Database    string          `json:"database"`
	TablePrefix string          `json:"table_prefix,omitempty"`
	// MaxTables is how many tables one crawl may find; with more it fails and
	// writes nothing (Glue's TableThreshold). 0 is no limit.
	MaxTables int     `json:"max_tables,omitempty"`
	Timeout   Minutes `json:"timeout,omitempty"`
}

// CrawlerTarget is a folder or S3 prefix that a crawler looks into.
type CrawlerTarget struct {
	Connection ID       `json:"connection,omitempty"`
	Path       string   `json:"path"`
	Exclude    []string `json:"exclude,omitempty"`
}
