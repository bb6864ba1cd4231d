package control

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/exec"
)

// RunID names a run.
type RunID struct {
	ID engine.ID `json:"id"`
}

// runs answers GET /runs?name=…&open=…&outcome=…&limit=… .
func (c *control) runs(w http.ResponseWriter, r *http.Request) error {
	limit, err := strconv.Atoi(r.FormValue("limit"))
	if err != nil || limit < 1 || limit > 1000 {
		return engine.Errorf(engine.Invalid, "A list shows 1 to 1000 runs.")
	}
	filter := engine.RunFilter{Name: r.FormValue("name"), Open: r.FormValue("open") == "true", Limit: limit}
	if filter.Outcome, err = outcomeNamed(r.FormValue("outcome")); err != nil {
		return err
	}
	if filter.Open && filter.Outcome != "" {
		return engine.Errorf(engine.Invalid, "A run that goes on has no outcome yet. Ask for those that go on or for an outcome, not for both.")
	}
	found, err := c.Store.Runs(r.Context(), filter)
	if err != nil {
		return err
	}
	list, err := c.viewRuns(r.Context(), found)
	if err != nil {
		return err
	}
	return answer(w, list)
}

// outcomeNamed reads an outcome, also as people write it: "Partly failed", "partly-failed".
func outcomeNamed(text string) (engine.Outcome, error) {
	switch outcome := engine.Outcome(strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(text))); outcome {
	case "", engine.RunSucceeded, engine.RunPartlyFailed, engine.RunFailed, engine.RunStopped:
		return outcome, nil
	}
	return "", engine.Errorf(engine.Invalid, "There is no outcome %q. A run ends succeeded, partly-failed, failed or stopped.", text)
}

// run answers GET /run?id=…; with wait=true when the run has ended.
func (c *control) run(w http.ResponseWriter, r *http.Request) error {
	id, err := c.runID(r.Context(), r.FormValue("id"))
	if err != nil {
		return err
	}
	if r.FormValue("wait") == "true" {
		if err := c.await(r.Context(), id); err != nil {
			return err
		}
	}
	found, err := c.Store.Run(r.Context(), id)
	if err != nil {
		return err
	}
	return c.answerRun(w, r, found)
}

// recentRuns is among how many runs a short id is looked for.
const recentRuns = 1000

// runID reads the id of a run, or the end of one, as pages show it.
func (c *control) runID(ctx context.Context, text string) (engine.ID, error) {
	id, err := engine.ParseID(text)
	const least = 4
	other := func(r rune) bool { return (r < '0' || r > '9') && (r|' ' < 'a' || r|' ' > 'z') }
	if err == nil || len(text) < least || strings.ContainsFunc(text, other) {
		return id, err
	}
	runs, listErr := c.Store.Runs(ctx, engine.RunFilter{Limit: recentRuns})
	if listErr != nil {
		return "", listErr
	}
	var found []engine.ID
	for i := range runs {
		if strings.HasSuffix(strings.ToLower(string(runs[i].ID)), strings.ToLower(text)) {
			found = append(found, runs[i].ID)
		}
	}
	switch len(found) {
	case 0:
		return "", engine.Errorf(engine.NotFound, "There is no run %q among the last %d. Write its id as run list shows it.", text, recentRuns)
	case 1:
		return found[0], nil
	}
	return "", engine.Errorf(engine.Invalid, "%d runs end in %q. Write the whole id, as run list shows it.", len(found), text)
}

// await returns when a run has ended. It watches first and looks then, so that
// no end is missed.
func (c *control) await(ctx context.Context, id engine.ID) error {
	reader := c.Hub.Reader()
	defer reader.Close()
	reader.Watch("run:" + string(id))
	for {
		run, err := c.Store.Run(ctx, id)
		if err != nil || !run.Open() {
			return err
		}
		if _, err := reader.Next(ctx); err != nil {
			return engine.Errorf(engine.Conflict, "The server is stopping. Run %s goes on when it starts again.", id)
		}
	}
}

const (
	logChunk = 64 << 10
	// logPause is how long a log that is followed rests between two looks: its
	// lines are not announced by anybody.
	logPause = 200 * time.Millisecond
)

// log answers GET /log?id=…&node=…&follow=… with the lines of every attempt,
// each led by the name of its job or crawler.
func (c *control) log(w http.ResponseWriter, r *http.Request) error {
	id, err := c.runID(r.Context(), r.FormValue("id"))
	if err != nil {
		return err
	}
	f := follower{c: c, id: id, node: r.FormValue("node"), out: w, at: map[engine.NodeKey]int64{}}
	if f.node != "" {
		ref, err := c.nodeNamed(r.Context(), id, f.node)
		if err != nil {
			return err
		}
		if err := c.unlogged(r.Context(), id, ref, f.node); err != nil {
			return err
		}
	}
	open, err := f.look(r.Context(), false)
	if err != nil {
		return err
	}
	tick := time.NewTicker(logPause)
	defer tick.Stop()
	follows := r.FormValue("follow") == "true"
	for open && follows {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			panic(http.ErrAbortHandler) // so that half a log is not taken for the whole
		case <-tick.C:
		}
		if open, err = f.look(r.Context(), false); err != nil {
			c.Log.ErrorContext(r.Context(), "a log could not be followed", "run", id, "err", err)
			panic(http.ErrAbortHandler)
		}
	}
	if open, err = f.look(r.Context(), true); err == nil && f.node != "" && len(f.at) == 0 && !follows {
		return nothing(f.node, id, open)
	}
	return err
}

