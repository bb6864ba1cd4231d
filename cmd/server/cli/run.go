package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/handlers/control"
)

// Run are the commands about runs.
type Run struct {
	List runList `cmd:"" help:"List runs, newest first."`
	Show runShow `cmd:"" help:"Show a run: its outcome and that of each job and crawler."`
	Log  runLog  `cmd:"" help:"Print what the jobs and crawlers of a run have written to their logs."`
	Stop runStop `cmd:"" help:"Stop a run, or one job or crawler of it. A publish that has begun is finished first."`
	Skip runSkip `cmd:"" help:"Let a run not do a job or crawler that has not begun; what waits for its success goes on."`

	Resume runResume `cmd:"" help:"Start a run that goes on from one that has ended: what succeeded is not done again."`
	Again  runAgain  `cmd:"" help:"Start a run that does the work of another once more, with the same properties or with others."`
	Pause  runPause  `cmd:"" help:"Let nothing more of a run start until it goes on."`
	GoOn   runGoOn   `cmd:"" help:"Let a paused run go on."`
	Set    runSet    `cmd:"" help:"Change properties of a run that goes on, for the jobs that start from now on."`
}

type runResume struct {
	target
	wait
	ID     string            `arg:"" help:"The run, as run list shows it."`
	Node   []string          `help:"A job or crawler to do again; by default those that did not succeed. What waits for it follows by the triggers, and everything else is kept as it ended. May be repeated."`
	Mark   map[string]string `placeholder:"NODE=STATE" mapsep:"none" help:"Let a job or crawler count as succeeded or failed without doing it again. May be repeated."`
	Newest bool              `help:"Take the workflow as it is published now, not as it was when the run began."`

	Property map[string]string `placeholder:"K=V" mapsep:"none" help:"A property of the new run, over that of the earlier one. May be repeated."`
	token
}

// Run starts a run that goes on from another.
func (c *runResume) Run(ctx context.Context, term Terminal) error {
	run, err := c.start(ctx, c.Data, "/resume", func(token string) any {
		return control.Resume{ID: engine.ID(c.ID), Nodes: c.Node, Marks: c.Mark, Newest: c.Newest, Properties: c.Property, Token: token}
	})
	if err != nil {
		return err
	}
	return c.started(ctx, term, c.target, run)
}

type runPause struct {
	target
	ID string `arg:"" help:"The run, as run list shows it."`
}

// Run pauses a run.
func (c *runPause) Run(ctx context.Context, term Terminal) error {
	return c.change(ctx, term, "/pause", c.ID)
}

type runGoOn struct {
	target
	ID string `arg:"" help:"The run, as run list shows it."`
}

// Run lets a run go on.
func (c *runGoOn) Run(ctx context.Context, term Terminal) error {
	return c.change(ctx, term, "/go-on", c.ID)
}

type runSet struct {
	target
	ID       string            `arg:"" help:"The run, as run list shows it."`
	Property map[string]string `required:"" placeholder:"K=V" mapsep:"none" help:"A property and its new value. May be repeated."`
}

// Run changes properties of a run.
func (c *runSet) Run(ctx context.Context, term Terminal) error {
	run, err := post[control.Run](ctx, c.Data, "/properties", control.SetProperties{ID: engine.ID(c.ID), Properties: c.Property})
	if err != nil {
		return err
	}
	return c.print(term, run, func(t *table) { runRows(t, &run) })
}

// change changes a run and shows it.
func (t target) change(ctx context.Context, term Terminal, path, id string) error {
	run, err := post[control.Run](ctx, t.Data, path, control.RunID{ID: engine.ID(id)})
	if err != nil {
		return err
	}
	return t.print(term, run, func(rows *table) { runRows(rows, &run) })
}

type runList struct {
	target
	Name  string `help:"Only runs whose name holds this."`
	Open  bool   `help:"Only runs that go on."`
	Limit int    `default:"20" help:"How many."`

	Outcome string `help:"Only runs that ended like this: succeeded, partly-failed, failed or stopped."`
}

// Run lists runs.
func (c *runList) Run(ctx context.Context, term Terminal) error {
	list, err := get[[]control.Run](ctx, c.Data, "/runs", url.Values{
		"name": {c.Name}, "open": {strconv.FormatBool(c.Open)}, "outcome": {c.Outcome}, "limit": {strconv.Itoa(c.Limit)},
	})
	if err != nil {
		return err
	}
	return c.print(term, list, func(t *table) {
		t.row("ID", "NAME", "OUTCOME", "STARTED", "TOOK", "BY", "NOTE")
		for i := range list {
			r := &list[i]
			t.row(r.ID, r.Name, outcome(&r.Run), when(r.Started), spent(r.Started, r.Ended, time.Now()), r.By, note(r))
		}
	})
}

