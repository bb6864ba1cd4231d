package db

import (
	"context"
	"database/sql"
	"errors"
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

// beginnings are those of the newest runs of schedules. Whether one was held back a node
// that waits says, and else the event of the first start.
const (
	beginnings = `SELECT object_id, name, id, due, made, ended, coalesce(began, 0), CASE
    WHEN began IS NULL AND EXISTS (SELECT 1 FROM node_run AS n WHERE n.run_id = id AND n.state = 'ready' AND ({why})) THEN 1
    WHEN began IS NOT NULL AND ({event}) THEN 1 ELSE 0 END
  FROM (
    SELECT r.object_id, r.name, r.id, r.due, r.ended, r.started AS made,
      (SELECT min(n.started) FROM node_run AS n WHERE n.run_id = r.id AND n.started <> 0) AS began,
      ({starting}) AS begins
    FROM (SELECT object_id, name, id, due, started, ended FROM run WHERE id >= ? AND due <> 0 AND previous = '' ORDER BY id DESC LIMIT ?) AS r
  ) AS scheduled ORDER BY id DESC`
	// starting are the events of the step in which the first node of a run started.
	starting = `SELECT s.events FROM step AS s WHERE s.run_id = {run}
        AND (s.events LIKE '%"state":"starting"%' OR s.events LIKE '%"kind":"node"%"state":"running"%') ORDER BY s.first LIMIT 1`
)

// begun is beginnings with what people set in it.
var begun = strings.NewReplacer("{why}", heldBack("n.why LIKE '%s%%'"), "{event}", heldBack(`begins LIKE '%%"text":"%s%%'`),
	"{starting}", startingOf("r.id")).Replace(beginnings)

// heldBack is a condition that one of engine.SetByPeople is found in a column by pattern.
func heldBack(pattern string) string {
	var any []string
	for _, lead := range engine.SetByPeople() {
		any = append(any, fmt.Sprintf(pattern, lead))
	}
	return strings.Join(any, " OR ")
}

func startingOf(run string) string { return strings.Replace(starting, "{run}", run, 1) }

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

// Waited is what the first node of a run to start had waited for, in words; "" where none
// has started, or waited for nothing.
func (s *Store) Waited(ctx context.Context, run engine.ID) (string, error) {
	var text string
	err := s.read.DB.QueryRowContext(ctx, s.bind(startingOf("?")), string(run)).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ask what run %s waited for: %w", run, err)
	}
	events, err := decode[[]storedEvent](text)
	for _, e := range events {
		if e.Kind == "node" && (e.State == string(engine.Starting) || e.State == string(engine.Running)) {
			return e.Text, err
		}
	}
	return "", err
}
