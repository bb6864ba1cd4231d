package page

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/run"
)

const (
	logChunk  = 64 << 10 // bytes of log in one answer
	logLines  = 200      // lines in one block of it
	inputPage = 200      // objects in one answer
)

// runNode answers GET /runs/:id/nodes/:card with the panel of a card.
func (p *Pages) runNode(c web.Ctx) error {
	v, err := p.runView(c)
	if err != nil {
		return err
	}
	node, err := p.nodeView(c, &v, c.Param("card"))
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, run.Panel(node))
}

// nodeView reads what the panel of one card shows, by its tab.
func (p *Pages) nodeView(c web.Ctx, v *run.View, card string) (run.Node, error) {
	node := v.Node(card, int(number(c, "start", 0)), int(number(c, "attempt", 0)), c.QueryParam("tab"))
	ctx := c.Request().Context()
	if node.Name == "" && !node.Ref.IsZero() { // it has not started
		var err error
		if node.Name, err = p.nameOf(ctx, node.Ref.ID); err != nil {
			return node, err
		}
	}
	if node.Attempt.Batch != "" {
		batch, err := p.Store.Batch(ctx, node.Attempt.Batch)
		if err != nil && engine.CodeOf(err) != engine.NotFound {
			return node, err
		}
		node.Batch = batch
	}
	script, err := p.isScript(ctx, &node)
	if err != nil {
		return node, err
	}
	if script {
		node = node.OfScript()
	}
	if node.Attempt.Marked() {
		if node.Marked, err = p.markedAt(ctx, v.Run, &node.Attempt); err != nil {
			return node, err
		}
	}
	err = p.told(ctx, &node)
	if err != nil {
		return node, err
	}
	if node.Tab == run.TabBookmark || node.Tab == run.TabArguments {
		if node.Ran, err = p.ran(ctx, node); err != nil {
			return node, err
		}
	}
	switch node.Tab {
	case run.TabLog:
		node.Log, err = p.logOpened(ctx, node)
	case run.TabInputs:
		node.Inputs = run.PageInputs(node.Batch, node.Live(), 0, inputPage)
	case run.TabBookmark:
		node.Moves, err = p.moves(ctx, node)
	case run.TabArguments:
		node.Limits = limits(node)
	case run.TabOutputs, run.TabAttempts: // show what is there already
	}
	return node, err
}

// isScript reports whether the job of a node is a script; of one that was deleted
// its attempt says so.
func (p *Pages) isScript(ctx context.Context, node *run.Node) (bool, error) {
	if node.Ref.Kind != engine.KindJob {
		return false, nil
	}
	job, err := p.Store.Job(ctx, node.Ref.ID)
	if engine.CodeOf(err) == engine.NotFound {
		return node.Attempt.Process.Apart || node.Attempt.Counts.Exit != nil, nil
	}
	return job.Kind == engine.JobPython, err
}

// mostBefore bounds how many runs are looked through of those that a run goes on
// from.
const mostBefore = 50

// markedAt is when a node run of r was marked: when the first of the runs began,
// going back from r, that has it so.
func (p *Pages) markedAt(ctx context.Context, r engine.Run, marked *engine.NodeRun) (time.Time, error) {
	at := r.Started
	for range mostBefore {
		nodes, err := p.Store.NodeRuns(ctx, r.Previous)
		if err != nil {
			return at, err
		}
		so := slices.ContainsFunc(nodes, func(n engine.NodeRun) bool {
			return n.Ref == marked.Ref && n.Start == marked.Start && n.Attempt == marked.Attempt && n.State == marked.State && n.Why == marked.Why
		})
		if !so {
			break
		}
		if r, err = p.Store.Run(ctx, r.Previous); err != nil {
			return at, err
		}
		at = r.Started
	}
	return at, nil
}

// ran is the job as an attempt ran it; nil where it is no job, has not started or
// that version is not kept.
func (p *Pages) ran(ctx context.Context, node run.Node) (*engine.JobBody, error) {
	if node.Ref.Kind != engine.KindJob || node.Attempt.Version == 0 {
		return nil, nil
	}
	job, err := p.Store.JobVersion(ctx, node.Ref.ID, node.Attempt.Version)
	if engine.CodeOf(err) == engine.NotFound {
		return nil, nil
	}
	return &job.JobBody, err
}

// limits are those that hold for an attempt of a job.
func limits(node run.Node) []run.Limit {
	if node.Ref.Kind != engine.KindJob || node.Attempt.Version == 0 {
		return nil
	}
	return node.LimitsOf(node.Ran)
}

// moves are the bookmarks of the job and how this run moved them.
func (p *Pages) moves(ctx context.Context, node run.Node) ([]run.Move, error) {
	if node.Ref.Kind != engine.KindJob {
		return nil, nil
	}
	marks, err := p.Store.BookmarksOf(ctx, node.Ref.ID)
	if err != nil {
		return nil, err
	}
	var moves []run.Move
	for _, mark := range marks {
		move, err := p.Store.MoveOf(ctx, node.Attempt.Run, mark.ID)
		if err != nil {
			return nil, err
		}
		moves = append(moves, run.Move{Mark: mark, Move: move})
	}
	return moves, nil
}

