package bookmark

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"dogear/engine"
	rules "dogear/engine/bookmark"
	"dogear/views/show"
)

// maxFiles is how many files of the source the page lists.
const maxFiles = 60

// file is one object of the source that is not simply read already.
type file struct {
	engine.Planned
	sign show.Sign
	rank int
	move engine.MoveKind // that is offered beside it; "" for none
	word string
}

// files are what waits in the source or is kept from being read, what needs a
// decision first, the oldest first among equals. all is how many there are.
func (v View) files() (list []file, all int) {
	for _, o := range slices.Concat(v.Waiting.Taken, v.Waiting.Exceptions) {
		f := file{Planned: o}
		if f.judge(); f.sign.Word != "" {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.ModNS, b.ModNS), cmp.Compare(a.Key, b.Key))
	})
	return list[:min(len(list), maxFiles)], len(list)
}

// judge fills in how f stands and what can be done with it.
func (f *file) judge() {
	hold := func() { f.move, f.word = engine.MoveHold, "Hold" }
	release := func() { f.move, f.word = engine.MoveRelease, "Release" }
	switch f.Reason {
	case engine.ReasonChanged:
		f.sign, f.rank = show.Sign{Icon: "triangle-alert", Word: "Changed in place", Hue: "warn"}, 1
	case engine.ReasonHeld:
		f.sign, f.rank = show.Sign{Icon: "hand", Word: "Held", Hue: "warn"}, 2
		if f.changed() {
			f.sign.Word, f.rank = "Changed, held", 1
		}
		release()
	case engine.ReasonUnreadable:
		f.sign, f.rank = show.Sign{Icon: "circle-x", Word: "Cannot be read", Hue: "bad"}, 3
		release()
	case engine.ReasonNew:
		f.sign, f.rank = show.Sign{Icon: "circle-dashed", Word: "Waiting", Hue: "acc"}, 4
		hold()
	case engine.ReasonReopened:
		f.sign, f.rank = show.Sign{Icon: "rewind", Word: "Read again", Hue: "acc"}, 5
		hold()
	case engine.ReasonTooYoung:
		f.sign, f.rank = show.Sign{Icon: "clock", Word: "Too young", Hue: "idle"}, 6
		hold()
	case engine.ReasonOverBound:
		f.sign, f.rank = show.Sign{Icon: "hourglass", Word: "Next run but one", Hue: "idle"}, 7
		hold()
	case engine.ReasonOutside:
		f.sign, f.rank = show.Sign{Icon: "ban", Word: "Outside the dates", Hue: "idle"}, 8
	case engine.ReasonGone, engine.ReasonTouched, engine.ReasonAlreadyRead, engine.ReasonFiltered: // nothing waits
	}
	if f.Range != "" {
		f.move = "" // rows are not held one by one
	}
}

// changed reports that f was read with another content.
func (f *file) changed() bool {
	return f.Prior != nil && f.Prior.State == engine.EntryRead && (f.Reason == engine.ReasonChanged || f.Reason == engine.ReasonHeld)
}

// sizes are those before and after a change.
func (f *file) sizes() string {
	if f.Prior.Size == f.Size {
		return "same size, other content"
	}
	return show.Count(f.Prior.Size) + " → " + show.Count(f.Size) + " bytes"
}

// why is the note on f: of the plan, or what the ledger keeps with it.
func (f *file) why() string {
	if f.Note == "" && f.Prior != nil && (f.Reason == engine.ReasonHeld || f.Reason == engine.ReasonReopened) {
		return f.Prior.Note
	}
	return f.Note
}

// Outputs is what one run that read a file wrote, for the story of the file.
type Outputs struct {
	rules.Reading
	Batch engine.Batch
	Node  engine.NodeRun
	Gone  bool // the batch is not kept any more
}

// maxOut is how many files of a run's output a story lists.
const maxOut = 5

// wrote are the first files that a run wrote, and how many more there are.
func (o Outputs) wrote() (list []string, more int) {
	for _, sink := range o.Batch.Manifest.Sinks {
		if sink.Inserted+sink.Updated > 0 {
			list = append(list, sink.Root+": "+show.Count(sink.Inserted)+" rows inserted, "+show.Count(sink.Updated)+" updated")
		}
		for _, f := range sink.Files {
			list = append(list, f.Path)
		}
	}
	return list[:min(len(list), maxOut)], max(0, len(list)-maxOut)
}

// side is what a version says of a file, in a comparison.
func side(e *engine.Entry) string {
	if e == nil {
		return "not known"
	}
	return entrySign(*e).Word + ", " + show.Amount(e.Object)
}

func versionName(n int) string {
	if n == 0 {
		return "the beginning"
	}
	return "v" + strconv.Itoa(n)
}

// compareHref is the address of the page of a comparison that follows c.
func (v View) compareHref(c rules.Comparison) string {
	q := url.Values{
		"from": {strconv.Itoa(c.From)}, "to": {strconv.Itoa(c.To)}, "after": {c.Differences[len(c.Differences)-1].Key},
	}
	return v.href("/compare?" + q.Encode())
}
