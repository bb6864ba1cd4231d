// Package editor shows the editor of a workflow: its header, the panel of the
// card that is selected, and the list of what a publish changes. The graph
// itself is drawn by views/canvas.
package editor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/views/canvas"
	"dogear/views/crawler"
	"dogear/views/form"
	"dogear/views/job"
	"dogear/views/show"
)

// Tab is one of the pages of a workflow, by its word.
type Tab string

// The tabs of a workflow.
const (
	TabEditor   Tab = "Editor"
	TabRuns     Tab = "Runs"
	TabVersions Tab = "Versions"
)

var allTabs = []struct {
	tab  Tab
	path string
}{{TabEditor, ""}, {TabRuns, "/runs"}, {TabVersions, "/versions"}}

// State is how a workflow's draft stands against what is published.
type State struct {
	Draft    draft.Draft
	CSRF     string
	Problems []draft.Problem
	Changes  []draft.Change
	Parts    []Part
	// Twice are triggers that a publish would let start what is started by itself
	// already; only the dialog of a publish has them.
	Twice []draft.Twice
}

// Part is a job or crawler on the canvas with an open draft of its own.
type Part struct {
	Ref     engine.Ref
	Name    string
	Version int           // that runs now; 0 before the first publish
	Seq     int64         // of its draft
	Others  []engine.Head // workflows that it is published for as well
	Fields  []draft.Field // that a publish changes; known to the dialog only
}

func (s State) href(tail string) string { return "/workflows/" + string(s.Draft.Workflow) + tail }

// open counts what a publish would change.
func (s State) open() int { return len(s.Changes) + len(s.Parts) }

// discards reports whether there is something to discard, and something published that
// the drafts become again.
func (s State) discards() bool {
	return s.Draft.Version > 0 && (s.Draft.Open || slices.ContainsFunc(s.Parts, func(p Part) bool { return p.Version > 0 }))
}

// title says what a publish publishes: where the workflow itself is as it was,
// it gets no new version.
func (s State) title() string {
	switch n := s.Draft.Version; {
	case n == 0:
		return "Publish " + s.Draft.Name
	case len(s.Changes) > 0 || len(s.Parts) == 0:
		return "Publish v" + strconv.Itoa(n+1) + " of " + s.Draft.Name
	}
	return "Publish " + s.partsWords()
}

// partsWords counts the jobs and crawlers: "2 changed jobs and 1 changed crawler".
func (s State) partsWords() string {
	var jobs, crawlers int64
	for _, p := range s.Parts {
		if p.Ref.Kind == engine.KindJob {
			jobs++
		} else {
			crawlers++
		}
	}
	var words []string
	if jobs > 0 {
		words = append(words, show.Many(jobs, "changed job"))
	}
	if crawlers > 0 {
		words = append(words, show.Many(crawlers, "changed crawler"))
	}
	return strings.Join(words, " and ")
}

// version says what runs and what does not yet.
func (s State) version() string {
	words := "Never published"
	if s.Draft.Version > 0 {
		words = "v" + strconv.Itoa(s.Draft.Version)
	}
	if n := s.open(); n > 0 {
		words += " · " + show.Many(int64(n), "change") + " not published"
	}
	return words
}

// hard are the problems that hinder a publish.
func (s State) hard() []draft.Problem {
	return slices.DeleteFunc(slices.Clone(s.Problems), func(p draft.Problem) bool { return p.Soft })
}

// verdict is what stands between the draft and a run of it, counted by its kind; none
// where all is well. What is only worth knowing is not counted beside anything worse.
func (s State) verdict() show.Sign {
	hard, fails := int64(len(s.hard())), int64(len(s.fails()))
	switch {
	case hard > 0 && fails > 0:
		return show.Sign{Icon: "circle-x", Word: show.Many(hard, "problem") + ", " + show.Many(fails, "warning"), Hue: "bad"}
	case hard > 0:
		return show.Sign{Icon: "circle-x", Word: show.Many(hard, "problem"), Hue: "bad"}
	case len(s.Draft.Body.Refs())+len(s.Draft.Body.Triggers) == 0:
		return show.Sign{Icon: "info", Word: "Empty", Hue: "idle"}
	case fails > 0:
		return show.Sign{Icon: "triangle-alert", Word: show.Many(fails, "warning"), Hue: "warn"}
	}
	return show.Sign{Icon: "info", Word: show.Many(int64(len(s.Problems)), "hint"), Hue: "warn"}
}

// fails are the problems of which the next run would fail.
func (s State) fails() []draft.Problem {
	return slices.DeleteFunc(slices.Clone(s.Problems), func(p draft.Problem) bool { return !p.Fails })
}

// confirm is the word on the button that publishes.
func (s State) confirm(then string) string {
	word := "Publish"
	if then == "run" {
		word += " and run"
	}
	if len(s.fails()) > 0 && len(s.hard()) == 0 {
		word += " anyway"
	}
	return word
}

// runs reports whether there is a version to run without publishing.
func (s State) runs() bool { return s.Draft.Version > 0 }

