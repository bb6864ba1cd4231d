package draft

import (
	"slices"
	"unicode/utf8"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/graph"
)

const (
	maxLength = 1 << 20 // of a coordinate, either way
	maxText   = 2048    // of a description, schedule or property
)

// Check refuses a body that no draft may become, such as one with a loop.
func Check(before, after engine.WorkflowBody, names Names) error {
	return check(before, after, Between(before, after), names)
}

// check refuses what no draft may hold. It looks only at what delta changed,
// and forgives a loop that was there before: otherwise nobody could repair it.
func check(before, after engine.WorkflowBody, delta Delta, names Names) error {
	for _, t := range delta.Triggers {
		if t.To == nil {
			continue
		}
		if err := checkTrigger(t.To); err != nil {
			return err
		}
		if err := checkTwice(t.To, names); err != nil {
			return err
		}
		if t.To.Disabled && t.To.Type == engine.OnDemand && (t.From == nil || !t.From.Disabled) {
			return refuse(Rule, "%s starts only when somebody runs the workflow, so it cannot be turned off. Leave that out.", t.To.Name)
		}
		for i := range after.Triggers {
			if other := &after.Triggers[i]; other.ID != t.ID && other.Name == t.To.Name {
				return refuse(Rule, "Another trigger is called %s.", t.To.Name)
			}
		}
	}
	for _, p := range delta.Layout {
		if p.To != nil && (abs(p.To.X) > maxLength || abs(p.To.Y) > maxLength) {
			return refuse(Rule, "This place is too far away.")
		}
	}
	for name, p := range delta.Properties {
		if err := checkProperty(name, p.To); err != nil {
			return err
		}
	}
	switch {
	case utf8.RuneCountInString(after.Description) > maxText:
		return refuse(Rule, "A description has at most %d characters.", maxText)
	case after.MaxRuns < 0:
		return refuse(Rule, "A limit of runs is 0, which is none, or more.")
	case after.Timeout < 0 || after.Timeout > engine.MostMinutes:
		return refuse(Rule, "A run may take from 1 to %d minutes; 0 is no limit.", engine.MostMinutes)
	}
	return checkGraph(before, after, delta, names)
}

func checkTrigger(t *engine.Trigger) error {
	if _, err := engine.ParseID(string(t.ID)); err != nil {
		return refuse(Rule, "A trigger needs an id.")
	}
	if err := engine.CheckName("trigger", t.Name); err != nil {
		return refuse(Rule, "%s", engine.MessageOf(err))
	}
	switch t.Type {
	case engine.OnDemand, engine.Scheduled, engine.OnEvent:
		if len(t.Predicate.Conditions) > 0 {
			return refuse(Rule, "A start trigger begins the workflow; nothing can run before it.")
		}
	case engine.Conditional:
	default:
		return refuse(Rule, "There is no trigger of type %q.", t.Type)
	}
	if len(t.Schedule) > maxText || len(t.Zone) > maxText {
		return refuse(Rule, "The schedule of %s is too long.", t.Name)
	}
	switch t.Missed {
	case engine.MissedSkip, engine.MissedLatest, engine.MissedAll:
	default:
		return refuse(Rule, "Missed times are left out, made up for once, or all made up for; there is no %q.", t.Missed)
	}
	switch t.Overlap {
	case engine.OverlapSkip, engine.OverlapQueue:
	default:
		return refuse(Rule, "A due time is left out or waits while a run is under way; there is no %q.", t.Overlap)
	}
	if t.Type != engine.OnEvent && t.Event != (engine.EventRule{}) {
		return refuse(Rule, "%s is no event trigger, and has no rule for events.", t.Name)
	}
	if err := arrival.Check(t.Event); err != nil {
		return refuse(Rule, "%s", engine.MessageOf(err))
	}
	switch t.Predicate.Logic {
	case "", engine.All, engine.Any:
	default:
		return refuse(Rule, "A condition waits for all or any, not for %q.", t.Predicate.Logic)
	}
	return checkEnds(t)
}

func checkEnds(t *engine.Trigger) error {
	for _, c := range t.Predicate.Conditions {
		switch c.State {
		case engine.Succeeded, engine.Failed, engine.TimedOut, engine.Stopped, engine.EndedAny:
		default:
			return refuse(Rule, "A condition cannot wait for the state %q.", c.State)
		}
		if _, err := engine.ParseRef(c.Ref.String()); err != nil {
			return refuse(Rule, "%q is not a job or crawler.", c.Ref)
		}
	}
	for _, a := range t.Actions {
		if _, err := engine.ParseRef(a.Ref.String()); err != nil {
			return refuse(Rule, "%q is not a job or crawler.", a.Ref)
		}
		if faults := a.Faults(); len(faults) > 0 {
			return refuse(Rule, "The %s with which %s starts a %s: %s", faults[0].Field, t.Name, a.Ref.Kind, faults[0].Message)
		}
	}
	return nil
}

// checkTwice refuses a trigger that waits twice for one end of a node: one of the
// two was meant to say something else (A12).
func checkTwice(t *engine.Trigger, names Names) error {
	for i, c := range t.Predicate.Conditions {
		if slices.Contains(t.Predicate.Conditions[:i], c) {
			return refuse(Rule, "%s waits twice for the same: %s %s.", t.Name, names.Of(c.Ref), Ends(c.State))
		}
	}
	return nil
}

func checkProperty(name string, value *string) error {
	if value == nil {
		return nil
	}
	if err := engine.CheckName("property", name); err != nil {
		return refuse(Rule, "%s", engine.MessageOf(err))
	}
	if utf8.RuneCountInString(*value) > maxText {
		return refuse(Rule, "The value of a property has at most %d characters.", maxText)
	}
	return nil
}

func checkGraph(before, after engine.WorkflowBody, delta Delta, names Names) error {
	if len(delta.Triggers)+len(delta.Cards) == 0 {
		return nil
	}
	g := graph.New(&after)
	if len(g.Cards()) > MaxCards && len(graph.New(&before).Cards()) < len(g.Cards()) {
		return refuse(Rule, "A workflow has at most %d cards.", MaxCards)
	}
	loop := g.Cycle()
	if loop == nil || graph.Cycle(&before) != nil {
		return nil
	}
	e := &edit{body: &after, names: names}
	r := refuse(Cycle, "This would loop: %s.", e.spell(append(loop, loop[0])))
	r.Path = loop
	return r
}

func abs(n int) int { return max(n, -n) }
