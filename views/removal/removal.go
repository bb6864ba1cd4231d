// Package removal asks before a workflow, job, crawler or connection is
// deleted: it says what the deletion touches, or why it is refused.
package removal

import (
	"dogear/engine"
)

// View is what somebody is about to delete.
type View struct {
	Usage engine.Usage
	CSRF  string
}

// List is the address of the list of a kind of objects.
func List(kind engine.Kind) string { return "/" + string(kind) + "s" }

func address(kind engine.Kind, id engine.ID) string { return List(kind) + "/" + string(id) }

func (v View) refusal() string {
	err := v.Usage.Refusal()
	if err == nil {
		return ""
	}
	return engine.MessageOf(err)
}

// consequences are what a deletion does and what it leaves alone.
func (v View) consequences() []string {
	switch v.Usage.Kind {
	case engine.KindWorkflow:
		return []string{
			"Its schedules end, and its draft goes with it.",
			"Its jobs and crawlers stay, with their bookmarks.",
			"Its runs stay readable.",
		}
	case engine.KindJob:
		return []string{
			"Its runs and bookmarks stay readable, but nothing reads by these bookmarks any more.",
			"What it has written stays where it is.",
		}
	case engine.KindCrawler:
		return []string{"The tables that it found stay in the catalog; nothing looks for changes in them any more."}
	case engine.KindConnection:
		return []string{"Its secret is deleted for good.", "Nothing uses it."}
	}
	return nil
}
