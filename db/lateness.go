package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"dogear/engine"
)

const (
	// lateWithin is how far back late starts are looked for.
	lateWithin = 24 * time.Hour
	// lateAmong bounds among how many runs of schedules, the newest ones.
	lateAmong = 1000
	// lateMost bounds how many are named.
	lateMost = 20
)

// overdue are the due times that have come and have no run yet; begunLate the
// runs of schedules whose first node began to work later than it should have,
// or has not by now. Where that waited for what a person has set, the run is as late
// as it was made: a node says what it waits for, and the event of its start what it
// waited for.
const (
	overdue = `SELECT s.workflow_id, o.name, '', s.next_at, CAST(? AS BIGINT) - s.next_at, 1 FROM schedule AS s JOIN object AS o ON o.id = s.workflow_id
WHERE s.next_at > 0 AND s.next_at < ? ORDER BY s.next_at LIMIT ?`
	begunLate = `SELECT object_id, name, id, due, since - due, CASE WHEN since = until THEN 1 ELSE 0 END FROM (
  SELECT object_id, name, id, due, until, CASE
    WHEN began IS NULL AND EXISTS (SELECT 1 FROM node_run AS n WHERE n.run_id = id AND n.state = 'ready' AND ({why})) THEN made
    WHEN began IS NOT NULL AND ({event}) THEN made
    ELSE coalesce(began, nullif(ended, 0), until) END AS since
  FROM (
    SELECT r.object_id, r.name, r.id, r.due, r.ended, r.started AS made, CAST(? AS BIGINT) AS until,
      (SELECT min(n.started) FROM node_run AS n WHERE n.run_id = r.id AND n.started <> 0) AS began,
      (SELECT s.events FROM step AS s WHERE s.run_id = r.id
        AND (s.events LIKE '%"state":"starting"%' OR s.events LIKE '%"kind":"node"%"state":"running"%') ORDER BY s.first LIMIT 1) AS begins
    FROM (SELECT object_id, name, id, due, started, ended FROM run WHERE id >= ? AND due <> 0 AND previous = '' ORDER BY id DESC LIMIT ?) AS r
  ) AS scheduled
) AS measured WHERE since - due > ? ORDER BY id DESC LIMIT ?`
)

// lateRuns is begunLate with what people set in it.
var lateRuns = strings.NewReplacer("{why}", heldBack("n.why LIKE '%s%%'"), "{event}", heldBack(`begins LIKE '%%"text":"%s%%'`)).Replace(begunLate)

// heldBack is a condition that one of engine.SetByPeople is found in a column by pattern.
func heldBack(pattern string) string {
	var any []string
	for _, lead := range engine.SetByPeople() {
		any = append(any, fmt.Sprintf(pattern, lead))
	}
	return strings.Join(any, " OR ")
}

// LateStarts lists the due times of the last day whose runs began to work more
// than engine.TooLate after them, or do not yet: those without a run first, then
// the newest runs.
func (s *Store) LateStarts(ctx context.Context, now time.Time) ([]engine.LateStart, error) {
	late, err := s.lateStarts(ctx, overdue, micros(now), micros(now.Add(-engine.TooLate)), lateMost)
	if err != nil {
		return nil, err
	}
	since := string(engine.LeastID(now.Add(-lateWithin)))
	begun, err := s.lateStarts(ctx, lateRuns, micros(now), since, lateAmong, engine.TooLate.Microseconds(), lateMost)
	return append(late, begun...), err
}

func (s *Store) lateStarts(ctx context.Context, query string, args ...any) ([]engine.LateStart, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(query), args...)
	if err != nil {
		return nil, fmt.Errorf("list late starts: %w", err)
	}
	defer rows.Close()
	var all []engine.LateStart
	for rows.Next() {
		var l engine.LateStart
		var due, late int64
		if err := rows.Scan(&l.Workflow, &l.Name, &l.Run, &due, &late, &l.Waits); err != nil {
			return nil, fmt.Errorf("list late starts: %w", err)
		}
		l.Due, l.Late = instant(due), time.Duration(late)*time.Microsecond
		all = append(all, l)
	}
	return all, rows.Err()
}
