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
	putNode = newUpsert("write node runs", 24, `INSERT INTO node_run (run_id, ref, start, attempt, name, trigger_id, state, why, fence, version, arguments, process,
  batch_id, counts, error, ready_at, not_before, deadline, started, ended, copied, owner, pool, priority) VALUES `,
		` ON CONFLICT (run_id, ref, start, attempt) DO UPDATE SET name = excluded.name, state = excluded.state, why = excluded.why,
  fence = excluded.fence, version = excluded.version, process = excluded.process, batch_id = excluded.batch_id,
  counts = excluded.counts, error = excluded.error, not_before = excluded.not_before, deadline = excluded.deadline,
  started = excluded.started, ended = excluded.ended, owner = excluded.owner,
  overwritten = CASE WHEN excluded.fence < node_run.fence OR excluded.fence = node_run.fence AND excluded.owner <> node_run.owner
    THEN node_run.fence ELSE node_run.overwritten END`)
	putRun = newUpsert("make a run", 20, `INSERT INTO run (id, kind, object_id, name, version, properties, "by", trigger_id, due, started, ended,
  stop_asked, stop_by, outcome, error, pick, previous, repeats, deadline, stamp) VALUES `, "")
	putBody    = newUpsert("keep the body of a run", 2, `INSERT INTO run_body (run_id, body) VALUES `, "")
	putTrigger = newUpsert("write the triggers of a run", 6, `INSERT INTO trigger_run (run_id, trigger_id, met, dead, fired_at, dead_at) VALUES `,
		` ON CONFLICT (run_id, trigger_id) DO UPDATE SET met = excluded.met, dead = excluded.dead,
  fired_at = excluded.fired_at, dead_at = excluded.dead_at`)
	putEvent = newUpsert("write events", 9, `INSERT INTO event (run_id, seq, kind, card, state, start, attempt, at, text) VALUES `, "")
)

// upsert writes many rows of one table. Its statements are made once, by the
// number of their rows: for SQLite and for PostgreSQL.
type upsert struct {
	what           string
	columns        int
	lite, postgres map[int]string
}

// maxRows bounds the rows of one statement, of which up to fewRows need not be
// a power of two.
const (
	maxRows = 64
	fewRows = 8
)

func newUpsert(what string, columns int, head, tail string) *upsert {
	u := &upsert{what: what, columns: columns, lite: map[int]string{}, postgres: map[int]string{}}
	row := "(?" + strings.Repeat(", ?", columns-1) + ")"
	for n := 1; n <= maxRows; n++ {
		if n == rowsOf(n) {
			u.lite[n] = head + row + strings.Repeat(", "+row, n-1) + tail
			u.postgres[n] = numbered(u.lite[n])
		}
	}
	return u
}

// rowsOf is how many of n rows go in one statement.
func rowsOf(n int) int {
	if n <= fewRows {
		return n
	}
	return min(1<<(bits.Len(uint(n))-1), maxRows)
}

// put writes rows: a few in one statement, more in statements of a power of two
// rows each, so that there are few different ones to prepare.
func put[T any](ctx context.Context, s *Store, tx bun.Conn, u *upsert, rows []T, args func([]any, *T) []any) error {
	texts := u.lite
	if w, ok := ctx.Value(writesKey{}).(*writes); ok && w.joint == nil {
		texts = u.postgres
	}
	for len(rows) > 0 {
		n := rowsOf(len(rows))
		values := make([]any, 0, n*u.columns)
		for i := range rows[:n] {
			values = args(values, &rows[i])
		}
		if err := s.send(ctx, tx, u.what, texts[n], values...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func runArgs(to []any, run *engine.Run) []any {
	return append(to,
		string(run.ID), string(run.Kind), string(run.Object), run.Name, run.Version, encode(run.Properties), run.By, string(run.Trigger),
		micros(run.Due), micros(run.Started), micros(run.Ended), micros(run.StopAsked), run.StopBy, string(run.Outcome), run.Error,
		encodeSome(run.Pick, run.Pick == nil, ""), string(run.Previous), string(run.Repeats), micros(run.Deadline))
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