// note is what a list says of a run: what it waits for, or what it failed of.
func note(r *control.Run) string {
	f := r.Failed
	if f == nil {
		return r.Waits
	}
	words := f.Node + " " + strings.ToLower(states[f.State])
	if f.More > 0 {
		words += fmt.Sprintf(" +%d", f.More)
	}
	return words
}

type runShow struct {
	target
	ID string `arg:"" help:"The run, as run list shows it."`
}

// Run shows one run.
func (c *runShow) Run(ctx context.Context, term Terminal) error {
	run, err := get[control.Run](ctx, c.Data, "/run", url.Values{"id": {c.ID}})
	if err != nil {
		return err
	}
	return c.print(term, run, func(t *table) { runRows(t, &run) })
}

// runRows are the rows that show a run.
func runRows(t *table, r *control.Run) {
	now := time.Now()
	t.row("Run", r.ID)
	t.row("Of", r.Name+" v"+strconv.Itoa(r.Version))
	t.row("Outcome", outcome(&r.Run))
	if !r.Paused.IsZero() {
		t.row("Paused at", when(r.Paused))
	}
	t.field("Resumes", string(r.Previous))
	if r.Pick != nil {
		t.row("Reads again", r.Pick.Words())
	}
	t.row("Started", when(r.Started)+" by "+r.By)
	t.field("With trigger", r.Start)
	if r.LateSeconds > engine.TooLate.Seconds() {
		t.row("Late", length(r.LateSeconds)+" after its due time "+when(r.Due))
	}
	if r.Like != nil {
		t.row("Like", fmt.Sprintf("run %s, with the same properties, started %s before", r.Like.Run, length(r.Like.Seconds)))
	}
	switch {
	case r.StopBy != "":
		t.row("Stopped", when(r.StopAsked)+" by "+r.StopBy)
	case !r.StopAsked.IsZero():
		t.row("Stopped", when(r.StopAsked)+" by its limit of time")
	}
	t.row("Took", spent(r.Started, r.Ended, now))
	for _, name := range slices.Sorted(maps.Keys(r.Properties)) {
		t.row("With", name+"="+r.Properties[name])
	}
	t.field("Error", r.Error)
	for _, name := range slices.Sorted(maps.Keys(r.Skipping)) {
		t.row("Not to run", name, r.Skipping[name])
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		t.row("Node", n.Name, stateOf(n), spent(n.Started, n.Ended, now), figures(n))
		t.field("", n.Why)
		t.field("", n.Error)
	}
}

// stateOf is the word for how a node run stands.
func stateOf(n *engine.NodeRun) string {
	switch {
	case n.Marked():
		return states[n.State] + ", marked"
	case n.PassedOver():
		return states[n.State] + " by hand"
	case n.Copied != "" && n.State != engine.Skipped: // in the run that this one goes on from
		return states[n.State] + ", kept"
	}
	return states[n.State]
}

// figures says what an attempt has read and written; nothing of one that did not
// begin, but where that is because it had nothing to read.
func figures(n *engine.NodeRun) string {
	if idle := n.Counts.Idle(); idle != "" {
		return idle
	}
	if n.Started.IsZero() {
		return ""
	}
	if n.Ref.Kind == engine.KindCrawler {
		return fmt.Sprintf("tables %d, partitions %d", n.Counts.Tables, n.Counts.Partitions)
	}
	if n.Counts.Exit != nil {
		return fmt.Sprintf("exit code %d", *n.Counts.Exit)
	}
	if n.Process.Apart { // a script that has not ended
		return ""
	}
	return fmt.Sprintf("files %d, rows in %d, rows out %d", n.Counts.Files, n.Counts.RowsIn, n.Counts.RowsOut)
}

type runLog struct {
	Data
	ID     string `arg:"" help:"The run, as run list shows it."`
	Node   string `help:"Only this job or crawler."`
	Follow bool   `short:"f" help:"Go on until the run ends."`
}

// Run prints a log.
func (c *runLog) Run(ctx context.Context, term Terminal) error {
	query := url.Values{"id": {c.ID}, "node": {c.Node}, "follow": {strconv.FormatBool(c.Follow)}}
	from, err := c.call(ctx, http.MethodGet, "/log", query, nil)
	if err != nil {
		return err
	}
	defer from.Close()
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			if _, err := fmt.Fprintln(term.Out, clean(line[:len(line)-1])); err != nil {
				return fmt.Errorf("write the log: %w", err)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return nil // the person has seen enough
		case err != nil:
			return engine.Errorf(engine.Conflict, "The server ended the log before the run did: it is stopping.")
		}
	}
}
