package db

import (
	"maps"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/flow"
)

// The statements of a guess. A condition divides by what is 1 where it holds
// and 0 where it does not: then it fails, and so does all that goes out with it.

// countGroup moves the number of this server's groups on, on condition that it is
// what this server believes.
const countGroup = `UPDATE writer SET n = n + 1 WHERE id = ? AND n = ? RETURNING 1`

// updateRuns writes the rows of the runs that the group has changed.
func (g *guess) updateRuns(sent *writes) {
	var changed []engine.Run
	for _, id := range slices.Sorted(maps.Keys(g.runs)) {
		if r := g.runs[id]; r.changed {
			changed = append(changed, r.run)
		}
	}
	switch len(changed) {
	case 0:
	case 1:
		set, args := runChanges(&changed[0])
		g.one(sent, `UPDATE run SET `+set+` WHERE id = ? RETURNING 1`, append(args, string(changed[0].ID))...)
	default:
		queue(&sent.batch, changeRuns, columns(changedTypes, changed, changedArgs)...)
	}
}

// parts notes who took part in the runs that the group has ended: that is remembered
// of a run, or PostgreSQL looks.
func (g *guess) parts(sent *writes) {
	var refs, runs, ended []string
	for _, i := range g.mine[g.from:] {
		run := &g.written[i].Run
		known := g.s.hot.of(run.ID)
		switch {
		case run.Open():
		case known == nil || !known.whole:
			ended = append(ended, string(run.ID))
		default:
			for ref, of := range known.nodes {
				if slices.ContainsFunc(of, func(n engine.NodeRun) bool { return n.State != engine.Skipped }) {
					refs, runs = append(refs, ref.String()), append(runs, string(run.ID))
				}
			}
		}
	}
	if len(runs) > 0 {
		queue(&sent.batch, `INSERT INTO part (ref, run_id) SELECT * FROM unnest($1::text[], $2::text[])`, refs, runs)
	}
	if len(ended) > 0 {
		queue(&sent.batch, strings.Replace(putParts, "= ?", "= ANY($1)", 1), ended)
	}
}

// changeRuns writes what may change in the rows of runs.
const changeRuns = `UPDATE run SET stop_asked = v.stop_asked, stop_by = v.stop_by, error = v.error, paused = v.paused, skips = v.skips,
  ended = v.ended, outcome = v.outcome FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::text[])
  AS v(id, stop_asked, stop_by, error, paused, skips, ended, outcome) WHERE run.id = v.id`

var changedTypes = strings.Fields("t i t t i t i t")

func changedArgs(to []any, run *engine.Run) []any {
	return append(to, string(run.ID), micros(run.StopAsked), run.StopBy, run.Error, micros(run.Paused), skipsText(run), micros(run.Ended), string(run.Outcome))
}

// changeNodes writes what may change in the rows of node runs that are there, on
// condition that all of them are.
var changeNodes = `WITH written AS (UPDATE node_run SET ` + nodeFrom("v") + `
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[],
    $11::text[], $12::text[], $13::text[], $14::text[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::text[])
  AS v(run_id, ref, start, attempt, ` + strings.Join(strings.Fields(nodeChanges), ", ") + `)
  WHERE node_run.run_id = v.run_id AND node_run.ref = v.ref AND node_run.start = v.start AND node_run.attempt = v.attempt RETURNING 1)
SELECT 1 / (count(*) = $20)::int FROM written`

var changedNodeTypes = strings.Fields("t t i i t t t i i i t t t t i i i i t")

func changedNodeArgs(to []any, n *engine.NodeRun) []any {
	return append(to,
		string(n.Run), n.Ref.String(), n.Start, n.Attempt, n.Name, string(n.State), n.Why, oneIf(n.Held), n.Fence, n.Version, processText(n), string(n.Batch),
		countsText(n), n.Error, micros(n.NotBefore), micros(n.Deadline), micros(n.Started), micros(n.Ended), string(n.Owner))
}

// lock locks the runs of the steps and what there must be room for, where nobody else
// has. A guess waits for nobody, so no two servers wait for each other; who has locked
// a run has its turn.
func (g *guess) lock(sent *writes) {
	var names []string
	for id := range g.runs {
		names = append(names, string(id))
	}
	for r := range g.rooms {
		names = append(names, r.name())
	}
	if sent.joint == nil && len(names) > 1 {
		queue(&sent.batch, tryLocks, names)
		return
	}
	for _, name := range names {
		g.condition(sent, tryLock+`::int`, name)
	}
}

