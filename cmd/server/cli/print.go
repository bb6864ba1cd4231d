package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"dogear/engine"
)

// print writes v as JSON, or as the table that human makes.
func (t target) print(term Terminal, v any, human func(table *table)) error {
	if t.JSON {
		to := json.NewEncoder(term.Out)
		to.SetIndent("", "  ")
		to.SetEscapeHTML(false)
		return to.Encode(v)
	}
	made := &table{to: tabwriter.NewWriter(term.Out, 0, 0, 2, ' ', 0)}
	human(made)
	return made.to.Flush()
}

// table writes rows of cells under each other.
type table struct{ to *tabwriter.Writer }

// row writes one line.
func (t *table) row(cells ...any) {
	for i, cell := range cells {
		if i > 0 {
			_, _ = io.WriteString(t.to, "\t")
		}
		_, _ = io.WriteString(t.to, clean(fmt.Sprint(cell))) // Flush reports what went wrong
	}
	_, _ = io.WriteString(t.to, "\n")
}

// field writes a name and its value where there is one.
func (t *table) field(name, value string) {
	if value != "" {
		t.row(name, value)
	}
}

// clean keeps what somebody has typed from steering the terminal or the table:
// control characters, and those that turn the direction of text.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// when writes a time; "–" is never.
func when(at time.Time) string {
	if at.IsZero() {
		return "–"
	}
	return at.UTC().Format("2006-01-02 15:04:05Z")
}

// spent is how long something took, or has taken until now.
func spent(from, to, now time.Time) string {
	if from.IsZero() {
		return "–"
	}
	if to.IsZero() {
		to = now
	}
	length := to.Sub(from)
	if length < time.Minute {
		return length.Round(10 * time.Millisecond).String()
	}
	return length.Round(time.Second).String()
}

// length writes seconds.
func length(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

// outcome is the word for how a run stands.
func outcome(r *engine.Run) string {
	switch {
	case r.Outcome == engine.RunSucceeded:
		return "Succeeded"
	case r.Outcome == engine.RunPartlyFailed:
		return "Partly failed"
	case r.Outcome == engine.RunFailed:
		return "Failed"
	case r.Outcome == engine.RunStopped:
		return "Stopped"
	case !r.StopAsked.IsZero():
		return "Stopping"
	case !r.Paused.IsZero():
		return "Paused"
	}
	return "Running"
}

// states are the words for node states, as on the screens.
var states = map[engine.State]string{
	engine.Waiting: "Waiting", engine.Ready: "Queued", engine.Starting: "Starting", engine.Running: "Running",
	engine.Publishing: "Publishing", engine.Stopping: "Stopping", engine.Succeeded: "Succeeded", engine.Failed: "Failed",
	engine.TimedOut: "Timed out", engine.Stopped: "Stopped", engine.Skipped: "Skipped", engine.Lost: "Lost",
}
