package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/flow"
)

// putProperties makes the properties of a run what they are in run, from its
// newest event on, and keeps what they were before.
func (s *Store) putProperties(ctx context.Context, tx bun.Conn, by *flow.ChangedBy, run *engine.Run) error {
	err := s.exec(ctx, tx, "keep the properties that a run began with", `INSERT INTO run_properties (run_id, seq, at, "by", properties)
SELECT id, 0, started, "by", properties FROM run WHERE id = ? ON CONFLICT (run_id, seq) DO NOTHING`, string(run.ID))
	if err != nil {
		return err
	}
	text := encode(run.Properties)
	err = s.exec(ctx, tx, "keep the properties of a run", `INSERT INTO run_properties (run_id, seq, at, "by", properties) VALUES (?, ?, ?, ?, ?)`,
		string(run.ID), run.Seq, micros(by.At), by.By, text)
	if err != nil {
		return err
	}
	return s.exec(ctx, tx, "change the properties of a run", `UPDATE run SET properties = ? WHERE id = ?`, text, string(run.ID))
}

// PropertySets lists what the properties of a run were, the first ones first;
// none where nobody has changed them since its start.
func (s *Store) PropertySets(ctx context.Context, run engine.ID) ([]engine.PropertySet, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT seq, at, "by", properties FROM run_properties WHERE run_id = ? ORDER BY seq`), string(run))
	if err != nil {
		return nil, fmt.Errorf("list the properties of run %s: %w", run, err)
	}
	defer rows.Close()
	var sets []engine.PropertySet
	for rows.Next() {
		var set engine.PropertySet
		var at int64
		var text string
		if err := rows.Scan(&set.Seq, &at, &set.By, &text); err != nil {
			return nil, fmt.Errorf("list the properties of run %s: %w", run, err)
		}
		set.At = instant(at)
		if set.Values, err = decode[map[string]string](text); err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, rows.Err()
}

// propertiesOf finds the properties that a run had when an attempt was claimed:
// events are numbered without a gap, and the claim is one of them. A script whose
// process was waiting is claimed as running (ADR 0027).
const propertiesOf = `SELECT coalesce(
  (SELECT p.properties FROM run_properties AS p WHERE p.run_id = r.id AND p.seq < coalesce(
    (SELECT min(e.seq) FROM event AS e WHERE e.run_id = r.id AND e.kind = 'node' AND e.card = ? AND e.start = ? AND e.attempt = ? AND e.state IN ('starting', 'running')),
    9223372036854775807) ORDER BY p.seq DESC LIMIT 1),
  r.properties) FROM run AS r WHERE r.id = ?`

// PropertiesOf is what an attempt was told of the properties of its run; of one
// that was not claimed yet, what it would be told now.
func (s *Store) PropertiesOf(ctx context.Context, key engine.NodeKey) (map[string]string, error) {
	var text string
	err := s.read.DB.QueryRowContext(ctx, s.bind(propertiesOf), key.Ref.String(), key.Start, key.Attempt, string(key.Run)).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, engine.Errorf(engine.NotFound, "There is no run with the id %s.", key.Run)
	}
	if err != nil {
		return nil, fmt.Errorf("read the properties of an attempt: %w", err)
	}
	return decode[map[string]string](text)
}