const tryLocks = `SELECT 1 / (count(*) = cardinality($1::text[]))::int FROM unnest($1::text[]) AS v(name) WHERE pg_try_advisory_xact_lock(hashtextextended(v.name, 0))`

// sameHeads collects that jobs and crawlers are what they were.
func (g *guess) sameHeads(sent *writes) {
	if sent.joint == nil && len(g.heads) > 1 {
		rows := make([]headRow, 0, len(g.heads))
		for ref, h := range g.heads {
			rows = append(rows, headRow{ref.ID, h})
		}
		queue(&sent.batch, sameHeads, columns(headTypes, rows, headArgs)...)
		return
	}
	for ref, h := range g.heads {
		g.condition(sent, sameHead, headArgs(nil, &headRow{ref.ID, h})...)
	}
}

type headRow struct {
	id engine.ID
	flow.Head
}

var headTypes = strings.Fields("t t i i i t")

func headArgs(to []any, r *headRow) []any {
	return append(to, string(r.id), r.Name, r.Version, r.MaxRuns, r.Priority, r.Pool)
}

const (
	sameHead  = `SELECT count(*) FROM object WHERE id = ? AND deleted_at = 0 AND name = ? AND version = ? AND max_runs = ? AND priority = ? AND pool = ?`
	sameHeads = `SELECT 1 / (count(*) = cardinality($1::text[]))::int FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
  AS v(id, name, version, max_runs, priority, pool) JOIN object AS o
  ON o.id = v.id AND o.deleted_at = 0 AND o.name = v.name AND o.version = v.version AND o.max_runs = v.max_runs AND o.priority = v.priority AND o.pool = v.pool`
)

// one collects a change of one row, on condition that it finds it.
func (g *guess) one(sent *writes, change string, args ...any) {
	if sent.joint != nil {
		sent.joint.change(change, args...)
		return
	}
	queue(&sent.batch, g.s.bind(`WITH written AS (`+change+`) SELECT 1 / count(*) FROM written`), args...)
}

// condition collects an expression that is 1 where it holds and 0 where not.
func (g *guess) condition(sent *writes, expression string, args ...any) {
	if sent.joint != nil {
		sent.joint.condition(expression, args...)
		return
	}
	queue(&sent.batch, g.s.bind(`SELECT 1 / (`+expression+`)`), args...)
}

// conditions collects the changed rows of runs, and what the group took for granted but for room.
func (g *guess) conditions(sent *writes) {
	g.lock(sent)
	g.updateRuns(sent)
	g.sameHeads(sent)
	for workflow := range g.starts {
		g.condition(sent, `SELECT count(*) FROM (SELECT 1 FROM object WHERE id = ? FOR UPDATE SKIP LOCKED) AS locked`, string(workflow))
	}
}

// counts collects what there must be room for. It is counted when all is written,
// and in a statement of its own: it must see what was committed before the lock
// was free.
func (g *guess) counts(sent *writes) {
	var jobs []roomRow
	for r, most := range g.rooms {
		if r.column == "ref" && len(g.rooms) > 1 {
			jobs = append(jobs, roomRow{r.value, most})
			continue
		}
		limit, args := r.limit(most)
		g.condition(sent, `((SELECT count(*) FROM node_run WHERE `+r.column+` = ? AND `+g.s.underWay()+`) <= `+limit+`)::int`, append([]any{r.value}, args...)...)
	}
	if len(jobs) > 0 {
		queue(&sent.batch, `SELECT 1 / (count(*) = 0)::int FROM unnest($1::text[], $2::bigint[]) AS v(job, most)
WHERE (SELECT count(*) FROM node_run WHERE ref = v.job AND `+g.s.underWay()+`) > v.most`, columns(roomTypes, jobs, roomArgs)...)
	}
	for workflow, most := range g.starts {
		g.condition(sent, `((SELECT count(*) FROM run WHERE object_id = ? AND ended = 0) <= ?)::int`, string(workflow), most)
	}
}

// roomRow is a job, and how many of its node runs may be under way.
type roomRow struct {
	job  string
	most int
}

var roomTypes = strings.Fields("t i")

func roomArgs(to []any, r *roomRow) []any { return append(to, r.job, r.most) }
