package portable

import (
	"time"

	"dogear/engine"
)

// Job is a job by name.
type Job struct {
	Name        string              `yaml:"name"`
	Description string              `yaml:"description,omitempty"`
	Kind        engine.JobKind      `yaml:"kind"`
	Bookmark    engine.BookmarkMode `yaml:"bookmark"`
	Timeout     engine.Minutes      `yaml:"timeout_minutes,omitempty"`
	Retries     int                 `yaml:"retries,omitempty"`
	MaxRuns     int                 `yaml:"max_runs,omitempty"`
	RetryDelay  engine.Seconds      `yaml:"retry_delay,omitempty"`
	Pool        string              `yaml:"pool,omitempty"`
	Priority    int                 `yaml:"priority,omitempty"`
	MemoryMB    int                 `yaml:"memory_mb,omitempty"`
	SpillMB     int                 `yaml:"spill_mb,omitempty"`
	Arguments   map[string]string   `yaml:"arguments,omitempty"`
	Script      Script              `yaml:"script,omitempty"`
	MaxRejects  int64               `yaml:"max_rejects,omitempty"`
	Sources     []Source            `yaml:"sources,omitempty"`
	Steps       []Step              `yaml:"steps,omitempty"`
	Sinks       []Sink              `yaml:"sinks,omitempty"`
}

// Script is what a job of the kind python runs.
type Script struct {
	Body       string         `yaml:"body,omitempty"`
	Address    string         `yaml:"address,omitempty"`
	Connection string         `yaml:"connection,omitempty"`
	Grace      engine.Seconds `yaml:"grace_seconds,omitempty"`
}

// Source is one thing that a job reads.
type Source struct {
	Name         string          `yaml:"name"`
	Connection   string          `yaml:"connection,omitempty"`
	Path         string          `yaml:"path,omitempty"`
	CatalogTable string          `yaml:"catalog_table,omitempty"`
	Table        string          `yaml:"table,omitempty"`
	Keys         []string        `yaml:"keys,omitempty"`
	Format       engine.Format   `yaml:"format,omitempty"`
	Read         engine.ReadMode `yaml:"read,omitempty"`
	Ctx          string          `yaml:"ctx,omitempty"`
	Options      Options         `yaml:"options,omitempty"`
	Policy       Policy          `yaml:"policy,omitempty"`
	Schema       []Column        `yaml:"schema,omitempty"`
}

// Options are the options of a source.
type Options struct {
	Exclude   []string     `yaml:"exclude,omitempty"`
	CSV       Dialect      `yaml:"csv,omitempty"`
	MaxFiles  int          `yaml:"max_files,omitempty"`
	MaxBytes  int64        `yaml:"max_bytes,omitempty"`
	From      time.Time    `yaml:"from,omitempty"`
	To        time.Time    `yaml:"to,omitempty"`
	SettleMS  *int64       `yaml:"settle_ms,omitempty"`
	Partition string       `yaml:"partition,omitempty"`
	Table     TableOptions `yaml:"table,omitempty"`
}

// The following are the engine's own, field by field: they convert, so a field
// that only one of the two has does not compile.

// Dialect is how a CSV file is written.
type Dialect struct {
	Delimiter  string `yaml:"delimiter,omitempty"`
	Quote      string `yaml:"quote,omitempty"`
	Escape     string `yaml:"escape,omitempty"`
	Header     *bool  `yaml:"header,omitempty"`
	Encoding   string `yaml:"encoding,omitempty"`
	NullText   string `yaml:"null_text,omitempty"`
	Decimal    string `yaml:"decimal,omitempty"`
	DateFormat string `yaml:"date_format,omitempty"`
}

