package db

import (
	"context"
	"fmt"
	"strconv"

	"dogear/engine"
)

// maxBroken bounds how many places of one check are named.
const maxBroken = 20

// newest is among how many of the newest runs a node is looked for that is open
// though its run has ended.
const newest = 1000

// checks are what the rows of the store must agree on. Each query returns the
// runs that break its rule, with what is wrong in words.
var checks = []struct{ id, rule, query string }{
	{
		"I2", "An attempt ends once.",
		`SELECT run_id, card || ', start ' || start || ', attempt ' || attempt || ' ended ' || count(*) || ' times' FROM event
WHERE kind = 'node' AND state IN ('succeeded', 'failed', 'timed_out', 'stopped', 'skipped') AND run_id IN (SELECT id FROM run WHERE ended = 0)
GROUP BY run_id, card, start, attempt HAVING count(*) > 1`,
	},
	{
		"I3", "A trigger fires or can no longer fire, never both.",
		`SELECT run_id, trigger_id FROM trigger_run WHERE fired_at <> 0 AND dead_at <> 0`,
	},
	{
		"I4", "A run is open exactly as long as one of its nodes is.",
		`SELECT r.id, 'is open, and none of its nodes is' FROM run AS r
WHERE r.ended = 0 AND NOT EXISTS (SELECT 1 FROM node_run AS n WHERE n.run_id = r.id AND n.ended = 0)
UNION ALL SELECT n.run_id, 'has ended, and ' || n.name || ' is ' || n.state
FROM (SELECT id, ended FROM run ORDER BY id DESC LIMIT ` + strconv.Itoa(newest) + `) AS r JOIN node_run AS n ON n.run_id = r.id WHERE n.ended = 0 AND r.ended <> 0`,
	},
	{
		"I6", "The events of a run are numbered without a gap.",
		`SELECT run_id, 'has ' || count(*) || ' events from ' || min(seq) || ' to ' || max(seq) FROM event
WHERE run_id IN (SELECT id FROM run WHERE ended = 0) GROUP BY run_id HAVING count(*) <> max(seq)`,
	},
	{
		"I7", "A bookmark stands at its newest version.",
		`SELECT b.run_id, b.ctx || ' is at v' || b.version || ' and its history at v' || m.v FROM bookmark AS b JOIN (
  SELECT bookmark_id, max(version) AS v FROM bookmark_move GROUP BY bookmark_id
) AS m ON m.bookmark_id = b.id WHERE b.version <> m.v`,
	},
	{
		"I8", "Nobody writes to a node whose work has gone to another server.",
		`SELECT run_id, name || ', start ' || start || ', attempt ' || attempt || ' was written by a server that had lost it; its fence was ' || overwritten
FROM node_run WHERE overwritten <> 0`,
	},
	{
		"I9", "A due time of a schedule starts one run.",
		`SELECT min(id), 'and ' || (count(*) - 1) || ' more were started for one due time' FROM run
WHERE due <> 0 AND previous = '' GROUP BY trigger_id, due HAVING count(*) > 1`,
	},
}

// Checks looks whether the rows of the store agree with each other.
func (s *Store) Checks(ctx context.Context) ([]engine.Check, error) {
	found := make([]engine.Check, 0, len(checks))
	for _, c := range checks {
		check := engine.Check{ID: c.id, Rule: c.rule}
		if err := s.check(ctx, c.query, &check); err != nil {
			return nil, fmt.Errorf("check %s: %w", c.id, err)
		}
		found = append(found, check)
	}
	return found, nil
}

func (s *Store) check(ctx context.Context, query string, check *engine.Check) error {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(query+` LIMIT ?`), maxBroken)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var run, what string
		if err := rows.Scan(&run, &what); err != nil {
			return err
		}
		check.Broken = append(check.Broken, engine.Broken{Run: engine.ID(run), What: what})
	}
	return rows.Err()
}
