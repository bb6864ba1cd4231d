package db

import (
	"context"
	"fmt"
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
// or has not by now.
const (
	overdue = `SELECT s.workflow_id, o.name, '', s.next_at, CAST(? AS BIGINT) - s.next_at, 1 FROM schedule AS s JOIN object AS o ON o.id = s.workflow_id
WHERE s.next_at > 0 AND s.next_at < ? ORDER BY s.next_at LIMIT ?`
	begunLate = `SELECT object_id, name, id, due, coalesce(began, otherwise) - due, CASE WHEN began IS NULL AND ended = 0 THEN 1 ELSE 0 END FROM (
  SELECT r.object_id, r.name, r.id, r.due, r.ended, CASE WHEN r.ended <> 0 THEN r.ended ELSE CAST(? AS BIGINT) END AS otherwise,
    (SELECT min(n.started) FROM node_run AS n WHERE n.run_id = r.id AND n.started <> 0) AS began
  FROM (SELECT object_id, name, id, due, ended FROM run WHERE id >= ? AND due <> 0 AND previous = '' ORDER BY id DESC LIMIT ?) AS r
) AS scheduled WHERE coalesce(began, otherwise) - due > ? ORDER BY id DESC LIMIT ?`
)

// LateStarts lists the due times of the last day whose runs began to work more
// than engine.TooLate after them, or do not yet: those without a run first, then
// the newest runs.
func (s *Store) LateStarts(ctx context.Context, now time.Time) ([]engine.LateStart, error) {
	late, err := s.lateStarts(ctx, overdue, micros(now), micros(now.Add(-engine.TooLate)), lateMost)
	if err != nil {
		return nil, err
	}
	since := string(engine.LeastID(now.Add(-lateWithin)))
	begun, err := s.lateStarts(ctx, begunLate, micros(now), since, lateAmong, engine.TooLate.Microseconds(), lateMost)
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