// TableOptions are the options of a table source.
type TableOptions struct {
	Descending bool   `yaml:"descending,omitempty"`
	Lag        int64  `yaml:"lag,omitempty"`
	Overlap    int64  `yaml:"overlap,omitempty"`
	Closed     string `yaml:"closed,omitempty"`
	MaxRows    int64  `yaml:"max_rows,omitempty"`
	NullKeys   string `yaml:"null_keys,omitempty"`
	Instead    string `yaml:"instead,omitempty"`
	Compare    bool   `yaml:"compare,omitempty"`
}

// Policy says what happens with files that are not simply new.
type Policy struct {
	Changed    string `yaml:"changed,omitempty"`
	Unreadable string `yaml:"unreadable,omitempty"`
	Gone       string `yaml:"gone,omitempty"`
}

// Column is a name and a type in DuckDB's words.
type Column struct {
	Name string `yaml:"name"`
	Type string `yaml:"type"`
}

// Step is a view over sources and earlier steps.
type Step struct {
	Name string `yaml:"name"`
	SQL  string `yaml:"sql"`
}

// Sink is one thing that a job writes.
type Sink struct {
	From         string           `yaml:"from"`
	Connection   string           `yaml:"connection,omitempty"`
	Path         string           `yaml:"path,omitempty"`
	Table        string           `yaml:"table,omitempty"`
	Format       engine.Format    `yaml:"format,omitempty"`
	PartitionBy  []string         `yaml:"partition_by,omitempty"`
	Mode         engine.WriteMode `yaml:"mode,omitempty"`
	Keys         []string         `yaml:"keys,omitempty"`
	LatestBy     string           `yaml:"latest_by,omitempty"`
	CatalogTable string           `yaml:"catalog_table,omitempty"`
}

// jobOf turns a job of the engine into one by name.
func (x *exporter) jobOf(job *engine.Job) Job {
	out := Job{
		Name: job.Name, Description: job.Description, Kind: job.Kind, Bookmark: job.Bookmark, Timeout: job.Timeout,
		Retries: job.Retries, RetryDelay: job.RetryDelay, MaxRuns: job.MaxRuns, Pool: job.Pool, Priority: job.Priority, MemoryMB: job.MemoryMB, SpillMB: job.SpillMB, Arguments: job.Arguments,
	}
	if s := job.Script; s != nil {
		out.Script = Script{Body: s.Body, Address: s.Address, Connection: x.connection(s.Connection), Grace: s.Grace}
	}
	if job.SQL == nil {
		return out
	}
	out.MaxRejects = job.SQL.MaxRejects
	for _, s := range job.SQL.Sources {
		out.Sources = append(out.Sources, Source{
			Name: s.Name, Connection: x.connection(s.Connection), Path: s.Path, CatalogTable: s.CatalogTable, Table: s.Table, Keys: s.Keys, Format: s.Format,
			Read: s.Read, Ctx: s.Ctx, Policy: Policy(s.Policy), Schema: each(s.Schema, func(c engine.Column) Column { return Column(c) }),
			Options: Options{
				Exclude: s.Options.Exclude, CSV: Dialect(s.Options.CSV), MaxFiles: s.Options.MaxFiles, MaxBytes: s.Options.MaxBytes,
				From: s.Options.From, To: s.Options.To, SettleMS: s.Options.SettleMS, Partition: s.Options.Partition, Table: TableOptions(s.Options.Table),
			},
		})
	}
	out.Steps = each(job.SQL.Steps, func(s engine.Step) Step { return Step(s) })
	for _, s := range job.SQL.Sinks {
		out.Sinks = append(out.Sinks, Sink{
			From: s.From, Connection: x.connection(s.Connection), Path: s.Path, Table: s.Table, Format: s.Format, PartitionBy: s.PartitionBy,
			Mode: s.Mode, Keys: s.Keys, LatestBy: s.LatestBy, CatalogTable: s.CatalogTable,
		})
	}
	return out
}

