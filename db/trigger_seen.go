package db

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
)

// Seen lists what a trigger has seen at a place after a key, in bytewise order
// of key: keys and marks.
func (s *Store) Seen(ctx context.Context, trigger engine.ID, place, after string, limit int) ([]engine.Sighting, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT key, mark FROM trigger_seen WHERE trigger_id = ? AND place = ? AND key > ? ORDER BY key LIMIT ?`),
		string(trigger), place, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list what a trigger has seen: %w", err)
	}
	defer rows.Close()
	var seen []engine.Sighting
	for rows.Next() {
		var one engine.Sighting
		if err := rows.Scan(&one.Key, &one.Mark); err != nil {
			return nil, fmt.Errorf("list what a trigger has seen: %w", err)
		}
		seen = append(seen, one)
	}
	return seen, rows.Err()
}

// Arrive remembers what was found at a place of t, and keeps the event of each
// sighting that was not known yet in the same transaction. It returns how many
// events came. A Conflict says that t looks elsewhere by now.
func (s *Store) Arrive(ctx context.Context, t engine.EventTrigger, place string, found []engine.Sighting, now time.Time) (n int, err error) {
	events := 0
	for _, one := range found {
		if one.Event != nil {
			events++
		}
	}
	err = s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		n = 0
		if err := s.takesSightings(ctx, tx, t, events); err != nil {
			return err
		}
		for _, one := range found {
			fresh, err := s.see(ctx, tx, t.Trigger, place, one, now)
			if err != nil {
				return err
			}
			if !fresh || one.Event == nil {
				continue
			}
			if _, err := s.keepEvent(ctx, tx, one.Event); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

// takesSightings is takesEvents for who looks for t as it was published.
func (s *Store) takesSightings(ctx context.Context, tx bun.Conn, t engine.EventTrigger, events int) error {
	since, err := s.takesEvents(ctx, tx, t.Trigger, events)
	if err == nil && since != micros(t.Since) {
		err = engine.Errorf(engine.Conflict, "The trigger was published anew meanwhile.")
	}
	return err
}

// see remembers a sighting and reports whether it was not known as it is.
func (s *Store) see(ctx context.Context, tx bun.Conn, trigger engine.ID, place string, one engine.Sighting, now time.Time) (fresh bool, err error) {
	result, err := tx.Conn.ExecContext(ctx, s.bind(`INSERT INTO trigger_seen (trigger_id, place, key, mark, at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (trigger_id, place, key) DO UPDATE SET mark = excluded.mark, at = excluded.at WHERE trigger_seen.mark <> excluded.mark`),
		string(trigger), place, one.Key, one.Mark, micros(now))
	if err != nil {
		return false, fmt.Errorf("remember a file: %w", err)
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// Forget forgets keys of a place that are no longer there, unless they were seen
// since the time before, when the look began that did not find them.
func (s *Store) Forget(ctx context.Context, trigger engine.ID, place string, keys []string, before time.Time) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := s.write.NewDelete().TableExpr("trigger_seen").
		Where("trigger_id = ? AND place = ? AND key IN (?) AND at < ?", string(trigger), place, bun.List(keys), micros(before)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget files that are gone: %w", err)
	}
	return nil
}
