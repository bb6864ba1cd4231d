// Package job shows jobs: the list, and the form of one with its history.
package job

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
)

// Listing is what the list shows.
type Listing struct {
	Items []Item
	Now   time.Time
	CSRF  string
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
	Editor      string // address of the SQL editor's bundle
	Now         time.Time
	CSRF        string
}

func (v View) href(tail string) string { return "/jobs/" + string(v.Draft.ID) + tail }

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

func (f Fields) wrong(name string) string { return f.Errors[name] }

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

type choice struct{ value, word string }

var (
	bookmarkModes = []choice{{string(engine.BookmarkOn), "Enabled"}, {string(engine.BookmarkPaused), "Paused"}, {string(engine.BookmarkOff), "Off"}}
	readModes     = []choice{{string(engine.ReadNew), "What is new, by bookmark"}, {string(engine.ReadAll), "Everything, each time"}}
	readFormats   = []choice{{string(engine.CSV), "CSV"}, {string(engine.JSON), "JSON"}, {string(engine.Parquet), "Parquet"}}
	writeFormats  = []choice{{string(engine.Parquet), "Parquet"}, {string(engine.CSV), "CSV"}, {string(engine.JSON), "JSON lines"}}
	unreadable    = []choice{{"", "Fail and name it"}, {"hold", "Hold it and read the rest"}}
	writeModes    = []choice{
		{string(engine.Append), "Append"},
		{string(engine.Merge), "Merge by key"},
		{string(engine.OverwritePartitions), "Overwrite partitions"},
		{string(engine.Replace), "Replace all"},
	}
)

func (v View) connections() []choice {
	list := []choice{{"", "This machine, or AWS by its own settings"}}
	for _, c := range v.Connections {
		list = append(list, choice{string(c.ID), c.Name})
	}
	return list
}

func readMode(s engine.Source) string {
	if s.Read == "" {
		return string(engine.ReadNew)
	}
	return string(s.Read)
}

func bookmarkWord(m engine.BookmarkMode) string {
	for _, c := range bookmarkModes {
		if c.value == string(m) {
			return c.word
		}
	}
	return string(m)
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

// number leaves a field empty where the default holds.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