// starts are the triggers with which a run of the draft can begin.
func (s State) starts() []form.Choice {
	var list []form.Choice
	for _, t := range s.Draft.Body.StartTriggers() {
		list = append(list, form.Choice{string(t.ID), t.Name})
	}
	return list
}

// Panel is what the panel beside the canvas shows.
type Panel struct {
	CSRF     string
	Workflow engine.ID
	// Published says that there is a version of the workflow to run.
	Published bool
	Seq       int64
	Card      string
	Errors    map[string]string
	Typed     form.Typed // what was typed, where it was refused
	Saved     bool
	Info      canvas.Info // of a job or crawler
	Names     draft.Names

	Trigger *engine.Trigger
	Seen    *engine.Trigger // what the person saw before a form that was refused; nil otherwise
	Next    []time.Time     // when a schedule fires next
	Planned bool            // whether these times count only once the workflow is published
	Ticks   []engine.Tick   // what became of its last due times, newest first
	Warning string          // what the schedule does not do although it seems to
	Zones   []string
	Events  *Events // of an event trigger
	Running *Running
	Starts  []Start // of the jobs that the trigger starts, or of the job by each trigger

	Job         *job.Fields
	JobState    engine.Draft[engine.JobBody]
	Unread      bool              // whether nothing is known yet of the columns of its sources
	Bookmarks   []engine.Bookmark // of the job
	Crawler     *crawler.Fields
	Connections []engine.Connection
	Used        []engine.Head

	Body *engine.WorkflowBody // of the workflow, where no card is selected
}

// Running is how a trigger with a switch stands in the version that runs; nil where that
// does not have it.
type Running struct {
	Version int
	On      bool
}

// sign is the state of the switch.
func (r *Running) sign() show.Sign {
	if r.On {
		return show.Sign{Icon: "power", Word: "On", Hue: "ok"}
	}
	return show.TurnedOff("Off")
}

// turn is the word on the button that turns it round, and what that sends.
func (r *Running) turn() (word, on string) {
	if r.On {
		return "Turn off now", "no"
	}
	return "Turn on now", "yes"
}

// makes says what a turn makes.
func (r *Running) makes() string {
	return fmt.Sprintf("Counts at once, as v%d: v%d with this switch alone. The rest of the draft stays as it is, not published.", r.Version+1, r.Version)
}

func (p Panel) href() string {
	at := "/workflows/" + string(p.Workflow)
	if p.Card == "" {
		return at + "/panel"
	}
	return at + "/cards/" + p.Card
}

// seen is the trigger that the fields of the form were filled from at first.
func (p Panel) seen() *engine.Trigger {
	if p.Seen != nil {
		return p.Seen
	}
	return p.Trigger
}

