package engine

import (
	"fmt"
	"slices"
	"strings"
)

// Usage is what depends on a workflow, job, crawler or connection: what would
// break, or lie open, if it were deleted.
type Usage struct {
	Kind Kind
	Head
	Workflows []Head // whose published version names it
	Drafts    []Head // workflows whose draft alone names it
	Jobs      []Head // that use a connection, as published or in a draft
	Crawlers  []Head // likewise
	Runs      int    // of it, or with it, that have not ended
}

// Refusal says why the object cannot be deleted now, or nil. The draft of a
// workflow is no reason: its card says that the job is gone, and a publish is
// refused until the card is taken off.
func (u *Usage) Refusal() error {
	switch {
	case u.Runs > 0 && u.Kind == KindWorkflow:
		return Errorf(Conflict, "Workflow %s is running. Stop the run or wait for its end, then delete it.", u.Name)
	case u.Runs > 0:
		return Errorf(Conflict, "A run that needs the %s %s has not ended. Stop the run or wait for its end, then delete it.", u.Kind, u.Name)
	case len(u.Workflows) > 0 && u.Kind == KindConnection:
		return Errorf(Conflict, "Connection %s is used by an event trigger of %s. Choose another connection there and publish, then delete it.", u.Name, someNames(u.Workflows))
	case len(u.Workflows) > 0:
		return Errorf(Conflict, "The %s %s runs in %s. Take its card off the canvas there and publish, then delete it.", u.Kind, u.Name, someNames(u.Workflows))
	case len(u.Jobs)+len(u.Crawlers) > 0:
		var users []string
		if len(u.Jobs) > 0 {
			users = append(users, "job "+someNames(u.Jobs))
		}
		if len(u.Crawlers) > 0 {
			users = append(users, "crawler "+someNames(u.Crawlers))
		}
		return Errorf(Conflict, "Connection %s is used by %s. Choose another connection there, then delete it.", u.Name, strings.Join(users, " and "))
	}
	return nil
}

// someNames spells a few of many names.
func someNames(heads []Head) string {
	const most = 5
	var names []string
	for i, h := range heads {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(heads)-most))
			break
		}
		names = append(names, h.Name)
	}
	return strings.Join(names, ", ")
}

// Uses reports whether a source, a target or the script of b lies behind a
// connection.
func (b *JobBody) Uses(connection ID) bool {
	if b.Script != nil && b.Script.Connection == connection {
		return true
	}
	if b.SQL == nil {
		return false
	}
	return slices.ContainsFunc(b.SQL.Sources, func(s Source) bool { return s.Connection == connection }) ||
		slices.ContainsFunc(b.SQL.Sinks, func(s Sink) bool { return s.Connection == connection })
}

// Uses reports whether an event trigger of b looks behind a connection.
func (w *WorkflowBody) Uses(connection ID) bool {
	return slices.ContainsFunc(w.Triggers, func(t Trigger) bool { return t.Event.Connection == connection })
}

// Uses reports whether a place of b lies behind a connection.
func (b *CrawlerBody) Uses(connection ID) bool {
	return slices.ContainsFunc(b.Targets, func(t CrawlerTarget) bool { return t.Connection == connection })
}
