// Package bookmark shows how far jobs have read, and the way back.
package bookmark

import (
	"fmt"
	"strings"
	"time"

	"dogear/engine"
	rules "dogear/engine/bookmark"
	"dogear/views/show"
)

// Listing is what the list shows.
type Listing struct {
	Items []Item
	Now   time.Time
}

// Item is one bookmark and the job or crawler it belongs to.
type Item struct {
	Mark  engine.Bookmark
	Owner string
}

// View is one bookmark with its history.
type View struct {
	Mark    engine.Bookmark
	Owner   string
	Moves   []engine.BookmarkMove // newest first
	Listed  bool                  // Days and Waiting were asked for
	Days    []rules.Day
	Waiting engine.SourcePlan
	Trouble string // why the source cannot be listed
	Ask     Ask
	Now     time.Time
	CSRF    string
}

// Ask is a move that a person thinks of.
type Ask struct {
	rules.Move
	Preview *rules.Preview // nil for pause and resume, which read nothing again
}

func (v View) href(tail string) string { return "/bookmarks/" + string(v.Mark.ID) + tail }

func (v View) state() show.Sign {
	if v.Mark.Paused {
		return show.Sign{Icon: "pause", Word: "Paused", Hue: "warn"}
	}
	return show.Sign{Icon: "bookmark", Word: "Enabled", Hue: "acc"}
}

// isCrawl reports a crawler's ledger, which only crawls move.
func (v View) isCrawl() bool { return strings.HasPrefix(v.Mark.Ctx, "crawl:") }

// canUndo reports whether the newest version came of a move.
func (v View) canUndo() bool { return v.Mark.Version > 0 }

// waiting counts what the next run would read.
func (v View) waiting() (files, bytes int64, oldest time.Time) {
	for _, o := range v.Waiting.Taken {
		files++
		bytes += o.Size
		if oldest.IsZero() || o.Mod().Before(oldest) {
			oldest = o.Mod()
		}
	}
	return files, bytes, oldest
}

// changed counts what was changed after it was read, whatever becomes of it.
func (v View) changed() (n int64, note string) {
	for _, o := range v.Waiting.Taken {
		if o.Reason == engine.ReasonChanged {
			n++
		}
	}
	if n > 0 {
		return n, "read again by the next run"
	}
	for _, o := range v.Waiting.Exceptions {
		if o.Reason == engine.ReasonChanged || o.Reason == engine.ReasonHeld {
			n++
		}
	}
	if n > 0 {
		return n, "held, because the target appends"
	}
	return 0, "since it was read"
}