// job turns a job by name into a body of the engine.
func (r *reader) job(j *Job) engine.JobBody {
	about := "Job " + j.Name
	body := engine.JobBody{
		Description: j.Description, Kind: j.Kind, Bookmark: j.Bookmark, Timeout: j.Timeout,
		Retries: j.Retries, RetryDelay: j.RetryDelay, MaxRuns: j.MaxRuns, Lane: engine.Lane{Pool: r.pool(about, j.Pool), Priority: j.Priority}, MemoryMB: j.MemoryMB, SpillMB: j.SpillMB, Arguments: j.Arguments,
	}
	if body.Kind == "" {
		body.Kind = engine.JobSQL
	}
	if body.Kind == engine.JobPython {
		return r.script(j, body)
	}
	if j.Script != (Script{}) {
		r.say("%s has a script, which only a job of the kind %s runs. Write kind: %s, or remove the script.", about, engine.JobPython, engine.JobPython)
	}
	body.SQL = &engine.SQLJob{MaxRejects: j.MaxRejects}
	if body.Bookmark == "" {
		body.Bookmark = engine.BookmarkOn
	}
	for _, s := range j.Sources {
		body.SQL.Sources = append(body.SQL.Sources, engine.Source{
			Name: s.Name, Connection: r.connection(about, s.Connection), Path: s.Path, CatalogTable: s.CatalogTable, Table: s.Table, Keys: s.Keys, Format: s.Format,
			Read: s.Read, Ctx: s.Ctx, Policy: engine.Policy(s.Policy), Schema: each(s.Schema, func(c Column) engine.Column { return engine.Column(c) }),
			Options: engine.SourceOptions{
				Exclude: s.Options.Exclude, CSV: engine.Dialect(s.Options.CSV), MaxFiles: s.Options.MaxFiles, MaxBytes: s.Options.MaxBytes,
				From: s.Options.From, To: s.Options.To, SettleMS: s.Options.SettleMS, Partition: s.Options.Partition, Table: engine.TableOptions(s.Options.Table),
			},
		})
	}
	body.SQL.Steps = each(j.Steps, func(s Step) engine.Step { return engine.Step(s) })
	for _, s := range j.Sinks {
		body.SQL.Sinks = append(body.SQL.Sinks, engine.Sink{
			From: s.From, Connection: r.connection(about, s.Connection), Path: s.Path, Table: s.Table, Format: s.Format, PartitionBy: s.PartitionBy,
			Mode: s.Mode, Keys: s.Keys, LatestBy: s.LatestBy, CatalogTable: s.CatalogTable,
		})
	}
	r.faults(about, body.Faults())
	r.targets(about, body.SQL.Sinks)
	return body
}

// targets refuses folders that this server may not write.
func (r *reader) targets(about string, sinks []engine.Sink) {
	for i, s := range sinks {
		if s.Path == "" || r.may == nil {
			continue
		}
		if err := r.may(s.Path); engine.CodeOf(err) == engine.Forbidden {
			r.say("%s, sink.%d.path: %s", about, i, engine.MessageOf(err))
		}
	}
}

// script completes the body of a job of the kind python.
func (r *reader) script(j *Job, body engine.JobBody) engine.JobBody {
	about, s := "Job "+j.Name, j.Script
	if len(j.Sources)+len(j.Steps)+len(j.Sinks) > 0 || j.MaxRejects > 0 {
		r.say("%s is a script; sources, steps, sinks and max_rejects belong to a job of the kind %s.", about, engine.JobSQL)
	}
	if body.Bookmark == "" {
		body.Bookmark = engine.BookmarkOff
	}
	body.Script = &engine.ScriptJob{Body: s.Body, Address: s.Address, Connection: r.connection(about, s.Connection), Grace: s.Grace}
	r.faults(about, body.Faults())
	return body
}

// each converts a list; an empty one stays nil, as the engine stores it.
func each[A, B any](list []A, convert func(A) B) []B {
	var out []B
	for _, item := range list {
		out = append(out, convert(item))
	}
	return out
}
