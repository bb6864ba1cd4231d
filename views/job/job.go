// Package job shows jobs: the list, and the form of one with its history.
package job

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/views/form"
)

// Listing is what the list shows.
type Listing struct {
	Items  []Item
	All    int // before the filter
	Filter string
	Now    time.Time
	CSRF   string
}

// href is the address of this list with its filter.
func (l Listing) href() string {
	if l.Filter == "" {
		return "/jobs"
	}
	return "/jobs?name=" + url.QueryEscape(l.Filter)
}

// Item is one job with its last attempt, if any, and the workflows that use it.
type Item struct {
	Draft engine.Draft[engine.JobBody]
	Last  []engine.NodeRun
	Used  []engine.Head
}

// View is one job.
type View struct {
	Draft       engine.Draft[engine.JobBody]
	Form        Fields
	Versions    []engine.Head
	History     []engine.NodeRun
	Bookmarks   []engine.Bookmark
	Used        []engine.Head
	Connections []engine.Connection
	Pools       []string // that there are
	Editor      string   // address of the SQL editor's bundle
	Now         time.Time
	CSRF        string
}

func (v View) href(tail string) string { return "/jobs/" + string(v.Draft.ID) + tail }

// stands says what runs, and how the form as it was drawn differs from it.
func (v View) stands() string {
	runs := "v" + strconv.Itoa(v.Draft.Version) + " runs"
	switch {
	case v.Form.Unsaved:
		return v.typed()
	case v.Draft.Version == 0:
		return "Never published; it can run once it is."
	case v.Form.Shown == v.Draft.Version, v.Form.Shown == 0 && !v.Draft.Open:
		return runs + ", as shown."
	case v.Form.Shown > 0:
		return runs + "; v" + strconv.Itoa(v.Form.Shown) + " is shown."
	}
	return runs + "; the draft differs from it."
}

// compares reports whether there are two things to compare: versions, or one and the
// draft.
func (v View) compares() bool { return len(v.Versions) > 1 || len(v.Versions) == 1 && v.Draft.Open }

// typed says it once something is typed, which no draft has.
func (v View) typed() string {
	if v.Draft.Version == 0 {
		return "What is typed here is not saved."
	}
	return "v" + strconv.Itoa(v.Draft.Version) + " runs; what is typed here is not saved."
}

// pools are the choices of the form; one that was deleted stays until another
// is chosen.
func (v View) pools() []form.Choice {
	choices := []form.Choice{{"", "None"}}
	known := v.Form.Body.Pool == ""
	for _, name := range v.Pools {
		choices = append(choices, form.Choice{name, name})
		known = known || name == v.Form.Body.Pool
	}
	if !known {
		choices = append(choices, form.Choice{v.Form.Body.Pool, v.Form.Body.Pool + " (does not exist)"})
	}
	return choices
}

func address(kind string, id engine.ID) string { return "/" + kind + "/" + string(id) }

func field(kind string, i int, name string) string { return kind + "." + strconv.Itoa(i) + "." + name }

func join(list []string) string { return strings.Join(list, ", ") }

// rest is what a form does not show of a part, kept beside it.
func rest(part any) string {
	text, err := json.Marshal(part)
	if err != nil {
		return ""
	}
	return string(text)
}

// froms are what a sink may write: steps and sources.
func (f Fields) froms() []string {
	var names []string
	for _, s := range f.Body.SQL.Steps {
		names = append(names, s.Name)
	}
	for _, s := range f.Body.SQL.Sources {
		names = append(names, s.Name)
	}
	return names
}

var (
	bookmarkModes = []form.Choice{{string(engine.BookmarkOn), "On"}, {string(engine.BookmarkPaused), "Paused"}, {string(engine.BookmarkOff), "Off"}}
	readModes     = []form.Choice{{string(engine.ReadNew), "What is new"}, {string(engine.ReadAll), "All of it, each time"}, {string(engine.ReadCompare), "New or changed rows"}}
	readFormats   = []form.Choice{{string(engine.CSV), "CSV"}, {string(engine.JSON), "JSON"}, {string(engine.Parquet), "Parquet"}}
	writeFormats  = []form.Choice{{string(engine.Parquet), "Parquet"}, {string(engine.CSV), "CSV"}, {string(engine.JSON), "JSON lines"}}
	gone          = []form.Choice{{"", "Fail and name it"}, {"drop", "Let its rows go"}}
	unreadable    = []form.Choice{{"", "Fail and name it"}, {"hold", "Hold it and read the rest"}}
	writeModes    = []form.Choice{
		{string(engine.Append), "Append"},
		{string(engine.Merge), "Merge by key"},
		{string(engine.OverwritePartitions), "Overwrite partitions"},
		{string(engine.Replace), "Replace all"},
	}
)

func readMode(s engine.Source) string {
	if s.Read == "" {
		return string(engine.ReadNew)
	}
	return string(s.Read)
}

func bookmarkWord(b *engine.JobBody) string {
	if b.ReadsAll() {
		return "Reads all"
	}
	for _, c := range bookmarkModes {
		if c.Value() == string(b.Bookmark) {
			return c.Word()
		}
	}
	return string(b.Bookmark)
}

// wordsOf are names with their columns, as the editor wants them.
func wordsOf(columns map[string][]engine.Column) map[string][]string {
	words := map[string][]string{}
	for name, list := range columns {
		names := []string{}
		for _, c := range list {
			names = append(names, c.Name)
		}
		words[name] = names
	}
	return words
}
