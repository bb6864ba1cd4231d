package db

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync"

	"dogear/engine"
)

// maxBroken bounds how many places of one check are named.
const maxBroken = 20

// On SQLite a look for open nodes of runs that have ended goes through the newest runs
// and so many older ones, each time further back, for an index of open nodes would be
// one more page in every transition (ADR 0028).
const (
	newestWatched = 1000
	olderWatched  = 5000
)

// watched is how far such looks have come.
type watched struct {
	mu    sync.Mutex
	below string   // only runs with smaller ids are still to be looked through
	found []string // runs that were found broken, which every look looks at again
}

// lastID is beyond the id of any run.
const lastID = "~"

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
		`SELECT run_id, trigger_id FROM trigger_run WHERE fired_at <> 0 AND dead_at <> 0
UNION ALL SELECT t.run_id, t.trigger_id FROM trigger_run AS t JOIN run AS r ON r.id = t.run_id WHERE r.ended = 0 AND r.previous = '' AND t.dead_at <> 0
AND EXISTS (SELECT 1 FROM node_run AS n WHERE n.run_id = t.run_id AND n.trigger_id = t.trigger_id)`,
	},
	{
		"I4", "A run is open exactly as long as one of its nodes is.",
		`SELECT r.id, 'is open, and none of its nodes is' FROM run AS r
WHERE r.ended = 0 AND NOT EXISTS (SELECT 1 FROM node_run AS n WHERE n.run_id = r.id AND n.ended = 0)`,
	},
	{
		"I6", "The steps of a run are numbered without a gap.",
		`SELECT run_id, 'has steps for ' || sum(last - first + 1) || ' numbers from ' || min(first) || ' to ' || max(last) FROM step
WHERE run_id IN (SELECT id FROM run WHERE ended = 0) GROUP BY run_id HAVING sum(last - first + 1) <> max(last)`,
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
		if c.id == "I4" {
			if err := s.leftOpen(ctx, &check); err != nil {
				return nil, fmt.Errorf("check %s: %w", c.id, err)
			}
		}
		found = append(found, check)
	}
	return found, nil
}

const openNode = `SELECT n.run_id, 'has ended, and ' || n.name || ' is ' || n.state FROM `

// openOfEnded finds open nodes of runs that have ended: on PostgreSQL by its index of
// open nodes, on SQLite among the newest runs, some older ones, and others by id.
func (s *Store) openOfEnded() string {
	if s.postgres() {
		return openNode + `node_run AS n JOIN run AS r ON r.id = n.run_id WHERE n.ended = 0 AND r.ended <> 0`
	}
	return openNode + `(SELECT id FROM (SELECT id, ended FROM run ORDER BY id DESC LIMIT ` + strconv.Itoa(newestWatched) + `) WHERE ended <> 0
UNION SELECT id FROM (SELECT id, ended FROM run WHERE id < ? ORDER BY id DESC LIMIT ` + strconv.Itoa(olderWatched) + `) WHERE ended <> 0
UNION SELECT value FROM json_each(?)) AS r CROSS JOIN node_run AS n ON n.run_id = r.id WHERE n.ended = 0`
}

// leftOpen adds to a check the nodes that are open though their run has ended.
func (s *Store) leftOpen(ctx context.Context, check *engine.Check) error {
	if s.postgres() {
		return s.check(ctx, s.openOfEnded(), check)
	}
	w := &s.watched
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(check.Broken)
	if err := s.check(ctx, s.openOfEnded(), check, cmp.Or(w.below, lastID), encode(w.found)); err != nil {
		return err
	}
	w.found = w.found[:0]
	for _, b := range check.Broken[before:] {
		w.found = append(w.found, string(b.Run))
	}
	var n int
	err := s.read.DB.QueryRowContext(ctx, `SELECT coalesce(min(id), ''), count(*) FROM (SELECT id FROM run WHERE id < ? ORDER BY id DESC LIMIT ?)`, cmp.Or(w.below, lastID), olderWatched).Scan(&w.below, &n)
	if n < olderWatched {
		w.below = "" // the next look begins with the newest again
	}
	return err
}

func (s *Store) check(ctx context.Context, query string, check *engine.Check, args ...any) error {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(query+` LIMIT ?`), append(args, maxBroken)...)
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
