package db

import (
	"context"
	"math/bits"
	"strings"

	"github.com/uptrace/bun"

	"dogear/engine"
)

// The statements of a transition are plain text on the connection itself:
// with bun's builder a group takes three times as long. Rows of
// one table go together, for a statement costs more than a row.
var (
	makeNode = newUpsert("make node runs", nodeTypes, insertNode, "")
	putNode  = newUpsert("write node runs", nodeTypes, insertNode, ` ON CONFLICT (run_id, ref, start, attempt) DO UPDATE SET `+nodeFrom("excluded"))
	putRun   = newUpsert("make a run", "t t t t i t t t i i i i t t t t t t i", `INSERT INTO run (id, kind, object_id, name, version, properties, "by",
  trigger_id, due, started, ended, stop_asked, stop_by, outcome, error, pick, previous, repeats, deadline)`, "")
	putBody    = newUpsert("keep the body of a run", "t t", `INSERT INTO run_body (run_id, body)`, "")
	putTrigger = newUpsert("write the triggers of a run", "t t i i i i", `INSERT INTO trigger_run (run_id, trigger_id, met, dead, fired_at, dead_at)`,
		` ON CONFLICT (run_id, trigger_id) DO UPDATE SET met = excluded.met, dead = excluded.dead,
  fired_at = excluded.fired_at, dead_at = excluded.dead_at`)
)

const (
	nodeTypes  = "t t i i t t t t i i i t t t t t i i i i i t t t i"
	insertNode = `INSERT INTO node_run (run_id, ref, start, attempt,
  name, trigger_id, state, why, held, fence, version, arguments, process, batch_id, counts, error, ready_at, not_before, deadline, started, ended,
  copied, owner, pool, priority)`
)

// nodeChanges are the columns of a node run that may change once it is there.
const nodeChanges = "name state why held fence version process batch_id counts error not_before deadline started ended owner"

// nodeFrom sets those columns of node_run to what a row of another name says, and notes
// a write by somebody whose turn was over.
func nodeFrom(row string) string {
	var set strings.Builder
	for column := range strings.FieldsSeq(nodeChanges) {
		set.WriteString(column + " = " + row + "." + column + ", ")
	}
	return set.String() + strings.ReplaceAll(`overwritten = CASE WHEN new.fence < node_run.fence OR new.fence = node_run.fence AND new.owner <> node_run.owner
    THEN node_run.fence ELSE node_run.overwritten END`, "new.", row+".")
}

// upsert writes many rows of one table. Its statements are made once, by the
// number of their rows; for PostgreSQL there is one that takes any number of them,
// column by column.
type upsert struct {
	what  string
	types []string // of the columns: t for text, i for a number
	rows  map[int]string
	bulk  string
}

// maxRows bounds the rows of one statement, of which up to fewRows need not be
// a power of two.
const (
	maxRows = 64
	fewRows = 8
)

func newUpsert(what, types, head, tail string) *upsert {
	u := &upsert{what: what, types: strings.Fields(types), rows: map[int]string{}}
	row := "(?" + strings.Repeat(", ?", len(u.types)-1) + ")"
	for n := 1; n <= maxRows; n++ {
		if n == rowsOf(n) {
			u.rows[n] = head + " VALUES " + row + strings.Repeat(", "+row, n-1) + tail
		}
	}
	arrays := strings.NewReplacer("t", "?::text[]", "i", "?::bigint[]", " ", ", ").Replace(types)
	u.bulk = numbered(head + " SELECT * FROM unnest(" + arrays + ")" + tail)
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
// rows each, so that there are few different ones to prepare; on PostgreSQL all of
// them in one.
func put[T any](ctx context.Context, s *Store, tx bun.Conn, u *upsert, rows []T, args func([]any, *T) []any) error {
	if w, ok := ctx.Value(writesKey{}).(*writes); ok && w.joint == nil {
		if len(rows) > 0 {
			queue(&w.batch, u.bulk, columns(u.types, rows, args)...)
		}
		return nil
	}
	for len(rows) > 0 {
		n := rowsOf(len(rows))
		values := make([]any, 0, n*len(u.types))
		for i := range rows[:n] {
			values = args(values, &rows[i])
		}
		if err := s.send(ctx, tx, u.what, u.rows[n], values...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// columns are the values of rows, column by column.
func columns[T any](types []string, rows []T, args func([]any, *T) []any) []any {
	texts, numbers := make([][]string, len(types)), make([][]int64, len(types))
	for c, of := range types {
		if of == "t" {
			texts[c] = make([]string, len(rows))
		} else {
			numbers[c] = make([]int64, len(rows))
		}
	}
	row := make([]any, 0, len(types))
	for i := range rows {
		row = args(row[:0], &rows[i])
		for c, value := range row {
			switch v := value.(type) {
			case string:
				texts[c][i] = v
			case int64:
				numbers[c][i] = v
			case int:
				numbers[c][i] = int64(v)
			}
		}
	}
	all := make([]any, len(types))
	for c, of := range types {
		if of == "t" {
			all[c] = texts[c]
		} else {
			all[c] = numbers[c]
		}
	}
	return all
}

func runArgs(to []any, run *engine.Run) []any {
	return append(to,
		string(run.ID), string(run.Kind), string(run.Object), run.Name, run.Version, encode(run.Properties), run.By, string(run.Trigger),
		micros(run.Due), micros(run.Started), micros(run.Ended), micros(run.StopAsked), run.StopBy, string(run.Outcome), run.Error,
		encodeSome(run.Pick, run.Pick == nil, ""), string(run.Previous), string(run.Repeats), micros(run.Deadline))
}

func nodeArgs(to []any, n *engine.NodeRun) []any {
	return append(to,
		string(n.Run), n.Ref.String(), n.Start, n.Attempt, n.Name, string(n.By), string(n.State), n.Why, oneIf(n.Held), n.Fence, n.Version,
		encodeSome(n.Arguments, n.Arguments == nil, "null"), processText(n), string(n.Batch),
		countsText(n), n.Error, micros(n.ReadyAt), micros(n.NotBefore),
		micros(n.Deadline), micros(n.Started), micros(n.Ended), string(n.Copied), string(n.Owner), n.Pool, n.Priority)
}

// oneIf is 1 where something is so, as a column of numbers takes it.
func oneIf(so bool) int {
	if so {
		return 1
	}
	return 0
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

// encodeSome spares the most common values the encoder.
func encodeSome(v any, empty bool, text string) string {
	if empty {
		return text
	}
	return encode(v)
}
