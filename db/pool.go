package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
)

// Pools lists the pools by name with what they hold, the one of backfills
// among them.
func (s *Store) Pools(ctx context.Context) ([]engine.Pool, error) {
	rows, err := s.read.DB.QueryContext(ctx, `SELECT p.name, p.places,
  (SELECT count(*) FROM node_run WHERE pool = p.name AND `+s.underWay()+`),
  (SELECT count(*) FROM node_run WHERE pool = p.name AND `+s.openNodes()+` AND state = 'ready')
FROM (SELECT name, places FROM pool UNION ALL SELECT '`+engine.Backfills+`', `+fmt.Sprint(engine.DefaultBackfills)+`
  WHERE NOT EXISTS (SELECT 1 FROM pool WHERE name = '`+engine.Backfills+`')) AS p ORDER BY p.name`)
	if err != nil {
		return nil, fmt.Errorf("list the pools: %w", err)
	}
	defer rows.Close()
	var all []engine.Pool
	for rows.Next() {
		var p engine.Pool
		if err := rows.Scan(&p.Name, &p.Places, &p.Taken, &p.Waiting); err != nil {
			return nil, fmt.Errorf("list the pools: %w", err)
		}
		all = append(all, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list the pools: %w", err)
	}
	for i := range all {
		if all[i].Jobs, err = s.jobsOfPool(ctx, s.read, all[i].Name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// PoolPlaces is how many places each pool has.
func (s *Store) PoolPlaces(ctx context.Context) (map[string]int, error) {
	rows, err := s.read.DB.QueryContext(ctx, `SELECT name, places FROM pool`)
	if err != nil {
		return nil, fmt.Errorf("read the pools: %w", err)
	}
	defer rows.Close()
	places := map[string]int{engine.Backfills: engine.DefaultBackfills}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			return nil, fmt.Errorf("read the pools: %w", err)
		}
		places[name] = n
	}
	return places, rows.Err()
}

// PutPool makes a pool, or gives it another number of places. What Faults finds
// is Invalid.
func (s *Store) PutPool(ctx context.Context, name string, places int, by string, now time.Time) error {
	made := engine.Pool{Name: name, Places: places}
	if faults := made.Faults(); len(faults) > 0 {
		return engine.Errorf(engine.Invalid, "%s", faults[0].Message)
	}
	_, err := s.write.DB.ExecContext(ctx, s.bind(`INSERT INTO pool (name, places, at, "by") VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET places = excluded.places, at = excluded.at, "by" = excluded."by"`), name, places, micros(now), by)
	if err != nil {
		return diskFull(fmt.Errorf("write pool %q: %w", name, err))
	}
	return nil
}

// DeletePool removes a pool; what its Refusal says is a Conflict. Node runs that wait in
// it are then bounded by nothing but the slots.
func (s *Store) DeletePool(ctx context.Context, name string) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		jobs, err := s.jobsOfPool(ctx, tx, name)
		if err != nil {
			return err
		}
		pool := engine.Pool{Name: name, Jobs: jobs}
		if err := pool.Refusal(); err != nil {
			return err
		}
		var was string
		err = tx.Conn.QueryRowContext(ctx, s.bind(`DELETE FROM pool WHERE name = ? RETURNING name`), name).Scan(&was)
		if errors.Is(err, sql.ErrNoRows) {
			return engine.Errorf(engine.NotFound, "There is no pool named %q.", name)
		}
		return err
	})
}

func (s *Store) jobsOfPool(ctx context.Context, on bun.IDB, name string) ([]engine.Head, error) {
	var rows []objectRow
	err := on.NewSelect().Model(&rows).Where("kind = ? AND pool = ? AND deleted_at = 0", string(engine.KindJob), name).Order("name").Scan(ctx)
	heads := make([]engine.Head, len(rows))
	for i := range rows {
		heads[i] = rows[i].head()
	}
	if err != nil {
		return nil, fmt.Errorf("list the jobs of a pool: %w", err)
	}
	return slices.Clip(heads), nil
}

// OverTime lists the open runs whose time is over at now.
func (s *Store) OverTime(ctx context.Context, now time.Time) (over []engine.ID, next time.Time, err error) {
	rows, err := s.read.DB.QueryContext(ctx, `SELECT id, deadline FROM run WHERE ended = 0 AND deadline <> 0 AND stop_asked = 0`)
	if err != nil {
		return nil, next, fmt.Errorf("find runs that take too long: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var deadline int64
		if err := rows.Scan(&id, &deadline); err != nil {
			return nil, next, fmt.Errorf("find runs that take too long: %w", err)
		}
		switch at := instant(deadline); {
		case !at.After(now):
			over = append(over, engine.ID(id))
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	return over, next, rows.Err()
}
