package db

import (
	"maps"
	"slices"
	"strings"

	"dogear/engine"
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

// changeRuns writes what may change in the rows of runs.
const changeRuns = `UPDATE run SET stop_asked = v.stop_asked, stop_by = v.stop_by, error = v.error, paused = v.paused, skips = v.skips,
  ended = v.ended, outcome = v.outcome FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::text[])
  AS v(id, stop_asked, stop_by, error, paused, skips, ended, outcome) WHERE run.id = v.id`

var changedTypes = strings.Fields("t i t t i t i t")

func changedArgs(to []any, run *engine.Run) []any {
	return append(to, string(run.ID), micros(run.StopAsked), run.StopBy, run.Error, micros(run.Paused), skipsText(run), micros(run.Ended), string(run.Outcome))
}

// lockRuns locks the runs of the group where nobody else has. A guess waits for
// nobody, so no two servers wait for each other; who has locked a run has its turn.
func (g *guess) lockRuns(sent *writes) {
	ids := slices.Sorted(maps.Keys(g.runs))
	switch len(ids) {
	case 0:
	case 1:
		g.condition(sent, tryLock+`::int`, string(ids[0]))
	default:
		texts := make([]string, len(ids))
		for i := range ids {
			texts[i] = string(ids[i])
		}
		queue(&sent.batch, `SELECT 1 / (count(*) = cardinality($1::text[]))::int FROM unnest($1::text[]) AS v(id) WHERE `+strings.Replace(tryLock, "?", "v.id", 1), texts)
	}
}

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
	g.lockRuns(sent)
	g.updateRuns(sent)
	for ref, h := range g.heads {
		g.condition(sent, `SELECT count(*) FROM object WHERE id = ? AND deleted_at = 0 AND name = ? AND version = ? AND max_runs = ? AND priority = ? AND pool = ?`,
			string(ref.ID), h.Name, h.Version, h.MaxRuns, h.Priority, h.Pool)
	}
	for r := range g.rooms {
		g.condition(sent, tryLock+`::int`, r.column+" "+r.value)
	}
	for workflow := range g.starts {
		g.condition(sent, `SELECT count(*) FROM (SELECT 1 FROM object WHERE id = ? FOR UPDATE SKIP LOCKED) AS locked`, string(workflow))
	}
}

// counts collects what there must be room for. It is counted when all is written,
// and in a statement of its own: it must see what was committed before the lock
// was free.
func (g *guess) counts(sent *writes) {
	for r, most := range g.rooms {
		limit, args := r.limit(most)
		g.condition(sent, `((SELECT count(*) FROM node_run WHERE `+r.column+` = ? AND `+g.s.underWay()+`) <= `+limit+`)::int`, append([]any{r.value}, args...)...)
	}
	for workflow, most := range g.starts {
		g.condition(sent, `((SELECT count(*) FROM run WHERE object_id = ? AND ended = 0) <= ?)::int`, string(workflow), most)
	}
}
