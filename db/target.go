package db

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"dogear/engine"
)

// targetKey is the lock under which servers take targets, one at a time.
const targetKey = ownKey + 1

// HoldTargets makes a node run the only writer of all targets named, or of
// none and says who writes one of them. A target in another is written by
// both. The hold ends with the node run, whoever ends it.
func (s *Store) HoldTargets(ctx context.Context, key engine.NodeKey, names []string) (holder *engine.NodeKey, err error) {
	err = s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		if s.postgres() {
			if err := s.exec(ctx, tx, "wait to take targets", `SELECT pg_advisory_xact_lock(?)`, int64(targetKey)); err != nil {
				return err
			}
		}
		if holder, err = s.holderOf(ctx, tx, key, names); err != nil || holder != nil {
			return err
		}
		for _, name := range names {
			err := s.exec(ctx, tx, "take a target", `INSERT INTO target_hold (name, run_id, ref, start, attempt) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET run_id = excluded.run_id, ref = excluded.ref, start = excluded.start, attempt = excluded.attempt`,
				name, string(key.Run), key.Ref.String(), key.Start, key.Attempt)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return holder, err
}

// holderOf finds another open node run that writes one of names.
func (s *Store) holderOf(ctx context.Context, tx bun.Conn, key engine.NodeKey, names []string) (*engine.NodeKey, error) {
	rows, err := tx.Conn.QueryContext(ctx, `SELECT name, run_id, ref, start, attempt FROM target_hold
WHERE (run_id, ref, start, attempt) IN (SELECT run_id, ref, start, attempt FROM node_run WHERE `+s.underWay()+`)`)
	if err != nil {
		return nil, fmt.Errorf("look who writes a target: %w", err)
	}
	defer rows.Close()
	var found *engine.NodeKey
	for rows.Next() {
		var held, ref string
		var other engine.NodeKey
		if err := rows.Scan(&held, &other.Run, &ref, &other.Start, &other.Attempt); err != nil {
			return nil, fmt.Errorf("look who writes a target: %w", err)
		}
		if other.Ref, err = engine.ParseRef(ref); err != nil {
			return nil, err
		}
		for _, name := range names {
			if other != key && (engine.Area{Root: name}).Meets(engine.Area{Root: held}) != "" {
				found = &other
			}
		}
	}
	return found, rows.Err()
}
