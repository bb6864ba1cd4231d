package canvas_test

import (
	"encoding/json"
	"flag"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/views/canvas"
)

var update = flag.Bool("update", false, "rewrite testdata/lines.json")

const (
	first  = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P4A")
	second = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P4B")
	third  = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P4C")
	start  = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P4D")
	pill   = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P4E")
	gate   = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P4F")
)

func job(id engine.ID) engine.Ref { return engine.Ref{Kind: engine.KindJob, ID: id} }

// sample is start -> first -> on success -> second, and a gate over both that
// starts third.
func sample() *engine.WorkflowBody {
	on := func(id engine.ID, state engine.State) engine.Condition {
		return engine.Condition{Ref: job(id), State: state}
	}
	return &engine.WorkflowBody{Triggers: []engine.Trigger{
		{ID: start, Name: "Daily", Type: engine.Scheduled, Zone: "Europe/Berlin", Actions: []engine.Action{{Ref: job(first)}}},
		{ID: pill, Name: "after first", Type: engine.Conditional, Predicate: engine.Predicate{Conditions: []engine.Condition{on(first, engine.Succeeded)}}, Actions: []engine.Action{{Ref: job(second)}}},
		{ID: gate, Name: "both", Type: engine.Conditional, Predicate: engine.Predicate{Logic: engine.Any, Conditions: []engine.Condition{on(first, engine.Failed), on(second, engine.Succeeded)}}, Actions: []engine.Action{{Ref: job(third)}}},
	}}
}

func infos(name string) canvas.Infos {
	return canvas.Infos{
		job(first).String():  {Name: name, Sub: "SQL transform", Icon: "table-2", Note: "Bookmark on"},
		job(second).String(): {Name: "second", Sub: "SQL transform", Icon: "table-2"},
		job(third).String():  {Name: "third", Sub: "SQL transform", Icon: "table-2"},
	}
}

func render(t *testing.T, v canvas.View) string {
	t.Helper()
	var page strings.Builder
	must(t, canvas.Canvas(v).Render(t.Context(), &page))
	return page.String()
}

func TestAPillIsALineAndAGateACard(t *testing.T) {
	t.Parallel()

	page := render(t, canvas.New(canvas.Input{Mode: canvas.Edit, Body: sample(), Infos: infos("first")}))

	if got := len(regexp.MustCompile(`<li id="node-0|<li id="node-job`).FindAllString(page, -1)); got != 5 {
		t.Errorf("%d cards, want 5: three jobs, the start and the gate", got)
	}
	for _, want := range []string{
		`data-trigger="` + string(pill) + `"`, ">on success</button>", ">on failure</button>", "Any of 2", "Europe/Berlin",
		`data-s="job-` + string(first) + `" data-t="` + string(gate) + `"`, `role="listbox"`, `<template data-card="node">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the canvas lacks %q", want)
		}
	}
	if strings.Contains(page, `id="node-`+string(pill)) {
		t.Error("the pill has a card as well")
	}
}

func TestNamesAreTextEverywhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "🦊 & 'two' / slash", strings.Repeat("é", 255), "</script><b>",
	} {
		v := canvas.New(canvas.Input{Mode: canvas.Edit, Body: sample(), Infos: infos(name)})
		v.Name = name

		page := render(t, v)

		for _, bad := range []string{"<script>alert", "<img", "</script><b>"} {
			if strings.Contains(page, bad) {
				t.Errorf("%q is on the page as markup: %q", name, bad)
			}
		}
		data := page[strings.Index(page, `type="application/json">`)+len(`type="application/json">`):]
		var told struct{ Infos canvas.Infos }
		must(t, json.Unmarshal([]byte(data[:strings.Index(data, "</script>")]), &told))
		if got := told.Infos[job(first).String()].Name; got != name {
			t.Errorf("the module is told %q, want %q", got, name)
		}
	}
}