// runLog answers GET /runs/:id/nodes/:card/log?from=N with what the log holds
// from that byte on, or with to=N what it holds before that one, and with the
// element that will ask for the rest. Every line is sent exactly once, whenever
// the log was opened.
func (p *Pages) runLog(c web.Ctx) error {
	v, err := p.runView(c)
	if err != nil {
		return err
	}
	node := v.Node(c.Param("card"), int(number(c, "start", 0)), int(number(c, "attempt", 0)), run.TabLog)
	if to := number(c, "to", 0); to > 0 {
		log, err := p.logBefore(c.Request().Context(), node, to)
		if err != nil {
			return err
		}
		return web.Render(c, http.StatusOK, run.LogBefore(node, log))
	}
	log, err := p.logView(c.Request().Context(), node, number(c, "from", 0))
	if err != nil {
		return err
	}
	node.Log = log
	return web.Render(c, http.StatusOK, run.LogPart(node, log))
}

// logOpened reads the piece of a log at which it opens: its beginning, or its end where
// the attempt ended badly.
func (p *Pages) logOpened(ctx context.Context, node run.Node) (run.Log, error) {
	if !node.Fell() {
		return p.logView(ctx, node, 0)
	}
	_, size, err := p.Logs.Log(ctx, node.Attempt.Key(), 0, 1)
	if err != nil {
		return run.Log{}, fmt.Errorf("read the log of %s: %w", node.Name, err)
	}
	return p.logBefore(ctx, node, size)
}

// logBefore reads the piece of a log that ends at byte to, from the beginning of a line
// on where one begins in it.
func (p *Pages) logBefore(ctx context.Context, node run.Node, to int64) (run.Log, error) {
	from := max(to-logChunk, 0)
	text, _, err := p.Logs.Log(ctx, node.Attempt.Key(), from, to-from)
	if err != nil {
		return run.Log{}, fmt.Errorf("read the log of %s: %w", node.Name, err)
	}
	if first := bytes.IndexByte(text, '\n') + 1; from > 0 && first < len(text) {
		text, from = text[first:], from+int64(first)
	}
	return run.Log{From: from, Next: to, Blocks: blocks(string(text))}, nil
}

// logView reads one piece of a log. node was read before the log, so that a
// node that has ended has written its last line.
func (p *Pages) logView(ctx context.Context, node run.Node, from int64) (run.Log, error) {
	log := run.Log{From: from, Live: node.Live()}
	if node.Attempt.Attempt == 0 {
		return log, nil
	}
	text, size, err := p.Logs.Log(ctx, node.Attempt.Key(), from, logChunk)
	if err != nil {
		return log, fmt.Errorf("read the log of %s: %w", node.Name, err)
	}
	// A line is shown when it is whole, or when nothing will follow.
	if end := bytes.LastIndexByte(text, '\n') + 1; end > 0 && (log.Live || from+int64(len(text)) < size) {
		text = text[:end]
	} else if end == 0 && log.Live && len(text) < logChunk {
		text = nil
	}
	log.Next = from + int64(len(text))
	log.More = log.Next < size
	log.Blocks = blocks(string(text))
	return log, nil
}

// blocks cuts text into lines, and those into blocks that a browser lays out
// only when they are looked at.
func blocks(text string) [][]run.Line {
	var out [][]run.Line
	for raw := range strings.Lines(text) {
		raw = strings.TrimSuffix(raw, "\n")
		line := run.Line{Level: "info"}
		if at, ok := stamp(raw); ok {
			line.At = at
			raw = raw[stampLen:]
			level, rest, _ := strings.Cut(raw, " ")
			line.Level, raw = level, rest
		}
		line.Spans = run.Spans(raw)
		if len(out) == 0 || len(out[len(out)-1]) == logLines {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], line)
	}
	return out
}

// runLogDownload answers GET /runs/:id/nodes/:card/log/download with the whole
// log as it was written.
func (p *Pages) runLogDownload(c web.Ctx) error {
	v, err := p.runView(c)
	if err != nil {
		return err
	}
	node := v.Node(c.Param("card"), int(number(c, "start", 0)), int(number(c, "attempt", 0)), run.TabLog)
	header := c.Response().Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="`+string(node.Attempt.Run)+`.log"`)
	for from := int64(0); ; {
		text, size, err := p.Logs.Log(c.Request().Context(), node.Attempt.Key(), from, logChunk)
		if err != nil {
			return err
		}
		if _, err := c.Response().Write(text); err != nil {
			return nil // the reader has gone
		}
		if from += int64(len(text)); from >= size || len(text) == 0 {
			return nil
		}
	}
}

// runInputs answers GET /runs/:id/nodes/:card/inputs?from=N with more objects.
func (p *Pages) runInputs(c web.Ctx) error {
	v, err := p.runView(c)
	if err != nil {
		return err
	}
	node, err := p.nodeView(c, &v, c.Param("card"))
	if err != nil {
		return err
	}
	node.Inputs = run.PageInputs(node.Batch, node.Live(), int(number(c, "from", 0)), inputPage)
	return web.Render(c, http.StatusOK, run.InputRows(node))
}

// runSample answers GET /runs/:id/nodes/:card/sample?sink=N&file=N with the
// first rows of a file that this attempt wrote. It takes numbers, not a path.
func (p *Pages) runSample(c web.Ctx) error {
	v, err := p.runView(c)
	if err != nil {
		return err
	}
	node, err := p.nodeView(c, &v, c.Param("card"))
	if err != nil {
		return err
	}
	file, ok := node.File(int(number(c, "sink", 0)), int(number(c, "file", 0)))
	if !ok {
		return engine.Errorf(engine.NotFound, "This attempt wrote no such file.")
	}
	rows, err := p.SQL.SampleFile(c.Request().Context(), file.Connection, file.Path, file.Format)
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, run.Sample(file, rows))
}
