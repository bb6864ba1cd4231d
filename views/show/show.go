// Package show writes the values that every page shows, always in the same
// way: states, times, lengths of time, sizes and counts.
package show

import (
	"fmt"
	"strings"
	"time"

	"dogear/engine"
)

// Sign is how a state looks: an icon, a word and a hue. All three are always
// shown together, so that no state is told by colour alone.
type Sign struct {
	Icon string
	Word string
	Hue  string // ok, run, bad, warn, idle or acc
}

// OfState is the sign of a node's state.
func OfState(s engine.State) Sign {
	switch s {
	case engine.Waiting:
		return Sign{"circle-dashed", "Waiting", "idle"}
	case engine.Ready:
		return Sign{"clock", "Queued", "acc"}
	case engine.Starting:
		return Sign{"loader-circle", "Starting", "run"}
	case engine.Running:
		return Sign{"loader-circle", "Running", "run"}
	case engine.Publishing:
		return Sign{"loader-circle", "Publishing", "run"}
	case engine.Stopping:
		return Sign{"loader-circle", "Stopping", "run"}
	case engine.Succeeded:
		return Sign{"check", "Succeeded", "ok"}
	case engine.Failed:
		return Sign{"x", "Failed", "bad"}
	case engine.TimedOut:
		return Sign{"timer", "Timed out", "bad"}
	case engine.Stopped:
		return Sign{"square", "Stopped", "idle"}
	case engine.Skipped:
		return Sign{"skip-forward", "Skipped", "idle"}
	case engine.Lost:
		return Sign{"unplug", "Lost", "warn"}
	}
	return Sign{"circle-dashed", string(s), "idle"}
}

// OfTrigger is the sign of a trigger in a run: it waits, has fired, or can no longer.
func OfTrigger(s engine.State) Sign {
	sign := OfState(s)
	switch s {
	case engine.Succeeded:
		sign.Word = "Fired"
	case engine.Skipped:
		sign.Word = "Did not fire"
	default:
	}
	return sign
}

// OfNode is the sign of a node run: of one that a person has marked or skipped it says
// so.
func OfNode(n *engine.NodeRun) Sign {
	switch {
	case n.Marked():
		return Marked(OfState(n.State))
	case n.PassedOver():
		return Sign{"skip-forward", "Skipped by hand", "idle"}
	}
	return OfState(n.State)
}

// Marked is the sign of a state that a person has given to a node by a mark.
func Marked(of Sign) Sign { return Sign{"hand", of.Word + ", marked", of.Hue} }

// ToSkip is the sign of a node that waits, and is skipped when its turn comes.
func ToSkip() Sign { return Sign{"skip-forward", "Will be skipped", "idle"} }

// ByHand is the sign of a trigger whose run a person has started instead of it.
func ByHand() Sign { return Sign{"hand", "Started by hand", "ok"} }

// TurnedOff is the sign of triggers that are off, with a word that says it.
func TurnedOff(word string) Sign { return Sign{"power-off", word, "idle"} }

// OfRun is the sign of a run.
func OfRun(run engine.Run) Sign {
	switch run.Outcome {
	case engine.RunSucceeded:
		return Sign{"check", "Succeeded", "ok"}
	case engine.RunPartlyFailed:
		return Sign{"triangle-alert", "Partly failed", "warn"}
	case engine.RunFailed:
		return Sign{"x", "Failed", "bad"}
	case engine.RunStopped:
		return Sign{"square", "Stopped", "idle"}
	}
	if !run.StopAsked.IsZero() {
		return Sign{"loader-circle", "Stopping", "run"}
	}
	if !run.Paused.IsZero() {
		return Sign{"pause", "Paused", "warn"}
	}
	return Sign{"loader-circle", "Running", "run"}
}

// Count writes n with thousands marked: 612,440.
func Count(n int64) string { return engine.Count(n) }

// Many writes n with the right form of a noun: 1 file, 3 files.
func Many(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	switch {
	case strings.HasSuffix(one, "y") && !strings.HasSuffix(one, "ey") && !strings.HasSuffix(one, "ay"):
		one = strings.TrimSuffix(one, "y") + "ie"
	case strings.HasSuffix(one, "ch"), strings.HasSuffix(one, "s"):
		one += "e"
	}
	return Count(n) + " " + one + "s"
}

// Comma is what stands behind the name with that index of so many in a list.
func Comma(index, of int) string {
	if index < of-1 {
		return ","
	}
	return ""
}

// Size writes n bytes: 27.4 MB.
func Size(n int64) string { return engine.Bytes(n) }

// Length writes a length of time: 0.3 s, 41 s, 4 min 05 s, 2 h 10 min.
func Length(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "0.0 s"
	case d < 50*time.Millisecond: // which would be 0.0 s
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 9950*time.Millisecond:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	}
}

// Elapsed writes a running length of time the way a clock does: 0:41, 1:02:03.
func Elapsed(d time.Duration) string {
	s := max(int(d.Seconds()), 0)
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Ago writes how long at is before now; after now it says in how long.
func Ago(at, now time.Time) string {
	d := now.Sub(at)
	past := d >= 0
	if !past {
		d = -d
	}
	var text string
	switch {
	case d < 45*time.Second && past:
		return "just now"
	case d < 45*time.Second:
		return "in moments"
	case d < 90*time.Minute:
		text = fmt.Sprintf("%.0f min", d.Minutes())
	case d < 36*time.Hour:
		text = fmt.Sprintf("%.0f h", d.Hours())
	default:
		text = fmt.Sprintf("%.0f days", d.Hours()/24)
	}
	if past {
		return text + " ago"
	}
	return "in " + text
}

// Short is the end of an id, enough to tell runs apart on a screen.
func Short(id engine.ID) string {
	if len(id) < 6 {
		return string(id)
	}
	return strings.ToLower(string(id[len(id)-6:]))
}

// Spent is how long something has taken from start to end, or to now while it
// has not ended.
func Spent(start, end, now time.Time) time.Duration {
	switch {
	case start.IsZero():
		return 0
	case end.IsZero():
		return now.Sub(start)
	default:
		return end.Sub(start)
	}
}

// whole is a time in full, with the zone that it is in: the browser shows the
// short one in the zone of its reader.
func whole(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05") + " UTC" }

// machine is a time as HTML wants it.
func machine(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Numeric reports whether values of a DuckDB type stand right-aligned.
func Numeric(kind string) bool {
	kind = strings.ToUpper(kind)
	for _, prefix := range []string{"DECIMAL", "DOUBLE", "FLOAT", "REAL", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "U"} {
		if strings.HasPrefix(kind, prefix) && kind != "UUID" && !strings.HasPrefix(kind, "UNION") {
			return true
		}
	}
	return false
}

// JobKind is what a job is, in words.
func JobKind(kind engine.JobKind) string {
	if kind == engine.JobPython {
		return "Python script"
	}
	return "SQL transform"
}

// JobIcon is its icon.
func JobIcon(kind engine.JobKind) string {
	if kind == engine.JobPython {
		return "terminal"
	}
	return "table-2"
}
