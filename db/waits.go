package db

import (
	"context"
	"fmt"
	"strings"

	"dogear/engine"
)

// Waits says, for each of the open ones of runs of which nothing works, what its
// oldest waiting node run waits for: "load waits for a place in the pool x". One
// that waits for a moment only has no reason and is left out.
func (s *Store) Waits(ctx context.Context, runs []engine.Run) (map[engine.ID]string, error) {
	var ids []any
	for i := range runs {
		if runs[i].Open() {
			ids = append(ids, string(runs[i].ID))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT run_id, name, why FROM (
  SELECT run_id, name, why, row_number() OVER (PARTITION BY run_id ORDER BY ready_at, ref) AS turn FROM node_run AS n
  WHERE run_id IN (?`+strings.Repeat(", ?", len(ids)-1)+`) AND ended = 0 AND state = 'ready'
    AND NOT EXISTS (SELECT 1 FROM node_run AS w WHERE w.run_id = n.run_id AND w.ended = 0 AND w.state <> 'ready')
) AS waiting WHERE turn = 1 AND why <> ''`), ids...)
	if err != nil {
		return nil, fmt.Errorf("ask what runs wait for: %w", err)
	}
	defer rows.Close()
	waits := map[engine.ID]string{}
	for rows.Next() {
		var run engine.ID
		var name, why string
		if err := rows.Scan(&run, &name, &why); err != nil {
			return nil, fmt.Errorf("ask what runs wait for: %w", err)
		}
		waits[run] = name + " " + why
	}
	return waits, rows.Err()
}
