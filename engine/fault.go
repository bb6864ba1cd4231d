package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fault is something wrong in a job or crawler, found before it is saved.
// Field names the place as forms do: "source.0.path".
type Fault struct {
	Field   string
	Message string // a whole sentence
}

// faults collects what is wrong.
type faults []Fault

func (f *faults) add(field, format string, args ...any) {
	*f = append(*f, Fault{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (f *faults) notNegative(field string, n int) {
	if n < 0 {
		f.add(field, "Write a number, 0 or more.")
	}
}

// The most that limits may be: beyond them a slip of the keyboard would be
// taken for a wish, and lengths of time would overflow.
const (
	MostMinutes  Minutes = 60 * 24 * 30 // of a job, a crawler and a run
	mostRetries          = 100
	mostDelay            = 60 * 60 * 24 // seconds
	mostRuns             = 10_000
	mostMemoryMB         = 1 << 20
	mostSpillMB          = 1 << 24
)

// within refuses a number that is below 0 or above most.
func (f *faults) within(field string, n, most int) {
	if n < 0 || n > most {
		f.add(field, "Write a number from 0 to %d.", most)
	}
}

// Faults says what is wrong with the limits and arguments of one start. They
// are a job's: a crawler goes by its own, and what is written beside it would
// never count.
func (a *Action) Faults() []Fault {
	var f faults
	if a.Ref.Kind == KindCrawler {
		if a.Timeout != 0 {
			f.add("timeout", "A crawler has the timeout that its own page says. Leave it out here.")
		}
		if a.Retries != nil {
			f.add("retries", "A crawler is not tried again. Leave it out here.")
		}
		if len(a.Arguments) > 0 {
			f.add("arguments", "A crawler takes none. Leave them out.")
		}
		return f
	}
	f.within("timeout", int(a.Timeout), int(MostMinutes))
	if a.Retries != nil {
		f.within("retries", *a.Retries, mostRetries)
	}
	for name := range a.Arguments {
		if err := CheckName("argument", name); err != nil {
			f.add("arguments", "%s", MessageOf(err))
			return f
		}
	}
	if _, err := ArgumentsOf(a.Arguments); err != nil {
		f.add("arguments", "%s", MessageOf(err))
	} else if err := checkPlaceholders(a.Arguments); err != nil {
		f.add("arguments", "%s", MessageOf(err))
	}
	return f
}

// oneOf refuses a value that is not in the list.
func oneOf[T ~string](f *faults, field, what string, value T, list ...T) {
	if !slices.Contains(list, value) {
		f.add(field, "There is no %s %q.", what, value)
	}
}

// Faults lists what is wrong in a job, whichever way it came in.
func (b *JobBody) Faults() []Fault {
	var f faults
	f.within("memory_mb", b.MemoryMB, mostMemoryMB)
	f.within("spill_mb", b.SpillMB, mostSpillMB)
	f.within("timeout", int(b.Timeout), int(MostMinutes))
	f.within("retries", b.Retries, mostRetries)
	f.within("max_runs", b.MaxRuns, mostRuns)
	f.within("retry_delay", int(b.RetryDelay), mostDelay)
	if b.Priority < LeastPriority || b.Priority > MostPriority {
		f.add("priority", "Write a number from %d to %d; 0 is ordinary, and higher ones start first.", LeastPriority, MostPriority)
	}
	switch b.Bookmark {
	case BookmarkOn, BookmarkPaused, BookmarkOff:
	default:
		f.add("bookmark", "Choose whether the job remembers what it has read.")
	}
	oneOf(&f, "kind", "kind of job", b.Kind, JobSQL, JobPython)
	if b.Kind == JobPython {
		f.script(b)
		return f
	}
	if b.MemoryMB > 0 && b.MemoryMB < MinMemoryMB {
		f.add("memory_mb", "At least %d MB; with less, ordinary sorts fail.", MinMemoryMB)
	}
	if b.SQL == nil {
		f.add("sql", "A SQL job needs its sources, steps and sinks.")
		return f
	}
	names := map[string]bool{} // SQL does not tell upper from lower case
	contexts := map[string]string{}
	for i := range b.SQL.Sources {
		at := "source." + strconv.Itoa(i) + "."
		f.source(at, &b.SQL.Sources[i], names)
		f.context(at, &b.SQL.Sources[i], contexts)
	}
	for i, s := range b.SQL.Steps {
		at := "step." + strconv.Itoa(i) + "."
		f.viewName(at+"name", "step", s.Name, names)
		if strings.TrimSpace(s.SQL) == "" {
			f.add(at+"sql", "Write the SQL of this step.")
		}
	}
	for i := range b.SQL.Sinks {
		f.sink("sink."+strconv.Itoa(i)+".", &b.SQL.Sinks[i], names)
	}
	f.overwritten(b)
	f.twice(b.SQL)
	f.ownInput(b.SQL)
	return f
}

// overwritten refuses to overwrite partitions with what is new alone: the rows
// that were read before would be gone from them (Safe writes).
func (f *faults) overwritten(b *JobBody) {
	overwrites := slices.IndexFunc(b.SQL.Sinks, func(s Sink) bool { return s.Mode == OverwritePartitions })
	if overwrites < 0 || b.Bookmark == BookmarkOff {
		return
	}
	for i, s := range b.SQL.Sources {
		at, to := "source."+strconv.Itoa(i)+".", b.SQL.Sinks[overwrites].Place()
		switch {
		case s.Read == ReadAll:
		case s.Table != "":
			f.add(at+"read", "%s is overwritten by partitions: the new rows of a table alone would take the place of all that a partition holds. Read the table whole each time, or merge by key.", to)
		case s.Options.Partition == "":
			f.add(at+"partition", "%s is overwritten by partitions: a late file would leave its partition with that file alone. Write to which partition each file belongs, such as {year}/{month}/*.csv, read the source whole each time, or merge by key.", to)
		}
	}
}

// twice refuses a source that is made to read rows again beside a target that
// would then hold them twice (Safe writes).
func (f *faults) twice(job *SQLJob) {
	appends := slices.IndexFunc(job.Sinks, func(s Sink) bool { return s.Mode == Append || s.Mode == "" })
	if appends < 0 {
		return
	}
	for i, s := range job.Sources {
		at, o := "source."+strconv.Itoa(i)+".", s.Options.Table
		if s.Table == "" || s.Read == ReadAll {
			continue
		}
		if o.Overlap > 0 {
			f.add(at+"overlap", "An overlap reads rows again, and %s appends: they would stand there twice. Merge by key into it, or use a lag.", job.Sinks[appends].Place())
		}
		if s.Read == ReadCompare {
			f.add(at+"read", "A changed row is read again, and %s appends: it would stand there twice. Merge by key into it.", job.Sinks[appends].Place())
		}
		if o.NullKeys == "read" {
			f.add(at+"null_keys", "Rows without a key would be read each time, and %s appends: they would stand there twice. Merge by key into it, or only count them.", job.Sinks[appends].Place())
		}
	}
}

func (f *faults) viewName(field, what, name string, names map[string]bool) {
	wrong := CheckName(what, name)
	switch {
	case name == "":
		f.add(field, "Give it a name; SQL reads it by that name.")
	case wrong != nil:
		f.add(field, "%s", MessageOf(wrong))
	case names[strings.ToLower(name)]:
		f.add(field, "Another source or step has this name.")
	}
	names[strings.ToLower(name)] = true
}

func (f *faults) source(at string, s *Source, names map[string]bool) {
	f.viewName(at+"name", "source", s.Name, names)
	if wrong := CheckName("context", s.Context()); s.Ctx != "" && wrong != nil {
		f.add(at+"ctx", "%s", MessageOf(wrong))
	}
	if given(s.Path, s.CatalogTable, s.Table) != 1 {
		f.add(at+"path", "Say what to read, one of: a folder or address, a table of the catalog, a table of a database.")
	}
	if s.Table != "" {
		f.tableSource(at, s)
	} else if s.Read == ReadCompare {
		f.add(at+"read", "Only a table of a database can be compared row by row. Of files, read what is new: it takes changed files too.")
	}
	if from, to := s.Options.From, s.Options.To; !from.IsZero() && !to.IsZero() && !from.Before(to) {
		f.add(at+"to", "Nothing lies between these two times; the second must be the later one.")
	}
	f.notNegative(at+"max_files", s.Options.MaxFiles)
	f.notNegative(at+"max_bytes", int(s.Options.MaxBytes))
	oneOf(f, at+"format", "format", s.Format, "", CSV, JSON, Parquet)
	oneOf(f, at+"read", "way to read", s.Read, "", ReadNew, ReadAll, ReadCompare)
	oneOf(f, at+"changed", "policy for changed files", s.Policy.Changed, "", "read", "hold", "skip")
	oneOf(f, at+"unreadable", "policy for unreadable files", s.Policy.Unreadable, "", "fail", "hold")
	oneOf(f, at+"gone", "policy for files that are gone", s.Policy.Gone, "", "fail", "drop")
}

// context refuses two sources that share a bookmark: each would take what the
// other read for its own (B09).
func (f *faults) context(at string, s *Source, taken map[string]string) {
	if s.Read == ReadAll {
		return
	}
	ctx := s.Context()
	if other, ok := taken[ctx]; ok && ctx != "" {
		f.add(at+"name", "The source %s reads by the bookmark %s already. Give this one another name, or another context.", other, ctx)
	}
	taken[ctx] = s.Name
}

// given counts the texts that are not empty.
func given(texts ...string) (n int) {
	for _, text := range texts {
		if text != "" {
			n++
		}
	}
	return n
}

// tableSource looks at what only a table source has.
func (f *faults) tableSource(at string, s *Source) {
	o := s.Options.Table
	if s.Connection == "" {
		f.add(at+"connection", "Choose the connection of the database that has this table.")
	}
	f.notNegative(at+"lag", int(o.Lag))
	f.notNegative(at+"overlap", int(o.Overlap))
	f.notNegative(at+"max_rows", int(o.MaxRows))
	oneOf(f, at+"closed", "closed period", o.Closed, "", "hour", "day")
	oneOf(f, at+"null_keys", "policy for rows without a key", o.NullKeys, "", "read", "fail", "coalesce")
	if (o.NullKeys == "coalesce") != (o.Instead != "") {
		f.add(at+"instead", "Name the column that stands in for a key without a value, and choose so for such rows; or neither.")
	}
	if o.Instead != "" && len(s.Keys) != 1 {
		f.add(at+"instead", "A column can stand in for a key of one column. Name that column as the key.")
	}
	if s.Read == ReadCompare {
		f.compared(at, o)
	}
	if o.Descending && (o.Lag > 0 || o.Overlap > 0 || o.Closed != "") {
		f.add(at+"lag", "Of a key that falls no row is the newest; leave the lag, the overlap and closed periods empty.")
	}
}

// compared looks at the options of a table that is compared row by row, which
// has no order in which one row is newer than another.
func (f *faults) compared(at string, o TableOptions) {
	if o.Descending || o.Lag > 0 || o.Overlap > 0 || o.Closed != "" || o.Compare {
		f.add(at+"lag", "A full compare sees every row, whenever it came. Leave the order, the lag, the overlap, closed periods and the count empty.")
	}
	if o.NullKeys == "read" {
		f.add(at+"null_keys", "A full compare tells rows apart by their key. Count those without one, fail on them, or let another column stand in.")
	}
}

func (f *faults) sink(at string, s *Sink, names map[string]bool) {
	if s.From == "" || !names[strings.ToLower(s.From)] {
		f.add(at+"from", "Choose the step or source whose rows are written.")
	}
	if given(s.Path, s.Table) != 1 {
		f.add(at+"path", "Say where to write: either a folder or address, or a table of a database.")
	}
	if slices.Contains(strings.Split(s.Path, "/"), OwnFolder) {
		f.add(at+"path", "A folder %s holds what is being written, and nothing reads it. Write to another folder.", OwnFolder)
	}
	if s.Table != "" && s.Connection == "" {
		f.add(at+"connection", "Choose the connection of the database that has this table.")
	}
	if s.Table != "" && s.CatalogTable != "" {
		f.add(at+"catalog_table", "A table of a database is not part of the catalog; leave this empty.")
	}
	if s.Mode == Merge && len(s.Keys) == 0 {
		f.add(at+"keys", "A merge needs the columns that tell one row from another.")
	}
	if s.Mode == OverwritePartitions && len(s.PartitionBy) == 0 {
		f.add(at+"partition_by", "Overwriting partitions needs the columns to partition by.")
	}
	if database, table, ok := strings.Cut(s.CatalogTable, "."); s.CatalogTable != "" && (!ok || database == "" || table == "") {
		f.add(at+"catalog_table", "Write database.table.")
	}
	oneOf(f, at+"format", "format", s.Format, "", CSV, JSON, Parquet)
	oneOf(f, at+"mode", "way to write", s.Mode, "", Append, OverwritePartitions, Merge, Replace)
}

// Faults lists what is wrong in a crawler, whichever way it came in.
func (b *CrawlerBody) Faults() []Fault {
	var f faults
	if b.Database == "" {
		f.add("database", "Say into which database its tables go.")
	}
	for i, t := range b.Targets {
		if t.Path == "" {
			f.add("target."+strconv.Itoa(i)+".path", "Say which folder or prefix to look into.")
		}
	}
	if len(b.Targets) == 0 {
		f.add("targets", "A crawler needs a folder or prefix to look into.")
	}
	f.within("timeout", int(b.Timeout), int(MostMinutes))
	f.notNegative("max_tables", b.MaxTables)
	return f
}
