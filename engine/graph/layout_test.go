package graph_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/graph"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// random makes a workflow of n jobs without loops.
func random(n int, seed uint64) *engine.WorkflowBody {
	dice := rand.New(rand.NewPCG(seed, 1))
	lines := []string{"@start -> n0"}
	for i := 1; i < n; i++ {
		lines = append(lines, fmt.Sprintf("n%d -> n%d", dice.IntN(i), i))
		if dice.IntN(10) < 4 && i > 2 {
			a, b := dice.IntN(i), dice.IntN(i)
			if a != b {
				lines = append(lines, fmt.Sprintf("n%d & n%d -> n%d", a, b, i))
			}
		}
	}
	return drawn(lines...)
}

// layered makes case E05's graph: layers of nodes with several edges each.
func layered(layers, perLayer, edges int, seed uint64) *engine.WorkflowBody {
	dice := rand.New(rand.NewPCG(seed, 2))
	var lines []string
	for layer := 1; layer < layers; layer++ {
		for k := range perLayer {
			for range edges {
				lines = append(lines, fmt.Sprintf("l%d_%d -> l%d_%d", layer-1, dice.IntN(perLayer), layer, k))
			}
		}
	}
	return drawn(slices.Compact(lines)...)
}

func pictures() map[string]*engine.WorkflowBody {
	loose := drawn("@daily -> a", "a -> b")
	loose.Cards = refs("x", "y", "z", "v", "w")
	return map[string]*engine.WorkflowBody{
		"empty":     {},
		"sample":    drawn("@daily -> raw-to-curated", "raw-to-curated -> curated-crawler, legacy-csv-export"),
		"pills":     drawn("@daily -> a", "a -> b", "a -> c", "b & c -> d"),
		"long edge": drawn("@daily -> a", "a -> b", "b -> c", "c -> d", "a -> d"),
		"two parts": drawn("@daily -> a", "a -> b", "@hourly -> c", "c -> d"),
		"loose":     loose,
		"loop":      drawn("@daily -> a", "a -> b", "b -> c", "c -> a"),
		"random 50": random(50, 4),
	}
}

func TestLayoutRunsLeftToRightWithoutOverlap(t *testing.T) {
	t.Parallel()
	bodies := pictures()
	delete(bodies, "loop") // the edge that closes a loop runs back
	bodies["random 500"] = random(500, 9)
	bodies["layered"] = layered(10, 50, 3, 7)
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := graph.New(body)

			places := graph.Layout(g)

			for _, trigger := range g.Triggers() {
				if graph.Compact(&trigger) {
					for _, a := range trigger.Actions {
						assertBefore(t, g, places, trigger.Predicate.Conditions[0].Ref.String(), a.Ref.String())
					}
					continue
				}
				for _, c := range trigger.Predicate.Conditions {
					assertBefore(t, g, places, c.Ref.String(), string(trigger.ID))
				}
				for _, a := range trigger.Actions {
					assertBefore(t, g, places, string(trigger.ID), a.Ref.String())
				}
			}
			assertApart(t, g, places)
		})
	}
}

func assertBefore(t *testing.T, g *graph.Graph, places map[string]engine.Point, from, to string) {
	t.Helper()
	width, _ := g.Size(from)
	if places[from].X+width >= places[to].X {
		t.Errorf("%s at %v does not end left of %s at %v", from, places[from], to, places[to])
	}
}

func assertApart(t *testing.T, g *graph.Graph, places map[string]engine.Point) {
	t.Helper()
	cards := slices.Sorted(maps.Keys(places))
	for i, a := range cards {
		w, h := g.Size(a)
		if places[a].X%graph.Grid != 0 || places[a].Y%graph.Grid != 0 || places[a].X < 0 || places[a].Y < 0 {
			t.Errorf("%s at %v is off the grid", a, places[a])
		}
		for _, b := range cards[i+1:] {
			wb, hb := g.Size(b)
			if places[a].X < places[b].X+wb && places[b].X < places[a].X+w &&
				places[a].Y < places[b].Y+hb && places[b].Y < places[a].Y+h {
				t.Errorf("%s at %v overlaps %s at %v", a, places[a], b, places[b])
			}
		}
	}
}

// A condition that is a line once it is built gets a place among the columns while it
// is drawn as a card.
func TestLayoutPlacesAPillThatIsDrawnAsACard(t *testing.T) {
	t.Parallel()
	for name, body := range pictures() {
		g := graph.New(body)
		for _, trigger := range g.Triggers() {
			if !graph.Compact(&trigger) {
				continue
			}
			card := string(trigger.ID)
			before, cond := graph.Layout(g), trigger.Predicate.Conditions[0].Ref.String()

			places := graph.Layout(g, card)

			at, ok := places[card]
			if _, was := before[card]; was || !ok || at.X <= places[cond].X || len(places) != len(before)+1 {
				t.Errorf("%s: %s stands at %v (%t), what it waits for at %v; want it to the right, and nothing else more", name, card, at, ok, places[cond])
			}
		}
	}
}

func TestLayoutGolden(t *testing.T) {
	t.Parallel()
	for name, body := range pictures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := "testdata/" + strings.ReplaceAll(name, " ", "_") + ".txt"

			got := listed(graph.Layout(graph.New(body)))

			for range 3 {
				if again := listed(graph.Layout(graph.New(body))); again != got {
					t.Fatalf("the layout changed between two calls:\n%s\nand\n%s", got, again)
				}
			}
			if *update {
				must(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			must(t, err)
			if got != string(want) {
				t.Errorf("layout of %s =\n%s\nwant\n%s", name, got, want)
			}
		})
	}
}

func listed(places map[string]engine.Point) string {
	var text strings.Builder
	for _, card := range slices.Sorted(maps.Keys(places)) {
		fmt.Fprintf(&text, "%-20s %5d %5d\n", card, places[card].X, places[card].Y)
	}
	return text.String()
}

func TestPlaceKeepsWhatTheAuthorPlaced(t *testing.T) {
	t.Parallel()
	body := drawn("@daily -> a", "a -> b", "a -> c", "c -> d")
	body.Cards = refs("loose")
	stored := map[string]engine.Point{"job-a": {X: 500, Y: 300}, "job-b": {X: 820, Y: 300}, "gone": {X: 1, Y: 1}}
	g := graph.New(body)

	places := graph.Place(g, stored)

	if places["job-a"] != stored["job-a"] || places["job-b"] != stored["job-b"] {
		t.Errorf("placed cards moved: %v", places)
	}
	if got := places["job-c"]; got.X != 820 || got.Y <= 300 {
		t.Errorf("c at %v, want below b, right of a", got)
	}
	if got := places["daily"]; got.X >= 500 {
		t.Errorf("the trigger at %v, want left of what it starts", got)
	}
	if got, want := len(places), 6; got != want {
		t.Errorf("%d cards are placed, want %d: %v", got, want, places)
	}
	assertApart(t, g, places)
}

func BenchmarkLayout1000(b *testing.B) {
	for name, body := range map[string]*engine.WorkflowBody{"random": random(1000, 3), "layered": layered(20, 50, 2, 7)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				graph.Layout(graph.New(body))
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
