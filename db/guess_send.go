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
)

// firstPart is how many steps of a large group are decided before PostgreSQL begins
// to write them: it writes the first ones while the next are decided, of which there
// are twice as many each time.
const (
	firstPart = 32
	maxPart   = 128
)

// line takes a group to PostgreSQL in parts, which are one transaction.
type line struct {
	parts chan *writes
	ended chan error
}

// open opens a line. It sends what comes until its parts are closed, and then says
// what became of them.
func (g *guess) open(ctx context.Context) *line {
	l := &line{parts: make(chan *writes, 1), ended: make(chan error, 1)}
	go func() {
		conn, err := g.s.write.DB.Conn(ctx)
		for part := range l.parts {
			if err == nil {
				err = part.flush(ctx, conn)
			}
		}
		if conn != nil {
			if status(conn) != 'I' {
				rollback(ctx, conn)
			}
			_ = conn.Close()
		}
		l.ended <- err
	}()
	return l
}

// sendPart sends what the steps since the last part write and took for granted.
func (g *guess) sendPart(ctx context.Context) {
	ctx, part := collecting(context.WithoutCancel(ctx))
	if g.line == nil {
		g.line = g.open(ctx)
		queue(&part.batch, "BEGIN")
	}
	g.err = errors.Join(g.err, g.collect(ctx, part))
	g.line.parts <- part
}

// send sends all that is not on its way yet, and reads what became of the group.
func (g *guess) send(ctx context.Context) error {
	ctx, sent := collecting(context.WithoutCancel(ctx))
	g.err = errors.Join(g.err, g.collect(ctx, sent))
	g.counts(sent)
	failpoint.Hit("db.guess.before")
	err := g.sendLast(ctx, sent)
	failpoint.Hit("db.guess.after")
	return err
}

// sendLast sends the last part, or the only one: a small group is a message that is one
// transaction by itself, without a BEGIN and a COMMIT, for PostgreSQL commits when it
// comes to its end.
func (g *guess) sendLast(ctx context.Context, sent *writes) error {
	if g.line != nil {
		if g.err == nil {
			queueCommit(&sent.batch)
			g.line.parts <- sent
		}
		close(g.line.parts)
		return errors.Join(g.err, <-g.line.ended)
	}
	if g.err != nil {
		return g.err
	}
	conn, err := g.s.write.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return sent.flush(ctx, conn)
}

// collect collects what is written and not on its way yet: rows of one table
// together, of each the last that the steps make of it. What a group of few rows in
// one run writes, the most common, is one statement.
func (g *guess) collect(ctx context.Context, sent *writes) error {
	mine := g.mine[g.from:]
	nodes := newLast[engine.NodeKey, engine.NodeRun](2 * len(mine)) // one ends, another starts
	triggers := newLast[engine.ID, engine.TriggerRun](0)
	steps := make([]stepRow, 0, len(mine))
	for _, i := range mine {
		w := &g.written[i]
		for k := range w.Nodes {
			nodes.put(w.Nodes[k].Key(), w.Nodes[k])
		}
		for _, t := range w.Triggers {
			triggers.put(t.Run+t.Trigger, t)
		}
		steps = stepRows(steps, &w.Writes)
	}
	if g.line == nil && len(g.runs)+len(g.begun) == 1 && len(nodes.rows)+len(triggers.rows)+len(steps) <= maxJoint {
		sent.joint = &joint{}
	}
	if g.from == 0 {
		g.one(sent, countGroup, g.s.hot.writer, g.s.hot.written)
	}
	g.conditions(sent)
	err := errors.Join(
		g.s.insertRuns(ctx, bun.Conn{}, g.begun),
		put(ctx, g.s, bun.Conn{}, putStep, steps, stepArgs),
		g.putNodes(ctx, sent, nodes.rows),
		put(ctx, g.s, bun.Conn{}, putTrigger, triggers.rows, triggerArgs),
	)
	for _, i := range mine {
		if batch := g.written[i].Batch; batch != nil {
			err = errors.Join(err, g.s.putBatch(ctx, bun.Conn{}, batch))
		}
	}
	if sent.joint != nil {
		queue(&sent.batch, sent.joint.text(), sent.joint.args()...)
		sent.joint = nil
	}
	g.parts(sent)
	g.from, g.begun = len(g.mine), nil
	clear(g.runs)
	clear(g.heads)
	clear(g.made)
	return err
}

// putNodes writes node runs. A large group inserts those that it makes and changes the
// others: to find out which is which costs PostgreSQL as much as either.
func (g *guess) putNodes(ctx context.Context, sent *writes, rows []engine.NodeRun) error {
	if sent.joint != nil {
		return put(ctx, g.s, bun.Conn{}, putNode, rows, nodeArgs)
	}
	made, changed := make([]engine.NodeRun, 0, len(rows)), make([]engine.NodeRun, 0, len(rows))
	for i := range rows {
		if g.made[rows[i].Key()] {
			made = append(made, rows[i])
		} else {
			changed = append(changed, rows[i])
		}
	}
	if len(changed) > 0 {
		queue(&sent.batch, changeNodes, append(columns(changedNodeTypes, changed, changedNodeArgs), len(changed))...)
	}
	return put(ctx, g.s, bun.Conn{}, makeNode, made, nodeArgs)
}

// last keeps the last row of each key, in the order of the keys.
type last[K comparable, R any] struct {
	rows []R
	at   map[K]int
}

// newLast has room for so many keys.
func newLast[K comparable, R any](n int) *last[K, R] {
	return &last[K, R]{rows: make([]R, 0, n), at: make(map[K]int, n)}
}

func (l *last[K, R]) put(key K, row R) {
	if i, ok := l.at[key]; ok {
		l.rows[i] = row
		return
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
