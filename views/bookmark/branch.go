package bookmark

import (
	"time"

	"dogear/engine"
	"dogear/views/show"
)

// Plan is what the next run would read by a branch.
type Plan struct {
	Known   bool
	Files   int64
	Bytes   int64
	Trouble string // why it cannot be told
}

func (p Plan) words() string {
	switch {
	case p.Trouble != "":
		return p.Trouble
	case !p.Known:
		return "looking at the source …"
	case p.Files == 0:
		return "By it, nothing would be read."
	}
	return "By it, a run would read " + show.Many(p.Files, "file") + ", " + show.Size(p.Bytes) + "."
}

// branchTrigger asks for the plans once.
func branchTrigger(plans map[engine.ID]Plan) string {
	if plans == nil {
		return "load"
	}
	return "dogear:bookmarks-changed from:body"
}

// key is the one file that was chosen, as the form shows it.
func (a Ask) key() string {
	if len(a.Pick.Keys) == 1 {
		return a.Pick.Keys[0]
	}
	return ""
}

// arrived is what the time of an object means.
func (v View) arrived() string {
	if v.IsTable() {
		return "Read"
	}
	return "Written"
}

func dayOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func minuteOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04")
}

// dropWords ask before a branch goes, which cannot be undone.
func (v View) dropWords() string {
	return "Drop the branch “" + v.Mark.Branch + "”? What it counts as read and its history are gone then. Runs are not touched."
}
