// Package pool shows the pools that bound how many node runs work at once.
package pool

import (
	"fmt"
	"net/url"

	"github.com/a-h/templ"

	"dogear/engine"
	"dogear/views/form"
)

// View is the page of pools.
type View struct {
	Pools []engine.Pool
	// Name and Places are what was typed for a new pool.
	Name, Places string
	Errors       form.Errors
	Said         string // what was done
	Wrong        string // why something was not done
	CSRF         string
}

func jobHref(h engine.Head) templ.SafeURL { return templ.URL("/jobs/" + string(h.ID)) }

// Leaving is a pool that somebody is about to delete.
type Leaving struct {
	Pool   engine.Pool
	Drafts []engine.Head // jobs whose draft alone names it
	CSRF   string
}

func (r Leaving) refusal() string {
	if err := r.Pool.Refusal(); err != nil {
		return engine.MessageOf(err)
	}
	return ""
}

// consequences are what a deletion does and what it leaves alone.
func (r Leaving) consequences() []string {
	var said []string
	if len(r.Drafts) > 0 {
		said = append(said, "Those drafts keep its name and can be published only once another pool is chosen in them.")
	}
	if n := r.Pool.Taken; n > 0 {
		said = append(said, fmt.Sprintf("Node runs that hold a place go on: %d.", n))
	}
	if n := r.Pool.Waiting; n > 0 {
		said = append(said, fmt.Sprintf("Node runs that wait for a place start as soon as a slot is free: %d.", n))
	}
	if len(said) == 0 {
		said = append(said, "Nothing uses it.")
	}
	return said
}

// rowID lets a row stay itself, with what is typed in it, when others come and go.
func rowID(name string) string { return "pool-" + url.QueryEscape(name) }

func deleteHref(name string) string { return "/pools/delete?name=" + url.QueryEscape(name) }
