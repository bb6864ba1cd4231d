package bookmark

import (
	"strings"
	"time"

	"dogear/engine"
	"dogear/views/show"
)

// Lag is what a card says of the bookmarks of its job.
type Lag struct {
	Text   string `json:"text"` // "3 files · 2 h"; "" where nothing is to be said
	Title  string `json:"title"`
	Hue    string `json:"hue"`
	Icon   string `json:"icon"`
	Paused bool   `json:"paused"` // every bookmark of it is
	Marks  int    `json:"marks"`

	files, rows int64
	held, young int64 // left by the next run
	oldest      time.Time
	trouble     bool
	compared    bool
}

// Add counts what waits for one bookmark, or err, why that is unknown. It
// returns what there is to say of it.
func (l *Lag) Add(mark engine.Bookmark, part engine.SourcePlan, err error, now time.Time) string {
	if err != nil {
		l.trouble = true
		return mark.Ctx + ": " + engine.MessageOf(err)
	}
	v := View{Mark: mark, Waiting: part}
	files, bytes, oldest := v.waiting()
	if v.IsTable() {
		rows, _ := v.waitingRows()
		l.rows += rows
		return mark.Ctx + ": " + show.Many(rows, "row") + " waiting"
	}
	l.files += files
	held, young := v.kept()
	l.held, l.young = l.held+held, l.young+young
	if files == 0 {
		return mark.Ctx + ": " + v.nothingWaits()
	}
	if l.oldest.IsZero() || oldest.Before(l.oldest) {
		l.oldest = oldest
	}
	return mark.Ctx + ": " + show.Many(files, "file") + " waiting, " + show.Size(bytes) + ", the oldest written " + show.Ago(oldest, now)
}

// Compared notes a table of which every row is compared: what waits in it is
// known only by another scan, which a card is not worth.
func (l *Lag) Compared(mark engine.Bookmark) string {
	l.compared = true
	return mark.Ctx + ": every row is compared when a run starts, and on the page of the bookmark"
}

// late is from when on what waits is shown as late.
const late = 24 * time.Hour

// Finish words what was added.
func (l *Lag) Finish(title string, marks int, now time.Time) {
	l.Title, l.Marks, l.Icon, l.Hue = title, marks, "inbox", "acc"
	switch {
	case marks == 0:
		return
	case l.trouble:
		l.Text, l.Icon, l.Hue = "source?", "triangle-alert", "warn"
	case l.files > 0:
		l.Text = show.Many(l.files, "file") + " · " + strings.TrimSuffix(show.Ago(l.oldest, now), " ago")
		if now.Sub(l.oldest) > late {
			l.Hue = "warn"
		}
	case l.rows > 0:
		l.Text = show.Many(l.rows, "row")
	case l.held > 0:
		l.Text, l.Icon, l.Hue = keptWords(l.held, l.young), "hand", "warn"
	case l.young > 0:
		l.Text, l.Icon, l.Hue = keptWords(0, l.young), "clock", "idle"
	case l.compared:
		l.Text, l.Icon, l.Hue = "compared by runs", "git-compare", "idle"
	default:
		l.Text, l.Icon, l.Hue = "up to date", "check", "ok"
	}
	if l.Paused {
		l.Text, l.Icon, l.Hue = "paused · "+l.Text, "pause", "warn"
	}
}

// JobReset asks whether every bookmark of a job is reset.
type JobReset struct {
	Job   engine.ID
	Name  string
	Parts []View
	CSRF  string
}
