package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/flow"
)

// putToken keeps by which token a run was asked for. Two who use one meet at its
// primary key, and only the first starts a run; a token that was used long ago
// is free again.
func (s *Store) putToken(ctx context.Context, tx bun.Conn, t *flow.Token, run *engine.Run) error {
	result, err := tx.Conn.ExecContext(ctx, s.bind(`INSERT INTO start_token (object_id, token, asked, run_id, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (object_id, token) DO UPDATE SET asked = excluded.asked, run_id = excluded.run_id, at = excluded.at WHERE start_token.at < ?`),
		string(run.Object), t.Text, t.Asked, string(run.ID), micros(run.Started), micros(t.Since))
	if err != nil {
		return fmt.Errorf("keep the token of a start: %w", err)
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		return engine.Errorf(engine.Conflict, "The token %q has started a run already.", t.Text)
	}
	return err
}

// StartedBy returns the run of an object that a token has started, with the sum
// of what was asked for; NotFound where there is none since then.
func (s *Store) StartedBy(ctx context.Context, object engine.ID, token string, since time.Time) (run engine.ID, asked string, err error) {
	row := s.read.DB.QueryRowContext(ctx, s.bind(`SELECT run_id, asked FROM start_token WHERE object_id = ? AND token = ? AND at >= ?`), string(object), token, micros(since))
	err = row.Scan(&run, &asked)
	if errors.Is(err, sql.ErrNoRows) {
		return "", "", engine.Errorf(engine.NotFound, "The token %q has started nothing.", token)
	}
	if err != nil {
		return "", "", fmt.Errorf("look for the run of a token: %w", err)
	}
	return run, asked, nil
}

// PruneTokens forgets tokens that were used before a time.
func (s *Store) PruneTokens(ctx context.Context, before time.Time) (n int64, err error) {
	result, err := s.write.DB.ExecContext(ctx, s.bind(`DELETE FROM start_token WHERE at < ?`), micros(before))
	if err != nil {
		return 0, fmt.Errorf("forget old tokens: %w", err)
	}
	return result.RowsAffected()
}
