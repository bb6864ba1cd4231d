package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/graph"
)

func job(name string) engine.Ref { return engine.Ref{Kind: engine.KindJob, ID: engine.ID(name)} }

// drawn makes a body of lines such as "a -> b", which is short for a
// conditional trigger "a>b" that starts b when a succeeded, "a & b -> c" for a
// gate, and "@daily -> a" for a start trigger.
func drawn(lines ...string) *engine.WorkflowBody {
	body := &engine.WorkflowBody{}
	for _, line := range lines {
		left, right, _ := strings.Cut(line, " -> ")
		var actions []engine.Action
		for name := range strings.FieldsFuncSeq(right, func(r rune) bool { return r == ' ' || r == ',' }) {
			actions = append(actions, engine.Action{Ref: job(name)})
		}
		if start, ok := strings.CutPrefix(left, "@"); ok {
			body.Triggers = append(body.Triggers, engine.Trigger{ID: engine.ID(start), Type: engine.OnDemand, Actions: actions})
			continue
		}
		trigger := engine.Trigger{ID: engine.ID(left + ">" + right), Type: engine.Conditional, Actions: actions}
		for name := range strings.SplitSeq(left, " & ") {
			trigger.Predicate.Conditions = append(trigger.Predicate.Conditions,
				engine.Condition{Ref: job(name), State: engine.Succeeded})
		}
		body.Triggers = append(body.Triggers, trigger)
	}
	return body
}

func refs(names ...string) []engine.Ref {
	var list []engine.Ref
	for _, name := range names {
		list = append(list, job(name))
	}
	return list
}

func TestGraphAnswersByNeighbour(t *testing.T) {
	t.Parallel()
	g := graph.New(drawn("@daily -> a", "a -> b, c", "b & c -> d", "a -> e"))

	if got, want := len(g.Watchers(job("a"))), 2; got != want {
		t.Errorf("a is watched %d times, want %d", got, want)
	}
	if got := g.Watchers(job("c")); len(got) != 1 || got[0].Trigger != "b & c>d" || got[0].Index != 1 {
		t.Errorf("watchers of c = %+v, want the second condition of the gate", got)
	}
	if got := g.Actions("a>b, c"); len(got) != 2 || got[1].Ref != job("c") {
		t.Errorf("actions = %+v, want b and c", got)
	}
	if got := g.Conditions("b & c>d"); len(got) != 2 || got[0].Ref != job("b") {
		t.Errorf("conditions = %+v, want b and c", got)
	}
	if got, want := g.Starters(job("a")), []engine.ID{"daily"}; !slices.Equal(got, want) {
		t.Errorf("starters of a = %v, want %v", got, want)
	}
	if g.Trigger("nobody") != nil || g.Actions("nobody") != nil || g.Next("nobody") != nil {
		t.Error("an unknown trigger has a trigger, actions or a successor")
	}
}

func TestEndsAreWhatNothingWaitsFor(t *testing.T) {
	t.Parallel()
	body := drawn("@daily -> a", "a -> b", "a -> c")
	body.Cards = refs("loose")
	body.Triggers = append(body.Triggers, engine.Trigger{ // starts nothing yet
		ID: "unfinished", Type: engine.Conditional,
		Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: job("c"), State: engine.Failed}}},
	})

	got := graph.New(body).Ends()

	if want := refs("b", "c"); !slices.Equal(got, want) {
		t.Errorf("Ends = %v, want %v", got, want)
	}
}

// Case E04: a loop is named by the cards on it, whether it is a node on itself,
// goes through triggers, or hides behind a diamond, which is none.
func TestE04CycleNamesTheLoop(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		lines []string
		want  []string
	}{
		"none":              {lines: []string{"@daily -> a", "a -> b"}},
		"itself":            {lines: []string{"a -> a"}, want: []string{"job-a", "a>a"}},
		"through triggers":  {lines: []string{"a -> b", "b -> a"}, want: []string{"job-b", "b>a", "job-a", "a>b"}},
		"behind a start":    {lines: []string{"@daily -> a", "a -> b", "b -> c", "c -> b", "c -> d"}, want: []string{"job-b", "b>c", "job-c", "c>b"}},
		"a diamond is none": {lines: []string{"@daily -> a", "a -> b", "a -> c", "b & c -> d"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := graph.Cycle(drawn(tt.lines...))

			if !slices.Equal(got, tt.want) {
				t.Errorf("Cycle = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPathBetweenIsShortest(t *testing.T) {
	t.Parallel()
	g := graph.New(drawn("@daily -> a", "a -> b", "b -> c", "a -> c"))

	if got, want := g.PathBetween("job-a", "job-c"), []string{"job-a", "a>c", "job-c"}; !slices.Equal(got, want) {
		t.Errorf("PathBetween = %v, want %v", got, want)
	}
	if got := g.PathBetween("job-c", "job-a"); got != nil {
		t.Errorf("PathBetween against the edges = %v, want none", got)
	}
	if g.Reaches("job-a", "job-a") || !g.Reaches("daily", "job-c") || g.Reaches("job-a", "nobody") {
		t.Error("Reaches is wrong about itself, a start or an unknown card")
	}
}

// Case E05: a chain of diamonds has 2^100 ways through it; every question must
// be answered without walking them.
func TestE05DiamondsAreNotExpanded(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 100 {
		lines = append(lines,
			fmt.Sprintf("n%d -> u%d", i, i), fmt.Sprintf("n%d -> v%d", i, i),
			fmt.Sprintf("u%d & v%d -> n%d", i, i, i+1))
	}
	body := drawn(lines...)
	g := graph.New(body)

	if loop := g.Cycle(); loop != nil {
		t.Errorf("Cycle = %v, want none", loop)
	}
	if got, want := len(g.PathBetween("job-n0", "job-n100")), 100*4+1; got != want {
		t.Errorf("a shortest way has %d cards, want %d", got, want)
	}
}
