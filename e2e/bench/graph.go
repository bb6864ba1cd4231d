package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/static"
	"dogear/views/canvas"
)

const (
	graphNodes = 500
	graphLimit = 5.0  // ms to render a graph of 500 nodes (editor.md 10)
	editLimit  = 45.0 // KB of script on the page of the editor, compressed (editor.md 4)
)

// graph500 measures how long templ needs to render a workflow of 500 jobs, and
// how much script the page of the editor loads. What the browser then needs is
// measured by e2e/graph-500.mjs.
func graph500(ctx context.Context, _ string) error {
	body, infos := bigWorkflow()
	var placing, rendering []time.Duration
	size := 0
	var page bytes.Buffer // kept, as the server's pool of them does
	for range 41 {
		start := time.Now()
		view := canvas.New(canvas.Input{Mode: canvas.Edit, Body: body, Infos: infos})
		placed := time.Now()
		page.Reset()
		if err := canvas.Canvas(view).Render(ctx, &page); err != nil {
			return err
		}
		placing = append(placing, placed.Sub(start))
		rendering = append(rendering, time.Since(placed))
		size = page.Len()
	}
	measure.Figure{
		Name: "graph_500", Ours: measure.Median(rendering) / 1e3, Limit: graphLimit, Unit: "ms",
		Note: fmt.Sprintf("%d KB of HTML; to place and word it took %.1f ms more", size/1000, measure.Median(placing)/1e3),
	}.Print()

	files, err := static.Load()
	if err != nil {
		return err
	}
	script := 0.0
	for _, name := range []string{"app.js", "canvas.js"} {
		script += zipped(files[name].Body)
	}
	measure.Figure{Name: "editor_script", Ours: script, Limit: editLimit, Unit: "KB", Note: "app.js and canvas.js, gzip -9"}.Print()
	return nil
}

// bigWorkflow is a random graph in which every job but the first waits for one
// or two earlier ones.
func bigWorkflow() (*engine.WorkflowBody, canvas.Infos) {
	dice := rand.New(rand.NewPCG(1, 2))
	now := time.UnixMilli(0)
	infos, refs := canvas.Infos{}, make([]engine.Ref, graphNodes)
	for i := range refs {
		refs[i] = engine.Ref{Kind: engine.KindJob, ID: engine.NewID(now)}
		infos[refs[i].String()] = canvas.Info{Name: fmt.Sprintf("job-%d", i), Sub: "SQL transform", Note: "Bookmark on", Icon: "table-2"}
	}
	body := &engine.WorkflowBody{}
	add := func(t engine.Trigger) {
		t.ID, t.Name = engine.NewID(now), fmt.Sprintf("t%d", len(body.Triggers))
		body.Triggers = append(body.Triggers, t)
	}
	add(engine.Trigger{Type: engine.OnDemand, Actions: []engine.Action{{Ref: refs[0]}}})
	for i := 1; i < graphNodes; i++ {
		seen := map[int]bool{}
		for range 1 + dice.IntN(2) {
			from := max(i-1-dice.IntN(25), 0)
			if seen[from] {
				continue
			}
			seen[from] = true
			add(engine.Trigger{
				Type:      engine.Conditional,
				Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: refs[from], State: engine.Succeeded}}},
				Actions:   []engine.Action{{Ref: refs[i]}},
			})
		}
	}
	return body, infos
}

// zipped is the size of text in KB as the server sends it.
func zipped(text []byte) float64 {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return 0
	}
	if _, err := w.Write(text); err != nil || w.Close() != nil {
		return 0
	}
	return float64(out.Len()) / 1000
}