// nothing is NotFound: a node of a run has no log so far, or none any more.
func nothing(node string, id engine.ID, open bool) error {
	if open {
		return engine.Errorf(engine.NotFound, "%s has written nothing yet in run %s. With --follow its log is printed as it comes.", node, id)
	}
	return engine.Errorf(engine.NotFound, "No log of %s in run %s is to be found. It may have been removed from the data folder of its server.", node, id)
}

// follower writes what logs have gained since it looked last.
type follower struct {
	c    *control
	id   engine.ID
	node string // "" is all
	out  http.ResponseWriter
	at   map[engine.NodeKey]int64
}

// look writes whole lines; at the end also one that lacks its line break. It
// reports whether the run goes on; it was read before the logs, so that a run
// that has ended has written its last line.
func (f *follower) look(ctx context.Context, end bool) (open bool, err error) {
	run, err := f.c.Store.Run(ctx, f.id)
	if err != nil {
		return false, err
	}
	nodes, err := f.c.Store.NodeRuns(ctx, f.id)
	if err != nil {
		return false, err
	}
	for i := range nodes {
		if f.node != "" && nodes[i].Name != f.node {
			continue
		}
		if err := f.copy(ctx, &nodes[i], end); err != nil {
			return false, err
		}
	}
	return run.Open(), nil
}

func (f *follower) copy(ctx context.Context, n *engine.NodeRun, end bool) error {
	lead := n.Name
	if n.Attempt > 1 {
		lead += fmt.Sprintf(" (attempt %d)", n.Attempt)
	}
	for {
		text, _, err := f.c.Logs.Log(ctx, n.Key(), f.at[n.Key()], logChunk)
		if err != nil {
			return err
		}
		if last := bytes.LastIndexByte(text, '\n') + 1; last > 0 {
			text = text[:last]
		} else if !end && len(text) < logChunk {
			return nil
		}
		if len(text) == 0 {
			return nil
		}
		f.at[n.Key()] += int64(len(text))
		for line := range strings.Lines(string(text)) {
			if _, err := fmt.Fprintf(f.out, "%s | %s\n", lead, strings.TrimSuffix(line, "\n")); err != nil {
				return nil // the reader has gone
			}
		}
	}
}

// Resume asks for a run that goes on from another. Nodes are named as run show
// shows them.
type Resume struct {
	ID     engine.ID         `json:"id"`
	Nodes  []string          `json:"nodes,omitempty"` // done again; none: those that did not succeed
	Marks  map[string]string `json:"marks,omitempty"` // by node: succeeded or failed
	Newest bool              `json:"newest,omitempty"`
	Token  string            `json:"token,omitempty"` // as in StartJob
	// Properties are laid over those of the earlier run.
	Properties map[string]string `json:"properties,omitempty"`
}

// resume answers POST /resume with the new run.
func (c *control) resume(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[Resume](w, r)
	if err != nil {
		return err
	}
	if ask.ID, err = c.runID(r.Context(), string(ask.ID)); err != nil {
		return err
	}
	how := exec.Resume{Marks: map[engine.Ref]engine.State{}, Properties: ask.Properties, Newest: ask.Newest, Token: ask.Token}
	for _, name := range ask.Nodes {
		ref, err := c.nodeNamed(r.Context(), ask.ID, name)
		if err != nil {
			return err
		}
		how.Nodes = append(how.Nodes, ref)
	}
	for name, state := range ask.Marks {
		ref, err := c.nodeNamed(r.Context(), ask.ID, name)
		if err != nil {
			return err
		}
		how.Marks[ref] = engine.State(state)
	}
	by, err := c.byCommand(r.Context())
	if err != nil {
		return err
	}
	run, err := c.Exec.Resume(r.Context(), ask.ID, how, by)
	if err != nil {
		return err
	}
	return c.answerRun(w, r, run)
}

// pause answers POST /pause with the paused run.
func (c *control) pause(w http.ResponseWriter, r *http.Request) error {
	return c.change(w, r, c.Exec.Pause)
}

// goOn answers POST /go-on with the run that goes on.
func (c *control) goOn(w http.ResponseWriter, r *http.Request) error {
	return c.change(w, r, c.Exec.GoOn)
}

func (c *control) change(w http.ResponseWriter, r *http.Request, do func(context.Context, engine.ID, string) (engine.Run, error)) error {
	ask, err := read[RunID](w, r)
	if err != nil {
		return err
	}
	return c.steer(w, r, ask.ID, "", func(ctx context.Context, id engine.ID, _ engine.Ref, by string) (engine.Run, error) {
		return do(ctx, id, by)
	})
}
