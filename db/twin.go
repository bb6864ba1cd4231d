package db

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dogear/engine"
)

// began is what a run was asked for: its properties before anybody changed them.
func began(run string) string {
	return `coalesce((SELECT properties FROM run_properties WHERE run_id = ` + run + `.id AND seq = 0), ` + run + `.properties)`
}

// twinsAmong bounds among how many earlier runs a twin is looked for.
const twinsAmong = 100

// twinsAtOnce is for how many runs one statement looks: SQLite takes 500.
const twinsAtOnce = 400

// kept are the node runs that a run has copied from the one it goes on from, which is
// what it does not do again.
func kept(run string) string {
	return `SELECT ref, start, attempt, state FROM node_run WHERE run_id = ` + run + `.id AND copied <> ''`
}

// goesOnAlike holds where two runs go on from no other run, or from the same one with
// the same version and the same nodes kept.
func goesOnAlike() string {
	return `t.previous = r.previous AND (r.previous = '' AND t.due = 0 OR r.previous <> '' AND t.version = r.version
    AND NOT EXISTS (` + kept("t") + ` EXCEPT ` + kept("r") + `) AND NOT EXISTS (` + kept("r") + ` EXCEPT ` + kept("t") + `))`
}

// Twins finds, for each of runs that has one, the newest earlier run of the same
// object that asked for the same: with equal properties and picks, of the
// same person or program, with the same done again of the same run where it goes on
// from one, no longer than engine.TwinWindow before it. One that
// was stopped is none: it was begun anew.
func (s *Store) Twins(ctx context.Context, runs []engine.Run) (map[engine.ID]engine.Twin, error) {
	twins := map[engine.ID]engine.Twin{}
	for some := range slices.Chunk(runs, twinsAtOnce) {
		found, err := s.twins(ctx, some)
		if err != nil {
			return nil, err
		}
		maps.Copy(twins, found)
	}
	return twins, nil
}

func (s *Store) twins(ctx context.Context, runs []engine.Run) (map[engine.ID]engine.Twin, error) {
	var asked []string
	var args []any
	started := map[engine.ID]time.Time{}
	for i := range runs {
		if r := &runs[i]; r.ByHand() {
			asked = append(asked, "SELECT ? AS id, ? AS least")
			// An id begins with the time at which it was made.
			args = append(args, string(r.ID), string(engine.LeastID(r.Started.Add(-engine.TwinWindow))))
			started[r.ID] = r.Started
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT id, twin FROM (SELECT r.id, (
  SELECT t.id FROM (
    SELECT id, properties, pick, due, previous, version, outcome, "by" FROM run WHERE object_id = r.object_id AND id < r.id AND id >= a.least ORDER BY id DESC LIMIT ?
  ) AS t WHERE `+began("t")+` = `+began("r")+` AND t.pick = r.pick AND t."by" = r."by" AND t.outcome <> 'stopped' AND `+goesOnAlike()+`
  ORDER BY t.id DESC LIMIT 1
) AS twin FROM (`+strings.Join(asked, " UNION ALL ")+`) AS a JOIN run AS r ON r.id = a.id) AS pairs WHERE twin IS NOT NULL`), append([]any{twinsAmong}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("look for runs that ask for the same: %w", err)
	}
	defer rows.Close()
	twins := map[engine.ID]engine.Twin{}
	for rows.Next() {
		var id, twin engine.ID
		if err := rows.Scan(&id, &twin); err != nil {
			return nil, fmt.Errorf("look for runs that ask for the same: %w", err)
		}
		twins[id] = engine.Twin{Run: twin, Before: max(0, started[id].Sub(twin.Made()))}
	}
	return twins, rows.Err()
}
