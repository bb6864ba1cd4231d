package db

import (
	"context"
	"fmt"

	"dogear/engine"
)

// Load is how much the database holds and how many node runs wait in it.
func (s *Store) Load(ctx context.Context) (engine.Load, error) {
	l := engine.Load{Shared: s.Shared()}
	size := `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	if s.Shared() {
		size = `SELECT pg_database_size(current_database())`
	}
	if err := s.read.DB.QueryRowContext(ctx, size).Scan(&l.Database); err != nil {
		return l, fmt.Errorf("ask how large the database is: %w", err)
	}
	err := s.read.DB.QueryRowContext(ctx, `SELECT count(*) FROM node_run WHERE `+s.openNodes()+` AND state = 'ready'`).Scan(&l.Waiting)
	if err != nil {
		return l, fmt.Errorf("count the node runs that wait: %w", err)
	}
	return l, nil
}
