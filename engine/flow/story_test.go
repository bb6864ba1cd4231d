package flow_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/graph"
)

var update = flag.Bool("update", false, "rewrite what the stories say")

// TestStories plays each file of testdata: a graph, what happens to a run of it, and
// what the rules say of each. "a b -> c on succeeded" is a trigger; what nothing
// starts is started with the run. "any:" before the line makes one condition enough.
// "a.1 failed" is about the first start of a, else it is the last one.
// "resume a b" goes on from the run, which has ended, in a new one that does a and b again.
func TestStories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d stories, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			story, err := txtar.ParseFile(path)
			if err != nil || len(story.Files) != 3 {
				t.Fatalf("a story has a graph, events and what they say: %v", err)
			}
			got := tell(t, string(story.Files[0].Data), string(story.Files[1].Data))

			if want := string(story.Files[2].Data); got != want && !*update {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if *update {
				story.Files[2].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(story), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func job(name string) engine.Ref { return engine.Ref{Kind: engine.KindJob, ID: engine.ID(name)} }

// sketch makes a workflow of the lines of a story.
func sketch(lines string) *engine.WorkflowBody {
	body := &engine.WorkflowBody{Triggers: []engine.Trigger{{ID: "start", Type: engine.OnDemand}}}
	started := map[engine.Ref]bool{}
	for line := range strings.Lines(lines) {
		rest, any := strings.CutPrefix(strings.TrimSpace(line), "any: ")
		from, rest, _ := strings.Cut(rest, " -> ")
		to, state, _ := strings.Cut(rest, " on ")
		trigger := engine.Trigger{ID: engine.ID(strings.TrimSpace(line)), Type: engine.Conditional}
		if any {
			trigger.Predicate.Logic = engine.Any
		}
		for name := range strings.FieldsSeq(from) {
			trigger.Predicate.Conditions = append(trigger.Predicate.Conditions, engine.Condition{Ref: job(name), State: engine.State(state)})
		}
		for name := range strings.FieldsSeq(to) {
			trigger.Actions = append(trigger.Actions, engine.Action{Ref: job(name)})
			started[job(name)] = true
		}
		body.Triggers = append(body.Triggers, trigger)
	}
	for _, ref := range body.Refs() {
		if !started[ref] {
			body.Triggers[0].Actions = append(body.Triggers[0].Actions, engine.Action{Ref: ref})
		}
	}
	return body
}

// tell plays events on a run and says what follows from each.
func tell(t *testing.T, lines, events string) string {
	body := sketch(lines)
	g := graph.New(body)
	r := &rows{t: t, run: engine.Run{ID: "run", Started: noon, Body: *body}, nodes: map[engine.NodeKey]engine.NodeRun{}, triggers: map[engine.ID]engine.TriggerRun{}}
	var said strings.Builder
	say := func(event string, w flow.Writes, err error) {
		words := []string{}
		for _, e := range w.Events {
			switch {
			case e.Kind == "node" && e.State == string(engine.Ready):
				words = append(words, "start "+strings.TrimPrefix(e.Card, "job-"))
			case e.Kind == "node":
				words = append(words, strings.TrimSpace(strings.TrimPrefix(e.Card, "job-")+" "+e.State+" "+e.Text))
			case e.Kind == "run" && e.Text != "":
				words = append(words, e.Text)
			}
		}
		if err != nil {
			words = append(words, "refused: "+engine.MessageOf(err))
		} else {
			r.write(w)
		}
		_, _ = fmt.Fprintln(&said, strings.TrimSpace(event+": "+strings.Join(words, ", ")))
	}
	say("begin", flow.Begin(g, r, r.run, "start", noon), nil)
	for event := range strings.Lines(events) {
		event = strings.TrimSpace(event)
		what, of, _ := strings.Cut(event, " ")
		var w flow.Writes
		var err error
		switch what {
		case "resume":
			again := flow.Again{Nodes: r.All(), Fired: r.decided(), By: "owner"}
			for name := range strings.FieldsSeq(of) {
				again.Start = append(again.Start, job(name))
			}
			next := engine.Run{ID: r.run.ID + "+", Started: noon, Body: *body, Previous: r.run.ID}
			r = &rows{t: t, run: next, nodes: map[engine.NodeKey]engine.NodeRun{}, triggers: map[engine.ID]engine.TriggerRun{}}
			w = flow.Resume(g, r, r.run, again, noon)
		case "skip":
			w, err = flow.Skip(g, r, r.run, job(of), "owner", "", noon)
		case "unskip":
			w, err = flow.Unskip(g, r, r.run, job(of), "owner", noon)
		case "stop":
			name, text, _ := strings.Cut(of, " ") // the number of its start, where it is about one
			start, _ := strconv.Atoi(text)
			w, err = flow.StopNode(g, r, r.run, job(name), start, "owner", noon)
		case "retry":
			node := lastOf(t, r, job(of))
			node.State, node.Ended = engine.Failed, noon
			w = flow.Retry(r, r.run, node, noon, noon)
		default:
			node := lastOf(t, r, job(what))
			node.State = engine.State(of)
			if node.State.Done() {
				node.Ended = noon
				w = flow.End(g, r, r.run, node, noon)
			} else {
				w = flow.Change(r.run, node, "", noon)
			}
		}
		say(event, w, err)
	}
	for _, n := range r.All() {
		_, _ = fmt.Fprintf(&said, "%s ends %s\n", n.Name, n.State)
	}
	_, _ = fmt.Fprintf(&said, "the run ends %s\n", r.run.Outcome)
	return said.String()
}

// lastOf is the attempt that an event is about.
func lastOf(t *testing.T, r *rows, ref engine.Ref) engine.NodeRun {
	name, start, one := strings.Cut(string(ref.ID), ".")
	runs := r.NodeRuns(job(name))
	if one { // of the start with that number
		runs = slices.DeleteFunc(slices.Clone(runs), func(n engine.NodeRun) bool { return strconv.Itoa(n.Start) != start })
	}
	if len(runs) == 0 {
		t.Fatalf("%s has not begun", ref.ID)
	}
	return slices.Clone(runs)[len(runs)-1]
}
