package workflow

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/views/form"
)

// StartForm is what a person sees before a run of a workflow starts.
type StartForm struct {
	Workflow engine.Workflow
	Starts   []Start // the triggers that can start it, of which the first does where none is chosen
	Chosen   engine.ID
	Open     []engine.Run // under way
	Now      time.Time
	CSRF     string
}

// Start is a trigger with which a run can begin.
type Start struct {
	ID    engine.ID
	Name  string
	First []string // the jobs and crawlers that it starts
}

func (f StartForm) title() string {
	return "Run " + f.Workflow.Name + " v" + strconv.Itoa(f.Workflow.Version) + " now?"
}

// begins says what a run of a single start begins with.
func (f StartForm) begins() string {
	return "It begins with " + strings.Join(f.Starts[0].First, ", ") + "."
}

// choices are the starts, each with what it begins with.
func (f StartForm) choices() []form.Choice {
	var list []form.Choice
	for _, s := range f.Starts {
		list = append(list, form.Choice{string(s.ID), s.Name + ", which begins with " + strings.Join(s.First, ", ")})
	}
	return list
}

func (f StartForm) properties() []string { return slices.Sorted(maps.Keys(f.Workflow.Properties)) }
