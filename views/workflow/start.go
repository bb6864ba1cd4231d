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
	Open     []engine.Run // under way
	Now      time.Time
	CSRF     string
}

func (f StartForm) title() string {
	return "Run " + f.Workflow.Name + " v" + strconv.Itoa(f.Workflow.Version) + " now?"
}

func (f StartForm) begins() string { return "It begins with " + strings.Join(f.First, ", ") + "." }

func (f StartForm) properties() []string { return slices.Sorted(maps.Keys(f.Workflow.Properties)) }
