package health

import (
	"dogear/engine"
	"dogear/views/show"
)

// lateWords counts the late starts.
func lateWords(h engine.Health) string { return show.Many(int64(len(h.Late)), "start") + " late" }

// lateBy says how late a start is, and whether it still waits.
func lateBy(l engine.LateStart) string {
	words := show.Length(l.Late)
	if l.Waits {
		words += ", still waits"
	}
	return words
}
