package run

import (
	"cmp"
	"time"

	"dogear/engine"
)

// spell is one thing that an attempt did, from when to when; a zero to is still so.
type spell struct {
	was, is  string
	from, to time.Time
}

func (s spell) word() string {
	if s.to.IsZero() {
		return s.is
	}
	return s.was
}

// spells are what became of the time of n: it waited for its turn, was prepared, and
// ran, which is the time that its card shows. What took no time that is seen is left
// out, but for the run itself.
func (v View) spells(n engine.NodeRun) []spell {
	var list []spell
	add := func(was, is string, from, to time.Time) {
		if !from.IsZero() && (to.IsZero() || to.Sub(from) >= soon) {
			list = append(list, spell{was, is, from, to})
		}
	}
	begun := v.begun(n)
	if n.Copied == "" && n.State != engine.Skipped { // else it did so in another run, or not at all
		add("waited", "waiting", n.ReadyAt, cmp.Or(begun, n.Ended))
		add("prepared", "preparing", begun, cmp.Or(n.Started, n.Ended))
	}
	if !begun.IsZero() && !n.Started.IsZero() {
		list = append(list, spell{"ran", "running", n.Started, n.Ended})
	}
	return list
}
