// Package workflow shows the list of workflows.
package workflow

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/views/show"
)

// Listing is what the list shows.
type Listing struct {
	SampleFolder string // "" without a sample
	Items        []Item
	All          int // before the filter
	Filter       string
	Now          time.Time
	CSRF         string
}

// Item is one workflow with its last runs, newest first.
type Item struct {
	Workflow engine.Workflow
	Runs     []engine.Run
	Next     engine.Coming
}

// starter says what starts i where no schedule is due again.
func (i Item) starter() string {
	for _, kind := range []struct {
		of   engine.TriggerType
		word string
	}{{engine.Scheduled, "Never again"}, {engine.OnEvent, "By events"}} {
		if len(i.starts(kind.of, true)) > 0 {
			return kind.word
		}
	}
	return "On demand"
}

// alsoByEvents reports whether events start i beside a schedule that is due again.
func (i Item) alsoByEvents() bool { return len(i.starts(engine.OnEvent, true)) > 0 }

// starts are the names of the triggers of a kind that are on, or off.
func (i Item) starts(kind engine.TriggerType, on bool) []string {
	var names []string
	for _, t := range i.Workflow.Triggers {
		if t.Type == kind && t.Disabled != on {
			names = append(names, t.Name)
		}
	}
	return names
}

// off is what does not start i for now although something else does, in a word, and
// the names of those triggers.
type off struct{ word, names string }

// off lists what is off while something else starts i by itself.
func (i Item) off() []off {
	if i.Next.Paused {
		return nil // all of it, which is said alone
	}
	var list []off
	for _, kind := range []struct {
		of   engine.TriggerType
		word string
	}{{engine.Scheduled, "schedule"}, {engine.OnEvent, "event trigger"}} {
		if names := i.starts(kind.of, false); len(names) > 0 {
			list = append(list, off{show.Many(int64(len(names)), kind.word) + " off", strings.Join(names, ", ")})
		}
	}
	return list
}

// oldestFirst is the order of bars: time goes to the right.
func (i Item) oldestFirst() []engine.Run {
	runs := slices.Clone(i.Runs)
	slices.Reverse(runs)
	return runs
}

// longest is the longest of the runs that have ended.
func (i Item) longest() time.Duration {
	var longest time.Duration
	for _, r := range i.Runs {
		if !r.Open() {
			longest = max(longest, r.Ended.Sub(r.Started))
		}
	}
	return longest
}

// bar is the height of a run's bar: its length against the longest. Runs that
// go on are as high as the row.
func (i Item) bar(r engine.Run) string {
	longest := i.longest()
	if r.Open() || longest == 0 {
		return "height:100%"
	}
	return fmt.Sprintf("height:%d%%", 20+int(80*r.Ended.Sub(r.Started)/longest))
}

func barTitle(r engine.Run, now time.Time) string {
	return fmt.Sprintf("%s, started %s UTC, %s", show.OfRun(r).Word, r.Started.UTC().Format("2 Jan 15:04"), show.Length(show.Spent(r.Started, r.Ended, now)))
}

// usual is the median length of the runs that succeeded; 0 where none did.
func (i Item) usual() time.Duration {
	var lengths []time.Duration
	for _, r := range i.Runs {
		if r.Outcome == engine.RunSucceeded {
			lengths = append(lengths, r.Ended.Sub(r.Started))
		}
	}
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[len(lengths)/2]
}

// trend are the points of a line through the lengths of runs that ended.
func (i Item) trend() string {
	longest := i.longest()
	var ended []engine.Run
	for _, r := range i.oldestFirst() {
		if !r.Open() {
			ended = append(ended, r)
		}
	}
	if len(ended) < 2 || longest == 0 {
		return ""
	}
	var points []string
	for n, r := range ended {
		x := 100 * n / (len(ended) - 1)
		y := 20 - int(18*r.Ended.Sub(r.Started)/longest)
		points = append(points, fmt.Sprintf("%d,%d", x, y))
	}
	return strings.Join(points, " ")
}

func parts(w engine.Workflow) string {
	return show.Many(int64(len(w.Refs())), "node") + ", " + show.Many(int64(len(w.Triggers)), "trigger")
}

func address(w engine.Workflow) string { return "/workflows/" + string(w.ID) }

// href is the address of this list with its filter.
func (l Listing) href() string {
	if l.Filter == "" {
		return "/workflows"
	}
	return "/workflows?name=" + url.QueryEscape(l.Filter)
}
