package db

import (
	"context"
	"fmt"
	"strings"

	"dogear/engine"
)

// Waits says what node runs of the open ones of runs wait for: of the reason of the
// oldest, "load waits for a place in the pool x", or how many wait for it: "12 wait
// for a place in the pool x". One that waits for a moment only has no reason.
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
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT run_id, name, why, alike FROM (
  SELECT run_id, name, why, count(*) OVER (PARTITION BY run_id, why) AS alike, row_number() OVER (PARTITION BY run_id ORDER BY ready_at, ref) AS turn
  FROM node_run WHERE run_id IN (?`+strings.Repeat(", ?", len(ids)-1)+`) AND ended = 0 AND state = 'ready' AND why <> ''
) AS waiting WHERE turn = 1`), ids...)
	if err != nil {
		return nil, fmt.Errorf("ask what runs wait for: %w", err)
	}
	defer rows.Close()
	waits := map[engine.ID]string{}
	for rows.Next() {
		var run engine.ID
		var name, why string
		var alike int
		if err := rows.Scan(&run, &name, &why, &alike); err != nil {
			return nil, fmt.Errorf("ask what runs wait for: %w", err)
		}
		waits[run] = name + " " + why
		if rest, ok := strings.CutPrefix(why, "waits for "); ok && alike > 1 {
			waits[run] = fmt.Sprintf("%d wait for %s", alike, rest)
		}
	}
	return waits, rows.Err()
}

// Taken is how many node runs of each job or crawler, and in each pool, are under way, on
// all servers together.
func (s *Store) Taken(ctx context.Context) (refs map[engine.Ref]int, pools map[string]int, err error) {
	rows, err := s.read.DB.QueryContext(ctx, `SELECT ref, pool, count(*) FROM node_run WHERE `+s.underWay()+` GROUP BY ref, pool`)
	if err != nil {
		return nil, nil, fmt.Errorf("ask what is taken: %w", err)
	}
	defer rows.Close()
	refs, pools = map[engine.Ref]int{}, map[string]int{}
	for rows.Next() {
		var card, pool string
		var n int
		if err := rows.Scan(&card, &pool, &n); err != nil {
			return nil, nil, fmt.Errorf("ask what is taken: %w", err)
		}
		ref, err := engine.ParseRef(card)
		if err != nil {
			return nil, nil, err
		}
		refs[ref] += n
		if pool != "" {
			pools[pool] += n
		}
	}
	return refs, pools, rows.Err()
}
