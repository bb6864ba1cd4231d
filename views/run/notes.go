package run

import (
	"strings"
	"time"

	"dogear/engine"
	"dogear/views/show"
)

// starter says who or what started the run.
func (v View) starter() string {
	t := v.Run.Body.Trigger(v.Run.Trigger)
	switch {
	case v.Run.By == "schedule" && t != nil:
		return "by the schedule " + t.Name
	case v.Run.By == "event" && t != nil:
		return "by the event trigger " + t.Name
	case t != nil && v.Run.Previous == "" && len(v.Run.Body.StartTriggers()) > 1:
		return "by " + v.Run.By + ", with the trigger " + t.Name
	}
	return "by " + v.Run.By
}

// late is how long after its due time the run began to work.
func (v View) late() time.Duration { return v.Run.Late(v.Nodes, v.Now) }

// lateness says by how much a scheduled run is late.
func (v View) lateness() string {
	for i := range v.Nodes {
		if !v.Nodes[i].Started.IsZero() {
			return "It began to work " + show.Length(v.late()) + " after it was due."
		}
	}
	if v.Run.Open() {
		return "It is " + show.Length(v.late()) + " late: nothing of it works yet."
	}
	return "Nothing of it has worked."
}

// halt is that a run, or a node of it, was told to stop, when and by whom or what.
type halt struct {
	what string
	at   time.Time
	by   string
}

// stops says who or what has stopped the run, or else those of its nodes that a person
// did. A run that took too long says so by its error as well.
func (v View) stops() (all []halt) {
	run := v.Run
	switch {
	case run.StopBy != "":
		return []halt{{"stopped", run.StopAsked, "by " + run.StopBy}}
	case !run.StopAsked.IsZero():
		return []halt{{"stopped", run.StopAsked, "by its limit of time"}}
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if by, ok := strings.CutPrefix(n.Why, engine.StoppedLead); ok && n.State == engine.Stopped && n.Copied == "" {
			all = append(all, halt{n.Name + " stopped", n.Ended, "by " + by})
		}
	}
	return all
}

// changes are the changes of the run's properties, without those it began with.
func (v View) changes() []engine.PropertySet {
	if len(v.Properties) == 0 {
		return nil
	}
	return v.Properties[1:]
}

// twin is the earlier run that asked for the same, if r has one.
func (l Listing) twin(r engine.Run) (engine.Twin, bool) {
	t, ok := l.Twins[r.ID]
	return t, ok
}

// fallen is the node that r failed of. A run of a job or crawler alone has no other
// than the one that it is named after.
func (l Listing) fallen(r engine.Run) (engine.Fallen, bool) {
	f, ok := l.Fallen[r.ID]
	return f, ok && r.Kind == engine.RunWorkflow
}

// fallenSign names the node that a run failed of, and how many more: "load failed +2".
func fallenSign(f engine.Fallen) show.Sign {
	sign := show.OfState(f.State)
	sign.Word = f.Name + " " + strings.ToLower(sign.Word)
	if f.More > 0 {
		sign.Word += " +" + show.Count(int64(f.More))
	}
	return sign
}

// fallenHref is the address of the attempt that failed.
func fallenHref(f engine.Fallen) string {
	return nodeHref(engine.NodeRun{Run: f.Run, Ref: f.Ref, Start: f.Start, Attempt: f.Attempt}, "")
}

// twinLead goes before the name of an earlier run that asked for the same.
func (v View) twinLead() string {
	if v.Run.Previous != "" {
		return "Does the same again, with the same properties, as run "
	}
	return "Same properties as run "
}

// twinWords go on after the name of an earlier run that asked for the same.
func (v View) twinWords() string {
	words := ", which started " + show.Length(v.Twin.Before) + " before."
	if v.Run.Open() {
		words += " If it was asked for twice by mistake, stop this one."
	}
	return words
}