func TestARunShowsStatesInThreeWaysAndTakenEdges(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	v := canvas.New(canvas.Input{
		Mode: canvas.Run, Body: sample(), Infos: infos("first"),
		Runs: map[string]canvas.Progress{
			job(first).String():  {State: engine.Succeeded, Note: "4.1 s", Fact: "612,440 rows", Started: noon},
			job(second).String(): {State: engine.Running, Percent: 56.5},
		},
		Fired: map[engine.ID]time.Time{start: noon, pill: noon},
	})
	page := render(t, v)

	for _, want := range []string{
		`class="node ok"`, "#check", ">Succeeded<", "612,440 rows", `class="node run"`, "#loader-circle", "--done:56.5%",
		"fired 12:00:00", ">Waiting<", `data-status="waiting"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the run lacks %q", want)
		}
	}
	taken := map[string]bool{}
	for _, e := range v.Edges {
		taken[e.From+" "+e.To] = e.Taken
	}
	one, two, three := job(first).String(), job(second).String(), job(third).String()
	for way, want := range map[string]bool{
		string(start) + " " + one: true, one + " " + two: true, one + " " + string(gate): false, string(gate) + " " + three: false,
	} {
		if taken[way] != want {
			t.Errorf("edge %s taken = %v, want %v", way, taken[way], want)
		}
	}
	if strings.Contains(page, "<button type=\"button\" class=\"cond") || strings.Contains(page, "data-card=\"node\"") {
		t.Error("a run offers what only an editor may do")
	}
}

// Case E04: a stored loop is drawn, and the edge that leads back is marked.
func TestE04AStoredLoopIsDrawnAndMarked(t *testing.T) {
	t.Parallel()
	body := sample()
	body.Triggers = append(body.Triggers, engine.Trigger{
		ID: third, Name: "back", Type: engine.Conditional,
		Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: job(second), State: engine.Succeeded}}},
		Actions:   []engine.Action{{Ref: job(first)}},
	})

	v := canvas.New(canvas.Input{Mode: canvas.Edit, Body: body, Infos: infos("first"), Problems: draft.Problems(body, draft.Facts{})})

	var back []string
	for _, e := range v.Edges {
		if e.Back {
			back = append(back, e.Key)
		}
	}
	if len(back) != 1 || back[0] != string(third) {
		t.Errorf("marked edges = %v, want the one that leads back", back)
	}
}

// The browser draws the same lines: its tests read this file.
func TestLinesSharedWithTheBrowser(t *testing.T) {
	t.Parallel()
	const file = "testdata/lines.json"
	type line struct {
		From canvas.Box `json:"from"`
		To   canvas.Box `json:"to"`
		canvas.Line
	}
	card := func(x, y int) canvas.Box { return canvas.Box{X: x, Y: y, W: 190, H: 76} }
	small := canvas.Box{X: -240, Y: -35, W: 150, H: 56}
	var lines []line
	for _, ends := range [][2]canvas.Box{
		{card(40, 40), card(360, 40)},
		{card(40, 40), card(361, 263)},
		{card(40, 40), card(250, -79)},
		{card(40, 40), card(225, 40)},
		{small, card(-20, -33)},
		{card(410, 40), card(300, 40)},
		{card(410, 40), card(0, 90)},
		{card(410, 40), card(0, -10)}, // under both
		{card(410, 40), card(300, 156)},
		{card(410, 40), card(0, 301)},
		{card(410, 40), card(0, -77)},     // between them
		{card(410, 40), {X: 100, Y: 500}}, // to a pointer
	} {
		lines = append(lines, line{From: ends[0], To: ends[1], Line: canvas.Between(ends[0], ends[1])})
	}

	got, err := json.MarshalIndent(lines, "", " ")
	must(t, err)

	if *update {
		must(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if string(got) != string(want) {
		t.Errorf("lines =\n%s\nwant\n%s", got, want)
	}
}

func BenchmarkCanvas500(b *testing.B) {
	body, known := &engine.WorkflowBody{Layout: map[string]engine.Point{}}, canvas.Infos{}
	id := func(n int) engine.ID { return engine.NewID(time.UnixMilli(int64(n))) }
	ids := make([]engine.ID, 500)
	for i := range ids {
		ids[i] = id(i)
		known[job(ids[i]).String()] = canvas.Info{Name: "job", Sub: "SQL transform", Icon: "table-2"}
		body.Layout[job(ids[i]).String()] = engine.Point{X: i % 25 * 320, Y: i / 25 * 120}
		if i > 0 {
			body.Triggers = append(body.Triggers, engine.Trigger{
				ID: id(1000 + i), Type: engine.Conditional,
				Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: job(ids[i/2]), State: engine.Succeeded}}},
				Actions:   []engine.Action{{Ref: job(ids[i])}},
			})
		}
	}
	v := canvas.New(canvas.Input{Mode: canvas.Run, Body: body, Infos: known})
	for b.Loop() {
		if err := canvas.Canvas(v).Render(b.Context(), io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A line that leads back goes round the cards: it crosses neither of its ends.
func TestALineThatLeadsBackCrossesNoCard(t *testing.T) {
	t.Parallel()
	from := canvas.Box{X: 400, Y: 200, W: 190, H: 76}
	for y := -100; y <= 500; y++ {
		to := canvas.Box{X: 300, Y: y, W: 190, H: 76}

		middle := canvas.Between(from, to).Middle

		for _, card := range []canvas.Box{from, to} {
			if middle.Y > card.Y-20 && middle.Y < card.Y+card.H+20 {
				t.Fatalf("to a card at %d the line runs along %d, too near to the card at %d", y, middle.Y, card.Y)
			}
		}
	}
}

func TestAWordWithoutRoomIsADot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x, y int
		want bool
	}{{288, 0, true}, {339, 59, true}, {340, 0, false}, {288, 140, false}, {100, 0, false}} {
		if got := canvas.Between(canvas.Box{W: 240, H: 120}, canvas.Box{X: c.x, Y: c.y, W: 240, H: 120}).Tight; got != c.want {
			t.Errorf("the word of a line to %d, %d is a dot: %v, want %v", c.x, c.y, got, c.want)
		}
	}
}
