package job

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/views/form"
)

// Fields is the form of a job: what was typed, and what is wrong in it by the
// name of the field.
type Fields struct {
	Name   string
	Body   engine.JobBody
	Base   int64 // the newest change of the draft that the form has seen
	Shown  int   // the earlier version that the form holds; 0 for the draft
	Errors map[string]string
	Typed  form.Typed
	Fails  map[string]string // what the next run would fail of, by the field; no reason to refuse it
	Asks   bool              // whether to publish all the same
	// Unsaved says that the form holds what was typed, which no draft has yet.
	Unsaved bool
}

// FormOf is the form before anything was typed.
func FormOf(d engine.Draft[engine.JobBody]) Fields {
	return Fields{Name: d.Name, Body: d.Body, Base: d.Seq}
}

// texts are the fields that say themselves what is wrong in them.
func (f Fields) texts() []string {
	if f.Body.Kind == engine.JobPython {
		return []string{"script.body"}
	}
	var names []string
	if f.Body.SQL != nil {
		for i := range f.Body.SQL.Steps {
			names = append(names, field("step", i, "sql"))
		}
	}
	return names
}

// ReadForm reads what was typed. What the form does not show is kept: of the
// job from its draft, of a part from the field "rest" beside it.
func ReadForm(values url.Values, draft engine.Draft[engine.JobBody]) Fields {
	f := Fields{Name: strings.TrimSpace(values.Get("name")), Body: draft.Body, Errors: map[string]string{}, Typed: form.TypedOf(values), Unsaved: true}
	f.Base, _ = strconv.ParseInt(values.Get("base"), 10, 64)
	b := &f.Body
	b.Description = strings.TrimSpace(values.Get("description"))
	if values.Has("bookmark") {
		b.Bookmark = engine.BookmarkMode(values.Get("bookmark"))
	}
	b.Timeout = engine.Minutes(f.number(values, "timeout", "minutes"))
	b.Retries = f.number(values, "retries", "attempts")
	b.MaxRuns = f.number(values, "max_runs", "runs")
	if values.Has("pool") { // the editor's panel has no such fields
		b.RetryDelay = engine.Seconds(f.number(values, "retry_delay", "seconds"))
		b.Pool = values.Get("pool")
		b.Priority = f.signed(values, "priority")
	}
	b.MemoryMB = f.number(values, "memory_mb", "megabytes")
	b.SpillMB = f.number(values, "spill_mb", "megabytes")
	if b.Kind == engine.JobPython {
		f.readScript(values)
		f.check()
		return f
	}
	sql := engine.SQLJob{MaxRejects: int64(f.number(values, "max_rejects", "rows"))}
	for _, i := range parts(values, "source") {
		s := readSource(values, "source."+i+".")
		f.readColumns(values, "source."+i+".", len(sql.Sources), &s)
		f.Typed.Move("source."+i+".", "source."+strconv.Itoa(len(sql.Sources))+".")
		f.readBounds(values, "source."+i+".", len(sql.Sources), &s)
		sql.Sources = append(sql.Sources, s)
	}
	for _, i := range parts(values, "step") {
		at := "step." + i + "."
		sql.Steps = append(sql.Steps, engine.Step{Name: strings.TrimSpace(values.Get(at + "name")), SQL: strings.ReplaceAll(values.Get(at+"sql"), "\r\n", "\n")})
	}
	for _, i := range parts(values, "sink") {
		sql.Sinks = append(sql.Sinks, readSink(values, "sink."+i+"."))
	}
	b.SQL = &sql
	f.check()
	return f
}

