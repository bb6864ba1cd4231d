package db

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/failpoint"
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
	// written is what each step writes, in the order of the steps.
	written []flow.Written
	// runs are how the runs stand after the group.
	runs map[engine.ID]guessedRun
	// begun are runs that begin, as the group leaves them.
	begun []engine.Run
	// heads and rooms are what the steps took for granted, and of which workflows
	// they start runs where fewer than so many are open.
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
	g := &guess{s: s, runs: map[engine.ID]guessedRun{}, heads: map[engine.Ref]flow.Head{}, rooms: map[room]int{}, starts: map[engine.ID]int{}}
	var all, some []int
	left := map[engine.ID]bool{} // runs of which a step has to wait, and so the later ones
	for i := range steps {
		all = append(all, i)
		if run := steps[i].Run; left[run] || g.step(ctx, steps[i]) != nil {
			left[run] = true
			rest = append(rest, i)
			continue
		}
		some = append(some, i)
	}
	if len(some) == 0 {
		return all, nil
	}
	if s.enroll(ctx) != nil { // the rows will say what is the matter
		return all, nil
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
		return all, nil
	}
	for k, i := range some {
		written[i] = g.written[k]
	}
	return rest, nil
}

// step decides a step from memory, or returns errGuess. Where the rules refuse
// it, it is no guess either: they might not, if they saw the rows.
func (g *guess) step(ctx context.Context, step flow.Step) error {
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
		g.keep(&w, true, w.OpenNodes)
		return nil
	}
	differs := rowChanged(&known.run, &w.Run) || g.runs[step.Run].changed
	number(&w)
	g.runs[step.Run] = guessedRun{run: w.Run, changed: differs}
	g.keep(&w, false, known.open+w.OpenNodes)
	return nil
}

// keep keeps what a step writes.
func (g *guess) keep(w *flow.Writes, fresh bool, open int) {
	g.s.hot.wrote(fresh, w, open)
	g.written = append(g.written, flow.Written{Writes: *w})
}

// send sends all that the group writes and takes for granted, and reads what
// became of it. The message is one transaction by itself, without a BEGIN and a
// COMMIT: PostgreSQL commits when it comes to its end.
func (g *guess) send(ctx context.Context) error {
	ctx, sent := collecting(ctx)
	if err := g.collect(ctx, sent); err != nil {
		return err
	}
	g.counts(sent)
	conn, err := g.s.write.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ctx = context.WithoutCancel(ctx)
	failpoint.Hit("db.guess.before")
	err = sent.flush(ctx, conn)
	failpoint.Hit("db.guess.after")
	return err
}

// collect collects what is written: rows of one table together, of each the last
// that the group makes of it. What a group of few rows in one run writes, the most
// common, is one statement.
func (g *guess) collect(ctx context.Context, sent *writes) error {
	var nodes last[engine.NodeKey, engine.NodeRun]
	var triggers last[engine.ID, engine.TriggerRun]
	var steps []stepRow
	for i := range g.written {
		w := &g.written[i]
		for k := range w.Nodes {
			nodes.put(w.Nodes[k].Key(), w.Nodes[k])
		}
		for _, t := range w.Triggers {
			triggers.put(t.Run+t.Trigger, t)
		}
		steps = stepRows(steps, &w.Writes)
	}
	if len(g.runs)+len(g.begun) == 1 && len(nodes.rows)+len(triggers.rows)+len(steps) <= maxJoint {
		sent.joint = &joint{}
	}
	g.conditions(sent)
	err := errors.Join(
		g.s.insertRuns(ctx, bun.Conn{}, g.begun),
		put(ctx, g.s, bun.Conn{}, putStep, steps, stepArgs),
		put(ctx, g.s, bun.Conn{}, putNode, nodes.rows, nodeArgs),
		put(ctx, g.s, bun.Conn{}, putTrigger, triggers.rows, triggerArgs),
	)
	for i := range g.written {
		if batch := g.written[i].Batch; batch != nil {
			err = errors.Join(err, g.s.putBatch(ctx, bun.Conn{}, batch))
		}
	}
	if sent.joint != nil {
		queue(&sent.batch, sent.joint.text(), sent.joint.args()...)
		sent.joint = nil
	}
	return err
}

// last keeps the last row of each key, in the order of the keys.
type last[K comparable, R any] struct {
	rows []R
	at   map[K]int
}

func (l *last[K, R]) put(key K, row R) {
	if i, ok := l.at[key]; ok {
		l.rows[i] = row
		return
	}
	if l.at == nil {
		l.at = map[K]int{}
	}
	l.at[key] = len(l.rows)
	l.rows = append(l.rows, row)
}

// enroll gives this server a number that counts its groups.
func (s *Store) enroll(ctx context.Context) error {
	if s.hot.writer != "" {
		return nil
	}
	id := rand.Text()
	if _, err := s.write.DB.ExecContext(ctx, `INSERT INTO writer (id, n) VALUES ($1, 0)`, id); err != nil {
		return err
	}
	s.hot.writer, s.hot.written = id, 0
	return nil
}

// counted finds out whether a group stands that was sent and had no answer: the
// server's number has then gone up by one. Where it has not, it goes up by two,
// so that a message which is still on its way comes too late.
func (s *Store) counted(ctx context.Context) (stands bool, err error) {
	tick := time.NewTicker(awayPoll)
	defer tick.Stop()
	for before := s.hot.written; ; {
		// The row's lock is waited for: who holds it may be the group itself.
		_, err := s.write.DB.ExecContext(ctx, `UPDATE writer SET n = n + 2 WHERE id = $1 AND n = $2`, s.hot.writer, before)
		if err == nil {
			err = s.write.DB.QueryRowContext(ctx, `SELECT n FROM writer WHERE id = $1`, s.hot.writer).Scan(&s.hot.written)
		}
		if err == nil {
			return s.hot.written == before+1, nil
		}
		if !away(err) && ctx.Err() == nil {
			return false, fmt.Errorf("find out what became of a step: %w", err)
		}
		select {
		case <-ctx.Done():
			return false, engine.Errorf(engine.Away, "The database does not answer, and it is not known whether the change was made. Look again when it does.")
		case <-tick.C:
		}
	}
}

// mistook drops what was remembered and was wrong.
func (s *Store) mistook(steps []flow.Step) {
	for i := range steps {
		s.hot.forget(steps[i].Run)
	}
	clear(s.hot.heads)
}
