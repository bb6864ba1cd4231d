package db

import (
	"maps"
	"slices"
)

// The statements of a guess. A condition divides by what is 1 where it holds
// and 0 where it does not: then it fails, and so does all that goes out with it.

// countGroup moves the number of this server's groups on, on condition that it is
// what this server believes.
const countGroup = `UPDATE writer SET n = n + 1 WHERE id = ? AND n = ? RETURNING 1`

// stampRuns gives runs a new stamp, on condition that each bears the one it had.
// They come in the order of their ids and are locked in it, so that groups of
// several servers do not wait for each other in a circle; should PostgreSQL go
// another way, it finds the circle, and one of the groups is decided again.
const stampRuns = `WITH written AS (
  UPDATE run SET stamp = $1 FROM unnest($2::text[], $3::text[]) AS v(id, was) WHERE run.id = v.id AND run.stamp = v.was RETURNING 1
) SELECT 1 / (count(*) = $4)::int FROM written`

// updateRun writes a run that has changed or is alone in its group.
func (g *guess) updateRun(sent *writes, r *guessedRun) {
	set, args := "", []any(nil)
	if r.changed {
		set, args = runChanges(&r.run)
		set += ", "
	}
	g.one(sent, `UPDATE run SET `+set+`stamp = ? WHERE id = ? AND stamp = ? RETURNING 1`, append(args, g.stamp, string(r.run.ID), r.was)...)
}

// updateRuns writes the runs of a group.
func (g *guess) updateRuns(sent *writes) {
	order := slices.Sorted(maps.Keys(g.runs))
	if len(order) == 1 { // the common case
		r := g.runs[order[0]]
		g.updateRun(sent, &r)
		return
	}
	var ids, was []string
	for _, id := range order {
		ids, was = append(ids, string(id)), append(was, g.runs[id].was)
	}
	if len(ids) > 0 {
		queue(&sent.batch, stampRuns, g.stamp, ids, was, len(ids))
	}
	for _, id := range order {
		if r := g.runs[id]; r.changed {
			r.was = g.stamp
			g.updateRun(sent, &r)
		}
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

// conditions collects the runs, and what the group took for granted but for room.
func (g *guess) conditions(sent *writes) {
	g.one(sent, countGroup, g.s.hot.writer, g.s.hot.written)
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
