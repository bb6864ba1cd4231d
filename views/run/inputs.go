package run

import "dogear/engine"

// Inputs is one page of what a plan took and left, by reason.
type Inputs struct {
	Groups []InputGroup
	Items  []Input
	Next   int    // 0 for no more
	Total  int    // objects on all pages
	None   string // why nothing of it counts as read; "" where something does, or may yet
}

// InputGroup counts the objects of one source that stand alike.
type InputGroup struct {
	Source string
	Standing
	engine.Tally
}

// Input is one object of a plan.
type Input struct {
	Source string
	Standing
	engine.Planned
}

// Standing is what became of an object of a plan.
type Standing struct {
	Fate   Fate
	Reason engine.Reason // of the plan
}

// Fate is what a run did with an object.
type Fate int

// The fates of what plans take, and of what they leave.
const (
	Left   Fate = iota // the plan leaves it
	Taken              // the run reads it, or is about to
	Read               // it counts as read
	Unread             // it was taken by an attempt that did not succeed
	Held               // it could not be read, and is held
	Moved              // it changed or went before it was read
)

// fates have their words and looks in the order of Fate.
var fates = [...]struct{ word, icon, hue string }{
	{"Left", "minus", "idle"},
	{"Takes", "circle-dashed", "acc"},
	{"Read", "check", "ok"},
	{"Not read", "minus", "idle"},
	{"Held", "hand", "warn"},
	{"Changed since the plan", "minus", "warn"},
}

func (s Standing) icon() string { return fates[s.Fate].icon }

func (s Standing) hue() string {
	switch {
	case s.Fate == Unread:
	case s.Reason == engine.ReasonChanged, s.Reason == engine.ReasonHeld, s.Reason == engine.ReasonUnreadable:
		return "warn"
	}
	return fates[s.Fate].hue
}

// words say it of a group; each object of one is marked by its reason, or by what
// set it apart from what the plan meant.
func (s Standing) words() string { return fates[s.Fate].word + ": " + ReasonWord(s.Reason) }

func (s Standing) word() string {
	if s.Fate == Held || s.Fate == Moved {
		return fates[s.Fate].word
	}
	return ReasonWord(s.Reason)
}

// rebuilt reports an object that nobody asked to read again, but whose
// partition is written anew.
func (i Input) rebuilt() bool {
	return i.Planned.Reason == engine.ReasonReopened && i.Prior != nil && i.Prior.State == engine.EntryRead
}

// reasons in the order in which they are shown, with their words.
var reasons = []struct {
	reason engine.Reason
	word   string
}{
	{engine.ReasonNew, "New"},
	{engine.ReasonChanged, "Changed in place"},
	{engine.ReasonReopened, "Read again"},
	{engine.ReasonUnreadable, "Cannot be read"},
	{engine.ReasonHeld, "Held"},
	{engine.ReasonTooYoung, "Too young, may still be written"},
	{engine.ReasonOverBound, "Over the limit of a run"},
	{engine.ReasonOutside, "Outside of the range"},
	{engine.ReasonTouched, "Touched, same content"},
	{engine.ReasonGone, "Gone from the source"},
	{engine.ReasonAlreadyRead, "Already read"},
	{engine.ReasonFiltered, "Filtered"},
}

// ReasonWord is a reason in words.
func ReasonWord(r engine.Reason) string {
	for _, known := range reasons {
		if known.reason == r {
			return known.word
		}
	}
	return string(r)
}

// PageInputs shows limit objects of the plan of a batch from the given one on. live
// says that its attempt still goes on.
func PageInputs(batch engine.Batch, live bool, from, limit int) Inputs {
	var page Inputs
	fate := fateOf(batch, live)
	if fate == Unread && batch.Plan.Taken().Files > 0 {
		page.None = "Nothing of this counts as read: the attempt did not succeed. What was taken waits for the next run."
	}
	var all []Input
	for _, s := range batch.Plan.Sources {
		part := inputsOf(batch.Manifest.Left, s, fate)
		all = append(all, part...)
		page.Groups = append(page.Groups, groups(s, part, fate)...)
	}
	page.Total = len(all)
	from = min(max(from, 0), len(all))
	to := min(from+limit, len(all))
	page.Items = all[from:to]
	if to < len(all) {
		page.Next = to
	}
	return page
}

// fateOf is what became of what the plan of a batch takes: it counts as read from
// the commit on.
func fateOf(batch engine.Batch, live bool) Fate {
	switch {
	case batch.State == engine.BatchCommitted, batch.State == engine.BatchFinalized:
		return Read
	case live:
		return Taken
	}
	return Unread
}

// inputsOf are the objects of one source.
func inputsOf(left []engine.InputLeft, s engine.SourcePlan, fate Fate) []Input {
	apart := map[string]engine.InputLeft{}
	for _, l := range left {
		if l.Source == s.Source && fate == Read {
			apart[l.Key] = l
		}
	}
	var all []Input
	for _, o := range s.Taken {
		in := Input{Source: s.Source, Standing: Standing{fate, o.Reason}, Planned: o}
		if l, ok := apart[o.Key]; ok {
			if in.Fate, in.Note = Moved, "left for the next run"; l.Held {
				in.Fate, in.Note = Held, l.Note
			}
		}
		all = append(all, in)
	}
	for _, o := range s.Exceptions {
		all = append(all, Input{Source: s.Source, Standing: Standing{Left, o.Reason}, Planned: o})
	}
	return all
}

// groups counts the objects of a source by what became of them. What the plan only
// counted, without keeping the objects, is added as it is.
func groups(s engine.SourcePlan, inputs []Input, fate Fate) []InputGroup {
	sums := map[Standing]engine.Tally{}
	kept := map[engine.Reason]bool{}
	for _, in := range inputs {
		t := sums[in.Standing]
		sums[in.Standing] = engine.Tally{Files: t.Files + 1, Bytes: t.Bytes + in.Size}
		kept[in.Planned.Reason] = true
	}
	for reason, t := range s.Counts {
		standing := Standing{Left, reason}
		if s.Compared != nil && reason == engine.ReasonChanged { // its rows are taken together, whatever each is taken for
			standing.Fate = fate
		}
		if !kept[reason] {
			sums[standing] = t
		} else if alone, ok := only(sums, reason); ok {
			sums[alone] = t // it knows rows as well
		}
	}
	var list []InputGroup
	for _, r := range reasons {
		for _, f := range []Fate{Read, Taken, Unread, Held, Moved, Left} {
			if t := sums[Standing{f, r.reason}]; t.Files > 0 {
				list = append(list, InputGroup{Source: s.Source, Standing: Standing{f, r.reason}, Tally: t})
			}
		}
	}
	return list
}

// only is the one standing that the objects of a reason have; ok is false where they
// have several.
func only(sums map[Standing]engine.Tally, reason engine.Reason) (found Standing, ok bool) {
	n := 0
	for s := range sums {
		if s.Reason == reason {
			found, n = s, n+1
		}
	}
	return found, n == 1
}
