package run

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/views/show"
)

// Tab is one page of the panel.
type Tab string

// The tabs of the panel.
const (
	TabLog       Tab = "log"
	TabInputs    Tab = "inputs"
	TabOutputs   Tab = "outputs"
	TabBookmark  Tab = "bookmark"
	TabArguments Tab = "arguments"
	TabAttempts  Tab = "attempts"
)

// tabWord is a page of the panel and its word.
type tabWord struct {
	tab  Tab
	word string
}

var tabs = []tabWord{
	{TabLog, "Log"}, {TabInputs, "Inputs"}, {TabOutputs, "Outputs"}, {TabBookmark, "Bookmark"}, {TabArguments, "Arguments"}, {TabAttempts, "Attempts"},
}

// Node is what the panel of a card shows. Attempt.Attempt is 0 for a node that
// has not started.
type Node struct {
	View     View
	Ref      engine.Ref
	Name     string
	Trigger  *engine.Trigger // set where the card is a trigger
	Fired    engine.TriggerRun
	Attempt  engine.NodeRun
	Attempts []engine.NodeRun // of this node, newest first
	Tab      Tab
	Batch    engine.Batch
	Log      Log
	Inputs   Inputs
	Moves    []Move
	// Told are the properties of the run as the attempt was told them, where they
	// were changed since its start; Outdated says that they are others now.
	Told     map[string]string
	Outdated bool
	// Ran is the job as it ran; nil for a crawler, and where that version is gone.
	Ran    *engine.JobBody
	Limits []Limit // of a job that has started
	// Script says that the job is a script.
	Script bool
	// Marked is when a person has marked the attempt; zero of any other.
	Marked time.Time
}

// markWords says who has marked the attempt, and for what reason.
func (n Node) markWords() string {
	return upper(n.Attempt.Why) + "."
}

// copiedWords says what the earlier run holds of a node that was copied from it,
// after the name of that run.
func (n Node) copiedWords() string {
	if n.Attempt.State == engine.Skipped {
		return ", where it was skipped."
	}
	if n.Script {
		return ", where it was done. Its log is there."
	}
	return ", where it was done. Its log, inputs and outputs are there."
}

// upper is a reason as the beginning of a sentence.
func upper(why string) string { return strings.ToUpper(why[:1]) + why[1:] }

// Move is a bookmark of the node's job and how this run moved it; nil for not.
type Move struct {
	Mark engine.Bookmark
	Move *engine.BookmarkMove
}

// Node finds what is known of a card: of that start and attempt, or of the
// newest where they are 0.
func (v View) Node(card string, start, attempt int, tab any) Node {
	n := Node{View: v, Tab: TabLog}
	for _, t := range tabs {
		if fmt.Sprint(tab) == string(t.tab) {
			n.Tab = t.tab
		}
	}
	ref, err := engine.ParseRef(card)
	if err != nil {
		n.Trigger = v.Run.Body.Trigger(engine.ID(card))
		for _, t := range v.Triggers {
			if string(t.Trigger) == card {
				n.Fired = t
			}
		}
		return n
	}
	n.Ref, n.Name = ref, v.NameOf(ref)
	n.Attempt, _ = v.newest(ref)
	for _, a := range slices.Backward(v.Nodes) {
		if a.Ref != ref {
			continue
		}
		n.Attempts = append(n.Attempts, a)
		if a.Start == start && a.Attempt == attempt {
			n.Attempt = a
		}
	}
	return n
}

// Live reports whether more may come of the attempt.
func (n Node) Live() bool { return n.Attempt.Attempt > 0 && !n.Attempt.State.Done() }

// expected reports whether the node has not begun and still may: then the whole
// panel is asked for again when something happens.
func (n Node) expected() bool { return n.Attempt.Attempt == 0 && n.View.Run.Open() }

// href is the address of the panel with another tab.
func (n Node) href(tab Tab) string { return n.address("") + "?" + n.query(tab).Encode() }

// part is the address of a piece of the panel.
func (n Node) part(name string, more ...string) string {
	q := n.query(n.Tab)
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return n.address("/"+name) + "?" + q.Encode()
}

func (n Node) address(tail string) string {
	return "/runs/" + string(n.View.Run.ID) + "/nodes/" + n.Ref.String() + tail
}

func (n Node) query(tab Tab) url.Values {
	return url.Values{
		"start": {strconv.Itoa(n.Attempt.Start)}, "attempt": {strconv.Itoa(n.Attempt.Attempt)}, "tab": {string(tab)},
	}
}

