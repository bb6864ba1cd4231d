package bookmark

import (
	"strconv"
	"time"

	rules "dogear/engine/bookmark"
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

// dropSays are the sentences on what a drop would do.
func dropSays(d rules.Dropped) []string {
	gone := "What it counts as read and its " + show.Many(int64(d.Moves), "move") + " are gone then."
	if d.Only > 0 {
		gone = show.Objects(d.Only, d.Branch.Newest) + " that it alone counts as read, and its " + show.Many(int64(d.Moves), "move") + ", are gone then."
	}
	reads := Ask{Preview: &rules.Preview{Plan: d.Plan}}.reads()
	if d.Trouble != "" {
		reads = "What the next run reads cannot be told now. " + d.Trouble
	}
	return []string{gone, "Runs go on reading by " + d.Trunk.Ctx + ", which stays at v" + strconv.Itoa(d.Trunk.Version) + ".", reads}
}
