package bookmark

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	rules "dogear/engine/bookmark"
	"dogear/views/show"
)

// MaxBars is how many bars the progress shows.
const MaxBars = 60

// bar is one step of the progress through a source: a day of arrivals, or a
// range of a table.
type bar struct {
	label  string // "24 Nov 2026", or the range
	amount string // what of it was read
	rest   string // what waits, and what was changed
	hue    string // acc: read, warn: changed in place, "": waits
	height int64  // per cent of the highest
	// read and changed are where, in per cent of the bar, what was read and what
	// was changed in place end; the rest waits.
	read, changed int64
	// isRead says that something of it counts as read; since and until are what
	// reading it again picks.
	isRead       bool
	since, until string
}

func (b *bar) title() string {
	if b.rest == "" {
		return b.label + ": " + b.amount
	}
	return b.label + ": " + b.amount + ", " + b.rest
}

func (b *bar) style() string {
	return fmt.Sprintf("height:%d%%;--read:%d%%;--changed:%d%%", b.height, b.read, b.changed)
}

func (v View) lastDays() []rules.Day {
	if len(v.Days) > MaxBars {
		return v.Days[len(v.Days)-MaxBars:]
	}
	return v.Days
}

// bars are the progress, the oldest first.
func (v View) bars() []bar {
	if v.IsTable() {
		return v.rangeBars()
	}
	days := v.lastDays()
	var most int64 = 1
	for _, d := range days {
		most = max(most, d.Read.Bytes+d.Waiting.Bytes+d.Changed.Bytes)
	}
	bars := make([]bar, len(days))
	for i, d := range days {
		all := max(1, d.Read.Bytes+d.Waiting.Bytes+d.Changed.Bytes)
		b := bar{
			read: 100 * d.Read.Bytes / all, changed: 100 * (d.Read.Bytes + d.Changed.Bytes) / all,
			hue: "acc", label: d.Date.Format("2 Jan 2006"), amount: show.Many(d.Read.Files, "file") + " read",
			isRead: d.Read.Files > 0, since: instant(d.Date), until: instant(d.Date.AddDate(0, 0, 1)),
			height: 4 + 96*all/most,
		}
		switch {
		case d.Changed.Files > 0:
			b.hue = "warn"
		case d.Read.Files == 0:
			b.hue = ""
		}
		if d.Waiting.Files > 0 {
			b.rest = show.Count(d.Waiting.Files) + " waiting"
		}
		if d.Changed.Files > 0 {
			b.rest = strings.TrimPrefix(b.rest+", "+show.Count(d.Changed.Files)+" changed in place", ", ")
		}
		bars[i] = b
	}
	return bars
}

// rangeBars are the ranges of a table, as they were read, and those that wait.
func (v View) rangeBars() []bar {
	var bars []bar
	var most int64 = 1
	rows := []int64{}
	add := func(r engine.KeyRange, b bar) {
		b.label = r.Words()
		bars, rows, most = append(bars, b), append(rows, r.Rows), max(most, r.Rows)
	}
	for i, e := range v.Ranges {
		r, _ := e.KeyRange()
		b := bar{hue: "acc", amount: show.Many(r.Rows, "row") + " read", isRead: e.State == engine.EntryRead, since: instant(e.Mod()), read: 100, changed: 100}
		if i+1 < len(v.Ranges) {
			b.until = instant(v.Ranges[i+1].Mod())
		}
		if !b.isRead {
			b.hue, b.amount, b.read, b.changed = "", show.Many(r.Rows, "row")+" to be read again", 0, 0
		}
		add(r, b)
	}
	for _, o := range v.Waiting.Taken {
		if o.Reason == engine.ReasonReopened {
			continue // stands among the ranges
		}
		r, _ := o.KeyRange()
		add(r, bar{amount: show.Many(r.Rows, "row") + " waiting"})
	}
	for i := range bars {
		bars[i].height = 4 + 96*rows[i]/most
	}
	return bars
}

// at is how many bars lie before the mark.
func (v View) at(bars []bar) int {
	if v.IsTable() {
		for i := range bars {
			if !bars[i].isRead {
				return i
			}
		}
		return len(bars)
	}
	for i, d := range v.lastDays() {
		if d.Date.After(v.Mark.Newest.Mod()) {
			return i
		}
	}
	return len(bars)
}

// markStyle is where the mark stands, at bars of all.
func markStyle(at, all int) string {
	return fmt.Sprintf("left:%.2f%%", 100*float64(at)/float64(max(all, 1)))
}

// unit is what a bar stands for.
func (v View) unit() string {
	if v.IsTable() {
		return "range"
	}
	return "day"
}

// hint says what a bar is and what can be done with them.
func (v View) hint() string {
	text := "each bar is a day of files by arrival"
	if v.IsTable() {
		text = "each bar is a range of keys"
	}
	if v.compares() {
		text = "each bar is what one run read"
	}
	if v.isCrawl() {
		return text
	}
	return text + "; drag the mark to move it, or across bars to read them again"
}

// span says how much of the source the bars show.
func (v View) span(bars []bar) string {
	all := cmp.Or(len(v.Days), len(bars))
	if v.IsTable() {
		all = max(int(v.Mark.Files), len(bars))
	}
	if all > len(bars) {
		return "the last " + strconv.Itoa(len(bars)) + " of " + show.Many(int64(all), v.unit())
	}
	return show.Many(int64(all), v.unit())
}

// again is the address of the question whether a bar is read again.
func (v View) again(b *bar) string {
	return v.href("/preview/read_again?since=" + b.since + "&until=" + b.until)
}

// instant is a time as an address carries it, to the nanosecond.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// backwards are the bars, the newest first.
func backwards(bars []bar) []bar {
	list := slices.Clone(bars)
	slices.Reverse(list)
	return list
}
