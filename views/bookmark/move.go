package bookmark

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	rules "dogear/engine/bookmark"
	"dogear/views/show"
)

// Ask is a move that a person thinks of.
type Ask struct {
	rules.Move
	Preview *rules.Preview
	Name    string // of a branch
	Wrong   string // why it cannot be shown or made
	Stay    bool   // the page follows by itself and is not loaded again
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
		return fmt.Sprintf("rewound to v%d, ", m.To) + noLonger(m)
	case engine.MoveUndo:
		return fmt.Sprintf("undone, as in v%d", m.To)
	case engine.MoveReset:
		return "reset, " + noLonger(m)
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

// noLonger says what a move took back; a reset leaves nothing of which to tell
// whether it was ranges.
func noLonger(m engine.BookmarkMove) string {
	if m.Removed == 1 {
		return show.Objects(1, m.Newest) + " no longer counts as read"
	}
	return show.Objects(m.Removed, m.Newest) + " no longer count as read"
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
		if a.ToKey != nil {
			return "Rewind to the key " + strings.Join(a.ToKey, ", ")
		}
		return fmt.Sprintf("Rewind to v%d", a.To)
	case engine.MovePromote:
		return "Promote this branch"
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
	case engine.MoveAdvance, engine.MoveImport, engine.MoveBranch:
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

// Done says that a move of the bookmark name was made.
func Done(kind engine.MoveKind, name string) string {
	switch kind {
	case engine.MovePause:
		return name + ": paused. Runs go on and read what is new since here, until it is resumed."
	case engine.MoveResume:
		return name + ": resumed."
	case engine.MoveReset:
		return name + ": reset. The next run reads from the beginning."
	default:
		return name + ": moved."
	}
}

// fields carry what was picked from the dialog to the move.
func (a Ask) fields() [][2]string {
	fields := [][2]string{{"seen", strconv.Itoa(a.Preview.Seen)}}
	if a.Stay {
		fields = append(fields, [2]string{"stay", "yes"})
	}
	if a.Kind == engine.MoveRewind && a.ToKey == nil {
		return append(fields, [2]string{"to", strconv.Itoa(a.To)})
	}
	for _, value := range a.ToKey {
		fields = append(fields, [2]string{"to_key", value})
	}
	if a.Pick.Pattern != "" {
		fields = append(fields, [2]string{"pattern", a.Pick.Pattern})
	}
	for _, key := range a.Pick.Keys {
		fields = append(fields, [2]string{"key", key})
	}
	for _, bound := range []struct {
		name string
		at   time.Time
	}{{"since", a.Pick.Since}, {"until", a.Pick.Until}} {
		if !bound.at.IsZero() {
			fields = append(fields, [2]string{bound.name, instant(bound.at)})
		}
	}
	return fields
}

// isTable reports that the preview is of a table.
func (a Ask) isTable() bool { return a.Preview.Plan.Spec.Table != "" }

// says are the sentences on what the move would do.
func (a Ask) says() []string {
	chosen := show.Many(a.Preview.Chosen, "file")
	switch a.Kind {
	case engine.MoveHold:
		return []string{chosen + " held until released.", a.reads()}
	case engine.MoveRelease:
		return []string{chosen + " released.", a.reads()}
	case engine.MoveSetNow:
		if a.isTable() {
			return []string{"Every row that is in the table now counts as read without having been read.", "Rows that come after it are read as they come."}
		}
		return []string{chosen + " count as read without having been read.", "The next run reads what arrives after now."}
	case engine.MoveAdopt:
		return []string{"What was read stays read: the ledger is kept and compared with the source as it is now.", a.reads()}
	default:
		if a.Preview.Skipped > 0 {
			return []string{a.reads(), a.skips()}
		}
		return []string{a.reads()}
	}
}

// skips says what counts as read after the move and does not now.
func (a Ask) skips() string {
	what := "file"
	if a.isTable() {
		what = "row"
	}
	verb := "do"
	if a.Preview.Skipped == 1 {
		verb = "does"
	}
	return show.Many(a.Preview.Skipped, what) + " that " + verb + " not count as read now would count as read: runs skip that."
}

// reads says what the next run would read.
func (a Ask) reads() string {
	taken := int64(len(a.Preview.Plan.Taken))
	if taken == 0 {
		return "The next run reads nothing."
	}
	var bytes, rows int64
	for _, o := range a.Preview.Plan.Taken {
		bytes += o.Size
		if r, ok := o.KeyRange(); ok {
			rows += r.Rows
		}
	}
	again := a.Preview.Again
	if a.isTable() {
		text := "The next run reads " + show.Many(rows, "row")
		if again.Rows > 0 {
			text += "; " + show.Count(again.Rows) + " of them were read before"
		}
		return text + "."
	}
	text := fmt.Sprintf("The next run reads %s, %s", show.Many(taken, "file"), show.Size(bytes))
	if again.Files == 1 {
		text += fmt.Sprintf("; 1 of them, %s, was read before", show.Size(again.Bytes))
	} else if again.Files > 1 {
		text += fmt.Sprintf("; %s of them, %s, were read before", show.Count(again.Files), show.Size(again.Bytes))
	}
	return text + "."
}

// named are the first of what the next run would read, under one heading.
type named struct {
	title string
	lines [][2]string // a file with its size, or a stretch of rows with their number
	more  int64
}

// names are the first files, or rows of a table, that the next run would read: those
// that were read before, and those that are new.
func (a Ask) names() []named {
	taken := a.Preview.Plan.Taken
	if a.isTable() {
		rows := named{title: "Rows"}
		for _, o := range taken[:min(len(taken), maxNamed)] {
			if r, ok := o.KeyRange(); ok {
				rows.lines = append(rows.lines, [2]string{r.Words(), show.Many(r.Rows, "row")})
			}
		}
		rows.more = int64(len(taken) - len(rows.lines))
		return kept(rows)
	}
	again := a.Preview.Again.Files
	return kept(
		named{"Read again", filesOf(a.Preview.Repeated), again - int64(len(a.Preview.Repeated))},
		named{"New", filesOf(a.Preview.Fresh), int64(len(taken)) - again - int64(len(a.Preview.Fresh))},
	)
}

// maxNamed is how many stretches of rows a dialog names.
const maxNamed = 5

func filesOf(objects []engine.Object) [][2]string {
	var lines [][2]string
	for _, o := range objects {
		lines = append(lines, [2]string{o.Key, show.Size(o.Size)})
	}
	return lines
}

// kept are the lists that name anything.
func kept(lists ...named) []named {
	return slices.DeleteFunc(lists, func(n named) bool { return len(n.lines) == 0 })
}

// scope says which bookmarks the move leaves alone.
func (v View) scope() string {
	switch {
	case v.isBranch() && v.Ask.Kind == engine.MovePromote:
		return "Runs read by what this branch counts as read from then on. The branch stays."
	case v.isBranch():
		return "Only this branch moves. No run reads by it."
	}
	return "Only " + v.Owner + " moves; others that read this source have their own bookmarks."
}

// canImport reports a file that may be imported as it was previewed.
func (a Ask) canImport() bool { return a.Preview != nil && a.Wrong == "" }

// warns reports whether the move can make rows come again.
func (a Ask) warns() bool {
	return a.Preview.Alarm != "" && a.Kind != engine.MoveHold && a.Kind != engine.MoveSetNow
}

// beside reports whether the files can be read now without moving v.
func (v View) canReadBeside() bool {
	return v.Ask.Kind == engine.MoveReadAgain && !v.Ask.isTable() && !v.isBranch() && !v.isCrawl()
}

// besideWords say what reading beside the bookmark means.
func (v View) besideWords() string {
	text := "Reading them now starts a run that reads these files alone; the bookmark stays where it is."
	if v.Others > 0 && len(v.Ask.Pick.Keys) == 0 {
		text += " Files of the other sources of this job that fit are read with them."
	}
	return text
}
