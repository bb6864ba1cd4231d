package db

import (
	"context"
	"fmt"
	"time"

	"dogear/engine"
)

// Claims says when each attempt of a run was taken up, the last time: from then
// on a server works on it, though what it runs begins later. A script whose
// process was waiting is claimed as running (ADR 0027).
func (s *Store) Claims(ctx context.Context, run engine.ID) (map[engine.NodeKey]time.Time, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT card, start, attempt,
  coalesce(max(CASE WHEN state = 'starting' THEN at END), min(at)) FROM event
WHERE run_id = ? AND kind = 'node' AND state IN ('starting', 'running') GROUP BY card, start, attempt`), string(run))
	if err != nil {
		return nil, fmt.Errorf("ask when the attempts of run %s were taken up: %w", run, err)
	}
	defer rows.Close()
	claims := map[engine.NodeKey]time.Time{}
	for rows.Next() {
		key, card, at := engine.NodeKey{Run: run}, "", int64(0)
		if err := rows.Scan(&card, &key.Start, &key.Attempt, &at); err != nil {
			return nil, fmt.Errorf("ask when the attempts of run %s were taken up: %w", run, err)
		}
		if key.Ref, err = engine.ParseRef(card); err != nil {
			return nil, err
		}
		claims[key] = instant(at)
	}
	return claims, rows.Err()
}