// zone is that of the schedule; UTC where it names none, or none that is known.
func (p Panel) zone() *time.Location {
	zone, err := time.LoadLocation(p.Trigger.Zone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// enabled says whether t is turned on, as the form sends it.
func enabled(t *engine.Trigger) string {
	if t.Disabled {
		return ""
	}
	return "yes"
}

func (p Panel) seq() string { return strconv.FormatInt(p.Seq, 10) }

// info is what the canvas learns when the panel has saved a job's name.
func (p Panel) info() string {
	if p.Info.Name == "" {
		return ""
	}
	text, err := json.Marshal(p.Info)
	if err != nil {
		return "" // strings always encode
	}
	return string(text)
}

// stateField is the field of the state of a condition. It holds the state that it
// was shown with: a trigger may wait for more than one end of a node.
func stateField(c engine.Condition) string { return "state." + c.Ref.String() + "." + string(c.State) }

// ConditionOf reads the name of such a field: the card, and the state that it was
// shown with.
func ConditionOf(field string) (card string, shown engine.State, ok bool) {
	rest, ok := strings.CutPrefix(field, "state.")
	card, state, whole := strings.Cut(rest, ".")
	return card, engine.State(state), ok && whole
}

// PropertiesText writes properties one a line.
func PropertiesText(properties map[string]string) string { return job.PairsText(properties) }

// ReadProperties reads what PropertiesText writes.
func ReadProperties(text string) (map[string]string, error) { return job.ReadPairs(text, "property") }

// InfoOfJob is what a card says of a job.
func InfoOfJob(d engine.Draft[engine.JobBody]) canvas.Info {
	info := canvas.Info{Name: d.Name, Sub: show.JobKind(d.Body.Kind), Icon: show.JobIcon(d.Body.Kind), Note: "Bookmark on"}
	switch d.Body.Bookmark {
	case engine.BookmarkPaused:
		info.Note = "Bookmark paused"
	case engine.BookmarkOff:
		info.Note = "No bookmark"
	case engine.BookmarkOn:
	}
	if d.Body.ReadsAll() {
		info.Note = "Reads all"
	}
	if d.Version == 0 {
		info.Fact = "new"
	}
	return info
}

// InfoOfCrawler is what a card says of a crawler.
func InfoOfCrawler(d engine.Draft[engine.CrawlerBody]) canvas.Info {
	info := canvas.Info{Name: d.Name, Sub: "Crawler", Icon: "radar", Note: show.Many(int64(len(d.Body.Targets)), "place")}
	if d.Body.Database != "" {
		info.Sub += " · " + d.Body.Database
	}
	if d.Version == 0 {
		info.Fact = "new"
	}
	return info
}

var states = []form.Choice{
	{string(engine.Succeeded), "succeeds"},
	{string(engine.Failed), "fails"},
	{string(engine.TimedOut), "times out"},
	{string(engine.Stopped), "is stopped"},
	{string(engine.EndedAny), "ends in any way"},
}

var missed = []form.Choice{
	{string(engine.MissedSkip), "are left out"},
	{string(engine.MissedLatest), "run once, for the last"},
	{string(engine.MissedAll), "all run, up to " + strconv.Itoa(engine.MostMissed)},
}

var overlaps = []form.Choice{
	{string(engine.OverlapSkip), "is left out"},
	{string(engine.OverlapQueue), "waits, one at most"},
}

var logics = []form.Choice{{string(engine.All), "all of them"}, {string(engine.Any), "any of them"}}

var bookmarks = []form.Choice{{string(engine.BookmarkOn), "On"}, {string(engine.BookmarkPaused), "Paused"}, {string(engine.BookmarkOff), "Off"}}

var formats = []form.Choice{{string(engine.CSV), "CSV"}, {string(engine.JSON), "JSON"}, {string(engine.Parquet), "Parquet"}}

// written are the formats of a target, the default first.
var written = []form.Choice{{string(engine.Parquet), "Parquet"}, {string(engine.CSV), "CSV"}, {string(engine.JSON), "JSON lines"}}

var modes = []form.Choice{
	{string(engine.Append), "Append"},
	{string(engine.OverwritePartitions), "Overwrite partitions"},
	{string(engine.Merge), "Merge by key"},
	{string(engine.Replace), "Replace all"},
}

var reads = []form.Choice{{string(engine.ReadNew), "What is new"}, {string(engine.ReadAll), "All of it, each time"}, {string(engine.ReadCompare), "New or changed rows"}}

// pair is a hidden field.
type pair struct{ name, value string }

// hiddenSource are the fields of a source that the short form does not show.
func hiddenSource(i int, s engine.Source) []pair {
	at := "source." + strconv.Itoa(i) + "."
	fields := []pair{
		{at + "rest", text(s)},
		{at + "name", s.Name},
		{at + "catalog_table", s.CatalogTable},
		{at + "partition", s.Options.Partition},
		{at + "exclude", strings.Join(s.Options.Exclude, ", ")},
		{at + "unreadable", s.Policy.Unreadable},
		{at + "gone", s.Policy.Gone},
	}
	if i > 0 {
		fields = append(fields, pair{at + "path", s.Path}, pair{at + "format", string(s.Format)},
			pair{at + "read", string(s.Read)}, pair{at + "connection", string(s.Connection)})
	}
	return fields
}

// hiddenJob are the fields of a job that its short form does not show.
func hiddenJob(f *job.Fields) []pair {
	b := &f.Body
	return []pair{
		{"base", strconv.FormatInt(f.Base, 10)},
		{"description", b.Description},
		{"memory_mb", form.Number(b.MemoryMB)},
		{"spill_mb", form.Number(b.SpillMB)},
		{"retry_delay", form.Number(int(b.RetryDelay))},
		{"pool", b.Pool},
		{"priority", f.Priority()},
	}
}

// hiddenSink are the fields of a target that the short form does not show.
func hiddenSink(i int, s engine.Sink) []pair {
	at := "sink." + strconv.Itoa(i) + "."
	fields := []pair{{at + "rest", text(s)}, {at + "from", s.From}, {at + "latest_by", s.LatestBy}}
	if i > 0 {
		fields = append(fields, pair{at + "path", s.Path}, pair{at + "format", string(s.Format)}, pair{at + "mode", string(s.Mode)},
			pair{at + "keys", strings.Join(s.Keys, ", ")}, pair{at + "partition_by", strings.Join(s.PartitionBy, ", ")},
			pair{at + "catalog_table", s.CatalogTable}, pair{at + "connection", string(s.Connection)})
	}
	return fields
}

func hiddenSteps(steps []engine.Step) []pair {
	var fields []pair
	for i, s := range steps {
		at := "step." + strconv.Itoa(i) + "."
		fields = append(fields, pair{at + "name", s.Name})
		if i > 0 {
			fields = append(fields, pair{at + "sql", s.SQL})
		}
	}
	return fields
}

// text is a part of a job as the field "rest" carries it.
func text(part any) string {
	b, err := json.Marshal(part)
	if err != nil {
		return "{}" // parts always encode
	}
	return string(b)
}

// verb is a change's verb as a word at the head of a line.
func verb(v draft.Verb) string { return strings.ToUpper(string(v[:1])) + string(v[1:]) }