func lastName(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// advances counts the versions that runs made.
func (v View) advances() int64 {
	var n int64
	for _, m := range v.Moves {
		if m.Kind == engine.MoveAdvance {
			n++
		}
	}
	return n
}

func (v View) lastAdvance() engine.BookmarkMove {
	for _, m := range v.Moves {
		if m.Kind == engine.MoveAdvance {
			return m
		}
	}
	return engine.BookmarkMove{}
}

// isTable reports a source that is a table of a database.
func (v View) isTable() bool { return v.Mark.Newest.Range != "" || v.Waiting.Spec.Table != "" }

// position is the key or file that a bookmark has come to.
func (v View) position() string {
	if r, ok := v.Mark.Newest.KeyRange(); ok {
		return engine.KeyWords(r.High)
	}
	return lastName(v.Mark.Newest.Key)
}

// readSoFar is the size of what counts as read; of a table its rows, once it
// was looked at.
func (v View) readSoFar() string {
	if !v.isTable() {
		return show.Size(v.Mark.Bytes)
	}
	if t, ok := v.Waiting.Counts[engine.ReasonAlreadyRead]; ok {
		return show.Many(t.Rows, "row")
	}
	return show.Many(v.Mark.Files, "range")
}

// waitingRows counts the rows of a table that the next run would read, and
// those that it would leave.
func (v View) waitingRows() (taken, left int64) {
	for _, o := range v.Waiting.Taken {
		if r, ok := o.KeyRange(); ok {
			taken += r.Rows
		}
	}
	for _, o := range v.Waiting.Exceptions {
		if r, ok := o.KeyRange(); ok {
			left += r.Rows
		}
	}
	return taken, left
}

// leftWords says why rows of a table are left.
func (v View) leftWords() string {
	var notes []string
	for _, o := range v.Waiting.Exceptions {
		if o.Range != "" {
			notes = append(notes, o.Note)
		}
	}
	if len(notes) == 0 {
		return "every row has a key that was read or waits"
	}
	return strings.Join(notes, "; ")
}

// maxDays is how many bars the progress shows.
const maxDays = 60

func (v View) lastDays() []rules.Day {
	if len(v.Days) > maxDays {
		return v.Days[len(v.Days)-maxDays:]
	}
	return v.Days
}

// bar is one day of arrival.
type bar struct{ style, hue, title string }

func (v View) bars() []bar {
	days := v.lastDays()
	var most int64 = 1
	for _, d := range days {
		most = max(most, d.Read.Bytes+d.Waiting.Bytes+d.Changed.Bytes)
	}
	bars := make([]bar, len(days))
	for i, d := range days {
		b := bar{hue: "acc"}
		switch {
		case d.Changed.Files > 0:
			b.hue = "warn"
		case d.Read.Files == 0:
			b.hue = ""
		}
		b.style = fmt.Sprintf("height:%d%%", 4+96*(d.Read.Bytes+d.Waiting.Bytes+d.Changed.Bytes)/most)
		b.title = fmt.Sprintf("%s: %s read", d.Date.Format("2 Jan 2006"), show.Many(d.Read.Files, "file"))
		if d.Waiting.Files > 0 {
			b.title += fmt.Sprintf(", %s waiting", show.Count(d.Waiting.Files))
		}
		if d.Changed.Files > 0 {
			b.title += fmt.Sprintf(", %s changed in place", show.Count(d.Changed.Files))
		}
		bars[i] = b
	}
	return bars
}

// mark is where the bookmark stands among the bars, as a style.
func (v View) mark() string {
	days := v.lastDays()
	for i, d := range days {
		if d.Date.After(v.Mark.Newest.Mod()) {
			return fmt.Sprintf("left:%.2f%%", 100*float64(i)/float64(len(days)))
		}
	}
	return "left:100%"
}

// change says what a move did.
func change(m engine.BookmarkMove) string {
	switch m.Kind {
	case engine.MoveAdvance:
		text := "+" + show.Objects(m.Added, m.Newest)
		if m.Again > 0 {
			text += fmt.Sprintf(", %s again", show.Count(m.Again))
		}
		return text
	case engine.MoveRewind:
		return fmt.Sprintf("rewound to v%d, %s no longer count as read", m.To, show.Objects(m.Removed, m.Newest))
	case engine.MoveUndo:
		return fmt.Sprintf("undone, as in v%d", m.To)
	case engine.MoveReset:
		return fmt.Sprintf("reset, %s no longer count as read", show.Objects(m.Removed, m.Newest))
	case engine.MovePause:
		return "paused"
	case engine.MoveResume:
		return "resumed"
	case engine.MoveReadAgain:
		return show.Objects(m.Removed, m.Newest) + " to be read again"
	case engine.MoveHold:
		return "held"
	case engine.MoveRelease:
		return "released"
	case engine.MoveSetNow:
		return "set to now, " + show.Objects(m.Added, m.Newest) + " count as read without having been"
	case engine.MoveAdopt:
		return "the changed source is the same thing"
	case engine.MoveImport:
		return "imported"
	case engine.MoveBranch:
		return "branched off"
	case engine.MovePromote:
		return "promoted from a branch"
	}
	return string(m.Kind)
}

func sign(m engine.BookmarkMove) (show.Sign, bool) {
	switch m.Kind {
	case engine.MoveAdvance:
		return show.Sign{Icon: "triangle-alert", Word: show.Count(m.Again) + " changed in place", Hue: "warn"}, m.Again > 0
	case engine.MoveRewind:
		return show.Sign{Icon: "rewind", Word: "Rewind", Hue: "acc"}, true
	case engine.MoveUndo:
		return show.Sign{Icon: "undo-2", Word: "Undo", Hue: "acc"}, true
	case engine.MoveReset:
		return show.Sign{Icon: "rotate-ccw", Word: "Reset", Hue: "bad"}, true
	case engine.MovePause:
		return show.Sign{Icon: "pause", Word: "Pause", Hue: "idle"}, true
	case engine.MoveResume:
		return show.Sign{Icon: "play", Word: "Resume", Hue: "idle"}, true
	case engine.MoveReadAgain:
		return show.Sign{Icon: "rewind", Word: "Read again", Hue: "acc"}, true
	case engine.MoveHold:
		return show.Sign{Icon: "hand", Word: "Hold", Hue: "warn"}, true
	case engine.MoveRelease:
		return show.Sign{Icon: "play", Word: "Release", Hue: "acc"}, true
	case engine.MoveSetNow:
		return show.Sign{Icon: "fast-forward", Word: "Set to now", Hue: "acc"}, true
	case engine.MoveAdopt:
		return show.Sign{Icon: "check", Word: "Same thing", Hue: "idle"}, true
	case engine.MoveImport:
		return show.Sign{Icon: "download", Word: "Import", Hue: "acc"}, true
	case engine.MoveBranch, engine.MovePromote:
		return show.Sign{Icon: "git-branch", Word: "Branch", Hue: "acc"}, true
	}
	return show.Sign{}, false
}

// beside reports moves that made no version of their own.
func beside(m engine.BookmarkMove) bool { return m.Kind.Beside() }

func (a Ask) title() string {
	switch a.Kind {
	case engine.MovePause:
		return "Pause this bookmark"
	case engine.MoveResume:
		return "Resume this bookmark"
	case engine.MoveReset:
		return "Reset this bookmark"
	case engine.MoveUndo:
		return "Undo the newest move"
	case engine.MoveRewind:
		return fmt.Sprintf("Rewind to v%d", a.To)
	case engine.MoveReadAgain:
		return "Read again: " + a.Pick.Words()
	case engine.MoveHold:
		return "Hold " + a.Pick.Words()
	case engine.MoveRelease:
		return "Release " + a.Pick.Words()
	case engine.MoveSetNow:
		return "Set to now"
	case engine.MoveAdopt:
		return "This is the same source"
	case engine.MoveAdvance, engine.MoveImport, engine.MoveBranch, engine.MovePromote:
	}
	return string(a.Kind)
}

func (a Ask) button() string {
	switch a.Kind {
	case engine.MoveReadAgain:
		return "Read again"
	case engine.MoveSetNow:
		return "Set to now"
	case engine.MoveAdopt:
		return "Same thing"
	default:
		word, _, _ := strings.Cut(a.title(), " ")
		return word
	}
}

// fields carry what was picked from the dialog to the move.
func (a Ask) fields() [][2]string {
	fields := [][2]string{{"pattern", a.Pick.Pattern}}
	for _, key := range a.Pick.Keys {
		fields = append(fields, [2]string{"key", key})
	}
	for name, at := range map[string]time.Time{"since": a.Pick.Since, "until": a.Pick.Until} {
		if !at.IsZero() {
			fields = append(fields, [2]string{name, at.UTC().Format(time.RFC3339)})
		}
	}
	return fields
}

func (a Ask) text() string {
	if a.Kind == engine.MovePause {
		return "Runs go on and read what is new since this version, again and again, until the bookmark is resumed. Nothing is lost."
	}
	return "The next run that succeeds moves the bookmark again."
}

func (a Ask) reads() string {
	taken := int64(len(a.Preview.Plan.Taken))
	var bytes int64
	for _, o := range a.Preview.Plan.Taken {
		bytes += o.Size
	}
	if taken == 0 {
		return "The next run reads nothing that it would not read anyway."
	}
	text := fmt.Sprintf("The next run reads %s, %s", show.Many(taken, "file"), show.Size(bytes))
	if a.Preview.Again.Files > 0 {
		text += fmt.Sprintf("; %s of them, %s, were read before", show.Count(a.Preview.Again.Files), show.Size(a.Preview.Again.Bytes))
	}
	return text + "."
}

func entrySign(e engine.Entry) show.Sign {
	switch e.State {
	case engine.EntryRead:
		return show.Sign{Icon: "check", Word: "Read", Hue: "ok"}
	case engine.EntrySkipped:
		return show.Sign{Icon: "skip-forward", Word: "Skipped", Hue: "idle"}
	case engine.EntryHeld:
		return show.Sign{Icon: "hand", Word: "Held", Hue: "warn"}
	case engine.EntryReopened:
		return show.Sign{Icon: "rewind", Word: "To be read again", Hue: "acc"}
	case engine.EntryGone:
		return show.Sign{Icon: "ban", Word: "Gone", Hue: "idle"}
	}
	return show.Sign{Icon: "circle-help", Word: "Unknown", Hue: "idle"}
}

// newest is when the newest file read was written; zero for none.
func newest(v View) time.Time {
	if v.Mark.Newest.Key == "" {
		return time.Time{}
	}
	return v.Mark.Newest.Mod()
}

// sourceTrigger lets the page ask for the listing once, and again when the
// bookmark moves.
func sourceTrigger(v View) string {
	if v.Listed {
		return "dogear:bookmarks-changed from:body"
	}
	return "load"
}

// rangeWords is the stretch of a table that a plan takes.
func rangeWords(o engine.Planned) string {
	r, _ := o.KeyRange()
	return r.Words()
}

// wasWritten is what the time of an entry means: a range has only that at which
// it was found.
func wasWritten(e engine.Entry) string {
	if e.Range != "" {
		return "found"
	}
	return "written"
}
