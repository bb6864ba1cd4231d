// Package layout is the frame of every page: navigation, top bar, search,
// messages.
package layout

import (
	"context"
	"io"
	"net/url"
	"path"
	"time"

	"github.com/a-h/templ"

	"dogear/engine"
)

// Page is what the frame needs to know of the page in it.
type Page struct {
	Title   string // of the tab; the last crumb where it is empty
	Section string // the entry of the navigation that is current, such as "Runs"
	Crumbs  []Crumb
	// Actions are the buttons of the top bar; nil for none.
	Actions templ.Component
	// Live are the topics that the page follows, "run:ID@SEQ" or "changed:runs".
	Live []string
	// Scripts are further modules and Styles further sheets of the build, such
	// as "canvas.js".
	Scripts, Styles []string
	// Wide gives the whole main area to the page, without margins.
	Wide bool

	Frame Frame
}

// Frame is what does not depend on the page.
type Frame struct {
	CSRF   string
	Theme  string // "light", "dark" or "" for the system's
	User   string
	Now    time.Time
	Totals engine.Totals
	URL    func(name string) string // address of a file of the build
	// Outgrown says why the server changes nothing any more; "" while it works.
	Outgrown string
}

// Crumb is one step of the way to a page. The last one is the page's heading.
type Crumb struct {
	Label string
	Href  string
}

// Name is the title of the tab.
func (p Page) Name() string {
	if p.Title != "" || len(p.Crumbs) == 0 {
		return p.Title
	}
	return p.Crumbs[len(p.Crumbs)-1].Label
}

// entry is one line of the navigation.
type entry struct {
	icon, label, href string
	count             int64
}

type group struct {
	title   string
	entries []entry
}

// nav lists the screens. An entry is here only where its screen works.
func nav(t engine.Totals) []group {
	return []group{
		{"Author", []entry{
			{"workflow", "Workflows", "/workflows", t.Workflows},
			{"file-code-2", "Jobs", "/jobs", t.Jobs},
			{"radar", "Crawlers", "/crawlers", t.Crawlers},
		}},
		{"Operate", []entry{
			{"activity", "Runs", "/runs", t.OpenRuns},
			{"bookmark", "Bookmarks", "/bookmarks", t.Bookmarks},
			{"layers", "Pools", "/pools", 0},
			{"shield-check", "Health", "/health", 0},
		}},
		{"Data", []entry{
			{"database", "Catalog", "/catalog", t.Tables},
			{"terminal", "Query", "/query", 0},
			{"plug", "Connections", "/connections", t.Connections},
		}},
	}
}

// Followed are the topics that the totals of the navigation follow, on every
// page.
var Followed = [...]string{"changed:runs", "changed:workflows", "changed:jobs", "changed:crawlers", "changed:bookmarks", "changed:tables"}

// totalsChanged are the events of the topics in Followed.
const totalsChanged = "dogear:runs-changed from:body, dogear:workflows-changed from:body, dogear:jobs-changed from:body, " +
	"dogear:crawlers-changed from:body, dogear:bookmarks-changed from:body, dogear:tables-changed from:body"

func navHref(section string) string { return "/nav?section=" + url.QueryEscape(section) }

func themeOf(f Frame) templ.Attributes {
	if f.Theme == "light" || f.Theme == "dark" {
		return templ.Attributes{"data-theme": f.Theme}
	}
	return nil
}

// headers is the value of hx-headers: every request of htmx carries the token.
func headers(token string) string { return `{"X-CSRF-Token":"` + token + `"}` }

// Hit is one thing that a search found.
type Hit struct {
	Icon, Label, Kind, Href string
	Why                     string // what else than the name is said of it and was looked for
	Ask                     string // the dialog that opens over the page instead, where there is one
	Press                   string // the button of the page that is pressed instead, as a selector
}

// Commands are what can be done from the page at path: what is made opens its dialog on
// its screen, and what the page has a button for presses that.
func Commands(at string) []Hit {
	commands := []Hit{
		{Icon: "plus", Label: "New workflow", Kind: "Command", Href: "/workflows#new-workflow"},
		{Icon: "plus", Label: "New job", Kind: "Command", Href: "/jobs#new-job"},
		{Icon: "plus", Label: "New crawler", Kind: "Command", Href: "/crawlers#new-crawler"},
		{Icon: "upload", Label: "Import a workflow", Kind: "Command", Href: "/workflows#import-workflow"},
		{Icon: "sun-moon", Label: "Light or dark theme", Kind: "Command", Href: "#", Press: "[data-theme-toggle]"},
		{Icon: "log-out", Label: "Sign out", Kind: "Command", Href: "#", Press: "form[action='/signout'] button"},
	}
	if editor, _ := path.Match("/workflows/*", at); editor {
		commands = append(commands, Hit{Icon: "layout-dashboard", Label: "Tidy up", Kind: "Command", Href: "#", Press: "dog-canvas [data-act=tidy]"})
	}
	return commands
}

// Around puts content into the frame of page.
func Around(page Page, content templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return Shell(page).Render(templ.WithChildren(ctx, content), w)
	})
}

// AroundPlain puts content into the frame of a page without navigation.
func AroundPlain(page Page, content templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return Plain(page).Render(templ.WithChildren(ctx, content), w)
	})
}

// Screens are the screens as a search finds them.
func Screens() []Hit {
	var hits []Hit
	for _, g := range nav(engine.Totals{}) {
		for _, e := range g.entries {
			hits = append(hits, Hit{Icon: e.icon, Label: e.label, Kind: "Screen", Href: e.href})
		}
	}
	return hits
}
