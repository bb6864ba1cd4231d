package draft

import (
	"fmt"
	"slices"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/graph"
)

// Problem is something that stands between a draft and a workflow that runs.
type Problem struct {
	Card    string `json:"card,omitempty"` // "" for the workflow as a whole
	Message string `json:"message"`
	// Soft problems are worth knowing and do not hinder a publish.
	Soft bool `json:"soft,omitempty"`
	// Fails says that the next run would fail of it: soft, and asked about before
	// a publish.
	Fails bool `json:"fails,omitempty"`
}

// Facts is what Problems must know beyond the draft. A nil function knows
// nothing and finds nothing wrong.
type Facts struct {
	Names Names
	// Schedule says what is wrong with a schedule in a zone.
	Schedule func(schedule, zone string) error
	// Warn says what a valid schedule does not do although it seems to.
	Warn func(schedule string) string
	// Uses lists the properties of the workflow that a job reads.
	Uses func(ref engine.Ref) []string
	// Faults lists what is wrong in a job or crawler that is published with the
	// draft.
	Faults func(ref engine.Ref) []engine.Fault
	// Fails lists what the next run would fail of in a job, whether it is published
	// with the draft or was before.
	Fails func(ref engine.Ref) []engine.Fault
	// Outside lists the places of a job or crawler that this server may not use.
	Outside func(ref engine.Ref) []string
	// OutsidePath says why a path may not be used by this server; none where it
	// may.
	OutsidePath func(path string) []string
}

// The numbers of cards and start triggers that AWS Glue is made for.
const (
	glueCards  = 100
	glueStarts = 1
)

// Problems lists what is wrong with body: the hard ones, what a run would fail of,
// and what is worth knowing.
func Problems(body *engine.WorkflowBody, facts Facts) []Problem {
	g := graph.New(body)
	var found []Problem
	hard := func(card, format string, args ...any) {
		found = append(found, Problem{Card: card, Message: fmt.Sprintf(format, args...)})
	}
	if loop := g.Cycle(); loop != nil {
		e := &edit{body: body, names: facts.Names}
		hard(loop[0], "The workflow loops: %s.", e.spell(append(loop, loop[0])))
	}
	for i := range body.Triggers {
		triggerProblems(&body.Triggers[i], facts, hard)
	}
	passed := body.Passed()
	for _, ref := range g.Refs() {
		nodeProblems(body, ref, passed[ref], facts, hard)
	}
	return slices.Concat(found, failing(g, facts), soft(body, g, facts))
}

// failing lists what a run of the jobs of g would fail of.
func failing(g *graph.Graph, facts Facts) []Problem {
	var found []Problem
	if facts.Fails == nil {
		return nil
	}
	for _, ref := range g.Refs() {
		for _, fault := range facts.Fails(ref) {
			found = append(found, Problem{Card: ref.String(), Soft: true, Fails: true, Message: facts.Names.Of(ref) + ": " + fault.Message})
		}
	}
	return found
}

func triggerProblems(t *engine.Trigger, facts Facts, hard func(card, format string, args ...any)) {
	card := string(t.ID)
	if len(t.Actions) == 0 {
		hard(card, "%s starts nothing yet. Connect it to a job or crawler.", t.Name)
	}
	switch t.Type {
	case engine.Conditional:
		if len(t.Predicate.Conditions) == 0 {
			hard(card, "%s waits for nothing yet. Connect a job or crawler to it.", t.Name)
		}
	case engine.Scheduled:
		if facts.Schedule == nil {
			return
		}
		if err := facts.Schedule(t.Schedule, t.Zone); err != nil {
			hard(card, "The schedule of %s is not valid: %s", t.Name, engine.MessageOf(err))
		}
	case engine.OnEvent:
		if err := arrival.Missing(t.Event); err != nil {
			hard(card, "The event trigger %s is not complete: %s", t.Name, engine.MessageOf(err))
		}
	case engine.OnDemand:
	}
}

func nodeProblems(body *engine.WorkflowBody, ref engine.Ref, passed map[string]string, facts Facts, hard func(card, format string, args ...any)) {
	name, exists := facts.Names[ref]
	if !exists {
		hard(ref.String(), "The %s of this card was deleted. Remove the card or replace it.", ref.Kind)
		return
	}
	if facts.Faults != nil {
		for _, fault := range facts.Faults(ref) {
			hard(ref.String(), "%s: %s", name, fault.Message)
		}
	}
	if facts.Uses == nil {
		return
	}
	for _, property := range facts.Uses(ref) {
		_, declared := body.Properties[property]
		if _, given := passed[property]; !declared && !given {
			hard(ref.String(), "%s uses the property %s, which this workflow does not declare. Declare it, or pass it with every start of %s.", name, property, name)
		}
	}
}

func soft(body *engine.WorkflowBody, g *graph.Graph, facts Facts) []Problem {
	var found []Problem
	starts := 0
	for i := range body.Triggers {
		t := &body.Triggers[i]
		if t.Type != engine.Conditional {
			starts++
		}
		if t.Type == engine.OnEvent && t.Event.Source == engine.EventFiles && facts.OutsidePath != nil {
			for _, message := range facts.OutsidePath(t.Event.Path) {
				found = append(found, Problem{Card: string(t.ID), Soft: true, Message: t.Name + ": " + message})
			}
		}
		if t.Type == engine.Scheduled && facts.Warn != nil {
			if warning := facts.Warn(t.Schedule); warning != "" {
				found = append(found, Problem{Card: string(t.ID), Soft: true, Message: warning})
			}
		}
	}
	switch {
	case len(g.Cards()) == 0:
		found = append(found, Problem{Soft: true, Message: "This workflow is empty. Put a trigger and a job on it."})
	case starts == 0:
		found = append(found, Problem{Soft: true, Message: "Nothing starts this workflow. Add a trigger: on demand, by schedule or by event."})
	case starts > glueStarts:
		found = append(found, Problem{Soft: true, Message: "AWS Glue allows one start trigger in a workflow."})
	}
	if len(g.Cards()) > glueCards {
		found = append(found, Problem{Soft: true, Message: fmt.Sprintf("AWS advises at most %d cards in a workflow.", glueCards)})
	}
	for _, ref := range g.Refs() {
		if len(g.Starters(ref)) == 0 {
			found = append(found, Problem{Card: ref.String(), Soft: true, Message: "Nothing starts " + facts.Names.Of(ref) + "."})
		}
		if facts.Outside == nil {
			continue
		}
		for _, message := range facts.Outside(ref) {
			found = append(found, Problem{Card: ref.String(), Soft: true, Message: facts.Names.Of(ref) + ": " + message})
		}
	}
	return found
}

// Hard reports whether problems hold one that hinders a publish.
func Hard(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return !p.Soft })
}
