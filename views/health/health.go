// Package health shows whether everything holds that must, how busy the server is
// and what room it has.
package health

import (
	"slices"
	"strings"

	"dogear/engine"
	"dogear/views/show"
)

// Busy is how busy a server is, and what listens for events.
type Busy struct {
	engine.Load
	Listeners []Listener
}

// Listener is an event trigger with its name and that of its workflow.
type Listener struct {
	engine.EventTrigger
	Name, In string
}

// machine is the name of a host without what tells its containers apart.
func machine(host string) string {
	name, _, _ := strings.Cut(host, " ")
	return name
}

// gone reports whether a server is in the list whose lease has run out.
func gone(h engine.Health) bool {
	return slices.ContainsFunc(h.Servers, func(r engine.Replica) bool { return !r.Alive() })
}

// brokenFirst are the checks with those that found something in front.
func brokenFirst(h engine.Health) []engine.Check {
	checks := slices.Clone(h.Checks)
	slices.SortStableFunc(checks, func(a, b engine.Check) int { return min(len(b.Broken), 1) - min(len(a.Broken), 1) })
	return checks
}

// broken is how many checks found something.
func broken(h engine.Health) int64 {
	var n int64
	for i := range h.Checks {
		if len(h.Checks[i].Broken) > 0 {
			n++
		}
	}
	return n
}

// state is how a listener is doing.
func (l *Listener) state() show.Sign {
	switch {
	case !l.Active:
		return show.TurnedOff("Off")
	case l.Trouble != "":
		return show.Sign{Icon: "triangle-alert", Word: "The last look failed", Hue: "bad"}
	case l.Held != "":
		return show.Sign{Icon: "hourglass", Word: "Its run cannot start", Hue: "warn"}
	case l.Rule.Source == engine.EventFiles && l.Looked.IsZero(): // and nobody knows whether it can
		return show.Sign{Icon: "hourglass", Word: "Looks for the first time", Hue: "idle"}
	}
	return show.Sign{Icon: "check", Word: "Listens", Hue: "ok"}
}

// unseen says of the place of a listener that it was never looked through.
func (l *Listener) unseen() string {
	if l.Active && l.Trouble != "" {
		return "none has succeeded"
	}
	return "not yet"
}

// why says more of a listener that is in trouble.
func (l *Listener) why() string {
	if !l.Active {
		return ""
	}
	if l.Trouble != "" {
		return l.Trouble
	}
	return l.Held
}

func (l *Listener) href() string {
	return "/workflows/" + string(l.Workflow) + "?node=" + string(l.Trigger)
}

// listens counts the listeners that take events.
func (b *Busy) listens() (n int) {
	for i := range b.Listeners {
		if b.Listeners[i].Active {
			n++
		}
	}
	return n
}

// deaf counts the listeners that are on and could not look.
func (b *Busy) deaf() (n int) {
	for i := range b.Listeners {
		if l := &b.Listeners[i]; l.Active && l.Trouble != "" {
			n++
		}
	}
	return n
}

// events counts what came and has started no run yet.
func (b *Busy) events() (n int) {
	for i := range b.Listeners {
		n += b.Listeners[i].Waiting
	}
	return n
}

// share is part of whole in per cent.
func share(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(max(100*float64(part)/float64(whole), 0), 100)
}
