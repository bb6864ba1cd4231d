package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/portable"
	"dogear/handlers/control"
)

// Workflow are the commands about workflows.
type Workflow struct {
	List     workflowList     `cmd:"" help:"List the workflows."`
	Show     workflowShow     `cmd:"" help:"Show a workflow: what starts it, what it runs."`
	Run      workflowRun      `cmd:"" help:"Start a run of a workflow."`
	Versions workflowVersions `cmd:"" help:"List the published versions of a workflow, newest first, with what each changed."`
	Restore  workflowRestore  `cmd:"" help:"Bring a version back into the draft, or with --publish let it run."`
	Discard  workflowDiscard  `cmd:"" help:"Make the draft again what is published. An undo in the editor takes that back."`
	Export   workflowExport   `cmd:"" help:"Print a workflow with its jobs and crawlers as YAML."`
	Import   workflowImport   `cmd:"" help:"Make or change a workflow from YAML and publish it."`
	Delete   workflowDelete   `cmd:"" help:"Delete a workflow that has no run under way. Its jobs, crawlers and past runs stay."`
}

type workflowList struct{ target }

// Run lists the workflows.
func (c *workflowList) Run(ctx context.Context, term Terminal) error {
	list, err := get[[]control.Workflow](ctx, c.Data, "/workflows", nil)
	if err != nil {
		return err
	}
	return c.print(term, list, func(t *table) {
		t.row("NAME", "VERSION", "LAST RUN", "STARTED", "NEXT START")
		for _, w := range list {
			last, started := "–", time.Time{}
			if w.Last != nil {
				last, started = outcome(w.Last), w.Last.Started
			}
			t.row(w.Name, version(w.Version), last, when(started), nextStart(&w))
		}
	})
}

// nextStart says when w starts next by itself, and what of that is off.
func nextStart(w *control.Workflow) string {
	var words []string
	events, off, active := false, 0, false
	for _, t := range w.Triggers {
		switch {
		case t.Type != engine.Scheduled && t.Type != engine.OnEvent:
		case t.Disabled:
			off++
		default:
			events, active = events || t.Type == engine.OnEvent, true
		}
	}
	if !w.NextStart.IsZero() {
		words = append(words, when(w.NextStart))
	}
	if events {
		words = append(words, "by events")
	}
	switch {
	case off > 0 && !active:
		words = append(words, "off")
	case off > 0:
		words = append(words, fmt.Sprintf("%d off", off))
	case len(words) == 0:
		return when(time.Time{})
	}
	return strings.Join(words, ", ")
}

func version(n int) string {
	if n == 0 {
		return "draft"
	}
	return "v" + strconv.Itoa(n)
}

type workflowShow struct {
	target
	Name    string  `arg:"" help:"Name of the workflow."`
	Version edition `help:"An earlier version, by its number, as workflow versions shows it."`
}

// Run shows one workflow.
func (c *workflowShow) Run(ctx context.Context, term Terminal) error {
	query := url.Values{"name": {c.Name}}
	if c.Version != 0 {
		query.Set("version", strconv.Itoa(int(c.Version)))
	}
	w, err := get[control.Workflow](ctx, c.Data, "/workflow", query)
	if err != nil {
		return err
	}
	return c.print(term, w, func(t *table) {
		t.row("Name", w.Name)
		t.row("Version", version(w.Version))
		t.field("About", w.Description)
		if w.Last != nil {
			t.row("Last run", outcome(w.Last), string(w.Last.ID))
		}
		for _, name := range slices.Sorted(maps.Keys(w.Properties)) {
			t.row("Property", name+"="+w.Properties[name])
		}
		for _, n := range w.Nodes {
			t.row(strings.ToUpper(string(n.Kind[:1]))+string(n.Kind[1:]), n.Name)
		}
		for _, trigger := range w.Triggers {
			t.row("Trigger", trigger.Name, triggerWords(trigger))
		}
	})
}