// figures are the numbers above the tabs.
func (n Node) figures() [][2]string {
	c := n.Attempt.Counts
	if n.Ref.Kind == engine.KindCrawler {
		return [][2]string{
			{"Files", show.Count(c.Files)}, {"Looked at", show.Size(c.BytesIn)}, {"Tables", show.Count(c.Tables)}, {"Partitions", show.Count(c.Partitions)},
		}
	}
	if n.Script {
		return n.scriptFigures()
	}
	return [][2]string{
		{"Files", show.Count(c.Files)}, {"Rows in", show.Count(c.RowsIn)}, {"Rows out", show.Count(c.RowsOut)}, {"Written", show.Size(c.BytesOut)},
	}
}

func (n Node) subtitle() string {
	if n.Attempt.Attempt == 0 {
		return "Has not started"
	}
	kind := "Job"
	if n.Ref.Kind == engine.KindCrawler {
		kind = "Crawler"
	}
	if n.Attempt.Version > 0 { // it has one when it is taken up
		kind += fmt.Sprintf(" v%d", n.Attempt.Version)
	}
	if n.Attempt.State == engine.Skipped {
		return kind + " · did not run"
	}
	text := fmt.Sprintf("%s · attempt %d", kind, n.Attempt.Attempt)
	if n.Attempt.Start > 1 {
		text += fmt.Sprintf(" of start %d", n.Attempt.Start)
	}
	return text
}

// traced reports an error of several lines.
func traced(text string) bool { return strings.Contains(strings.TrimSpace(text), "\n") }

func (n Node) objectHref() string {
	if n.Ref.Kind == engine.KindCrawler {
		return "/crawlers/" + string(n.Ref.ID)
	}
	return "/jobs/" + string(n.Ref.ID)
}

// Fell reports an attempt that ended badly: its log opens at its end, where the reason is.
func (n Node) Fell() bool { return show.OfState(n.Attempt.State).Hue == "bad" }

// Log is one piece of an attempt's log.
type Log struct {
	Blocks [][]Line
	From   int64
	Next   int64 // where the next piece begins
	More   bool  // there is more already
	Live   bool  // the attempt may write more
}

// Line is one line of it.
type Line struct {
	At    time.Time
	Level string
	Spans []Span
}

func (l Line) millis() string { return l.At.Format(".000") }

// Output is one file that an attempt wrote.
type Output struct {
	Sink, Index int
	Path        string // the whole address
	Connection  engine.ID
	Format      engine.Format
	engine.OutFile
}

// outputs lists the files of a sink.
func (n Node) outputs(sink int) []Output {
	if sink < 0 || sink >= len(n.Batch.Manifest.Sinks) {
		return nil
	}
	m := n.Batch.Manifest.Sinks[sink]
	out := make([]Output, len(m.Files))
	for i, f := range m.Files {
		out[i] = Output{Sink: sink, Index: i, Path: strings.TrimSuffix(m.Root, "/") + "/" + f.Path, Format: engine.Parquet, OutFile: f}
		if sql := n.Batch.Body.SQL; sql != nil && m.Sink < len(sql.Sinks) {
			out[i].Connection = sql.Sinks[m.Sink].Connection
			if sql.Sinks[m.Sink].Format != "" {
				out[i].Format = sql.Sinks[m.Sink].Format
			}
		}
	}
	return out
}

// File is one of the files that the attempt wrote.
func (n Node) File(sink, index int) (Output, bool) {
	files := n.outputs(sink)
	if index < 0 || index >= len(files) {
		return Output{}, false
	}
	return files[index], true
}

func (o Output) sampleHref(n Node) string {
	return n.part("sample", "sink", strconv.Itoa(o.Sink), "file", strconv.Itoa(o.Index))
}

// text says in words how a run moved a bookmark.
func (m Move) text() string {
	if r, ok := m.Move.Newest.KeyRange(); ok {
		return fmt.Sprintf("v%d → v%d: %s read, %s.", m.Move.Version-1, m.Move.Version, show.Many(m.Move.Rows, "row"), r.Words())
	}
	text := fmt.Sprintf("v%d → v%d: %s read for the first time", m.Move.Version-1, m.Move.Version, show.Many(m.Move.Added, "file"))
	if m.Move.Again > 0 {
		text += fmt.Sprintf(", %s read again because it changed in place", show.Many(m.Move.Again, "file"))
	}
	return text + ", " + show.Size(m.Move.InBytes) + "."
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
