package db

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// LedgerRoots lists the roots of every ledger that must stay: those that
// bookmarks stand at, those of versions made since, the newest before that of
// each bookmark, those of what batches read since or have not finished, and the
// lists of rows in the plans of the latter.
func (s *Store) LedgerRoots(ctx context.Context, since time.Time) ([]string, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`
SELECT root FROM bookmark
UNION SELECT root FROM bookmark_move WHERE at >= ?
UNION SELECT root FROM bookmark_move AS m
  WHERE at < ? AND seq = (SELECT max(seq) FROM bookmark_move AS n WHERE n.bookmark_id = m.bookmark_id AND n.at < ?)
UNION SELECT i.root FROM batch_input AS i JOIN batch AS b ON b.id = i.batch_id
  WHERE b.at >= ? OR b.state NOT IN ('finalized', 'discarded')`),
		micros(since), micros(since), micros(since), micros(since))
	if err != nil {
		return nil, fmt.Errorf("list the ledgers that stay: %w", err)
	}
	defer rows.Close()
	var roots []string
	for rows.Next() {
		var root string
		if err := rows.Scan(&root); err != nil {
			return nil, fmt.Errorf("list the ledgers that stay: %w", err)
		}
		if root != bookmark.Empty && root != bookmark.Pruned {
			roots = append(roots, root)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list the ledgers that stay: %w", err)
	}
	planned, err := s.plannedRows(ctx)
	return append(roots, planned...), err
}

// plannedRows lists the roots of the rows that unfinished batches read by: a
// server that was away for long still runs the same plan.
func (s *Store) plannedRows(ctx context.Context) ([]string, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT plan FROM batch WHERE state NOT IN ('finalized', 'discarded')`))
	if err != nil {
		return nil, fmt.Errorf("list the plans under way: %w", err)
	}
	defer rows.Close()
	var roots []string
	for rows.Next() {
		var blob []byte
		if err := rows.Scan(&blob); err != nil {
			return nil, fmt.Errorf("read a plan under way: %w", err)
		}
		plan, err := unpack[engine.Plan](blob)
		if err != nil {
			return nil, err
		}
		for _, part := range plan.Sources {
			if part.Compared == nil {
				continue
			}
			for _, root := range []string{part.Compared.Base, part.Compared.Took} {
				if root != bookmark.Empty {
					roots = append(roots, root)
				}
			}
		}
	}
	return roots, rows.Err()
}

// PruneMoves takes the ledger away from versions made before since, but for the
// newest of each bookmark, and returns how many. Their lines of history stay.
func (s *Store) PruneMoves(ctx context.Context, since time.Time) (int64, error) {
	var n int64
	err := s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		result, err := tx.Conn.ExecContext(ctx, s.bind(`
UPDATE bookmark_move SET root = ? WHERE at < ? AND root <> ? AND root <> ''
  AND seq < (SELECT max(seq) FROM bookmark_move AS n WHERE n.bookmark_id = bookmark_move.bookmark_id AND n.at < ?)`),
			bookmark.Pruned, micros(since), bookmark.Pruned, micros(since))
		if err != nil {
			return fmt.Errorf("prune the history of bookmarks: %w", err)
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}

// OldPages lists ids of pages that were last written before, after the id
// after, in order.
func (s *Store) OldPages(ctx context.Context, before time.Time, after string, limit int) ([]string, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT id FROM ledger_page WHERE id > ? AND at < ? ORDER BY id LIMIT ?`), after, micros(before), limit)
	if err != nil {
		return nil, fmt.Errorf("list pages of ledgers: %w", err)
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list pages of ledgers: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// DropPages removes pages that were last written before. One that was written
// again meanwhile stays.
func (s *Store) DropPages(ctx context.Context, ids []string, before time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := s.write.NewDelete().Model((*pageRow)(nil)).Where("id IN (?)", bun.List(ids)).Where("at < ?", micros(before)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("drop pages of ledgers: %w", err)
	}
	return nil
}

var _ bookmark.Shelf = (*Store)(nil)
