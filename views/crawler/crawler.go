// Package crawler shows crawlers: the list, and the form of one.
package crawler

import (
	"net/url"
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

// Item is one crawler and its last crawl, if any.
type Item struct {
	Draft engine.Draft[engine.CrawlerBody]
	Last  []engine.NodeRun
}

// View is one crawler.
type View struct {
	Draft       engine.Draft[engine.CrawlerBody]
	Form        Fields
	History     []engine.NodeRun
	Connections []engine.Connection
	Now         time.Time
	CSRF        string
}

// Fields is the form of a crawler: what was typed, and what is wrong in it.
type Fields struct {
	Name   string
	Body   engine.CrawlerBody
	Base   int64
	Errors map[string]string
}

// FormOf is the form before anything was typed.
func FormOf(d engine.Draft[engine.CrawlerBody]) Fields {
	return Fields{Name: d.Name, Body: d.Body, Base: d.Seq}
}

// maxTargets bounds what one form may hold.
const maxTargets = 100

// ReadForm reads what was typed.
func ReadForm(values url.Values, draft engine.Draft[engine.CrawlerBody]) Fields {
	f := Fields{Name: strings.TrimSpace(values.Get("name")), Body: draft.Body, Errors: map[string]string{}}
	f.Base, _ = strconv.ParseInt(values.Get("base"), 10, 64)
	f.Body.Description = strings.TrimSpace(values.Get("description"))
	f.Body.Database = strings.ToLower(strings.TrimSpace(values.Get("database")))
	f.Body.TablePrefix = strings.ToLower(strings.TrimSpace(values.Get("table_prefix")))
	if values.Has("max_tables") { // the short form of the editor has it not
		f.readLimit(values.Get("max_tables"))
	}
	f.Body.Targets = nil
	for i := range maxTargets {
		if !values.Has(field(i, "path")) {
			continue
		}
		f.Body.Targets = append(f.Body.Targets, engine.CrawlerTarget{
			Path:       strings.TrimSpace(values.Get(field(i, "path"))),
			Connection: engine.ID(values.Get(field(i, "connection"))),
			Exclude:    words(values.Get(field(i, "exclude"))),
		})
	}
	f.check()
	return f
}

func (f *Fields) readLimit(text string) {
	f.Body.MaxTables = 0
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	var err error
	if f.Body.MaxTables, err = strconv.Atoi(text); err != nil {
		f.Errors["max_tables"] = "Write a number of tables, or leave it empty for no limit."
	}
}

// limit is the most tables as the form shows it; no limit is empty.
func (f *Fields) limit() string {
	if f.Body.MaxTables == 0 {
		return ""
	}
	return strconv.Itoa(f.Body.MaxTables)
}

func (f *Fields) check() {
	if err := engine.CheckName("crawler", f.Name); err != nil {
		f.Errors["name"] = engine.MessageOf(err)
	}
	for _, fault := range f.Body.Faults() {
		f.Errors[fault.Field] = fault.Message
	}
}

func words(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func field(i int, name string) string { return "target." + strconv.Itoa(i) + "." + name }

func (v View) href(tail string) string { return "/crawlers/" + string(v.Draft.ID) + tail }
