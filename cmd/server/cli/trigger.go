package cli

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/handlers/control"
)

// Trigger are the commands about triggers.
type Trigger struct {
	List triggerList `cmd:"" help:"List what starts the published workflows, and when each starts next or what it waits for."`

	On  triggerOn  `cmd:"" help:"Turn a trigger on: it starts runs by itself from now on. That makes a version of the workflow, and publishes nothing else."`
	Off triggerOff `cmd:"" help:"Turn a trigger off: it starts nothing until it is turned on. Events that wait for it are kept. That makes a version of the workflow, and publishes nothing else."`
}

type triggerList struct {
	target
	Workflow string `arg:"" optional:"" help:"Only those of this workflow."`
}

// Run lists triggers.
func (c *triggerList) Run(ctx context.Context, term Terminal) error {
	list, err := get[[]control.ListedTrigger](ctx, c.Data, "/triggers", url.Values{"workflow": {c.Workflow}})
	if err != nil {
		return err
	}
	return c.print(term, list, func(t *table) {
		t.row("WORKFLOW", "TRIGGER", "KIND", "SWITCH", "FIRES")
		for i := range list {
			l := &list[i]
			t.row(l.Workflow, l.Name, strings.ReplaceAll(string(l.Type), "_", " "), turned(l.Trigger), fires(l.Trigger))
		}
	})
}

// turned says whether a trigger is on; one on demand has no switch.
func turned(t control.Trigger) string {
	switch {
	case t.Type == engine.OnDemand:
		return "–"
	case t.Disabled:
		return "off"
	}
	return "on"
}

// fires says when a trigger fires next, or what it waits for.
func fires(t control.Trigger) string {
	switch t.Type {
	case engine.OnDemand:
		return "when somebody runs the workflow"
	case engine.OnEvent:
		return lower(t.Event)
	case engine.Conditional:
		if t.WaitsFor == "" {
			return "never: it waits for nothing yet"
		}
		return "when " + t.WaitsFor
	case engine.Scheduled:
	}
	spec := strings.TrimSpace(t.Schedule + " " + t.Zone)
	switch {
	case t.Disabled:
		return spec
	case t.NextStart.IsZero():
		return "never again, " + spec
	case t.OverdueSeconds > engine.TooLate.Seconds():
		return when(t.NextStart) + ", overdue by " + length(t.OverdueSeconds) + ", " + spec
	}
	return when(t.NextStart) + ", " + spec
}

// lower is words that begin a sentence, within one.
func lower(words string) string {
	if words == "" {
		return ""
	}
	return strings.ToLower(words[:1]) + words[1:]
}

// which names a trigger.
type which struct {
	target
	Workflow string `arg:"" help:"Name of the workflow."`
	Name     string `arg:"" help:"Name of the trigger, as workflow show lists it."`
}

type triggerOn struct{ which }

// Run turns a trigger on.
func (c *triggerOn) Run(ctx context.Context, term Terminal) error { return c.turn(ctx, term, true) }

type triggerOff struct{ which }

// Run turns a trigger off.
func (c *triggerOff) Run(ctx context.Context, term Terminal) error { return c.turn(ctx, term, false) }

func (c *which) turn(ctx context.Context, term Terminal, on bool) error {
	made, err := post[control.Switched](ctx, c.Data, "/trigger", control.SwitchTrigger{Workflow: c.Workflow, Trigger: c.Name, On: on})
	if err != nil {
		return err
	}
	return c.print(term, made, func(t *table) {
		t.row("Trigger", made.Name, turned(made.Trigger), fires(made.Trigger))
		t.row("Workflow", made.Workflow, version(made.Version), becameWords(&made))
		if len(made.Drawn) > 0 {
			t.row("Draft", made.Workflow, "open", drawnWords(made.Drawn))
		}
	})
}

// becameWords says which version has a trigger so.
func becameWords(s *control.Switched) string {
	if s.Made {
		return "made now, with this switch alone"
	}
	return "had it so already; nothing was changed"
}

// drawnWords says what of a draft a switch has left as it was.
func drawnWords(drawn []draft.Change) string {
	if len(drawn) == 1 {
		return "1 change is still not published: " + drawn[0].Name
	}
	return fmt.Sprintf("%d changes are still not published, the first of %s", len(drawn), drawn[0].Name)
}
