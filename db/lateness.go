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

// beginnings are those of the newest runs of schedules. Whether one was held back says the
// first of its nodes that started, and while none has, any that waits.
const beginnings = `SELECT r.object_id, r.name, r.id, r.due, r.started, r.ended,
  coalesce((SELECT min(n.started) FROM node_run AS n WHERE n.run_id = r.id AND n.started <> 0), 0),
  coalesce((SELECT n.held FROM node_run AS n WHERE n.run_id = r.id AND n.started <> 0 ORDER BY n.started LIMIT 1),
    (SELECT 1 FROM node_run AS n WHERE n.run_id = r.id AND n.state = 'ready' AND ({held}) LIMIT 1), 0)
FROM run AS r WHERE r.id >= ? AND r.due <> 0 AND r.previous = '' ORDER BY r.id DESC LIMIT ?`

// begun is beginnings with what people set in it.
var begun = strings.Replace(beginnings, "{held}", heldBack("n.why"), 1)

// heldBack is a condition that the words in a column begin with one of
// engine.SetByPeople.
func heldBack(column string) string {
	var any []string
	for _, lead := range engine.SetByPeople() {
		any = append(any, column+" LIKE '"+lead+"%'")
	}
	return strings.Join(any, " OR ")
}

// LateStarts lists the due times of the last day whose runs began to work more
// than engine.TooLate after them, or do not yet: those without a run first, then
// the newest runs.
func (s *Store) LateStarts(ctx context.Context, now time.Time) ([]engine.LateStart, error) {
	late, err := s.overdue(ctx, now)
	if err != nil {
		return nil, err
	}
	rows, err := s.read.DB.QueryContext(ctx, s.bind(begun), string(engine.LeastID(now.Add(-lateWithin))), lateAmong)
	if err != nil {
		return nil, fmt.Errorf("list late starts: %w", err)
	}
	defer rows.Close()
	for n := 0; rows.Next() && n < lateMost; {
		var l engine.LateStart
		var due, made, ended, began int64
		var held bool
		if err := rows.Scan(&l.Workflow, &l.Name, &l.Run, &due, &made, &ended, &began, &held); err != nil {
			return nil, fmt.Errorf("list late starts: %w", err)
		}
		b := engine.Beginning{Due: instant(due), Made: instant(made), Began: instant(began), Ended: instant(ended), Held: held}
		l.Due, l.Late, l.Waits = b.Due, b.Late(now), b.Waits()
		if l.Late > engine.TooLate {
			late = append(late, l)
			n++
		}
	}
	return late, rows.Err()
}

// overdue lists the due times that have come and have no run yet.
func (s *Store) overdue(ctx context.Context, now time.Time) ([]engine.LateStart, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT s.workflow_id, o.name, s.next_at FROM schedule AS s JOIN object AS o ON o.id = s.workflow_id
WHERE s.next_at > 0 AND s.next_at < ? ORDER BY s.next_at LIMIT ?`), micros(now.Add(-engine.TooLate)), lateMost)
	if err != nil {
		return nil, fmt.Errorf("list overdue schedules: %w", err)
	}
	defer rows.Close()
	var all []engine.LateStart
	for rows.Next() {
		l := engine.LateStart{Waits: true}
		var due int64
		if err := rows.Scan(&l.Workflow, &l.Name, &due); err != nil {
			return nil, fmt.Errorf("list overdue schedules: %w", err)
		}
		l.Due, l.Late = instant(due), now.Sub(instant(due))
		all = append(all, l)
	}
	return all, rows.Err()
}
