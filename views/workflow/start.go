package workflow

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
)

// StartForm is what a person sees before a run of a workflow starts.
type StartForm struct {
	Workflow engine.Workflow
	First    []string     // the jobs and crawlers that it begins with
	Start    string       // name of the trigger that starts it
	Others   []string     // names of the start triggers that do not
	Open     []engine.Run // under way
	Now      time.Time
	CSRF     string
}

func (f StartForm) title() string {
	return "Run " + f.Workflow.Name + " v" + strconv.Itoa(f.Workflow.Version) + " now?"
}

func (f StartForm) begins() string { return "It begins with " + strings.Join(f.First, ", ") + "." }

// starts says which of several triggers starts the run.
func (f StartForm) starts() string {
	if len(f.Others) == 0 {
		return ""
	}
	return "The trigger " + f.Start + " starts it, and not " + strings.Join(f.Others, " or ") + "."
}

func (f StartForm) properties() []string { return slices.Sorted(maps.Keys(f.Workflow.Properties)) }