func triggerWords(t control.Trigger) string {
	words := strings.ReplaceAll(string(t.Type), "_", " ")
	switch {
	case t.Schedule != "" && t.NextStart.IsZero(): // off, of an earlier version, or never again
		words = strings.TrimSpace(t.Schedule + " " + t.Zone)
	case t.Schedule != "":
		words = t.Schedule + " " + strings.TrimSpace(t.Zone+" next "+when(t.NextStart))
		if t.OverdueSeconds > engine.TooLate.Seconds() {
			words += ", overdue by " + length(t.OverdueSeconds)
		}
	}
	if t.Event != "" {
		words = "event: " + lower(t.Event)
	}
	if t.Disabled {
		words += ", off"
	}
	return words + ", starts " + strings.Join(t.Starts, ", ")
}

type workflowRun struct {
	target
	wait
	Name     string            `arg:"" help:"Name of the workflow."`
	Trigger  string            `help:"Name of the trigger that starts it, where the workflow has several starts; by default the one on demand."`
	Property map[string]string `placeholder:"K=V" mapsep:"none" help:"A property of this run. May be repeated."`
	token
}

// Run starts a workflow and, with --wait, stays until its end.
func (c *workflowRun) Run(ctx context.Context, term Terminal) error {
	run, err := c.start(ctx, c.Data, "/workflow", func(token string) any {
		return control.Start{Workflow: c.Name, Trigger: c.Trigger, Properties: c.Property, Token: token}
	})
	if err != nil {
		return err
	}
	return c.started(ctx, term, c.target, run)
}

type workflowDelete struct {
	target
	Name string `arg:"" help:"Name of the workflow."`
	Yes  bool   `help:"Delete it: it cannot be brought back."`
}

// Run deletes a workflow, where the person is sure.
func (c *workflowDelete) Run(ctx context.Context, term Terminal) error {
	if !c.Yes {
		return engine.Errorf(engine.Conflict, "The workflow %s, with its triggers and its draft, could not be brought back; its jobs, crawlers and past runs stay. Export it, and say the same with --yes.", c.Name)
	}
	gone, err := post[engine.Head](ctx, c.Data, "/workflow/delete", control.Name{Name: c.Name})
	if err != nil {
		return err
	}
	return c.print(term, gone, func(t *table) { t.row("deleted", "workflow", gone.Name) })
}

type workflowExport struct {
	Data
	Name string `arg:"" help:"Name of the workflow."`
}

// Run prints the workflow's YAML.
func (c *workflowExport) Run(ctx context.Context, term Terminal) error {
	from, err := c.call(ctx, http.MethodGet, "/export", url.Values{"name": {c.Name}}, nil)
	if err != nil {
		return err
	}
	defer from.Close()
	if _, err := io.Copy(term.Out, from); err != nil {
		return fmt.Errorf("write the workflow: %w", err)
	}
	return nil
}

type workflowImport struct {
	target
	File   string `arg:"" help:"The file; - reads the standard input."`
	DryRun bool   `help:"Only say what would be made or changed."`
}

// Run imports a file.
func (c *workflowImport) Run(ctx context.Context, term Terminal) error {
	from := io.NopCloser(term.In)
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return engine.Errorf(engine.Invalid, "The file cannot be read: %w", err)
		}
		from = file
	}
	defer from.Close()
	report, err := ask[portable.Report](ctx, c.Data, http.MethodPost, "/import", url.Values{"dry_run": {strconv.FormatBool(c.DryRun)}}, from)
	if err != nil {
		return err
	}
	return c.print(term, report, func(t *table) {
		for _, line := range report.Objects {
			t.row(verbs[line.Verb][report.Written], line.Kind, line.Name)
			if line.Kind == engine.KindWorkflow {
				changeRows(t, report.Changes)
			}
			fieldRows(t, line.Fields)
			for _, sentence := range line.Fails {
				t.row("warning", line.Kind, line.Name+": its next run would fail. "+sentence)
			}
		}
		for _, paused := range report.Paused {
			t.row("off", "trigger", paused.String())
		}
	})
}

// verbs are the words of a report, by whether it was written.
var verbs = map[portable.Verb]map[bool]string{
	portable.Make:   {true: "made", false: "would make"},
	portable.Change: {true: "changed", false: "would change"},
	portable.Keep:   {true: "left as it is", false: "would leave as it is"},
}
