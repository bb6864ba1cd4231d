package db

import (
	"context"
	"fmt"
	"strings"

	"dogear/engine"
)

// Fallen says which node each of runs failed of, by run, for those of runs that ended
// Failed or Partly failed, or Stopped although nobody stopped the whole of it (ADR 48): the
// first to fail, one that was only stopped after those that failed by themselves. As for
// the outcome of a run the newest attempt of a start counts; a node that failed in several
// starts is one.
func (s *Store) Fallen(ctx context.Context, runs []engine.Run) (map[engine.ID]engine.Fallen, error) {
	var ids []any
	for i := range runs {
		o := runs[i].Outcome
		if o == engine.RunFailed || o == engine.RunPartlyFailed || o == engine.RunStopped && runs[i].StopAsked.IsZero() {
			ids = append(ids, string(runs[i].ID))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT run_id, ref, start, attempt, name, state, more FROM (
  SELECT run_id, ref, start, attempt, name, state, count(*) OVER (PARTITION BY run_id) - 1 AS more,
    row_number() OVER (PARTITION BY run_id ORDER BY state = 'stopped', ended, ref) AS turn
  FROM (
    SELECT run_id, ref, start, attempt, name, state, ended, row_number() OVER (PARTITION BY run_id, ref ORDER BY state = 'stopped', ended, start) AS mention
    FROM node_run AS n WHERE run_id IN (?`+strings.Repeat(", ?", len(ids)-1)+`) AND state IN ('failed', 'timed_out', 'lost', 'stopped')
      AND NOT EXISTS (SELECT 1 FROM node_run AS l WHERE l.run_id = n.run_id AND l.ref = n.ref AND l.start = n.start AND l.attempt > n.attempt)
  ) AS ends WHERE mention = 1
) AS fallen WHERE turn = 1`), ids...)
	if err != nil {
		return nil, fmt.Errorf("ask which nodes failed: %w", err)
	}
	defer rows.Close()
	fallen := map[engine.ID]engine.Fallen{}
	for rows.Next() {
		var f engine.Fallen
		var ref string
		err := rows.Scan(&f.Run, &ref, &f.Start, &f.Attempt, &f.Name, &f.State, &f.More)
		if err == nil {
			f.Ref, err = engine.ParseRef(ref)
		}
		if err != nil {
			return nil, fmt.Errorf("ask which nodes failed: %w", err)
		}
		fallen[f.Run] = f
	}
	return fallen, rows.Err()
}
