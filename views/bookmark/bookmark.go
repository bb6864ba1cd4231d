// Package bookmark shows how far jobs have read, and the way back.
package bookmark

import (
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
	Ranges  []engine.Entry // of a table: the newest that were read
	Waiting engine.SourcePlan
	Trouble string // why the source cannot be listed
	// Differs says that the source is not the one the bookmark was made for: a
	// person must decide what becomes of it.
	Differs  string
	Branches []engine.Bookmark
	Keys     []KeyColumn // of the key of a table
	Others   int         // bookmarks of the same job beside this one
	Ask      Ask
	Now      time.Time
	CSRF     string
}

// KeyColumn is one column of the key by which a table is read.
type KeyColumn struct {
	Name, Type string // of the database
	Stands     string // where the bookmark stands in it
}

func (v View) href(tail string) string { return "/bookmarks/" + string(v.Mark.ID) + tail }

// isBranch reports a copy that no run reads by.
func (v View) isBranch() bool { return v.Mark.Branch != "" }

func (v View) state() show.Sign {
	if v.isBranch() {
		return show.Sign{Icon: "git-branch", Word: "Branch " + v.Mark.Branch, Hue: "acc"}
	}
	if v.Mark.Paused {
		return show.Sign{Icon: "pause", Word: "Paused", Hue: "warn"}
	}
	return show.Sign{Icon: "bookmark", Word: "On", Hue: "acc"}
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
		switch f := (file{Planned: o}); {
		case o.Reason == engine.ReasonChanged:
			n, note = n+1, "skipped, as the source has it"
		case f.changed(): // what is held otherwise did not change after it was read
			n, note = n+1, "held, because the target appends"
		}
	}
	if n > 0 {
		return n, note
	}
	return 0, "since it was read"
}

// nothingWaits says how a source stands of which the next run reads no file.
func (v View) nothingWaits() string {
	if held, young := v.kept(); held+young > 0 {
		return "everything else is read; " + keptWords(held, young)
	}
	return "everything is read"
}

// kept counts the files that are not read and that the next run leaves all the same:
// those that are held, and those that may still be written.
func (v View) kept() (held, young int64) {
	for _, o := range v.Waiting.Exceptions {
		switch o.Reason { //nolint:exhaustive // what is left for other reasons waits for nothing
		case engine.ReasonHeld:
			held++
		case engine.ReasonTooYoung:
			young++
		}
	}
	return held, young
}

func keptWords(held, young int64) string {
	var words []string
	if held > 0 {
		words = append(words, show.Count(held)+" held")
	}
	if young > 0 {
		words = append(words, show.Count(young)+" too young")
	}
	return strings.Join(words, ", ")
}

func lastName(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// lastAdvance is the newest move that a run made; zero for none.
func (v View) lastAdvance() engine.BookmarkMove {
	for _, m := range v.Moves {
		if m.Kind == engine.MoveAdvance {
			return m
		}
	}
	return engine.BookmarkMove{}
}

// IsTable reports a source that is a table of a database.
func (v View) IsTable() bool { return v.Mark.Newest.Range != "" || v.Waiting.Spec.Table != "" }

// position is the key or file that a bookmark has come to.
func (v View) position() string {
	if r, ok := v.Mark.Newest.KeyRange(); ok {
		if r.Compared != nil {
			return r.Compared.Words()
		}
		return engine.KeyWords(r.High)
	}
	return lastName(v.Mark.Newest.Key)
}

// compares reports a table of which every row is compared.
func (v View) compares() bool {
	r, ok := v.Mark.Newest.KeyRange()
	return v.Waiting.Compared != nil || ok && r.Compared != nil
}

// differences are the rows that a compare found, by what became of them.
func (v View) differences() string {
	if c := v.Waiting.Compared; c != nil {
		return c.Words()
	}
	return ""
}

// positionWords says what the position of a table is.
func (v View) positionWords() string {
	if v.compares() {
		return "of the rows compared last, "
	}
	return "newest key read, "
}

// readSoFar is the size of what counts as read; of a table its rows, once it
// was looked at.
func (v View) readSoFar() string {
	if !v.IsTable() {
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

// leftTitle is the title of the figure of what is not simply new.
func (v View) leftTitle() string {
	if v.compares() {
		return "Found by comparing"
	}
	return "Left out"
}

// leftWords says why rows of a table are left.
func (v View) leftWords() string {
	var notes []string
	for _, o := range v.Waiting.Exceptions {
		if o.Range != "" {
			notes = append(notes, o.Note)
		}
	}
	if len(notes) == 0 && v.compares() {
		return "every row that was read is still there"
	}
	if len(notes) == 0 {
		return "every row has a key that was read or waits"
	}
	return strings.Join(notes, "; ")
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

// isRow reports the entry of a row of a table, which has neither a size nor a
// time of its own.
func isRow(e engine.Entry) bool { return e.ModNS == 0 && e.Range == "" }

// unknown reports that what is in the source could not be compared.
func (v View) unknown() bool { return v.Trouble != "" || v.Differs != "" }

// difference is what is said of a source that has changed, without the advice
// to open the page that says it.
func (v View) difference() string {
	text, _, _ := strings.Cut(v.Differs, " Open the bookmark")
	return text
}

// thing is what a source is made of.
func (v View) thing() string {
	switch {
	case v.compares():
		return "row"
	case v.IsTable():
		return "range"
	}
	return "file"
}
