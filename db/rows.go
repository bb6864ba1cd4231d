package db

import (
	"context"
	"math/bits"
	"strings"

	"github.com/uptrace/bun"

	"dogear/engine"
)

// The statements of a transition are plain text on the connection itself:
// bun's builder costs three times the grouped rate (engine.md 2.2). Rows of
// one table go together, for a statement costs more than a row.
var (
	putNode = upsert{
		what: "write node runs",
		head: `INSERT INTO node_run (run_id, ref, start, attempt, name, trigger_id, state, why, fence, version, arguments, process,
  batch_id, counts, error, ready_at, not_before, deadline, started, ended, copied, owner, pool, priority) VALUES `,
		columns: 24,
		tail: ` ON CONFLICT (run_id, ref, start, attempt) DO UPDATE SET name = excluded.name, state = excluded.state, why = excluded.why,
  fence = excluded.fence, version = excluded.version, process = excluded.process, batch_id = excluded.batch_id,
  counts = excluded.counts, error = excluded.error, not_before = excluded.not_before, deadline = excluded.deadline,
  started = excluded.started, ended = excluded.ended, owner = excluded.owner,
  overwritten = CASE WHEN excluded.fence < node_run.fence OR excluded.fence = node_run.fence AND excluded.owner <> node_run.owner
    THEN node_run.fence ELSE node_run.overwritten END`,
	}
	putTrigger = upsert{
		what:    "write the triggers of a run",
		head:    `INSERT INTO trigger_run (run_id, trigger_id, met, dead, fired_at, dead_at) VALUES `,
		columns: 6,
		tail: ` ON CONFLICT (run_id, trigger_id) DO UPDATE SET met = excluded.met, dead = excluded.dead,
  fired_at = excluded.fired_at, dead_at = excluded.dead_at`,
	}
	putEvent = upsert{
		what:    "write events",
		head:    `INSERT INTO event (run_id, seq, kind, card, state, start, attempt, at, text) VALUES `,
		columns: 9,
	}
)

// upsert writes many rows of one table.
type upsert struct {
	what, head, tail string
	columns          int
}

// maxRows bounds the rows of one statement, of which up to fewRows need not be
// a power of two.
const (
	maxRows = 64
	fewRows = 8
)

// text is the statement for n rows.
func (u *upsert) text(n int) string {
	row := "(?" + strings.Repeat(", ?", u.columns-1) + ")"
	return u.head + row + strings.Repeat(", "+row, n-1) + u.tail
}

// put writes rows: a few in one statement, more in statements of a power of two
// rows each, so that there are few different ones to prepare.
func put[T any](ctx context.Context, s *Store, tx bun.Conn, u *upsert, rows []T, args func([]any, *T) []any) error {
	for len(rows) > 0 {
		n := len(rows)
		if n > fewRows {
			n = min(1<<(bits.Len(uint(n))-1), maxRows)
		}
		values := make([]any, 0, n*u.columns)
		for i := range rows[:n] {
			values = args(values, &rows[i])
		}
		if err := s.send(ctx, tx, u.what, u.text(n), values...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func nodeArgs(to []any, n *engine.NodeRun) []any {
	return append(to,
		string(n.Run), n.Ref.String(), n.Start, n.Attempt, n.Name, string(n.By), string(n.State), n.Why, n.Fence, n.Version,
		encodeSome(n.Arguments, n.Arguments == nil, "null"), processText(n), string(n.Batch),
		countsText(n), n.Error, micros(n.ReadyAt), micros(n.NotBefore),
		micros(n.Deadline), micros(n.Started), micros(n.Ended), string(n.Copied), string(n.Owner), n.Pool, n.Priority)
}

func processText(n *engine.NodeRun) string {
	return encodeSome(n.Process, n.Process == engine.Process{}, "{}")
}

func countsText(n *engine.NodeRun) string {
	return encodeSome(n.Counts, n.Counts == engine.Counts{}, "{}")
}

func triggerArgs(to []any, t *engine.TriggerRun) []any {
	return append(to, string(t.Run), string(t.Trigger), t.Met, t.Dead, micros(t.FiredAt), micros(t.DeadAt))
}

func eventArgs(to []any, e *engine.Event) []any {
	return append(to, string(e.Run), e.Seq, e.Kind, e.Card, e.State, e.Start, e.Attempt, micros(e.At), e.Text)
}

// encodeSome spares the most common values the encoder.
func encodeSome(v any, empty bool, text string) string {
	if empty {
		return text
	}
	return encode(v)
}
