// Package pool shows the pools that bound how many node runs work at once.
package pool

import (
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
