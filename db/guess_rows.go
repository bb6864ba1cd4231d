package db

// The statements of a guess. A condition divides by what is 1 where it holds
// and 0 where it does not: then it fails, and so does all that goes out with it.

// countGroup moves the number of this server's groups on, on condition that it is
// what this server believes.
const countGroup = `UPDATE writer SET n = n + 1 WHERE id = ? AND n = ? RETURNING 1`

// lockRunsOf locks runs in one order, so that groups of several servers do not
// wait for each other in a circle.
const lockRunsOf = `SELECT id, stamp FROM run WHERE id = ANY($1) ORDER BY id FOR UPDATE`

// updateRunsOf writes runs, on condition that each bears the stamp it had.
const updateRunsOf = `WITH written AS (
  UPDATE run SET stop_asked = v.stop_asked, stop_by = v.stop_by, error = v.error, paused = v.paused,
    ended = v.ended, outcome = v.outcome, stamp = $1
  FROM unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[])
    AS v(id, was, stop_asked, stop_by, error, paused, ended, outcome)
  WHERE run.id = v.id AND run.stamp = v.was RETURNING 1
) SELECT 1 / (count(*) = $10)::int FROM written`

// updateRun writes a run that is alone in its group.
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
	if len(g.runs) == 0 {
		return
	}
	if len(g.runs) == 1 { // the common case, which costs half in words of its own
		for _, r := range g.runs {
			g.updateRun(sent, &r)
		}
		return
	}
	var ids, was, stopBy, wrong, outcomes []string
	var stopAsked, paused, ended []int64
	for id, r := range g.runs {
		run := &r.run
		ids, was, stopBy, wrong, outcomes = append(ids, string(id)), append(was, r.was), append(stopBy, run.StopBy), append(wrong, run.Error), append(outcomes, string(run.Outcome))
		stopAsked, paused, ended = append(stopAsked, micros(run.StopAsked)), append(paused, micros(run.Paused)), append(ended, micros(run.Ended))
	}
	queue(&sent.batch, lockRunsOf, ids)
	queue(&sent.batch, updateRunsOf, g.stamp, ids, was, stopAsked, stopBy, wrong, paused, ended, outcomes, len(ids))
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
		g.condition(sent, `((SELECT count(*) FROM node_run WHERE `+r.column+` = ? AND `+g.s.underWay()+`) <= ?)::int`, r.value, most)
	}
	for workflow, most := range g.starts {
		g.condition(sent, `((SELECT count(*) FROM run WHERE object_id = ? AND ended = 0) <= ?)::int`, string(workflow), most)
	}
}