// parts are the numbers of the parts of one kind, in order. They have gaps
// where a part was removed.
func parts(values url.Values, kind string) []string {
	found := map[int]bool{}
	for field := range values {
		rest, ok := strings.CutPrefix(field, kind+".")
		if !ok {
			continue
		}
		digits, _, _ := strings.Cut(rest, ".")
		if n, err := strconv.Atoi(digits); err == nil && n >= 0 {
			found[n] = true
		}
	}
	var out []string
	for _, n := range slices.Sorted(maps.Keys(found)) {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

func readSource(values url.Values, at string) engine.Source {
	var s engine.Source
	// A broken rest can only come of somebody who edits the page; what is shown
	// still counts.
	_ = json.Unmarshal([]byte(values.Get(at+"rest")), &s)
	was := s.Name
	s.Name = strings.TrimSpace(values.Get(at + "name"))
	if s.Ctx == "" && was != "" && was != s.Name {
		s.Ctx = was // a new name is the same source: it keeps its bookmark
	}
	s.Connection = engine.ID(values.Get(at + "connection"))
	path := strings.TrimSpace(values.Get(at + "path"))
	format := chosen(s.Format, engine.Format(values.Get(at+"format")), engine.CSV)
	if path != s.Path || format != s.Format {
		// Another place or format: what was inferred of the old one is void.
		s.Schema, s.Options.CSV = nil, engine.Dialect{}
	}
	s.Path, s.Format = path, format
	readTable(values, at, &s)
	s.CatalogTable = strings.ToLower(strings.TrimSpace(values.Get(at + "catalog_table")))
	s.Read = chosen(s.Read, engine.ReadMode(values.Get(at+"read")), engine.ReadNew)
	s.Options.Partition = strings.TrimSpace(values.Get(at + "partition"))
	s.Options.Exclude = words(values.Get(at + "exclude"))
	s.Policy.Unreadable = values.Get(at + "unreadable")
	s.Policy.Gone = values.Get(at + "gone")
	return s
}

// readColumns reads the columns that a person fixed for the source that becomes the nth.
// Where nobody changed them they stay what the source says, which may be none by now.
func (f *Fields) readColumns(values url.Values, at string, n int, s *engine.Source) {
	if !values.Has(at + "schema") {
		return // the editor's panel has no such field
	}
	var was engine.Source
	_ = json.Unmarshal([]byte(values.Get(at+"rest")), &was)
	text := strings.ReplaceAll(strings.TrimSpace(values.Get(at+"schema")), "\r\n", "\n")
	if text == ColumnsText(was.Schema) {
		return
	}
	columns, err := ReadColumns(text)
	if err != nil {
		f.Errors[field("source", n, "schema")] = engine.MessageOf(err)
		return
	}
	s.Schema = columns
}

func readSink(values url.Values, at string) engine.Sink {
	var s engine.Sink
	_ = json.Unmarshal([]byte(values.Get(at+"rest")), &s)
	s.From = strings.TrimSpace(values.Get(at + "from"))
	s.Connection = engine.ID(values.Get(at + "connection"))
	s.Path = strings.TrimSpace(values.Get(at + "path"))
	if values.Has(at + "table") {
		s.Table = strings.TrimSpace(values.Get(at + "table"))
	}
	s.Format = chosen(s.Format, engine.Format(values.Get(at+"format")), engine.Parquet)
	s.Mode = chosen(s.Mode, engine.WriteMode(values.Get(at+"mode")), engine.Append)
	s.PartitionBy = words(values.Get(at + "partition_by"))
	s.Keys = words(values.Get(at + "keys"))
	s.LatestBy = strings.TrimSpace(values.Get(at + "latest_by"))
	s.CatalogTable = strings.ToLower(strings.TrimSpace(values.Get(at + "catalog_table")))
	return s
}

// chosen is what was chosen in place of was. A field that is empty stays so where the
// choice is what holds then: a form must show one of its choices.
func chosen[T ~string](was, now, usual T) T {
	if was == "" && now == usual {
		return was
	}
	return now
}

// words splits "a, b" into its parts.
func words(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func (f *Fields) number(values url.Values, field, unit string) int {
	text := strings.TrimSpace(values.Get(field))
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		f.Errors[field] = "Write a number of " + unit + ", 0 or more."
		return 0
	}
	return n
}

// signed reads a number that may be below zero.
func (f *Fields) signed(values url.Values, field string) int {
	text := strings.TrimSpace(values.Get(field))
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		f.Errors[field] = "Write a whole number, such as 0 or -5."
	}
	return n
}

// Priority is the priority as the form shows it: nothing for the ordinary one.
func (f *Fields) Priority() string { return f.Typed.Number("priority", f.Body.Priority) }

// Grow adds one empty part, where the job has parts.
func (f *Fields) Grow(kind string) {
	sql := f.Body.SQL
	if sql == nil {
		return
	}
	switch kind {
	case "source":
		sql.Sources = append(sql.Sources, engine.Source{Format: engine.CSV, Read: engine.ReadNew})
	case "step":
		sql.Steps = append(sql.Steps, engine.Step{})
	case "sink":
		sql.Sinks = append(sql.Sinks, engine.Sink{Format: engine.Parquet, Mode: engine.Append})
	}
}

// check says what is wrong before anything is saved.
func (f *Fields) check() {
	if err := engine.CheckName("job", f.Name); err != nil {
		f.Errors["name"] = engine.MessageOf(err)
	}
	for _, fault := range f.Body.Faults() {
		if f.Errors[fault.Field] == "" {
			f.Errors[fault.Field] = fault.Message
		}
	}
}
