package db

import (
	"context"
	"errors"

	"dogear/engine"
	"dogear/engine/flow"
)

// On PostgreSQL another server may write a run between two steps of this one,
// so what is remembered of it (hot.go) is only a guess. It is nearly always
// right, for the nodes of a run are mostly the work of one server. So a group of
// steps is decided from memory and goes out in one message, with conditions
// that make all of it fail where the guess was wrong. Then, and where memory
// does not say enough, the group is decided from the rows. A transition that a
// server makes in its own run so costs one round trip and one flush.

// errGuess ends a guess: memory does not say what a step asks.
var errGuess = errors.New("this is not remembered")

// guess is a group of steps that is decided from memory.
type guess struct {
	s *Store
	// written is what each step of the group writes, and mine are the places of those
	// that are decided from memory, in their order.
	written []flow.Written
	mine    []int
	err     error
	// from is the first of mine that is not on its way yet; line is on which the
	// others are.
	from int
	line *line
	// runs are how those steps leave the runs, and begun are runs that begin.
	runs  map[engine.ID]guessedRun
	begun []engine.Run
	// made are node runs that those steps make, and that surely have no row yet.
	made map[engine.NodeKey]bool
	// heads are what they took for granted; rooms, and of which workflows they start
	// runs where fewer than so many are open, are so of all steps.
	heads  map[engine.Ref]flow.Head
	rooms  map[room]int
	starts map[engine.ID]int
}

// guessedRun is a run as the group leaves it.
type guessedRun struct {
	run     engine.Run
	changed bool // as its row says it
}

// room is of what only so many node runs may be under way: a job, or a pool.
type room struct{ column, value string }

// name is by which a room is locked.
func (r room) name() string { return r.column + " " + r.value }

// limit is an expression for how many there is room for, where the server knows
// of most: of a pool the database does, as soon as somebody has changed it.
func (r room) limit(most int) (expression string, args []any) {
	if r.column == "pool" {
		return `coalesce((SELECT places FROM pool WHERE name = ?), ?)`, []any{r.value, most}
	}
	return `?`, []any{most}
}

// guess commits those steps of a group that can be decided from memory, and
// returns the places of the others, which are to be decided from the rows: all
// of them where the guess is wrong.
func (s *Store) guess(ctx context.Context, steps []flow.Step, written []flow.Written) (rest []int, err error) {
	stands := false
	defer func() { s.hot.end(stands) }()
	if s.enroll(ctx) != nil { // the rows will say what is the matter
		return places(len(steps)), nil
	}
	most := min(len(steps), maxPart)
	g := &guess{
		s: s, written: written, mine: make([]int, 0, len(steps)), runs: make(map[engine.ID]guessedRun, most), made: make(map[engine.NodeKey]bool, most),
		heads: map[engine.Ref]flow.Head{}, rooms: map[room]int{}, starts: map[engine.ID]int{},
	}
	part := firstPart
	left := map[engine.ID]bool{} // runs of which a step has to wait, and so the later ones
	for i := range steps {
		if run := steps[i].Run; left[run] || g.step(ctx, i, steps[i]) != nil {
			left[run] = true
			rest = append(rest, i)
			continue
		}
		if len(g.mine)-g.from == part {
			g.sendPart(ctx)
			part = min(2*part, maxPart)
		}
	}
	if len(g.mine) == 0 {
		return rest, nil
	}
	err = g.send(ctx)
	switch {
	case err == nil:
		stands = true
		s.hot.written++
	case away(err):
		if stands, err = s.counted(ctx); err != nil {
			return nil, err
		}
	default:
		s.mistook(steps)
	}
	if !stands {
		return places(len(steps)), nil
	}
	return rest, nil
}

// places are those of all of n steps.
func places(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// step decides the step at a place from memory, or returns errGuess. Where the rules
// refuse it, it is no guess either: they might not, if they saw the rows.
func (g *guess) step(ctx context.Context, at int, step flow.Step) error {
	known := g.s.hot.of(step.Run)
	if step.New != nil {
		known = newlyBegun()
		known.run = *step.New
	}
	if known == nil {
		return errGuess
	}
	st := &txState{ctx: ctx, s: g.s, run: step.Run, known: known, open: known.open, guess: g}
	w, err := step.Decide(known.run, st)
	if err = errors.Join(err, st.err); err != nil {
		return err
	}
	if w.Batch != nil && w.Batch.Number == 0 || w.Fire != nil || w.Token != nil || w.Properties != nil || len(w.Inputs)+len(w.Bookmarks)+len(w.Tables) > 0 {
		return errGuess
	}
	if step.New != nil {
		number(&w)
		g.begun = append(g.begun, w.Run)
		g.keep(at, &w, true, w.OpenNodes)
		return nil
	}
	differs := rowChanged(&known.run, &w.Run) || g.runs[step.Run].changed
	number(&w)
	g.runs[step.Run] = guessedRun{run: w.Run, changed: differs}
	g.keep(at, &w, false, known.open+w.OpenNodes)
	return nil
}

// keep keeps what the step at a place writes.
func (g *guess) keep(at int, w *flow.Writes, fresh bool, open int) {
	known := g.s.hot.of(w.Run.ID)
	for i := range w.Nodes {
		if fresh || known.lacks(w.Nodes[i].Key()) {
			g.made[w.Nodes[i].Key()] = true
		}
	}
	g.s.hot.wrote(fresh, w, open)
	g.written[at].Writes = *w
	g.mine = append(g.mine, at)
}

// mistook drops what was remembered and was wrong.
func (s *Store) mistook(steps []flow.Step) {
	for i := range steps {
		s.hot.forget(steps[i].Run)
	}
	clear(s.hot.heads)
}
